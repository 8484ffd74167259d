// Scripts and traces: the script of a run's decisions gives that run again, from the start and from
// a checkpoint, and a trace changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "host/search/guides.h"
#include "host/search/sampling.h"
#include "host/target/served_program.h"
#include "host/target/served_program_test_util.h"

namespace clew {
namespace {

using abi::StepKind;

// Everything in a run's result except its trace.
struct Ran {
  Seen seen;
  std::uint64_t failure_key, points, switches, preemptions;
  std::uint8_t questions;
  bool operator==(const Ran&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Ran& ran) {
  return out << ran.seen
             << fmt::format(" key {} points {} switches {} preemptions {} questions {}",
                            ran.failure_key, ran.points, ran.switches, ran.preemptions,
                            ran.questions);
}
Ran ran_of(const ServedJob& job) {
  const abi::JobResult& r = job.result;
  return {seen_of(job), r.failure_key, r.scheduling_points, r.switches, r.preemptions, r.questions};
}
// A script need not stop at the points of compare-exchanges at which a schedule stops.
Ran but_questions(Ran ran) {
  ran.questions = 0;
  return ran;
}

JobPlan script_job(const std::vector<ScriptItem>& items) {
  JobPlan plan;
  plan.strategy = StrategyKind::kScript;
  plan.guide = script_guide(items);
  return plan;
}

JobPlan traced(JobPlan plan, std::uint64_t first = 0, std::uint64_t last = 0) {
  plan.flags |= abi::kJobTrace;
  plan.window = {first, last};
  return plan;
}

using Line = std::tuple<std::uint64_t, abi::ThreadKey, std::uint64_t, std::uint64_t, std::uint32_t,
                        StepKind, abi::Place>;
template <class Wanted>
std::vector<Line> lines_of(const Trace& trace, Wanted wanted) {
  std::vector<Line> lines;
  for (const TraceStep& e : trace.steps)
    if (wanted(e)) lines.push_back({e.clock, e.thread, e.own, e.object, e.size, e.kind, e.place});
  return lines;
}
std::vector<Line> steps_of(const Trace& trace, std::uint64_t first, std::uint64_t last) {
  return lines_of(trace, [&](const TraceStep& e) { return e.clock >= first && e.clock <= last; });
}

void expect_ascending(const Trace& trace) {
  EXPECT_TRUE(trace.complete);
  std::uint64_t clock = 0, last_step = 0;
  std::map<abi::ThreadKey, std::uint64_t> own, own_step;
  const auto ascends = [&](const auto& e) {
    EXPECT_LE(clock, e.clock);
    EXPECT_LE(own[e.thread], e.own);
    clock = e.clock;
    own[e.thread] = e.own;
    return true;
  };
  const auto step = [&](const TraceStep& e) {
    EXPECT_LT(last_step, e.clock);
    EXPECT_LT(own_step[e.thread], e.own);
    last_step = e.clock;
    own_step[e.thread] = e.own;
    return ascends(e);
  };
  for_each_in_order(trace, step, ascends);
}

class Scripts : public ServedProgramTest {
 protected:
  void SetUp() override {
    ServedProgramTest::SetUp();
    program_ = CLEW_SYNC_TARGET;
  }

  static std::vector<JobPlan> sources(std::uint64_t seeds) {
    std::vector<JobPlan> all;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      for (const StrategyKind kind : {StrategyKind::kRandom, StrategyKind::kPos,
                                      StrategyKind::kTimer, StrategyKind::kChaos}) {
        all.push_back(job(kind, seed));
        all.back().flags = abi::kJobAllPoints;
      }
    return all;
  }

  // The decisions of the run, which must be the same with and without a trace.
  std::vector<ScriptItem> decisions(ServedProgram& program, const JobPlan& follow) {
    const ServedJob plain = run_one(program, follow);
    const ServedJob with_trace = run_one(program, traced(follow));
    EXPECT_EQ(ran_of(plain), ran_of(with_trace));
    EXPECT_TRUE(plain.trace.empty());
    EXPECT_EQ(steps_of(with_trace.trace, 0, UINT64_MAX).size(), 0u);
    expect_ascending(with_trace.trace);
    for (const TraceDecision& e : with_trace.trace.decisions) seen_kinds_.insert(e.kind);
    return script_of(with_trace.trace);
  }

  void expect_script_is_the_run(ServedProgram& program, const JobPlan& follow) {
    const auto items = decisions(program, follow);
    const Ran whole = ran_of(run_one(program, follow));
    const ServedJob by_script = run_one(program, traced(script_job(items)));
    EXPECT_EQ(but_questions(ran_of(by_script)), but_questions(whole));
    EXPECT_EQ(script_of(by_script.trace), items);
    auto shuffled = items;
    Random random(items.size());
    for (std::size_t i = shuffled.size(); i > 1; --i)
      std::swap(shuffled[i - 1], shuffled[random.below(i)]);
    EXPECT_EQ(but_questions(ran_of(run_one(program, script_job(shuffled)))), but_questions(whole));
  }

