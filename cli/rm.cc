// clew rm: removes recordings.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/ui.h"
#include "host/recording/recording.h"

namespace clew::cli {
namespace {

struct RemoveOptions {
  std::vector<std::uint64_t> numbers;
  bool all = false;
  bool incomplete = false;
};

// What is to go, all of it checked before any of it goes.
Result<std::vector<std::uint64_t>> choose(const RemoveOptions& options,
                                          const std::vector<Listed>& recordings) {
  std::vector<std::uint64_t> chosen;
  if (options.all || options.incomplete) {
    for (const Listed& listed : recordings) {
      const bool wanted = options.all ? listed.state != RecordingState::kRunning
                                      : listed.state == RecordingState::kIncomplete;
      if (wanted) chosen.push_back(listed.number);
    }
    return chosen;
  }
  for (const std::uint64_t number : options.numbers) {
    // Newest first.
    const auto listed =
        std::ranges::lower_bound(recordings, number, std::greater(), &Listed::number);
    if (listed == recordings.end() || listed->number != number)
      return fail(ErrorCode::kUsage,
                  fmt::format("there is no recording {}; nothing was removed", number),
                  "clew list shows them");
    if (listed->state == RecordingState::kRunning)
      return fail(ErrorCode::kUsage,
                  fmt::format("recording {} is still being recorded; nothing was removed", number),
                  "stop that clew first, or wait until it has ended");
    chosen.push_back(number);
  }
  std::ranges::sort(chosen);
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  return chosen;
}

Result<void> remove(const RemoveOptions& options) {
  if (options.numbers.empty() && !options.all && !options.incomplete)
    return fail(ErrorCode::kUsage, "clew rm needs the numbers of recordings, --all or --incomplete",
                "clew list shows them");
  CLEW_TRY(auto store, RecordingStore::open());
  std::error_code ignored;
  // What a link names may be far away, and somebody else may have made the link.
  if (options.numbers.empty() && std::filesystem::is_symlink(store.path(), ignored))
    return fail(
        ErrorCode::kUsage,
        fmt::format("{} is a symbolic link, which clew rm does not follow", store.path().string()),
        "name the recordings to remove, or remove them where they are");
  CLEW_TRY(const auto recordings, store.list(Detail::kState));
  CLEW_TRY(const auto chosen, choose(options, recordings));
  for (const std::uint64_t number : chosen)
    if (auto done = store.remove(number); !done) return done;
  store.sweep();
  print_result(
      fmt::format("removed {} recording{}\n", chosen.size(), chosen.size() == 1 ? "" : "s"));
  if (!options.all) return {};
  const auto running = static_cast<std::size_t>(
      std::ranges::count(recordings, RecordingState::kRunning, &Listed::state));
  if (running != 0) print_result(fmt::format("{} still running, kept\n", running));
  return {};
}

}  // namespace

void register_rm(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* command = app.add_subcommand("rm", "Remove recordings");
  auto* numbers = command
                      ->add_option("numbers", options->numbers,
                                   "Numbers of recordings, as clew list shows them")
                      ->type_name("N");
  auto* all = command->add_flag("--all", options->all, "All except those that are running");
  auto* incomplete =
      command->add_flag("--incomplete", options->incomplete, "Only those that clew was stopped in");
  all->excludes(numbers);
  all->excludes(incomplete);
  incomplete->excludes(numbers);
  command->footer(
      "Examples:\n"
      "  clew rm 3 4\n"
      "  clew rm --incomplete");
  command->callback([options, &exit_status] {
    const auto done = remove(*options);
    exit_status = done ? 0 : report_error(done.error());
  });
}

}  // namespace clew::cli
