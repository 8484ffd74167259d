#include "cli/watch_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

#include "clew_abi/watch.h"
#include "host/quote.h"

namespace clew::cli {
namespace {

// The plural is what one watches for, the singular what is found.
struct Word {
  abi::FindingKind kind;
  const char* found;
  const char* watched;
};
constexpr std::array<Word, 3> kWords{{
    {abi::FindingKind::kRace, "race", "races"},
    {abi::FindingKind::kLockOrder, "lock-order", "lock-order"},
    {abi::FindingKind::kMemory, "memory", "memory"},
}};

Result<abi::FindingKind> kind_of(const std::string& word, const char* option) {
  const auto found = std::ranges::find_if(
      kWords, [&](const Word& one) { return word == one.found || word == one.watched; });
  if (found != kWords.end()) return found->kind;
  return fail(ErrorCode::kUsage, fmt::format("{} {}: there is no such watch", option, quote(word)),
              "one or more of races, lock-order, memory, separated by commas");
}

Result<void> add_flags(const std::vector<std::string>& lists, const char* option,
                       std::uint32_t (*flag)(abi::FindingKind), std::uint32_t& flags) {
  for (const std::string& list : lists)
    for (const std::string& word : CLI::detail::split(list, ',')) {
      CLEW_TRY(const abi::FindingKind kind, kind_of(word, option));
      flags |= abi::watch_flag(kind) | flag(kind);
    }
  return {};
}

}  // namespace

void add_watch(CLI::App& app, WatchOptions& options) {
  app.add_option("--watch", options.watch,
                 "Look for these while the program runs, separated by commas: races, lock-order, "
                 "memory")
      ->type_name("WHAT")
      ->expected(1)
      ->take_all();
  app.add_option("--listener", options.listeners,
                 "Load this library into the program and tell it what happens (<clew/listener.h>)")
      ->type_name("FILE[:OPTIONS]")
      ->expected(1)
      ->take_all();
}

void add_fails_if(CLI::App& app, WatchOptions& options, const char* group) {
  app.add_option("--fails-if", options.fails_if,
                 "Also a run in which one of these is found, separated by commas: race, "
                 "lock-order, memory; implies --watch")
      ->type_name("WHAT")
      ->expected(1)
      ->take_all()
      ->group(group);
}

bool is_watched(const LaunchPlan& plan) {
  return (plan.flags & abi::kAllWatchFlags) != 0 || !plan.listeners.empty();
}

Result<void> apply(const WatchOptions& options, LaunchPlan& plan) {
  CLEW_CHECK_OK(add_flags(options.watch, "--watch", abi::watch_flag, plan.flags));
  CLEW_CHECK_OK(add_flags(options.fails_if, "--fails-if", abi::fails_flag, plan.flags));
  if (options.listeners.size() > kMaxListeners)
    return fail(ErrorCode::kUsage, fmt::format("--listener: at most {} of them", kMaxListeners));
  for (const std::string& listener : options.listeners) {
    const std::size_t colon = listener.find(':');
    const std::string file = listener.substr(0, colon);
    std::error_code error;
    const auto path = std::filesystem::absolute(file, error);
    if (error || access(path.c_str(), R_OK) != 0)
      return fail(ErrorCode::kBadInput,
                  fmt::format("--listener {}: it cannot be read", quote(file)),
                  "a shared library, and options for it after a colon");
    plan.listeners.push_back(colon == std::string::npos ? path.string()
                                                        : path.string() + listener.substr(colon));
  }
  return {};
}

}  // namespace clew::cli
