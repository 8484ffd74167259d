#include "runtime/strategy/plan.h"

#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

std::string follow(const Program& program, const std::vector<PlanDirective>& directives) {
  const auto guide = plan_guide(directives);
  const Outcome run = run_once<Plan>(program, make_job(1, &guide));
  return run.order + (run.deadlock ? " deadlock" : "");
}

PlanDirective steps(int thread, std::uint64_t n, unsigned flags = 0) {
  return {key_of(thread), PlanStop::kSteps, 0, n, static_cast<std::uint8_t>(flags)};
}
PlanDirective before(int thread, abi::Place place, std::uint64_t n = 1, unsigned flags = 0) {
  return {key_of(thread), PlanStop::kBefore, place, n, static_cast<std::uint8_t>(flags)};
}
PlanDirective after(int thread, abi::Place place, std::uint64_t n = 1, unsigned flags = 0) {
  return {key_of(thread), PlanStop::kAfter, place, n, static_cast<std::uint8_t>(flags)};
}
PlanDirective end(int thread, unsigned flags = 0) {
  return {key_of(thread), PlanStop::kEnd, 0, 1, static_cast<std::uint8_t>(flags)};
}

// Places 100, 101, ... for a, 200, 201, ... for b, 300, 301, ... for c.
const Program& three() {
  static const Program program{private_steps(0, 4), private_steps(1, 4), private_steps(2, 4)};
  return program;
}

TEST(Plan, WithoutDirectivesNothingIsPreempted) { EXPECT_EQ(follow(three(), {}), "aaaabbbbcccc"); }

TEST(Plan, RunsThreadsForNumbersOfSteps) {
  EXPECT_EQ(follow(three(), {steps(1, 2), steps(2, 1), steps(0, 3)}), "bbcaaaabbccc");
  EXPECT_EQ(follow(three(), {steps(1, 0)}), "bbbbaaaacccc");
}

TEST(Plan, StopsBeforeAndAfterPlaces) {
  EXPECT_EQ(follow(three(), {before(0, 102), end(1), end(2)}), "aabbbbccccaa");
  EXPECT_EQ(follow(three(), {after(0, 102), end(1), end(2)}), "aaabbbbcccca");
  EXPECT_EQ(follow(three(), {before(0, 100), after(1, 200), end(0)}), "baaaaccccbbb");
}

TEST(Plan, CountsTimesWithinTheDirective) {
  const Program loop{
      {{write(0x10, 7), write(0x20, 8), write(0x10, 7), write(0x20, 8), write(0x10, 7)}},
      private_steps(1, 2)};
  EXPECT_EQ(follow(loop, {before(0, 7, 3), end(1)}), "aaaabba");
  EXPECT_EQ(follow(loop, {after(0, 7, 2), end(1)}), "aaabbaa");
  EXPECT_EQ(follow(loop, {after(0, 7), steps(1, 1), before(0, 7, 2), steps(1, 1)}), "abaaaba");
}

TEST(Plan, ZeroIsTheDefaultThread) {
  const PlanDirective two_of_default{0, PlanStop::kSteps, 0, 2, 0};
  EXPECT_EQ(follow(three(), {two_of_default, steps(1, 1), two_of_default, end(2)}), "aabbbccccaab");
}

TEST(Plan, ThreadsThatHaveEndedAreDropped) {
  EXPECT_EQ(follow(three(), {end(1), steps(1, 3, kPlanInsist), end(2)}), "bbbbccccaaaa");
}

TEST(Plan, ABlockedThreadEndsItsDirective) {
  const Program program{{{lock(0x80), write(0x10, 1), unlock(0x80)}},
                        {{lock(0x80), write(0x10, 2), unlock(0x80)}},
                        private_steps(2, 2)};
  EXPECT_EQ(follow(program, {steps(0, 1), steps(1, 1), steps(2, 1), end(0)}), "acaacbbb");
  EXPECT_EQ(follow(program, {steps(0, 1), steps(1, 2, kPlanInsist), steps(2, 1)}), "aaabbccb");
}

