// Results of isolations to report, and what a report says whatever its line breaks.
#ifndef CLEW_HOST_REPORT_ISOLATE_REPORT_TEST_UTIL_H_
#define CLEW_HOST_REPORT_ISOLATE_REPORT_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "host/isolate/isolate_result.h"

namespace clew {

inline Location line(std::uint32_t number, std::string function) {
  return {"/a/queue.cc", number, std::move(function)};
}

inline Standpoint standpoint(std::string thread, std::uint32_t number,
                             const std::string& function) {
  Standpoint point;
  point.thread = std::move(thread);
  point.at = line(number, function);
  point.stack = {{function, "/a/queue.cc", number, 1, "queue", 0x10},
                 {"work(void*)", "/a/queue.cc", 90, 1, "queue", 0x20}};
  return point;
}

inline EventInfo event(std::uint64_t clock, std::string thread, std::uint32_t number,
                       abi::StepKind kind, std::string variable) {
  return {clock,  std::move(thread),   line(number, "f()"), kind,
          0x4000, std::move(variable), LockStep::kNone,     0};
}

// Figure 6 of Choi and Zeller 2002.
inline IsolateResult queue_result() {
  IsolateResult result;
  result.failure = {FailureKind::kExit, "exited with status 1", "", {}};
  result.original = 2;
  result.original_preemptions = 5;
  result.deltas = 24;
  result.deltas_left = 1;
  IsolatedSwitch one;
  one.index = 4;
  one.fail_clock = 10;
  one.pass_clock = 11;
  one.fail_to = one.pass_to = "T0.3";
  one.fail_from = standpoint("T0.2", 47, "dequeue()");
  one.fail_from.step = event(10, "T0.2", 47, abi::StepKind::kWrite, "head");
  one.fail_next = standpoint("T0.3", 26, "enqueue(int)");
  one.pass_from = standpoint("T0.2", 50, "dequeue()");
  one.pass_next = standpoint("T0.3", 26, "enqueue(int)");
  result.switches = {one};
  result.pair = CriticalPair{event(11, "T0.3", 28, abi::StepKind::kRead, "head"),
                             event(15, "T0.2", 47, abi::StepKind::kWrite, "head"),
                             {},
                             {},
                             CriticalPair::Swapped::kPasses,
                             true,
                             {12, 0},
                             {0, 30}};
  result.failing_course = {{event(9, "T0.2", 44, abi::StepKind::kWrite, "tail"), false, false},
                           {event(11, "T0.3", 28, abi::StepKind::kRead, "head"), true, true},
                           {event(15, "T0.2", 47, abi::StepKind::kWrite, "head"), true, true}};
  result.passing_course = {{event(10, "T0.2", 47, abi::StepKind::kWrite, "head"), true, false},
                           {event(12, "T0.3", 28, abi::StepKind::kRead, "head"), true, true}};
  result.preemption_count = 5;
  result.failing = 7;
  result.passing = 8;
  result.minimal = true;
  result.tests = 4;
  result.cost_runs = 2.25;
  result.seconds = 0.31;
  return result;
}

inline IsolateResult simplified_result() {
  IsolateResult result = queue_result();
  result.simplified = result.fewest = true;
  PreemptionInfo preemption;
  preemption.clock = 10;
  preemption.to = "T0.3";
  preemption.from = result.switches[0].fail_from;
  preemption.next = result.switches[0].fail_next;
  SwitchWindow& window = preemption.window.emplace();
  window.first = event(0, "T0.2", 43, abi::StepKind::kRead, "tail");
  window.last = event(0, "T0.2", 47, abi::StepKind::kWrite, "head");
  window.places = 3;
  window.gapless = window.ends_before = window.ends_after = window.whole_course = true;
  window.others = 17;
  result.simplest = 1;
  result.preemptions = {preemption};
  result.preemption_count = 1;
  return result;
}

// Sentences wherever they are broken into lines, and threads by their ids also where they are
// mentioned first: all of these run work().
inline std::string flat(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  constexpr std::string_view kRole = "work (";
  for (std::size_t at = result.find(kRole); at != std::string::npos; at = result.find(kRole, at)) {
    if (const std::size_t end = result.find(')', at); end != std::string::npos)
      result.erase(end, 1);
    result.erase(at, kRole.size());
  }
  return result;
}

#define EXPECT_SAYS(text, part) EXPECT_NE(flat(text).find(part), std::string::npos) << (text)
#define EXPECT_SILENT(text, part) EXPECT_EQ(flat(text).find(part), std::string::npos) << (text)

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ISOLATE_REPORT_TEST_UTIL_H_
