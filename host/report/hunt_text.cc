#include "host/report/hunt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kMostKindsInLine = 3;
constexpr std::size_t kMostInTable = 50;
// Fewer new interleavings than one in so many schedules: random search repeats itself.
constexpr std::uint64_t kRepetitions = 20;
// A hunt of so few schedules, each of so many seconds, had not enough time.
constexpr std::uint64_t kFewSchedules = 3;
constexpr std::uint64_t kSlowSchedule = 2;

std::string rate_text(std::uint64_t schedules, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(schedules) / seconds : 0;
  return rate >= 10 ? with_commas(static_cast<std::uint64_t>(rate)) : fmt::format("{:.1f}", rate);
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
}

std::string failures_in_line(const std::vector<FoundFailure>& failures) {
  std::string kinds;
  for (std::size_t i = 0; i < std::min(failures.size(), kMostKindsInLine); ++i)
    kinds += fmt::format("{}{} {}", i == 0 ? "" : ", ", to_word(failures[i].failure.kind),
                         with_commas(failures[i].count));
  if (failures.size() > kMostKindsInLine) kinds += ", ...";
  return fmt::format("{} ({})", counted(failures.size(), "failure"), kinds);
}

std::string place_line(const Failure& failure) {
  // These are of no one thread.
  if (failure.kind == FailureKind::kDeadlock) return "";
  std::string text;
  if (!failure.thread.empty()) text += "in thread " + failure.thread;
  if (failure.at) text += (text.empty() ? "at " : " at ") + location_text(*failure.at);
  return text;
}

// "exited with status 1", "assertion `x' failed", "uncaught std::bad_alloc", "SIGSEGV at address 0x0"
bool says_its_kind(FailureKind kind) {
  return kind == FailureKind::kExit || kind == FailureKind::kAssert ||
         kind == FailureKind::kException || kind == FailureKind::kSignal ||
         kind == FailureKind::kSanitizer;
}

std::string table(const std::vector<FoundFailure>& failures) {
  std::string text =
      fmt::format("  {:>9}  {:>9}  {:>9}  {}\n", "count", "schedule", "recording", "failure");
  for (std::size_t i = 0; i < std::min(failures.size(), kMostInTable); ++i) {
    const FoundFailure& one = failures[i];
    fmt::format_to(std::back_inserter(text), "  {:>9}  {:>9}  {:>9}  {}\n", with_commas(one.count),
                   with_commas(one.first_schedule),
                   one.recording ? std::to_string(*one.recording) : "none",
                   failure_line(one.failure));
  }
  if (failures.size() > kMostInTable)
    text += fmt::format("  … {} more\n", with_commas(failures.size() - kMostInTable));
  return text;
}

std::string next_commands(const HuntResult& result) {
  if (!result.failing)
    return fmt::format(
        "  no recording: {}\n"
        "  hunt again: clew hunt --seed {} ...\n",
        result.out_of_time ? "the time was up before the failing run was recorded"
                           : "the run that records the failure was interrupted",
        result.seed);
  std::string text = fmt::format("  find the cause: clew isolate {}\n", *result.failing);
  text += fmt::format("  look at it: clew show {}\n", *result.failing);
  text += fmt::format("  replay it: clew replay {}\n", *result.failing);
  return text;
}

std::string found_text(const HuntResult& result, const LastWords& words) {
  std::string text;
  if (result.failures.size() > 1) {
    text += table(result.failures);
  } else {
    const FoundFailure& only = result.failures.front();
    if (const std::string place = place_line(only.failure); !place.empty())
      text += fmt::format("  {}\n", place);
    text += symptom_text(only.failure, words, "  ");
    text += only.count > 1 ? fmt::format("  first in schedule {}, {} times in all\n",
                                         with_commas(only.first_schedule), with_commas(only.count))
                           : fmt::format("  in schedule {}\n", with_commas(only.first_schedule));
  }
  if (result.always_fails != 0) text += fmt::format("  {}\n", always_fails_text(result));
  text += fmt::format("  {}\n", figures_text(result));
  if (result.failing) text += fmt::format("  failing: recording {}\n", *result.failing);
  if (result.passing)
    text += fmt::format("  passing: recording {}{}\n", *result.passing,
                        result.passing_distance ? ", " + *result.passing_distance : "");
  return text + next_commands(result);
}

std::string hint(const HuntResult& result) {
  if (result.interrupted_by != 0 || result.complete) return "";
  if (result.single_threaded)
    return "no run had a second thread or a choice to vary, so every schedule is the same; threads "
           "of code that is not built with clew count as well";
  if (result.unended_seconds > 0)
    return "more --time: a schedule that does not end is given up in the end, and run again to see "
           "whether it hangs";
  if (result.schedules == 0) return "no schedule ran to its end: give it more --time";
  if (nothing_resolved(result)) return "clew run shows what ends a single run";
  if (result.schedules <= kFewSchedules &&
      result.seconds > static_cast<double>(kSlowSchedule * result.schedules))
    return fmt::format("a schedule takes {:.0f} s: more --time, or a smaller workload",
                       result.seconds / static_cast<double>(result.schedules));
  if (result.interleavings <= 1)
    return "all runs were equivalent: is everything built with clew c++, is there a second thread?";
  if (result.interleavings < kMostInterleavings &&
      result.interleavings * kRepetitions < result.schedules)
    return "few interleavings, each seen many times: --strategy exhaustive gives a definite answer";
  return "more --time or --schedules, another --strategy or --seed, a larger workload; "
         "--fails-if race,memory,lock-order counts errors that did no harm as well";
}

}  // namespace