TEST(Plan, InsistingWaitsForThreadsToExist) {
  Program program{private_steps(0, 2), private_steps(1, 3), private_steps(2, 2)};
  program[0].steps.push_back(create(2));
  program[0].steps.push_back(write(0x10, 1));
  program[2].from_start = false;
  EXPECT_EQ(follow(program, {steps(2, 2), steps(1, 1)}), "bbbaaaacc");
  EXPECT_EQ(follow(program, {steps(2, 2, kPlanInsist), steps(1, 1)}), "aaaccbbba");
}

TEST(Plan, HoldsAThreadWhileOthersRun) {
  EXPECT_EQ(follow(three(), {before(0, 101, 1, kPlanHold)}), "abbbbccccaaa");
  EXPECT_EQ(follow(three(), {before(0, 101, 1, kPlanHold), before(1, 202, 1, kPlanHold)}),
            "abbccccaaabb");
}

TEST(Plan, ALaterDirectiveReleases) {
  EXPECT_EQ(follow(three(), {steps(0, 1, kPlanHold), steps(1, 1), steps(0, 1)}), "abaaaccccbbb");
}

TEST(Plan, BeingTheOnlyOneReleases) {
  const Program program{{{lock(0x80), write(0x10, 1), unlock(0x80), write(0x20, 2)}},
                        {{lock(0x80), write(0x10, 3), unlock(0x80)}},
                        private_steps(2, 2)};
  EXPECT_EQ(follow(program, {steps(0, 1, kPlanHold)}), "accaaabbb");
}

// The others wait in a loop for the thread held; the scheduler hands on to it now and then.
TEST(Plan, AHoldMayBeLimited) {
  const auto guide = plan_guide({{steps(0, 1, kPlanHold)}});
  for (const std::uint64_t limit : {0u, 5u}) {
    forget_arena();
    abi::Job job = make_job(1, &guide);
    job.parameters[abi::kPlanLongestHold] = limit;
    Plan plan(job);
    const Candidate list[] = {{key_of(0), 0, write(0x10, 1).step},
                              {key_of(1), 1, read(0x20, 2).step}};
    const Candidates candidates{list, 2, true};
    EXPECT_EQ(plan.pick(candidates), 0u);
    plan.learn({Occurrence::Kind::kExecuted, list[0]});
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(plan.pick(candidates), 1u);
      plan.learn({Occurrence::Kind::kExecuted, list[1]});
    }
    EXPECT_EQ(plan.pick(candidates), limit == 0 ? 1u : 0u);
  }
}

TEST(Plan, MayLingerBeforeTheProgramEnds) {
  for (const std::uint64_t linger : {0u, 3u}) {
    forget_arena();
    abi::Job job = make_job(1);
    job.parameters[abi::kPlanLinger] = linger;
    Plan plan(job);
    const Candidate list[] = {{key_of(0), 0, {}},  // ends the program
                              {key_of(1), 1, {}},  // has not started
                              {key_of(2), 2, read(0x20, 2).step}};
    const Candidates candidates{list, 3, true};
    plan.learn({Occurrence::Kind::kSwitched, list[0]});
    EXPECT_EQ(plan.pick(candidates), linger == 0 ? 0u : 1u);
    if (linger == 0) continue;
    for (int i = 0; i < 3; ++i) plan.learn({Occurrence::Kind::kExecuted, list[1]});
    EXPECT_EQ(plan.pick(candidates), 0u);
  }
}

TEST(Plan, BadGuidesAreNone) {
  const auto good = plan_guide({{steps(1, 2)}});
  std::vector<std::vector<std::uint8_t>> bad{good, good, good, good};
  bad[0].pop_back();
  bad[1].push_back(0);
  bad[2].back() = 4;
  bad[3].front() = 0x7f;
  EXPECT_EQ(run_once<Plan>(three(), make_job(1, &good)).order, "bbbbaaaacccc");
  for (const auto& guide : bad)
    EXPECT_EQ(run_once<Plan>(three(), make_job(1, &guide)).order, "aaaabbbbcccc");
}

}  // namespace
}  // namespace clew::rt::simulation
