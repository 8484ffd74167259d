
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "host/lines.h"
#include "host/recording/file.h"
#include "host/report/assertion.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

// Chosen, not measured: what a reader takes in at a glance.
constexpr std::size_t kMostLines = 5;
constexpr std::size_t kMostColumns = 160;
// Enough for a sanitizer's report with long stacks.
constexpr std::size_t kMostKept = 64 << 10;
constexpr std::uint64_t kMostCapture = std::uint64_t{64} << 20;

std::string end_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kMostCapture);
  if (!bytes) return "";
  const std::size_t size = std::min(bytes->size(), kMostKept);
  return {bytes->end() - static_cast<std::ptrdiff_t>(size), bytes->end()};
}

std::string cut(std::string_view line) {
  std::string text = printable(line.substr(0, kMostColumns));
  return line.size() > kMostColumns ? text + "…" : text;
}

// ---- Reports of sanitizers

struct ReportFrame {
  std::string function;
  std::string file;  // empty: not known
  std::string line;
};

// "    #1 0x5555 in Cache::get(int) /a/cache.cpp:40:7"
std::optional<ReportFrame> frame_of(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(' ');
  if (hash == std::string_view::npos || line[hash] != '#') return std::nullopt;
  const std::size_t in = line.find(" in ");
  if (in == std::string_view::npos) return ReportFrame{};
  std::string_view rest = line.substr(in + 4);
  // The file is the last word: file:line:column, or (module+offset), or a bare name.
  const std::size_t build = rest.find(" (");
  const std::string_view named =
      build != std::string_view::npos && rest.substr(build).starts_with(" (/")
          ? rest.substr(0, build)
          : rest;
  const std::size_t space = named.rfind(" /");
  if (space == std::string_view::npos) return ReportFrame{std::string(named), "", ""};
  std::string_view place = named.substr(space + 1);
  ReportFrame frame{std::string(named.substr(0, space)), "", ""};
  const std::size_t colon = place.find(':');
  frame.file = place.substr(0, colon);
  if (colon != std::string_view::npos) {
    place.remove_prefix(colon + 1);
    frame.line = place.substr(0, place.find(':'));
  }
  return frame;
}

bool is_users(const ReportFrame& frame) {
  if (frame.file.empty() || frame.function.starts_with("clew::rt::")) return false;
  for (const char* folder :
       {"/usr/", "/include/c++/", "/compiler-rt/lib/", "/runtime/intercept/", "/runtime/thread/"})
    if (frame.file.contains(folder)) return false;
  return true;
}

// " in Cache::get at cache.cpp:40" of the stack that begins at a line; empty: it has no such frame.
std::string users_frame(const std::vector<std::string_view>& lines, std::size_t first) {
  for (std::size_t i = first; i < lines.size(); ++i) {
    const auto frame = frame_of(lines[i]);
    if (!frame) break;
    if (is_users(*frame))
      return fmt::format("{} at {}:{}", printable(function_text(frame->function)),
                         printable(short_path(frame->file)), printable(frame->line));
  }
  return "";
}

// "WRITE of size 8 at 0x5020 thread T1" without the address
std::string access_text(std::string_view line) { return cut(line.substr(0, line.find(" at 0x"))); }

bool is_access(std::string_view line) {
  return line.starts_with("READ of size") || line.starts_with("WRITE of size") ||
         line.starts_with("Direct leak of") || line.starts_with("Indirect leak of");
}

// The first line of a stack that tells of the memory's past.
std::optional<std::string_view> past_of(std::string_view line) {
  if (!line.ends_with(':')) return std::nullopt;
  if (line.contains("freed by thread")) return "freed by";
  if (line.contains("allocated by thread")) return "allocated by";
  return std::nullopt;
}

// ---- Last lines

// libc and the C++ library say these; the first line of clew's report has what they say.
bool is_repeated(const Failure& failure, std::string_view line) {
  switch (failure.kind) {
    case FailureKind::kAssert:
      return line.contains(": Assertion `");
    case FailureKind::kException:
      return line.starts_with("terminate called ") || line.starts_with("  what():  ") ||
             line.contains("terminating due to uncaught exception");
    case FailureKind::kSanitizer:
      return line.contains(": runtime error: ") || line.starts_with("SUMMARY: ");
    default:
      return false;
  }
}

std::vector<std::string_view> last_lines(const Failure& failure, std::string_view text) {
  auto lines = lines_of(text);
  std::erase_if(lines, [&](std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos || is_repeated(failure, line);
  });
  if (lines.size() > kMostLines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostLines));
  return lines;
}

}  // namespace

LastWords last_words(const RecordingStore& store, std::uint64_t recording) {
  if (recording == 0) return {};
  const auto found = store.load(std::to_string(recording));
  if (!found) return {};
  return {end_of(found->stdout_file()), end_of(found->stderr_file())};
}

std::vector<std::string> sanitizer_summary(std::string_view errors) {
  const auto lines = lines_of(errors);
  std::vector<std::string> summary;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (summary.empty()) {
      const std::size_t mark = line.find("ERROR: ");
      if (mark == std::string_view::npos || !line.contains("Sanitizer: ")) continue;
      std::string_view text = line.substr(mark + 7);
      for (const char* detail : {" on address ", " on unknown address ", " (pc ", " at pc "})
        text = text.substr(0, text.find(detail));
      summary.push_back(cut(text));
      continue;
    }
    if (line.contains("ERROR: ") || line.starts_with("SUMMARY: ")) break;
    if (is_access(line)) {
      const std::string where = users_frame(lines, i + 1);
      summary.push_back("  " + access_text(line) + (where.empty() ? "" : " in " + where));
    } else if (const auto past = past_of(line)) {
      const std::string where = users_frame(lines, i + 1);
      summary.push_back(fmt::format(
          "  {} {}", *past, where.empty() ? "code without lines, see the full report" : where));
    }
  }
  return summary;
}

std::string symptom_text(const Failure& failure, const LastWords& words, std::string_view indent) {
  std::string text;
  if (const auto summary = sanitizer_summary(words.errors); !summary.empty()) {
    // The first line of clew's report has its headline, the access and the place.
    const bool told = failure.kind == FailureKind::kSanitizer;
    for (const std::string& line : summary)
      if (!told || line.starts_with("  freed") || line.starts_with("  allocated"))
        text += fmt::format("{}{}\n", indent, told ? line.substr(2) : line);
    return text;
  }
  if (failure.kind == FailureKind::kExit)
    if (const auto assertion = assertion_in(words))
      return fmt::format("{}{}\n", indent, assertion_line(*assertion));
  auto lines = last_lines(failure, words.errors);
  const bool errors = !lines.empty();
  if (!errors) lines = last_lines(failure, words.output);
  if (lines.empty()) return "";
  text = fmt::format("{}last on standard {}:\n", indent, errors ? "error" : "output");
  for (const std::string_view line : lines) text += fmt::format("{}  | {}\n", indent, cut(line));
  return text;
}

}  // namespace clew