std::string status_text(const HuntStatus& status) {
  std::string text;
  if (status.stage != HuntStage::kHunting) text += fmt::format("{}, ", to_word(status.stage));
  text += fmt::format("{} ({}/s), {}", counted(status.schedules, "schedule"),
                      rate_text(status.schedules, status.seconds),
                      counted(status.interleavings, "interleaving"));
  if (!status.failures.empty()) text += ", " + failures_in_line(status.failures);
  if (!status.strategy.empty()) text += ", " + status.strategy;
  if (status.seconds_left)
    text += fmt::format(", {:.0f} s left", std::max(*status.seconds_left, 0.0));
  return text;
}

std::string failure_line(const Failure& failure) {
  std::string text = printable(failure.detail);
  if (!says_its_kind(failure.kind)) text = fmt::format("{}: {}", to_word(failure.kind), text);
  if (failure.kind == FailureKind::kDeadlock) return text;
  if (failure.at) text += ", at " + location_text(*failure.at);
  if (!failure.thread.empty()) text += ", thread " + failure.thread;
  return text;
}

std::string coverage_text(const PairCoverage& coverage) {
  return fmt::format("{} of {} pairs of write and read seen, {} impossible, {} open",
                     with_commas(coverage.seen),
                     with_commas(coverage.seen + coverage.impossible + coverage.open),
                     with_commas(coverage.impossible), with_commas(coverage.open));
}

std::string figures_text(const HuntResult& result) {
  // A search that starts from a given schedule does not count them.
  const std::string interleavings =
      result.interleavings == 0 ? ""
                                : counted(result.interleavings, "distinct interleaving") + ", ";
  std::string text =
      fmt::format("{}, {}{} ({}/s), strategy {}, seed {}", counted(result.schedules, "schedule"),
                  interleavings, seconds_text(result.seconds),
                  rate_text(result.schedules, result.seconds), result.strategy, result.seed);
  if (result.unresolved != 0)
    text += fmt::format(", {} unresolved", with_commas(result.unresolved));
  if (result.coverage) text += "\n  " + coverage_text(*result.coverage);
  return text;
}

std::string always_fails_text(const HuntResult& result) {
  return fmt::format(
      "fails under every one of the {} tried, also without any preemption: probably not a matter "
      "of "
      "scheduling",
      counted(result.always_fails, "schedule"));
}

std::string confidence_text(const HuntResult& result) {
  switch (confidence_in(result)) {
    case Confidence::kFull:
      return "";
    case Confidence::kFew:
      return "only " + counted(result.schedules, "schedule");
    case Confidence::kUnresolved:
      break;
  }
  return fmt::format("{} of {} could not be judged", with_commas(result.unresolved),
                     counted(result.schedules, "schedule"));
}

std::string headline(const HuntResult& result) {
  const char* interrupted = result.interrupted_by != 0 ? " (interrupted)" : "";
  if (result.looked_for_passing)
    return result.passing ? fmt::format("found a passing schedule: recording {}, {}",
                                        *result.passing, result.passing_distance.value_or(""))
                          : fmt::format("unresolved: no passing schedule in {}{}",
                                        counted(result.schedules, "schedule"), interrupted);
  switch (outcome_of(result)) {
    case Outcome::kFail: {
      if (result.failures.size() > 1) {
        const std::uint64_t runs =
            std::transform_reduce(result.failures.begin(), result.failures.end(), std::uint64_t{0},
                                  std::plus<>(), [](const FoundFailure& one) { return one.count; });
        return fmt::format("found: {} different failures in {}{}",
                           with_commas(result.failures.size()), counted(runs, "failing run"),
                           interrupted);
      }
      const Failure& failure = result.failures.front().failure;
      return fmt::format("found ({}): {}{}", to_word(failure.kind), printable(failure.detail),
                         interrupted);
    }
    case Outcome::kUnresolved:
      return fmt::format("unresolved: none of {} could be judged{}",
                         counted(result.schedules, "schedule"), interrupted);
    default:
      break;
  }
  if (result.single_threaded)
    return fmt::format("not found: single-threaded: {}", counted(result.schedules, "run"));
  if (result.conclusion) return fmt::format("not found: {}", *result.conclusion);
  return fmt::format("not found: no failure in {}{}", counted(result.schedules, "schedule"),
                     interrupted);
}

std::string hunt_text(const HuntResult& result, const LastWords& words) {
  if (!result.failures.empty()) return found_text(result, words);
  std::string text = fmt::format("  {}\n", figures_text(result));
  if (result.looked_for_passing) return text;
  if (const std::string advice = hint(result); !advice.empty())
    text += fmt::format("hint: {}\n", advice);
  return text;
}

}  // namespace clew
