#include "host/report/enumerate_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "host/report/event_words.h"
#include "host/report/hunt_text.h"
#include "host/report/pinpoint_text.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kReadsShown = 40;
constexpr std::size_t kThreadsShown = 4;
constexpr std::size_t kCombinationsShown = 8;

std::string line_of(const Location& at) {
  return at.line == 0
             ? "an unknown line"
             : fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

// " at main.c:12"; nothing if it is not known, as in code without debug information
std::string at_line(const Location& at) { return at.line == 0 ? "" : " at " + line_of(at); }

// "T0.1, T0.2 and 3 more"
std::string threads_text(const std::set<std::string>& threads) {
  std::vector<std::string> some;
  for (const std::string& thread : threads)
    if (some.size() < kThreadsShown) some.push_back(thread);
  const std::size_t more = threads.size() - some.size();
  return more == 0 ? fmt::format("{}", fmt::join(some, ", "))
                   : fmt::format("{} and {} more", fmt::join(some, ", "), more);
}

// Terms of one line of source that have the same write by source and came to the same.
struct Folded {
  const TermInfo* first = nullptr;
  std::set<std::string> writers;
  std::uint64_t pairs = 0;
  // The share of failing runs among those that show a pair. A run may show several: they do not add up.
  double least_share = 1;
  double largest_share = 0;
  std::optional<std::uint64_t> passing;
  std::optional<std::uint64_t> failing;
};
enum class Course : std::uint8_t { kFails, kSometimes, kPasses, kOpen, kImpossible };

Course course_of(const TermInfo& term) {
  if (term.status == TermStatus::kOpen) return Course::kOpen;
  if (term.status == TermStatus::kImpossible) return Course::kImpossible;
  if (term.failing_runs == 0) return Course::kPasses;
  return term.passing_runs == 0 ? Course::kFails : Course::kSometimes;
}

using FoldKey = std::tuple<Course, bool, std::string, std::uint32_t, bool>;
FoldKey fold_key(const TermInfo& term) {
  return {course_of(term), term.write.has_value(), term.write ? term.write->at.file : "",
          term.write ? term.write->at.line : 0, term.local};
}

struct ReadGroup {
  const ReadInfo* first = nullptr;
  std::set<std::string> readers;
  std::uint64_t instances = 0;
  std::map<FoldKey, Folded> terms;
};

// "3 %", "0.02 %"
std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.001 ? 2 : share < 0.1 ? 1 : 0);
}

// Of a failing course: the runs that fail, of those that show it.
std::string failing_runs(Course course, const Folded& folded) {
  const TermInfo& term = *folded.first;
  const std::uint64_t runs = term.passing_runs + term.failing_runs;
  if (course == Course::kFails) {
    if (folded.pairs > 1)
      return fmt::format("{} pairs, each fails in all runs that show it", folded.pairs);
    return runs == 1 ? "fails in the run that shows it"
                     : fmt::format("fails in all {} runs that show it", with_commas(runs));
  }
  if (folded.pairs == 1)
    return fmt::format("fails in {} of {} runs", with_commas(term.failing_runs), with_commas(runs));
  const std::string least = percent(folded.least_share);
  const std::string largest = percent(folded.largest_share);
  return fmt::format("{} pairs, each fails in {} of the runs that show it", folded.pairs,
                     least == largest ? least : fmt::format("{} to {}", least, largest));
}

std::string came_to(Course course, const Folded& folded) {
  const std::string pairs = folded.pairs > 1 ? fmt::format("{} pairs, ", folded.pairs) : "";
  switch (course) {
    case Course::kFails:
    case Course::kSometimes:
      return failing_runs(course, folded) +
             (folded.failing ? fmt::format(", recording {}", *folded.failing) : "");
    case Course::kPasses:
      return fmt::format("{}passes{}", pairs,
                         folded.passing ? fmt::format(", recording {}", *folded.passing) : "");
    case Course::kOpen:
      return fmt::format("{}open: not seen, not shown to be impossible", pairs);
    case Course::kImpossible:
      return fmt::format("{}not possible: {}", pairs, reason_text(folded.first->reason));
  }
  return "";
}

