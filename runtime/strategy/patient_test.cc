#include "runtime/strategy/patient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/strategy/none.h"
#include "runtime/strategy/pos.h"
#include "runtime/strategy/random_walk.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

// Memory that can be looked at: nothing of it changes unless a test does it.
alignas(8) std::uint64_t g_memory[64];
std::uintptr_t object(int i) { return reinterpret_cast<std::uintptr_t>(&g_memory[i]); }

// Never preempts, and counts up g_memory[0] with each step.
class Counting final : public Strategy {
 public:
  Counting() : Strategy(kAtEveryPoint) {}
  void learn(const Occurrence& occurrence) override {
    if (occurrence.kind == Occurrence::Kind::kExecuted) ++g_memory[0];
  }
};

class StepCount final : public Strategy {
 public:
  StepCount() : Strategy(kAtEveryPoint) {}
  void learn(const Occurrence& occurrence) override {
    steps += occurrence.kind == Occurrence::Kind::kExecuted;
  }
  std::uint64_t steps = 0;
};

SimulatedThread steps_of(std::vector<SimulatedStep> steps) {
  SimulatedThread thread;
  thread.steps = std::move(steps);
  return thread;
}

SimulatedThread same_step(int count) {
  SimulatedThread thread;
  for (int i = 0; i < count; ++i) thread.steps.push_back(read(object(0), 7));
  return thread;
}

std::size_t of(char thread, const std::string& order) {
  return static_cast<std::size_t>(std::ranges::count(order, thread));
}

TEST(Patient, OneWhoSpinsLetsTheOtherRun) {
  const Program program{steps_of({spin_until_written(object(1), 5)}),
                        steps_of({write(object(2), 6), write(object(1), 7)})};
  forget_arena();
  NoStrategy alone(kAtEveryPoint);
  EXPECT_TRUE(Simulation(program, alone).run().too_long);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    forget_arena();
    NoStrategy inside(kAtEveryPoint);
    Patient patient(inside, make_job(seed));
    const Outcome run = Simulation(program, patient, 4'000'000).run();
    EXPECT_FALSE(run.too_long) << seed;
    EXPECT_EQ(of('b', run.order), 2u);
  }
}

// The one that they wait for runs soon, in the mean; by priorities alone some runs are very long.
TEST(Patient, SeveralWhoSpinLetTheOtherRun) {
  std::vector<SimulatedStep> work;
  for (int i = 4; i < 14; ++i) work.push_back(write(object(i), 100 + static_cast<abi::Place>(i)));
  work.push_back(write(object(1), 7));
  Program program{steps_of(work)};
  for (abi::Place place = 20; place < 24; ++place)
    program.push_back(steps_of({{{object(3), place, 4, abi::StepKind::kWrite}, -1, object(1)}}));
  std::size_t with = 0;
  std::size_t without = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    forget_arena();
    Pos alone(make_job(seed));
    without += Simulation(program, alone).run().order.size();
    forget_arena();
    Pos inside(make_job(seed));
    Patient patient(inside, make_job(seed));
    with += Simulation(program, patient).run().order.size();
  }
  EXPECT_LT(with * 4, without);
}

TEST(Patient, OneWhoFindsSomethingNewEachTimeIsNotHeld) {
  const Program program{same_step(5000), steps_of({write(object(2), 6)})};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    forget_arena();
    Counting inside;
    Patient patient(inside, make_job(seed));
    EXPECT_EQ(Simulation(program, patient).run().order, std::string(5000, 'a') + "b") << seed;
  }
}

TEST(Patient, OneWhoGivesUpAfterManyTimesDoesSoInSomeRuns) {
  const Program program{same_step(1000), steps_of({write(object(2), 6)})};
  std::set<bool> to_the_end;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    forget_arena();
    NoStrategy inside(kAtEveryPoint);
    Patient patient(inside, make_job(seed));
    to_the_end.insert(Simulation(program, patient).run().order.ends_with('b'));
  }
  EXPECT_EQ(to_the_end, (std::set{false, true}));
}

// A random walk alone gives the others their few steps long before.
TEST(Patient, OneWhoGivesUpAfterSomeHundredTimesOftenDoesSoBeforeOthersHaveRun) {
  std::vector<SimulatedStep> few;
  for (int i = 4; i < 16; ++i) few.push_back(write(object(i), 100 + static_cast<abi::Place>(i)));
  const Program program{same_step(400), steps_of(few)};
  const auto first = [](const std::string& order) { return order.ends_with('b'); };
  int with = 0;
  int without = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    forget_arena();
    RandomWalk alone(make_job(seed));
    without += first(Simulation(program, alone).run().order);
    forget_arena();
    RandomWalk inside(make_job(seed));
    Patient patient(inside, make_job(seed));
    with += first(Simulation(program, patient).run().order);
  }
  EXPECT_EQ(without, 0);
  EXPECT_GT(with, 10);
}

// A strategy that counts steps sees a loop as a few of them.
TEST(Patient, CountsALoopOnceIfAskedTo) {
  const Program program{same_step(1000), steps_of({write(object(2), 6)})};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    StepCount inside;
    Patient patient(inside, make_job(seed), Patient::Loops::kCountedOnce);
    EXPECT_EQ(Simulation(program, patient).run().order.size(), 1001u) << seed;
    EXPECT_LT(inside.steps, 60u) << seed;
    StepCount told;
    Patient open(told, make_job(seed));
    EXPECT_EQ(Simulation(program, open).run().order.size(), 1001u) << seed;
    EXPECT_EQ(told.steps, 1001u) << seed;
  }
}

