// clew list: the recordings, newest first.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/ui.h"
#include "host/recording/recording.h"
#include "host/report/words.h"
#include "host/terminal_text.h"

namespace clew::cli {
namespace {

constexpr std::size_t kProgramWidth = 48;  // columns, where nothing limits them

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string age_text(std::int64_t age_ns) {
  const std::int64_t seconds = std::max<std::int64_t>(age_ns / 1'000'000'000, 0);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 60 * 60) return fmt::format("{} min", seconds / 60);
  if (seconds < 24 * 60 * 60) return fmt::format("{} h", seconds / (60 * 60));
  return fmt::format("{} d", seconds / (24 * 60 * 60));
}

// On one line, whatever the program was called with.
std::string program_text(const Listed& listed) {
  if (!listed.meta) return "-";
  std::string text = std::filesystem::path(listed.meta->program).filename().string();
  for (std::size_t i = 1; i < listed.meta->arguments.size(); ++i)
    text += " " + listed.meta->arguments[i];
  return terminal_text(text, Newlines::kReplace);
}

std::string outcome_text(const Listed& listed) {
  if (!listed.meta) return to_word(listed.state);
  const RunSummary& summary = listed.meta->summary;
  if (listed.meta->judged) return fmt::format("fail ({})", to_word(listed.meta->judged->kind));
  const std::string word = to_word(summary.outcome);
  if (!summary.failure) return word;
  const std::string kind = to_word(summary.failure->kind);
  if (kind == word) return word;
  return word + " (" + kind + ")";
}

std::string table(const std::vector<Listed>& recordings, std::int64_t now) {
  std::vector<std::array<std::string, 5>> rows{{"", "program", "outcome", "size", "age"}};
  for (const Listed& listed : recordings)
    rows.push_back({std::to_string(listed.number), program_text(listed), outcome_text(listed),
                    size_text(listed.bytes), age_text(now - listed.created_ns)});
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  // The program gives way, in the middle: its name and its last arguments stay.
  std::size_t program = std::min(widths[1], kProgramWidth);
  if (const std::size_t columns = output_columns(); columns != 0) {
    const std::size_t others = widths[0] + widths[2] + widths[3] + widths[4] + 8;
    program = std::min(widths[1], std::max<std::size_t>(columns - std::min(columns, others), 7));
  }
  widths[1] = program;
  std::string text;
  for (const auto& row : rows)
    text += fmt::format("{:>{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}\n", row[0], widths[0],
                        cut_in_middle(row[1], program), widths[1], row[2], widths[2], row[3],
                        widths[3], row[4], widths[4]);
  return text;
}

Json recording_json(const Listed& listed, std::int64_t now) {
  Json json;
  json["recording"] = listed.number;
  json["path"] = listed.path.string();
  json["state"] = to_word(listed.state);
  json["program"] = listed.meta ? Json(listed.meta->program) : Json();
  json["arguments"] = listed.meta ? Json(listed.meta->arguments) : Json();
  json["outcome"] =
      listed.meta
          ? Json(to_word(listed.meta->judged ? Outcome::kFail : listed.meta->summary.outcome))
          : Json();
  json["bytes"] = listed.bytes;
  json["age_seconds"] = static_cast<double>(now - listed.created_ns) / 1e9;
  json["problem"] = listed.problem ? Json(listed.problem->message) : Json();
  return json;
}

Result<void> list(const std::string& json_target) {
  CLEW_TRY(auto store, RecordingStore::open());
  CLEW_TRY(auto recordings, store.list());
  const std::int64_t now = now_ns();
  if (json_target != "-")
    print_result(recordings.empty() ? "no recordings yet: clew run -- PROG makes one\n"
                                    : table(recordings, now));
  Json json;
  json["recordings"] = Json::array();
  for (const Listed& listed : recordings) json["recordings"].push_back(recording_json(listed, now));
  return write_json(json_target, json);
}

}  // namespace

void register_list(CLI::App& app, int& exit_status) {
  auto json_target = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List the recordings, newest first");
  add_json(*command, *json_target);
  command->footer(
      "The recordings are those in .clew of this folder. 'incomplete': clew was stopped while it\n"
      "recorded; 'running': it is recording now; 'damaged': the files have changed since.\n\n"
      "Example:\n"
      "  clew list");
  command->callback([json_target, &exit_status] {
    const auto done = list(*json_target);
    exit_status = done ? 0 : report_error(done.error());
  });
}

}  // namespace clew::cli