std::string term_line(const FoldKey& key, const Folded& folded) {
  const TermInfo& term = *folded.first;
  std::string what = "the initial value";
  if (term.write) {
    what = "the write at " + line_of(term.write->at);
    const std::string source = source_line(term.write->at);
    if (!source.empty()) what += fmt::format(" `{}`", cut_in_middle(source, 40));
    what += term.local ? " by the same thread" : " by " + threads_text(folded.writers);
  }
  return wrapped(fmt::format("{}: {}", what, came_to(std::get<0>(key), folded)), "    ");
}

// What is read, in words if it is an object of the runtime's own.
std::string subject_of(const ReadInfo& read, std::string_view without_name) {
  if (read.variable.empty()) return std::string(without_name);
  const std::string_view words = own_object_words(read.variable);
  return words.empty() ? read.variable : std::string(words);
}

std::string group_text(const ReadGroup& group) {
  const ReadInfo& read = *group.first;
  std::string text = fmt::format("\n  {} at {} ({})", subject_of(read, "read"),
                                 location_text(read.read.at), threads_text(group.readers));
  const std::string source = source_line(read.read.at);
  if (!source.empty()) text += fmt::format(" `{}`", cut_in_middle(source, 40));
  text += " sees\n";
  for (const auto& [key, folded] : group.terms) text += term_line(key, folded);
  return text;
}

std::vector<ReadGroup> groups_of(const EnumerateResult& result) {
  std::map<std::tuple<std::string, std::uint32_t, std::string>, ReadGroup> groups;
  for (const ReadInfo& read : result.reads) {
    ReadGroup& group = groups[{read.read.at.file, read.read.at.line, read.variable}];
    if (group.first == nullptr) group.first = &read;
    group.readers.insert(read.read.thread);
    ++group.instances;
    for (const TermInfo& term : read.terms) {
      Folded& folded = group.terms[fold_key(term)];
      if (folded.first == nullptr) folded.first = &term;
      if (term.write) folded.writers.insert(term.write->thread);
      ++folded.pairs;
      if (const std::uint64_t runs = term.passing_runs + term.failing_runs; runs > 0) {
        const double share = static_cast<double>(term.failing_runs) / static_cast<double>(runs);
        folded.least_share = std::min(folded.least_share, share);
        folded.largest_share = std::max(folded.largest_share, share);
      }
      if (!folded.passing) folded.passing = term.passing;
      if (!folded.failing) folded.failing = term.failing;
    }
  }
  std::vector<ReadGroup> list;
  for (auto& [key, group] : groups) list.push_back(std::move(group));
  // Those that fail with one write and not with another first, then those with more to see.
  const auto rank = [](const ReadGroup& group) {
    const Course best =
        group.terms.empty() ? Course::kImpossible : std::get<0>(group.terms.begin()->first);
    return std::pair(best == Course::kFails ? 0 : 1, -static_cast<int>(group.terms.size()));
  };
  std::ranges::sort(list, [&](const ReadGroup& a, const ReadGroup& b) {
    return std::tuple(rank(a), a.first->read.at.file, a.first->read.at.line) <
           std::tuple(rank(b), b.first->read.at.file, b.first->read.at.line);
  });
  return list;
}

// "12 of 14 combinations of two reads seen, 1 impossible, 1 open"
std::string combined_text(const EnumerateResult& result) {
  const PairCoverage& coverage = result.combined;
  return fmt::format("{} of {} combinations of {} reads seen, {} impossible, {} open",
                     with_commas(coverage.seen),
                     with_commas(coverage.seen + coverage.impossible + coverage.open),
                     result.together == 2 ? "two" : "three", with_commas(coverage.impossible),
                     with_commas(coverage.open));
}

