// Strategies compose.
#include "runtime/strategy/wrapper.h"

#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/strategy/chaos.h"
#include "runtime/strategy/linger.h"
#include "runtime/strategy/none.h"
#include "runtime/strategy/pos.h"
#include "runtime/strategy/prefix.h"
#include "runtime/strategy/random_walk.h"
#include "runtime/strategy/round_robin.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

class Transparent final : public Wrapper {
 public:
  explicit Transparent(Strategy& inside) : Wrapper(inside) {}
};

// A constraint: the thread does not run before the object has been written to, if any other can.
class HoldUntilWrite final : public Wrapper {
 public:
  HoldUntilWrite(Strategy& inside, abi::ThreadKey held, std::uintptr_t object)
      : Wrapper(inside), held_(held), object_(object) {}

  std::uint32_t pick(const Candidates& candidates) override {
    const std::uint32_t wanted = Wrapper::pick(candidates);
    if (written_ || candidates.list[wanted].key != held_) return wanted;
    for (std::uint32_t i = 0; i < candidates.count; ++i)
      if (candidates.list[i].key != held_) return i;
    return wanted;
  }
  void learn(const Occurrence& occurrence) override {
    const Step& step = occurrence.thread.step;
    if (occurrence.kind == Occurrence::Kind::kExecuted && step.object == object_ &&
        step.kind == abi::StepKind::kWrite)
      written_ = true;
    Wrapper::learn(occurrence);
  }

 private:
  abi::ThreadKey held_;
  std::uintptr_t object_;
  bool written_ = false;
};

Program two_of(int steps) { return {private_steps(0, steps), private_steps(1, steps)}; }

TEST(Wrapper, ATransparentOneChangesNothing) {
  const Program program = two_of(20);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    Pos alone(make_job(seed));
    const std::string order = Simulation(program, alone).run().order;
    forget_arena();
    Pos inside(make_job(seed));
    Transparent wrapped(inside);
    Transparent twice(wrapped);
    ASSERT_EQ(Simulation(program, twice).run().order, order);
  }
}

TEST(Wrapper, GoesByTheClockIfTheStrategyInsideDoes) {
  const Program program = two_of(200);
  forget_arena();
  Chaos alone(make_job(3));
  const std::string order = Simulation(program, alone).run().order;
  forget_arena();
  Chaos inside(make_job(3));
  Transparent wrapped(inside);
  EXPECT_FALSE(wrapped.manner.at_every_point);
  EXPECT_EQ(Simulation(program, wrapped).run().order, order);
}

TEST(Wrapper, AConstraintHoldsUnderAnyStrategy) {
  // Thread b reads what a writes last: without the constraint it often comes first.
  const Program program{{{write(0x10, 1), write(0x20, 2), write(0x30, 3)}}, {{read(0x30, 4)}}};
  int first_without = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    forget_arena();
    RandomWalk free(make_job(seed));
    first_without += Simulation(program, free).run().order != "aaab";
    forget_arena();
    RandomWalk inside(make_job(seed));
    HoldUntilWrite held(inside, key_of(1), 0x30);
    ASSERT_EQ(Simulation(program, held).run().order, "aaab") << seed;
  }
  EXPECT_GT(first_without, 50);
}

TEST(Wrapper, AConstraintThatCannotBeKeptDoesNotBlock) {
  const Program program{{{read(0x40, 1)}}, {{read(0x30, 4), read(0x30, 5)}}};
  forget_arena();
  RandomWalk inside(make_job(1));
  HoldUntilWrite held(inside, key_of(1), 0x30);
  EXPECT_EQ(Simulation(program, held).run().order, "abb");
}

TEST(Wrapper, APrefixIsFollowedByTheStrategyInside) {
  const Program program = two_of(4);
  forget_arena();
  const std::vector<std::uint8_t> guide = prefix_guide(std::vector<std::uint32_t>{1, 1, 0});
  RoundRobin inside(1);
  Prefix prefix(make_job(1, &guide), inside);
  EXPECT_EQ(Simulation(program, prefix).run().order, "bbababaa");
}

// What a main thread that ends, one that has not started and one in its course are to a strategy
// that takes whoever is first.
TEST(Linger, TheProgramEndsWhenNobodyElseCanRun) {
  forget_arena();
  NoStrategy inside(kAtEveryPoint);
  Linger linger(3, inside);
  const Candidate list[] = {{key_of(0), 0, {}},  // ends the program
                            {key_of(1), 1, {}},  // has not started
                            {key_of(2), 2, read(0x20, 2).step}};
  linger.learn({Occurrence::Kind::kSwitched, list[0]});
  EXPECT_EQ(linger.pick({list, 3, true}), 1u);
  EXPECT_EQ(linger.pick({list, 1, true}), 0u) << "there is nobody else";
  const Candidate turned[] = {list[2], list[0], list[1]};
  EXPECT_EQ(linger.pick({turned, 3, true}), 0u);
  EXPECT_EQ(linger.pick({turned + 1, 2, true}), 1u);
  for (int i = 0; i < 3; ++i) linger.learn({Occurrence::Kind::kExecuted, list[2]});
  EXPECT_EQ(linger.pick({list, 3, true}), 0u) << "it has waited long enough";
}

TEST(Linger, ChangesNothingInAProgramThatEndsWithItsThreads) {
  const Program program = two_of(20);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    forget_arena();
    Pos alone(make_job(seed));
    const std::string order = Simulation(program, alone).run().order;
    forget_arena();
    Pos inside(make_job(seed));
    Linger linger(1000, inside);
    ASSERT_EQ(Simulation(program, linger).run().order, order);
  }
}

}  // namespace
}  // namespace clew::rt::simulation
