#include "host/report/isolate_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "host/report/cause.h"
#include "host/report/isolate_report_test_util.h"

namespace clew {
namespace {

using abi::StepKind;

TEST(IsolateText, TheAnswer) {
  const IsolateResult result = queue_result();
  EXPECT_EQ(headline(result),
            "isolated: 1 thread switch makes the difference (4 tests, 24 differences)");
  EXPECT_EQ(exit_status_of(result), 0);
  EXPECT_EQ(outcome_of(result), Outcome::kPass);
  const std::string text = isolate_text(result);
  EXPECT_SAYS(text, "failure: exited with status 1");
  EXPECT_SAYS(text,
              "In the failing run, T0.2 is preempted before it writes `head` at queue.cc:47 (in f) "
              "by T0.3, which runs from queue.cc:26 (in enqueue). If T0.2 is preempted one step "
              "later, when it has written `head`, it passes.");
  EXPECT_SAYS(text,
              "In the failing run, T0.3 read `head` at queue.cc:28 (in f) before T0.2 wrote it at "
              "queue.cc:47 (in f). With just these two in the other order the program passes (run "
              "once). Of 42 runs of similar schedules, all 12 with this order fail, all 30 with "
              "the other order pass.");
  EXPECT_SAYS(text, "Switch at clock 10 in the failing run, 11 in the passing run");
  EXPECT_SAYS(text, "#0 dequeue at /a/queue.cc:47 #1 work at /a/queue.cc:90");
  EXPECT_SAYS(text, "#0 enqueue at /a/queue.cc:26");
  EXPECT_SAYS(text, "passes: T0.2 is preempted before queue.cc:50");
  EXPECT_SAYS(text, "24 differences between the schedules, 1 left");
  EXPECT_SAYS(text, "4 tests, cost: about 2.2 runs of the program, 0.3 s");
  EXPECT_SAYS(text, "failing schedule: 5 preemptions");
  EXPECT_SAYS(text, "clew where 7 10");
  EXPECT_SAYS(text, "clew show 7; clew show 8");
  EXPECT_SAYS(text, "clew replay 7 --gdb");
  EXPECT_SAYS(text, "replay the passing run: clew replay 8");
  EXPECT_TRUE(text.ends_with("replay the failing run: clew replay 7\n")) << text;
  EXPECT_SILENT(text, "not confirmed");
}

TEST(IsolateText, ThreadsAreIntroducedOnceAndWordsExplained) {
  const auto one_line = [](const IsolateResult& result) {
    std::string text = isolate_text(result);
    std::ranges::replace(text, '\n', ' ');
    return text.substr(0, text.find("Switch at"));
  };
  const auto times = [](const std::string& text, const std::string& what) {
    int count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++count;
    return count;
  };
  IsolateResult result = queue_result();
  std::string text = one_line(result);
  EXPECT_EQ(times(text, "(T0.2)"), 1) << text;
  EXPECT_EQ(times(text, "work (T0.2) is preempted"), 1) << text;
  EXPECT_EQ(times(text, "(T0.3)"), 1) << text;
  EXPECT_EQ(times(text, "(T0 is the main thread, T0.1 the first"), 1) << text;
  const auto rename = [&result](const char* function) {
    IsolatedSwitch& one = result.switches[0];
    for (Standpoint* side : {&one.fail_from, &*one.pass_from}) {
      side->stack.back().function = function;
      side->stack.back().start_line = 5;
    }
  };
  rename("main::$_0::operator()() const");
  text = one_line(result);
  EXPECT_EQ(times(text, "lambda at queue.cc:5 (T0.2)"), 1) << text;
  // Too long for a sentence.
  rename("a_very_long_function_name_indeed::of_a_namespace(int)");
  text = one_line(result);
  EXPECT_EQ(times(text, "(T0.2)"), 0) << text;
  EXPECT_EQ(times(text, "; T0.2 runs"), 1) << text;
}

TEST(IsolateText, LinesFitTheScreen) {
  const std::string text = isolate_text(simplified_result());
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(IsolateText, MarkedSource) {
  const auto path = std::filesystem::temp_directory_path() / "clew_isolate_report_test.cc";
  std::ofstream(path) << "one\ntwo\nthree\n";
  IsolateResult result = queue_result();
  result.switches[0].fail_from.at = Location{path.string(), 2, "f()"};
  const std::string text = isolate_text(result);
  EXPECT_NE(text.find("  >     2 | two\n"), std::string::npos) << text;
  std::filesystem::remove(path);
}

TEST(IsolateText, Windows) {
  IsolateResult result = simplified_result();
  SwitchWindow& window = *result.preemptions[0].window;
  EXPECT_SAYS(
      isolate_text(result),
      "A preemption of T0.2 leads to the failure at each of 3 places in a row, the first "
      "before it reads `tail` at queue.cc:43 (in f), the last before it writes `head` at "
      "queue.cc:47 (in f). At the 17 other places in its course, it does not (all were tried).");
  window.gapless = window.whole_course = false;
  EXPECT_SAYS(
      isolate_text(result),
      "leads to the failure at all 3 places that were tried in one stretch, the first before");
  EXPECT_SAYS(isolate_text(result),
              "At 17 other places in its course that were tried, it does not.");
  EXPECT_SILENT(isolate_text(result), "all were tried");
  window.others_failing = 4;
  window.others_first = event(0, "T0.2", 60, StepKind::kRead, "head");
  window.others_last = event(0, "T0.2", 61, StepKind::kRead, "head");
  EXPECT_SAYS(isolate_text(result),
              "At 4 of 17 other places in its course that were tried it does so, too, the first "
              "before it reads `head` at queue.cc:60 (in f), the last before it reads `head` at "
              "queue.cc:61");
  window.places = 1;
  EXPECT_SAYS(isolate_text(result),
              "A preemption of T0.2 at just this place leads to the failure; one step earlier or "
              "later it does not.");
  window.ends_after = false;
  EXPECT_SAYS(isolate_text(result), "one step earlier it does not.");
  EXPECT_SILENT(isolate_text(result), "or later");
  window = SwitchWindow{};
  window.places = 1;
  EXPECT_SILENT(isolate_text(result), "at just this place");
}

TEST(IsolateText, FewestIsSaidOnlyOfTheScheduleThatIsShown) {
  IsolateResult result = simplified_result();
  EXPECT_SAYS(isolate_text(result),
              "1 preemption (simplified from 5 preemptions; none with fewer fails)");
  result.fewest = false;
  EXPECT_SILENT(isolate_text(result), "none with fewer");
  // Narrowing adds the switches of the passing side to a schedule that fails without them.
  result.fewest = true;
  result.simplest = 0;
  EXPECT_SILENT(isolate_text(result), "none with fewer");
  EXPECT_SAYS(isolate_text(result), "without any it fails, too)");
}

TEST(IsolateText, SeveralPreemptionsAreListed) {
  IsolateResult result = simplified_result();
  result.preemptions.push_back(result.preemptions.front());
  result.preemptions[1].clock = 14;
  result.preemption_count = 2;
  const std::string text = isolate_text(result);
  EXPECT_SAYS(text, "The failing schedule has 2 preemptions clock 10: T0.2 is preempted");
  EXPECT_SAYS(text, "clock 14: T0.2");
}

TEST(IsolateText, FailsWithoutAnyPreemption) {
  IsolateResult result = simplified_result();
  result.preemptions.clear();
  result.preemption_count = 0;
  result.switches[0].fail_from = {};
  result.switches[0].fail_next.reset();
  const std::string text = isolate_text(result);
  EXPECT_SAYS(text, "In the passing run, T0.2 is preempted before queue.cc:50");
  EXPECT_SAYS(text, "Without this it fails.");
  EXPECT_SAYS(text, "The failing run needs no preemption");
  EXPECT_SAYS(text, "fails: without this");
  EXPECT_SILENT(text, "clew where");
}

TEST(IsolateText, HowFarThePassingSwitchIs) {
  IsolateResult result = queue_result();
  IsolatedSwitch& one = result.switches[0];
  one.pass_clock = 1'013;
  EXPECT_SAYS(isolate_text(result), "If T0.2 is preempted 1,003 steps later, before");
  one.pass_clock = 9;
  EXPECT_SAYS(isolate_text(result), "If T0.2 is preempted one step earlier, before");
  one.pass_from->thread = "T0.1";
  EXPECT_SAYS(isolate_text(result),
              "If instead T0.1 is preempted, one step earlier, before queue.cc:50");
  one.pass_next->thread = "T0.4";
  EXPECT_SAYS(isolate_text(result), "T0.1 is preempted, one step earlier by T0.4, before");
  one.pass_clock.reset();
  one.pass_from.reset();
  EXPECT_SAYS(isolate_text(result), "Without this switch it passes.");
  EXPECT_SAYS(isolate_text(result), "passes: without this");
}

TEST(IsolateText, ASwitchWithoutEffect) {
  IsolateResult result = queue_result();
  result.switches[0].pass_next.reset();
  EXPECT_SAYS(isolate_text(result), "If the switch comes one step later, it passes.");
  EXPECT_SAYS(isolate_text(result), "passes: T0.2 runs on at clock 11");
  result.switches[0].fail_next.reset();
  EXPECT_SAYS(isolate_text(result), "In the failing run, T0.2 runs on at clock 10.");
}

// Two accesses on one line, or the same one in another round of a loop.
TEST(IsolateText, BothSidesAreToldApart) {
  IsolateResult result = queue_result();
  IsolatedSwitch& one = result.switches[0];
  one.pass_from = one.fail_from;
  one.fail_from.step->time = 1;
  one.pass_from->step->time = 3;
  EXPECT_SAYS(isolate_text(result),
              "passes: T0.2 is preempted before it writes `head` at "
              "queue.cc:47 (in f), its 3rd time there, by T0.3");
  one.pass_from->step->time = 1;
  EXPECT_SAYS(isolate_text(result), "passes: the same one step later");
}

// A step inside a library is told by the line that calls it.
TEST(IsolateText, StepsInsideLibraries) {
  IsolateResult result = queue_result();
  EventInfo& step = *result.switches[0].fail_from.step;
  step.at = Location{"/usr/include/c++/12/bits/stl_vector.h", 1123, "operator[]"};
  EXPECT_SAYS(isolate_text(result),
              "is preempted before it writes `head` at queue.cc:47 (in dequeue)");
  step.variable.clear();
  EXPECT_SAYS(isolate_text(result),
              "is preempted before a step inside the call at queue.cc:47 (in dequeue)");
}

TEST(IsolateText, APassingRunThatHidesTheFailure) {
  IsolateResult result = queue_result();
  result.failure.at = line(70, "check()");
  EXPECT_SILENT(isolate_text(result), "hide");
  result.reaches = true;
  EXPECT_SILENT(isolate_text(result), "hide");
  result.reaches = false;
  EXPECT_SAYS(isolate_text(result),
              "The passing run does not come to where the failing one fails (queue.cc:70 (in "
              "check)): it may hide the failure rather than avoid it.");
}

TEST(IsolateText, APreemptionByAThreadThatBlocks) {
  IsolateResult result = queue_result();
  result.switches[0].fail_next->blocks = true;
  EXPECT_SAYS(isolate_text(result), "at queue.cc:47 (in f) by T0.3, which blocks at once.");
}

TEST(IsolateText, AnotherTarget) {
  IsolateResult result = queue_result();
  IsolatedSwitch& one = result.switches[0];
  one.kind = IsolatedSwitch::Kind::kTarget;
  one.pass_clock = one.fail_clock;
  one.pass_next = standpoint("T0.1", 30, "enqueue(int)");
  one.pass_next->name = "writer\x1b";
  EXPECT_SAYS(isolate_text(result), "If writer? (T0.1) runs there instead, it passes.");
}

TEST(IsolateText, Choices) {
  IsolateResult result = queue_result();
  IsolatedSwitch& one = result.switches[0];
  one.kind = IsolatedSwitch::Kind::kChoice;
  one.choice = Choice{{}, 0, abi::ChoiceKind::kTimeout};
  EXPECT_EQ(headline(result),
            "isolated: 1 scheduling choice makes the difference (4 tests, 24 differences)");
  EXPECT_SAYS(isolate_text(result),
              "a timed wait of T0.2 at queue.cc:47 (in dequeue) times "
              "out. Otherwise it passes.");
  EXPECT_SAYS(isolate_text(result), "Choice (timeout) at clock 10");
  for (const abi::ChoiceKind kind : {abi::ChoiceKind::kPick, abi::ChoiceKind::kWake}) {
    one.choice = Choice{{}, 0, kind, ThreadId().child(9)};
    EXPECT_SAYS(failing_side(one), "T0.9 ");
  }
  one.in_failing = false;
  one.choice = Choice{{}, 0, abi::ChoiceKind::kSpurious};
  EXPECT_SAYS(isolate_text(result), "In the passing run, a condition wait of T0.2");
  EXPECT_SAYS(isolate_text(result), "fails: without this");
}

TEST(IsolateText, WhoWaitsForWhom) {
  IsolateResult result = queue_result();
  const auto wait = [](std::string thread, std::uint64_t object, std::string holder) {
    WaitInfo info;
    info.thread = std::move(thread);
    info.at = line(17, "f()");
    info.kind = abi::WaitKind::kMutex;
    info.object = object;
    info.variable = object == 1 ? "a" : "b";
    info.holder = std::move(holder);
    return info;
  };
  WaitInfo join;
  join.thread = "T0";
  join.at = line(90, "main");
  join.kind = abi::WaitKind::kJoin;
  join.ending = "T0.1";
  result.waits = {join, wait("T0.1", 1, "T0.2"), wait("T0.2", 2, "T0.1")};
  result.waits[2].taken_at = line(12, "g()");
  const std::string text = isolate_text(result);
  EXPECT_SAYS(text, "2 threads wait for each other: T0.1 waits for mutex a");
  EXPECT_SAYS(text,
              "held by T0.1 since queue.cc:12 (in g), at queue.cc:17 (in f). Besides, T0 waits");
  result.waits = {join, wait("T0.1", 1, "")};
  EXPECT_SILENT(isolate_text(result), "each other");
}

// An attempt that has to wait is not told as if the thread had the lock.
TEST(IsolateText, BlockedLocks) {
  IsolateResult result = queue_result();
  result.pair->second.kind = StepKind::kLock;
  result.pair->second.lock = LockStep::kBlocked;
  EXPECT_SAYS(isolate_text(result), "before T0.2 tried to lock it at");
  result.pair->second.lock = LockStep::kUnclear;
  EXPECT_SAYS(isolate_text(result), "before T0.2 came to lock it at");
  result.pair->second.lock = LockStep::kObtained;
  EXPECT_SAYS(isolate_text(result), "before T0.2 locked it at");
}

TEST(IsolateText, ChoicesBesideTheAnswer) {
  IsolateResult result = queue_result();
  result.choices = {{Choice{{30}, 0, abi::ChoiceKind::kTimeout}, standpoint("T0.3", 60, "poll()")},
                    {Choice{{40}, 0, abi::ChoiceKind::kPick}, standpoint("T0.1", 61, "poll()")}};
  EXPECT_SAYS(isolate_text(result),
              "In the failing run, also a timed wait of T0.3 at queue.cc:60 (in poll) times out "
              "(clock 30).");
  EXPECT_SILENT(isolate_text(result), "queue.cc:61");
}

TEST(IsolateText, SeveralSwitches) {
  IsolateResult result = queue_result();
  for (int i = 0; i < 12; ++i) result.switches.push_back(result.switches.front());
  result.switches.back().kind = IsolatedSwitch::Kind::kChoice;
  const std::string text = isolate_text(result);
  EXPECT_SAYS(headline(result), "12 thread switches and 1 other choice together make");
  EXPECT_SAYS(text, "differs from the passing one in 13 ways");
  EXPECT_SAYS(text, "left out, this failure does not happen (checked by running)");
  EXPECT_SAYS(text, "3 more, --json has them all");
  result.minimal = false;
  EXPECT_SILENT(isolate_text(result), "left out, this failure");
  EXPECT_SAYS(isolate_text(result), "not checked: whether");
}

TEST(IsolateText, Orders) {
  IsolateResult result = queue_result();
  CriticalPair& pair = *result.pair;
  pair.alone = false;
  EXPECT_SAYS(isolate_text(result),
              "In a run with these two in the other order the program passes.");
  EXPECT_SILENT(isolate_text(result), "just these two");
  pair.swapped = CriticalPair::Swapped::kFails;
  EXPECT_SAYS(isolate_text(result), "swapped in the failing run, it fails all the same.");
  pair.swapped = CriticalPair::Swapped::kNotTried;
  EXPECT_SAYS(isolate_text(result), "with just these two swapped could not be tested.");
  EXPECT_SILENT(isolate_text(result), "in the other order the program passes");
  pair.other_order = {3, 27};
  EXPECT_SAYS(isolate_text(result),
              "all 12 with this order fail, 3 of 30 with the other order fail. So there are other "
              "ways to fail.");
  pair.this_order = {0, 12};
  EXPECT_SAYS(isolate_text(result), "all 12 with this order pass, 3 of 30");
  EXPECT_SAYS(isolate_text(result),
              "So this order is neither enough for the failure nor needed for it.");
  pair.this_order = pair.other_order = {};
  EXPECT_SILENT(isolate_text(result), "similar schedules");
  pair.second.clock = 0;
  EXPECT_SAYS(isolate_text(result), "and the run ends before T0.2 gets to write it at queue.cc:47");
  pair.first.variable.clear();
  EXPECT_SAYS(isolate_text(result), "T0.3 read memory at 0x4000 at");
  pair.first.object = 0;
  pair.first.kind = StepKind::kCreate;
  EXPECT_SAYS(isolate_text(result), "T0.3 created a thread at");
}

TEST(IsolateText, AlwaysFails) {
  IsolateResult result = queue_result();
  result.switches.clear();
  result.pair.reset();
  result.failing.reset();
  result.passing.reset();
  result.always_fails = true;
  EXPECT_EQ(exit_status_of(result), 122);
  EXPECT_EQ(outcome_of(result), Outcome::kUnresolved);
  EXPECT_SAYS(headline(result), "not isolated: it fails under every schedule that was tried");
  const std::string text = isolate_text(result);
  EXPECT_SAYS(
      text, "also without any preemption. Either the failure does not depend on the schedule, or");
  EXPECT_SAYS(text, "look at it: clew show 2");
  EXPECT_SAYS(text, "clew isolate 2 PASSING");
  EXPECT_SAYS(text, "failing schedule: 5 preemptions");
  result.complete = false;
  EXPECT_SILENT(isolate_text(result), "also without any preemption");
}

TEST(IsolateText, EndedEarly) {
  IsolateResult result = queue_result();
  result.complete = result.minimal = false;
  result.deltas = 3842577240;
  EXPECT_EQ(headline(result),
            "narrowed: 1 thread switch left (4 tests, 3,842,577,240 differences, stopped at a "
            "limit)");
  EXPECT_EQ(exit_status_of(result), 122);
  EXPECT_SAYS(isolate_text(result), "The isolation ended early.");
  EXPECT_SAYS(isolate_text(result), "hint: more --time or --tests");
  result.minimal = true;  // the answer was there, only the explanation is not complete
  EXPECT_EQ(exit_status_of(result), 0);
  EXPECT_SAYS(isolate_text(result), "stopped at a limit before everything about it");
  result.interrupted_by = 2;
  EXPECT_SAYS(headline(result), "interrupted)");
  EXPECT_EQ(exit_status_of(result), 130);
  result = {};
  result.complete = false;
  EXPECT_EQ(exit_status_of(result), 122);
  EXPECT_SAYS(headline(result), "not isolated: nothing was found (0 tests, stopped at a limit)");
  EXPECT_SILENT(isolate_text(result), "clew replay");
  EXPECT_SILENT(isolate_text(result), "failure: ");  // none is known, nor was anything run
  EXPECT_SILENT(isolate_text(result), "failing schedule");
  result.cost_runs = 1;
  EXPECT_SAYS(isolate_text(result), "failing schedule");
}

TEST(IsolateText, WithoutSymbols) {
  IsolateResult result = queue_result();
  IsolatedSwitch& one = result.switches[0];
  for (Standpoint* point : {&one.fail_from, &*one.fail_next, &*one.pass_from, &*one.pass_next}) {
    point->at.reset();
    point->stack.clear();
    point->step.reset();
  }
  result.pair->first.at.reset();
  const std::string text = isolate_text(result);
  EXPECT_SAYS(text, "T0.2 is preempted at clock 10 by T0.3.");
  EXPECT_SAYS(text, "read `head` at an unknown place");
  EXPECT_SILENT(text, "source lines are missing");  // the thread has not begun
  one.fail_from.stack = {{"std::mutex::lock()", "", 0, 0, "/usr/lib/libstdc++.so.6", 0x30}};
  EXPECT_SILENT(isolate_text(result), "source lines are missing");
  one.fail_from.stack.push_back({"work(void*)", "", 0, 0, "/a/queue", 0x20});
  EXPECT_SAYS(isolate_text(result), "hint: source lines are missing: build the program with -g");
}

TEST(IsolateText, DoubtsAndNotes) {
  IsolateResult result = queue_result();
  result.doubts = {"one run of ten passed"};
  result.notes = {"no checkpoints: the program reads \x1b a file"};
  EXPECT_SAYS(isolate_text(result), "not confirmed: one run of ten passed");
  EXPECT_SAYS(isolate_text(result), "note: no checkpoints: the program reads ? a file");
}

TEST(IsolateText, Status) {
  IsolateStatus status;
  status.stage = IsolateStage::kIsolating;
  status.tests = 12;
  status.deltas_left = 3800;
  status.tests_left = 20;
  status.seconds = 5.2;
  EXPECT_EQ(status_text(status),
            "isolating, 12 tests, 3,800 differences left, about 20 tests to go, 5 s");
  EXPECT_EQ(status_text({}), "isolating, 0 tests, 0 s");
}

}  // namespace
}  // namespace clew