std::string combinations_text(const EnumerateResult& result) {
  if (result.together < 2) return "";
  std::string text =
      fmt::format("\n  {}{}\n", combined_text(result),
                  result.combinations_cut ? "; there are more that were not tried" : "");
  std::size_t shown = 0;
  for (const CombinationInfo& combination : result.failing_combinations) {
    if (++shown > kCombinationsShown) break;
    std::vector<std::string> parts;
    for (const auto& [read, term] : combination.terms) {
      const ReadInfo& info = result.reads[read];
      const TermInfo& of = info.terms[term];
      parts.push_back(fmt::format(
          "{} at {} ({}) sees {}", subject_of(info, "the read"), line_of(info.read.at),
          info.read.thread,
          of.write ? fmt::format("the write at {} by {}", line_of(of.write->at), of.write->thread)
                   : "the initial value"));
    }
    text += wrapped(
        fmt::format("fails in {} together{} (each alone passes in some run): {}",
                    combination.failing_runs == 1
                        ? "the run that shows these"
                        : fmt::format("all {} runs that show these", combination.failing_runs),
                    combination.failing ? fmt::format(", recording {}", *combination.failing) : "",
                    fmt::join(parts, "; ")),
        "    ");
  }
  if (result.failing_combinations.size() > kCombinationsShown)
    text += fmt::format("    and {} more (--json has all)\n",
                        result.failing_combinations.size() - kCombinationsShown);
  return text;
}

bool has_later_instances(const EnumerateResult& result) {
  const auto is_later = [&](const EventPlace& event) {
    return event.instance >= result.later_instances;
  };
  return std::ranges::any_of(result.reads, [&](const ReadInfo& read) {
    return is_later(read.read) || std::ranges::any_of(read.terms, [&](const TermInfo& term) {
             return term.write && is_later(*term.write);
           });
  });
}

std::string figures(const EnumerateResult& result) {
  std::string text =
      fmt::format("\n  {}, {:.1f} s, seed {}; the last pair that was new came in run {}\n",
                  counted(result.runs, "run"), result.hunt.seconds, result.hunt.seed,
                  with_commas(result.last_new_run));
  const bool shown_otherwise = result.untried.empty() && result.seen_otherwise > 0;
  if (result.exhausted && shown_otherwise) {
    text += wrapped(
        fmt::format(
            "every schedule was executed that the systematic search knows of, but {} by other "
            "runs alone: there may be more",
            result.seen_otherwise == 1 ? "1 pair was seen"
                                       : with_commas(result.seen_otherwise) + " pairs were seen"),
        "  ");
  } else if (result.exhausted) {
    text += "  every schedule was executed, up to equivalence: nothing else can be seen\n";
    if (!result.untried.empty())
      text += wrapped("under sequential consistency, and but for what random runs alone tried: " +
                          result.untried,
                      "    ");
  } else {
    text +=
        "  not every schedule was executed: there may be writes and reads that no run came to\n";
  }
  if (result.not_looked_at > 0)
    text += fmt::format("  {} of them too long for what they read to be kept\n",
                        with_commas(result.not_looked_at));
  if (result.too_late > 0)
    text += fmt::format("  {} of them ended when the time was up, and were not looked at\n",
                        with_commas(result.too_late));
  if (result.is_cut) text += "  not all pairs were noted: there are too many\n";
  if (has_later_instances(result))
    text += fmt::format(
        "  where a thread comes to a place more than {}, the later times count as one "
        "(--instances)\n",
        result.later_instances == 2 ? "once" : with_commas(result.later_instances - 1) + " times");
  if (result.without_choice == 1)
    text += "  1 other read sees one write alone in all runs, and is not listed\n";
  else if (result.without_choice > 1)
    text += fmt::format("  {} other reads see one write alone in all runs, and are not listed\n",
                        with_commas(result.without_choice));
  return text;
}

std::string unexecuted_text(const EnumerateResult& result) {
  if (result.unexecuted.empty()) return "";
  std::string text =
      "\n  writes that were not executed in any run, once there was a second thread:\n";
  for (const EnumerateResult::Unexecuted& write : result.unexecuted)
    text += fmt::format("    {} at {} `{}`{}\n", write.variable, line_of(write.at),
                        cut_in_middle(source_line(write.at), 40),
                        write.by_text ? " (by the text of the line)" : "");
  return text;
}