TEST(Patient, OneWhoGivesUpAfterSomeHundredTimesDoesSoWhereOthersAreHeldOnPurpose) {
  const Program program{same_step(1000), steps_of({write(object(2), 6)})};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    NoStrategy inside(kAtEveryPoint);
    Patient patient(inside, make_job(seed), Patient::Loops::kRunThrough);
    EXPECT_TRUE(Simulation(program, patient).run().order.ends_with('b')) << seed;
  }
}

// Threads that spin at the same place, and the one that they wait for.
Program spinners(int count) {
  Program program;
  for (int i = 0; i < count; ++i) program.push_back(steps_of({spin_until_written(object(1), 5)}));
  program.push_back(steps_of({write(object(2), 6), write(object(1), 7)}));
  return program;
}

TEST(Patient, TimeIsGivenInVainOnceAtAPlace) {
  const auto steps = [](int count, std::uint64_t seed) {
    forget_arena();
    NoStrategy inside(kAtEveryPoint);
    Patient patient(inside, make_job(seed), Patient::Loops::kRunThrough);
    const std::size_t done = Simulation(spinners(count), patient, 400'000'000).run().order.size();
    EXPECT_EQ(patient.loops(), abi::kLoopNotLeft) << seed;
    return done;
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::size_t one = steps(1, seed);
    EXPECT_GT(one, 4096u) << seed;
    EXPECT_LT(steps(8, seed), one + 1000) << seed;
  }
}

TEST(Patient, IsGivenNoTimeInBriefWaits) {
  const Program program = spinners(8);
  for (const auto mode : {Patient::Loops::kDecided, Patient::Loops::kRunThrough})
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      forget_arena();
      abi::Job job = make_job(seed);
      job.flags |= abi::kJobBriefWaits;
      RandomWalk inside(job);
      Patient patient(inside, job, mode);
      EXPECT_LT(Simulation(program, patient, 4'000'000).run().order.size(), 1000u) << seed;
      EXPECT_EQ(patient.loops(), 0) << seed;
    }
}

// Another round would find what the last one found, as long as nobody writes there.
TEST(Patient, OneWhoWaitsIsHeldWhileOthersWriteElsewhere) {
  std::vector<SimulatedStep> work;
  for (int i = 0; i < 400; ++i)
    work.push_back(write(object(4 + i % 16), 100 + static_cast<abi::Place>(i)));
  work.push_back(write(object(1), 7));
  const Program program{steps_of({spin_until_written(object(1), 5)}), steps_of(work)};
  std::size_t rounds = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    abi::Job job = make_job(seed);
    job.flags |= abi::kJobBriefWaits;
    RandomWalk inside(job);
    Patient patient(inside, job);
    rounds += of('a', Simulation(program, patient).run().order);
  }
  EXPECT_GT(rounds / 50, 10u);
  EXPECT_LT(rounds / 50, 60u);
}

// Whether somebody was given time to leave a loop, and fairness ended that after so many points.
bool is_in_vain_after(Clock points, std::uint64_t seed) {
  forget_arena();
  NoStrategy inside(kAtEveryPoint);
  Patient patient(inside, make_job(seed));
  const Candidate spins{1, 0, read(object(1), 5).step};
  const Candidate other{2, 1, read(object(2), 6).step};
  patient.learn({Occurrence::Kind::kSwitched, spins, 0, 1});
  for (int i = 0; i < 60; ++i) patient.learn({Occurrence::Kind::kExecuted, spins});
  patient.learn({Occurrence::Kind::kSwitched, other, 0, 1 + points});
  return (patient.loops() & abi::kLoopNotLeft) != 0;
}

// Each of its rounds may pass thousands of points, as where a lock is tried ever more seldom.
TEST(Patient, TimeIsInVainIfATurnIsNotEnough) {
  int after_turn = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_FALSE(is_in_vain_after(1000, seed)) << seed;
    after_turn += is_in_vain_after(50'000, seed);
  }
  EXPECT_GT(after_turn, 5);
}

TEST(Patient, TellsThatALoopWasLeft) {
  std::uint8_t loops = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    std::vector<SimulatedStep> steps = same_step(400).steps;
    steps.push_back(write(object(3), 8));
    RandomWalk inside(make_job(seed));
    Patient patient(inside, make_job(seed));
    const Program leaving{steps_of(steps), private_steps(1, 50)};
    (void)Simulation(leaving, patient).run();
    loops |= patient.loops();
  }
  EXPECT_NE(loops & abi::kLoopLeftByItself, 0);
}

// Of a systematic search: every run of a prefix is the same, whatever the seed, and says what it left out.
TEST(Patient, WaitsAtOnceWhereNothingIsRandom) {
  const Program program{steps_of({spin_until_written(object(1), 5)}),
                        steps_of({write(object(2), 6), write(object(1), 7)})};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    forget_arena();
    NoStrategy inside(kAtEveryPoint);
    Patient patient(inside, make_job(seed), Patient::Loops::kWaitedOut);
    EXPECT_EQ(Simulation(program, patient).run().order, "aaaaaaaaabba") << seed;
    EXPECT_EQ(patient.uncovered(), abi::kUncoveredRounds);
  }
  forget_arena();
  NoStrategy inside(kAtEveryPoint);
  Patient patient(inside, make_job(1), Patient::Loops::kWaitedOut);
  (void)Simulation({private_steps(0, 20), private_steps(1, 20)}, patient).run();
  EXPECT_EQ(patient.uncovered(), 0);
}

TEST(Patient, ChangesNothingWhereNobodySpins) {
  const Program program{private_steps(0, 200), private_steps(1, 200)};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    Pos alone(make_job(seed));
    const std::string order = Simulation(program, alone).run().order;
    forget_arena();
    Pos inside(make_job(seed));
    Patient patient(inside, make_job(seed));
    ASSERT_EQ(Simulation(program, patient).run().order, order);
  }
}

}  // namespace
}  // namespace clew::rt::simulation