  void expect_window_changes_nothing(ServedProgram& program, const JobPlan& follow) {
    const ServedJob plain = run_one(program, follow);
    const std::uint64_t last = plain.result.clock;
    const ServedJob all = run_one(program, traced(follow, 1, last + 1));
    EXPECT_EQ(ran_of(plain), ran_of(all));
    EXPECT_EQ(script_of(all.trace), decisions(program, follow));
    expect_ascending(all.trace);
    const std::uint64_t middle = last - last / 8;
    for (const auto& [from, to] : {std::pair{last / 2, middle}, {middle, last}, {last / 3, last}}) {
      const ServedJob some = run_one(program, traced(follow, from, to));
      EXPECT_EQ(ran_of(plain), ran_of(some));
      EXPECT_EQ(steps_of(some.trace, 0, UINT64_MAX), steps_of(all.trace, from, to));
    }
  }

  std::set<std::uint8_t> seen_kinds_;  // of decisions
};

class ScriptModes : public Scripts, public testing::WithParamInterface<const char*> {};

TEST_P(ScriptModes, DecisionsAreTheRun) {
  ServedProgram in_place = serve(GetParam(), true);
  ServedProgram forked = serve(GetParam(), false);
  for (const JobPlan& source : sources(6)) {
    SCOPED_TRACE(
        fmt::format("strategy {} seed {}", static_cast<int>(source.strategy), source.seed));
    const JobPlan follow = recorded_job(GetParam(), source);
    expect_script_is_the_run(in_place, follow);
    expect_window_changes_nothing(in_place, follow);
    const JobPlan script = script_job(decisions(forked, follow));
    expect_window_changes_nothing(forked, script);
    EXPECT_EQ(seen_of(run_one(forked, script)), seen_of(run_one(in_place, follow)));
    if (source.seed > 1) continue;
    Seen anew = run_anew(plan(GetParam()), script);
    anew.output.clear();
    anew.errors.clear();
    EXPECT_EQ(anew, seen_of(run_one(in_place, follow)));
  }
  // Each kind of choice must have occurred where it can.
  const std::string mode = GetParam();
  const auto came_up = [&](abi::ChoiceKind kind) {
    return seen_kinds_.contains(static_cast<std::uint8_t>(1 + static_cast<unsigned>(kind)));
  };
  EXPECT_TRUE(seen_kinds_.contains(0));
  EXPECT_TRUE(came_up(abi::ChoiceKind::kPick));
  if (mode == "condition") {
    EXPECT_TRUE(came_up(abi::ChoiceKind::kWake));
    EXPECT_TRUE(came_up(abi::ChoiceKind::kSpurious));
    EXPECT_TRUE(came_up(abi::ChoiceKind::kTimeout));
    EXPECT_TRUE(came_up(abi::ChoiceKind::kTrylock));
  }
  if (mode == "atomics") EXPECT_TRUE(came_up(abi::ChoiceKind::kCas));
}

TEST_P(ScriptModes, FromCheckpoints) {
  ServedProgram program = serve(GetParam(), true);
  const std::uint64_t first = clock_at_main(program);
  for (const JobPlan& source : sources(1)) {
    const JobPlan follow = recorded_job(GetParam(), source);
    const auto items = decisions(program, follow);
    const JobPlan script = script_job(items);
    const Ran whole = but_questions(ran_of(run_one(program, follow)));
    std::vector<std::uint64_t> stops;
    for (const double part : {0.05, 0.3, 0.55, 0.8, 0.97})
      stops.push_back(event(first, whole.seen, part));
    // Checkpoints where switches are: threads stand where they have been preempted.
    const ServedJob all = run_one(program, traced(follow));
    const std::vector<TraceDecision>& switches = all.trace.decisions;
    for (std::size_t i = 0; i < switches.size(); i += 1 + switches.size() / 12)
      for (const std::uint64_t after : {0, 1, 2})
        if (switches[i].clock > first) stops.push_back(switches[i].clock + after);
    for (const std::uint64_t stop_at : stops) {
      SCOPED_TRACE(fmt::format("strategy {} checkpoint at {} of {}",
                               static_cast<int>(source.strategy), stop_at, whole.seen.clock));
      for (const JobPlan& prefix : {follow, script}) {
        if (run_one(program, up_to(prefix, stop_at)).result.end != JobEnd::kCheckpoint) continue;
        EXPECT_EQ(but_questions(ran_of(run_one(program, script))), whole);
        EXPECT_EQ(but_questions(ran_of(run_one(program, follow))), whole);
        // The decisions from here on are sufficient, too.
        const ServedJob rest = run_one(program, traced(follow, 1, UINT64_MAX));
        EXPECT_EQ(but_questions(ran_of(rest)), whole);
        expect_ascending(rest.trace);
        EXPECT_EQ(but_questions(ran_of(run_one(program, script_job(script_of(rest.trace))))),
                  whole);
        ASSERT_TRUE(program.leave_checkpoint());
      }
    }
  }
}

// Any part of a script is a script: its run is reproduced by the decisions of that run.
TEST_P(ScriptModes, PartsOfScripts) {
  ServedProgram program = serve(GetParam(), true);
  Random random(5);
  for (const JobPlan& source : sources(2)) {
    const auto items = decisions(program, recorded_job(GetParam(), source));
    for (int i = 0; i < 12; ++i) {
      std::vector<ScriptItem> some;
      for (ScriptItem item : items) {
        if (random.below(4) == 0) continue;
        if (random.below(16) == 0) item.own += random.below(5);
        if (random.below(16) == 0) item.to = 0;
        some.push_back(item);
      }
      const JobPlan part = script_job(some);
      EXPECT_EQ(ran_of(run_one(program, part)), ran_of(run_one(program, part)));
      expect_script_is_the_run(program, part);
      expect_window_changes_nothing(program, part);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ScriptModes,
                         testing::Values("condition", "atomics", "semaphores", "modern", "spins",
                                         "polls", "leaves"),
                         [](const auto& info) { return std::string(info.param); });

// The other target's modes: many threads, deadlocks, crashes.
TEST_F(ServedProgramTest, ScriptsOfOtherPrograms) {
  for (const char* mode : {"plain", "many_threads", "deadlock", "crashes", "main_returns",
                           "detached", "at_exit", "handles_signals", "once"}) {
    ServedProgram program = serve(mode, true);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", mode, seed));
      const JobPlan follow = recorded_job(mode, seed);
      const ServedJob plain = run_one(program, follow);
      const ServedJob all = run_one(program, traced(follow, 1, UINT64_MAX));
      EXPECT_EQ(ran_of(plain), ran_of(all));
      const ServedJob by_script = run_one(program, script_job(script_of(all.trace)));
      EXPECT_EQ(but_questions(ran_of(by_script)), but_questions(ran_of(plain)));
    }
  }
}

// A trace of every point and the window of the run that follows it contain the same accesses.
TEST_F(Scripts, OwnEventsAreTheSameInAllModes) {
  for (const char* mode : {"condition", "atomics", "semaphores"}) {
    for (const JobPlan& source : {job(StrategyKind::kRandom, 2), job(StrategyKind::kPos, 4)}) {
      ServeOptions options;
      options.in_place = true;
      ServedProgram program = serve(plan(mode), options);
      JobPlan at_every_point = source;
      at_every_point.flags = abi::kJobAllPoints | abi::kJobTrace;
      auto ran = program.run({&at_every_point, 1}, {}, kAllChoices, nullptr);
      ASSERT_TRUE(ran && ran->size() == 1);
      const JobPlan follow = recorded_job(mode, source);
      const ServedJob all = run_one(program, traced(follow, 1, UINT64_MAX));
      EXPECT_EQ(seen_of(ran->front()), seen_of(all));
      const auto accesses = [](const TraceStep& e) { return abi::is_access(e.kind); };
      const auto points = lines_of(ran->front().trace, accesses);
      auto lines = lines_of(all.trace, accesses);
      ASSERT_GT(points.size(), 50u);
      // Where there is one thread there are no scheduling points.
      std::erase_if(lines, [&](const auto& line) {
        return std::get<0>(line) < std::get<0>(points.front()) ||
               std::get<0>(line) > std::get<0>(points.back());
      });
      EXPECT_EQ(points, lines);
    }
  }
}

// A place that is watched is counted each time that the run comes to it, and changes nothing.
TEST_F(Scripts, AWatchedPlaceIsCounted) {
  ServedProgram program = serve("condition", true);
  const JobPlan follow = recorded_job("condition", job(StrategyKind::kRandom, 3));
  const ServedJob all = run_one(program, traced(follow, 1, UINT64_MAX));
  EXPECT_EQ(all.result.watched, 0u);
  std::map<abi::Place, std::uint64_t> passed;
  for (const TraceStep& step : all.trace.steps) ++passed[step.place];
  ASSERT_GT(passed.size(), 5u);
  for (const auto& [place, times] : passed) {
    JobPlan watching = follow;
    watching.watch = place;
    const ServedJob watched = run_one(program, watching);
    EXPECT_GE(watched.result.watched, times);
    EXPECT_EQ(ran_of(watched), ran_of(all));
  }
}

// A thread that spins is preempted by the scheduler: once, whether or not the script says so.
TEST_F(Scripts, FairnessIsADecision) {
  LaunchPlan launch = plan("spins");
  launch.fair_slice = 300;
  ServeOptions options;
  options.in_place = true;
  ServedProgram program = serve(launch, options);
  JobPlan nothing;
  nothing.strategy = StrategyKind::kSchedule;
  std::vector<JobPlan> follows{nothing};
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    follows.push_back(recorded_job("spins", job(StrategyKind::kTimer, seed)));
  for (JobPlan& follow : follows) {
    follow.flags |= abi::kJobLoose;
    expect_script_is_the_run(program, follow);
    expect_window_changes_nothing(program, follow);
  }
  const Ran unaided = ran_of(run_one(program, nothing));
  const auto items = decisions(program, nothing);
  ASSERT_GT(items.size(), 2u);
  EXPECT_EQ(ran_of(run_one(program, script_job({}))), unaided);
  for (std::size_t left_out = 0; left_out < items.size(); ++left_out) {
    auto some = items;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_EQ(ran_of(run_one(program, script_job(some))), unaided);
  }
}

TEST_F(Scripts, WhatDoesNotComeAboutIsNoFailure) {
  ServedProgram program = serve("atomics", true);
  const Ran unaided = ran_of(run_one(program, job(StrategyKind::kNone, 1)));
  const abi::ThreadKey main = abi::kMainThreadKey;
  const abi::ThreadKey first = abi::child_key(main, 1);
  const abi::ThreadKey nobody = abi::child_key(main, 99);
  EXPECT_EQ(ran_of(run_one(program, script_job({{nobody, 3, 0, 0, main},
                                                {first, UINT64_MAX, 0, 0, main},
                                                {first, 1'000'000, 0, 0, 0},
                                                {first, 2, 0, 0, nobody},
                                                {first, 2, 0, 0, first},
                                                {first, 4, 3, 70, 0},
                                                {main, 1, 0, 0, first},
                                                {first, UINT64_MAX, 6, 0, 0}}))),
            unaided);
  JobPlan bad = script_job({{first, 2, 0, 0, 0}});
  bad.guide.push_back(0);
  EXPECT_EQ(ran_of(run_one(program, bad)), unaided);
  EXPECT_NE(ran_of(run_one(program, script_job({{first, 2, 0, 0, 0}}))), unaided);
}

// Several items at one place are taken one after the other, each time the thread is there again.
TEST_F(Scripts, SeveralPreemptionsAtOnePlace) {
  ServedProgram program = serve("atomics", true);
  const abi::ThreadKey main = abi::kMainThreadKey;
  const abi::ThreadKey first = abi::child_key(main, 1), second = abi::child_key(main, 2);
  const std::vector<ScriptItem> items{
      {first, 5, 0, 0, second}, {second, 5, 0, 0, first}, {first, 5, 0, 0, second},
      {second, 5, 0, 0, first}, {first, 5, 0, 0, 0},
  };
  const ServedJob ran = run_one(program, traced(script_job(items)));
  const auto taken = script_of(ran.trace);
  ASSERT_EQ(taken.size(), items.size());
  const std::uint32_t ordinals[] = {0, 0, 1, 1, 2};
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(taken[i].thread, items[i].thread);
    EXPECT_EQ(taken[i].own, 5u);
    EXPECT_EQ(taken[i].ordinal, ordinals[i]);
  }
  expect_script_is_the_run(program, script_job(items));
}

TEST_F(Scripts, LooseSchedules) {
  ServedProgram program = serve("atomics", true);
  const JobPlan follow = recorded_job("atomics", job(StrategyKind::kTimer, 3));
  const Ran whole = ran_of(run_one(program, follow));
  ASSERT_EQ(whole.seen.end, JobEnd::kExited);
  JobPlan longer = follow;
  std::uint8_t head[abi::kMaxVarint];
  const std::size_t size =
      abi::put_varint(head, (whole.seen.clock + 1000) << abi::kKindBits |
                                static_cast<std::uint64_t>(abi::EntryKind::kSwitchNext));
  longer.guide.insert(longer.guide.end(), head, head + size);
  JobPlan unknown = follow;
  unknown.names.push_back("T0.99");
  for (JobPlan plan : {longer, unknown}) {
    const ServedJob strict = run_one(program, plan);
    EXPECT_EQ(strict.result.end, JobEnd::kFailed);
    EXPECT_EQ(strict.result.failure, abi::FailureKind::kInfeasible);
    plan.flags |= abi::kJobLoose;
    EXPECT_EQ(ran_of(run_one(program, plan)), whole);
  }
}

}  // namespace
}  // namespace clew
