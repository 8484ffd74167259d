#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>

#include "host/report/names.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/slices.h"
#include "host/report/stacks.h"
#include "host/report/words.h"
#include "host/terminal_text.h"

namespace clew {
namespace {

RunResult failing_run() {
  RunResult run;
  run.reports.threads = {{"T0", "", 0}, {"T0.1", "worker", 0}};
  run.summary.outcome = Outcome::kFail;
  run.summary.failure =
      Failure{FailureKind::kAssert, "assertion `x' failed", "T0.1", Location{"/a/b.cc", 7, "f()"}};
  run.summary.clock = 12'345;
  run.summary.switches = 1;
  run.summary.threads = 2;
  run.summary.hash = 0xabc;
  return run;
}

TEST(Words, NumbersAndPlurals) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "switch"), "1 switch");
  EXPECT_EQ(counted(2'000, "switch"), "2,000 switches");
  EXPECT_EQ(counted(0, "thread"), "0 threads");
}

TEST(Words, ProgramTextCannotDriveTheTerminal) {
  EXPECT_EQ(printable("a\033[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "?2J");  // C1 as a byte
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "?2J");  // ... as UTF-8
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "?x");                                                  // writes from right to left
  EXPECT_EQ(printable("\xc0\x8a\xed\xa0\x80\xf5\xff"), "???????");  // not UTF-8
  EXPECT_EQ(printable("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x9b"),
            "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x9b");
  EXPECT_EQ(terminal_text("a\nb\tc\r"), "a\nb\tc?");
  EXPECT_LT(printable(std::string(100'000, 'x')).size(), 600u);
}

TEST(Words, WhatIsCutKeepsItsLineNumber) {
  EXPECT_EQ(cut_in_middle("queue.cc:31", 20), "queue.cc:31");
  EXPECT_EQ(cut_in_middle("queue.cc:31", 0), "queue.cc:31");
  const std::string cut = cut_in_middle("a_file_with_a_long_name.cpp:1234", 16);
  EXPECT_TRUE(cut.ends_with(":1234")) << cut;
  EXPECT_TRUE(cut.starts_with("a_")) << cut;
  EXPECT_EQ(cut.size(), 16 - 1 + std::string("…").size()) << cut;
  for (std::size_t columns = 1; columns < 12; ++columns)
    EXPECT_LE(cut_in_middle("\xc3\xa4\xc3\xb6\xc3\xbc:123456789", columns).size(), 2 * columns + 3);
}

TEST(Json, HasTheFieldsOfTheSpecification) {
  RunResult run = failing_run();
  Symbolizer symbols(run.reports);
  const Json json = run_json(7, run, symbols);
  EXPECT_EQ(json["recording"], 7);
  EXPECT_EQ(json["outcome"], "fail");
  EXPECT_EQ(json["failure"]["kind"], "assert");
  EXPECT_EQ(json["failure"]["detail"], "assertion `x' failed");
  EXPECT_EQ(json["failure"]["thread"], "T0.1");
  EXPECT_EQ(json["failure"]["at"]["file"], "/a/b.cc");
  EXPECT_EQ(json["failure"]["at"]["line"], 7);
  EXPECT_EQ(json["failure"]["at"]["function"], "f()");
  EXPECT_EQ(json["failure"]["at"]["short"], "f");
  EXPECT_EQ(json["clock"], 12'345);
  EXPECT_EQ(json["switches"], 1);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["hash"], "0000000000000abc");
}

TEST(Json, APassHasNoFailure) {
  RunSummary summary;
  summary.outcome = Outcome::kPass;
  const Json json = summary_json(1, summary);
  EXPECT_EQ(json["outcome"], "pass");
  EXPECT_TRUE(json["failure"].is_null());
}

TEST(Json, AReportWithoutAFailureStaysOne) {
  RunResult run;
  run.summary.outcome = Outcome::kPass;
  run.reports.waits.push_back({});
  Symbolizer symbols(run.reports);
  EXPECT_TRUE(run_json(1, run, symbols)["failure"].is_null());
}

TEST(Text, Headlines) {
  RunResult run = failing_run();
  EXPECT_EQ(headline(run.summary), "fail (assert): assertion `x' failed");
  run.summary.failure->kind = FailureKind::kHang;
  run.summary.outcome = Outcome::kHang;
  EXPECT_EQ(headline(run.summary), "hang: assertion `x' failed");
  run.summary.failure.reset();
  run.summary.outcome = Outcome::kPass;
  EXPECT_EQ(headline(run.summary), "pass, 12,345 points, 1 switch, 2 threads");
}

TEST(Text, ADeadlockNamesWaitersAndHolders) {
  RunResult run = failing_run();
  run.summary.failure->kind = FailureKind::kDeadlock;
  run.reports.waits = {{0, abi::WaitKind::kJoin, 0x99999, 1, 0, {}},
                       {1, abi::WaitKind::kMutex, 0x1000, 0, 0, {}}};
  run.reports.holds = {{1, abi::WaitKind::kMutex, 0x2000, 33, 0, std::nullopt}};
  Symbolizer symbols(run.reports);
  const std::string text = failure_text(run, symbols);
  EXPECT_NE(text.find("main (T0) waits for the end of worker (T0.1)"), std::string::npos) << text;
  EXPECT_NE(text.find("worker (T0.1) waits for a mutex (0x1000), held by main (T0)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("holds a mutex (0x2000), taken at unknown place, clock 33"),
            std::string::npos)
      << text;
}

TEST(Text, WaitsForWhatIsOutsideNameTheCall) {
  RunResult run = failing_run();
  const std::uint64_t reading = std::uint64_t{SYS_read} << 32 | 5;
  run.reports.waits = {{0, abi::WaitKind::kSignal, 0, {}, 0, {}},
                       {1, abi::WaitKind::kDescriptor, reading, {}, 0, {}}};
  run.reports.slices = {
      {1, 1, 2, 0, 0, abi::SliceEnd::kBlocked, abi::WaitKind::kDescriptor, reading}};
  Symbolizer symbols(run.reports);
  std::string text = failure_text(run, symbols);
  EXPECT_NE(text.find("main (T0) waits for a signal\n"), std::string::npos) << text;
  EXPECT_NE(text.find("worker (T0.1) waits in read of descriptor 5\n"), std::string::npos) << text;
  EXPECT_NE(slices_text(run, Length::kAll, symbols).find("blocked in read of descriptor 5"),
            std::string::npos);
  const Json waits = run_json(1, run, symbols)["failure"]["waits"];
  EXPECT_EQ(waits[0]["waits_for"], "a signal");
  EXPECT_EQ(waits[1]["waits_for"], "read of descriptor 5");
  EXPECT_EQ(waits[1]["object"], "0x5");

  run.summary.failure->kind = FailureKind::kDeadlock;
  text = failure_text(run, symbols);
  EXPECT_NE(text.find("waits in read of descriptor 5 (which only this program itself could end)"),
            std::string::npos)
      << text;
}

SourceFrame frame_of(std::string function, std::string file, std::uint32_t line) {
  return {std::move(function), std::move(file), line, 1, "/a/prog", 0x1000};
}

TEST(Text, StacksHaveTheFramesOfTheUser) {
  const std::string header = "/usr/include/c++/12/bits/std_thread.h";
  const std::vector<SourceFrame> frames{
      frame_of("std::__detail::compare(int, int)", "/usr/include/c++/12/algorithm", 9),
      frame_of("less(int, int)", "/a/b.cc", 3),
      frame_of("void std::__sort<int*>(int*, int*)", "/usr/include/c++/12/algorithm", 10),
      frame_of("void std::sort<int*>(int*, int*)", "/usr/include/c++/12/algorithm", 20),
      frame_of("Box::put(int)", "/a/b.cc", 7),
      frame_of("Box::put(char)", "/a/b.cc", 8),
      frame_of("main::$_0::operator()() const", "/a/b.cc", 30),
      frame_of("void std::__invoke_impl<void, main::$_0>(main::$_0&&)", header, 61),
      frame_of("start_thread", "", 0)};
  EXPECT_EQ(stack_text(frames, " "),
            " #0 less at /a/b.cc:3\n"
            " #1 std::sort<int*> at /usr/include/c++/12/algorithm:20\n"
            " #2 Box::put(int) at /a/b.cc:7\n"
            " #3 Box::put(char) at /a/b.cc:8\n"
            " #4 lambda in main at /a/b.cc:30\n");
  set_name_style(NameStyle::kFull);
  const std::string whole = stack_text(frames, " ");
  set_name_style(NameStyle::kShort);
  EXPECT_EQ(std::ranges::count(whole, '\n'), 9);
  EXPECT_NE(whole.find("#6 main::$_0::operator()() const at"), std::string::npos) << whole;
}

TEST(Slices, LongRunsAreShortenedAroundThePreemptions) {
  std::vector<SliceReport> slices(1000);
  for (auto& slice : slices) slice.end = abi::SliceEnd::kBlocked;
  slices[500].end = abi::SliceEnd::kPreempted;
  const auto shown = shown_slices(slices, Length::kShortened);
  ASSERT_EQ(shown.size(), 43u);
  EXPECT_EQ(shown[20], 499u);
  EXPECT_EQ(shown[21], 500u);
  EXPECT_EQ(shown[22], 501u);
  EXPECT_EQ(shown_slices(slices, Length::kAll).size(), 1000u);
  for (auto& slice : slices) slice.end = abi::SliceEnd::kPreempted;
  EXPECT_EQ(shown_slices(slices, Length::kShortened).size(), 40u);
  EXPECT_TRUE(shown_slices({}, Length::kShortened).empty());
}

TEST(Slices, TextSaysWhatIsLeftOut) {
  RunResult run = failing_run();
  run.reports.slices.resize(100);
  Symbolizer symbols(run.reports);
  const std::string text = slices_text(run, Length::kShortened, symbols);
  EXPECT_NE(text.find("… 60 slices left out, --all shows them"), std::string::npos) << text;
}

TEST(Slices, LinesFitTheTerminal) {
  RunResult run = failing_run();
  run.reports.slices.resize(3);
  run.reports.slices[1] = {1,
                           1'234'567,
                           2'345'678,
                           0,
                           0,
                           abi::SliceEnd::kBlocked,
                           abi::WaitKind::kMutex,
                           0x7fff'ffff'e440};
  Symbolizer symbols(run.reports);
  for (const std::size_t columns : {60u, 80u, 100u}) {
    const std::string text = slices_text(run, Length::kAll, symbols, columns);
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1)
      EXPECT_LE(end - begin, columns + 4) << text;  // an ellipsis has three bytes
  }
}

TEST(Where, ThePlaceInAnInlinedFunctionIsAFrame) {
  RunResult run = failing_run();
  Symbolizer symbols(run.reports);
  Moment moment;
  moment.clock = 5;
  moment.running = ThreadPosition{
      1, Location{"/a/b.h", 3, "Box::get() const"}, {frame_of("work(int)", "/a/b.cc", 7)}};
  const std::string text = moment_text(run, moment, symbols);
  EXPECT_NE(text.find("#0 Box::get at /a/b.h:3\n    #1 work at /a/b.cc:7"), std::string::npos)
      << text;
  moment.running->at = Location{"/a/b.cc", 8, "work(int)"};
  EXPECT_EQ(moment_text(run, moment, symbols).find("#1"), std::string::npos);
}

TEST(Where, AMomentHasTheFieldsOfTheSpecification) {
  RunResult run = failing_run();
  run.reports.stacks = {{5, 1, true, 0, {}}, {5, 0, false, 0, {}}};
  Symbolizer symbols(run.reports);
  const auto found = moments(run, {5, 6}, symbols);
  ASSERT_EQ(found.size(), 2u);
  const Json json = moment_json(run, found[0]);
  EXPECT_EQ(json["clock"], 5);
  EXPECT_EQ(json["thread"], "T0.1");
  for (const char* field : {"file", "line", "function", "stack"}) EXPECT_TRUE(json.contains(field));
  EXPECT_EQ(json["others"].size(), 1u);
  EXPECT_TRUE(moment_json(run, found[1])["thread"].is_null());
}

}  // namespace
}  // namespace clew