// A failing and a passing run of one read, or of reads together.
std::string next_commands(const std::vector<ReadGroup>& groups, const EnumerateResult& result) {
  const auto commands = [](std::uint64_t failing, std::uint64_t passing) {
    return fmt::format("\n  clew explain {} {}\n  clew replay {}\n", failing, passing, failing);
  };
  for (const Course wanted : {Course::kFails, Course::kSometimes}) {
    for (const ReadGroup& group : groups) {
      std::optional<std::uint64_t> failing;
      std::optional<std::uint64_t> passing;
      for (const auto& [key, folded] : group.terms) {
        if (!failing && std::get<0>(key) == wanted) failing = folded.failing;
        if (!passing && std::get<0>(key) == Course::kPasses) passing = folded.passing;
      }
      if (failing && passing) return commands(*failing, *passing);
    }
    for (const CombinationInfo& combination : result.failing_combinations)
      if (wanted == Course::kFails && combination.failing && combination.passing)
        return commands(*combination.failing, *combination.passing);
  }
  return result.hunt.failing ? fmt::format("\n  clew replay {}\n", *result.hunt.failing) : "";
}

}  // namespace

namespace {

std::string order_text(const ReasonPlace& reason) {
  using Kind = OrderReason::Kind;
  const auto between = [&](const std::string& by) {
    return reason.overwritten
               ? fmt::format("overwritten at {}, ordered by {}", line_of(*reason.overwritten), by)
               : fmt::format("the write comes after the read, ordered by {}", by);
  };
  const auto before = [&](const std::string& what) {
    return reason.overwritten
               ? fmt::format("overwritten at {}: {} before", line_of(*reason.overwritten), what)
               : fmt::format("the write comes after the read: {} before", what);
  };
  switch (reason.kind) {
    case Kind::kSameThread:
      return between("the program itself");
    case Kind::kCreate:
      return between("the creation of a thread");
    case Kind::kJoin:
      return between("the join" + at_line(reason.at));
    case Kind::kBarrier:
      return between("the barrier" + at_line(reason.at));
    case Kind::kSection:
      return fmt::format(
          "overwritten at {} before the lock is released that the reader takes at {}",
          line_of(reason.at), reason.lock ? line_of(*reason.lock) : "");
    case Kind::kOwnWrite:
      return fmt::format("the reader writes it at {}, under the lock that it takes at {}",
                         line_of(reason.at), reason.lock ? line_of(*reason.lock) : "");
    case Kind::kSawFirst:
      return before(fmt::format("the read at {} sees the write at {}", line_of(reason.at),
                                reason.source ? line_of(*reason.source) : ""));
    case Kind::kWaitedFirst:
      return before(fmt::format("the wait at {} ends with the signal at {}", line_of(reason.at),
                                reason.source ? line_of(*reason.source) : ""));
    case Kind::kExhausted:
      return "no schedule shows it";
    case Kind::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string reason_text(const ReasonPlace& reason) {
  if (reason.runs == 0) return order_text(reason);
  return fmt::format("in all {} runs that have both {}{}", with_commas(reason.runs),
                     reason.one_reason ? "" : "it is hidden; in one of them: ", order_text(reason));
}

std::string enumerate_headline(const EnumerateResult& result) {
  std::string text = result.hunt.failures.empty() ? "no failure" : "failure";
  if (!result.hunt.failures.empty())
    text += ": " + failure_line(result.hunt.failures.front().failure);
  return text + "; " + coverage_text(result.coverage);
}

std::string enumerate_text(const EnumerateResult& result) {
  std::string text;
  const std::vector<ReadGroup> groups = groups_of(result);
  std::size_t shown = 0;
  for (const ReadGroup& group : groups) {
    if (shown++ == kReadsShown) {
      text += fmt::format("\n  and {} (--json has all)\n",
                          counted(groups.size() - kReadsShown, "more line"));
      break;
    }
    text += group_text(group);
  }
  return text + combinations_text(result) + unexecuted_text(result) + figures(result) +
         next_commands(groups, result);
}

}  // namespace clew
