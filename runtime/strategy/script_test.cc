#include "runtime/strategy/script.h"

#include <gtest/gtest.h>

#include <memory>

#include "host/search/guides.h"
#include "runtime/strategy/fake_run.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

using Items = std::vector<clew::ScriptItem>;
using Strings = std::vector<std::string>;

constexpr std::uint8_t kind(abi::ChoiceKind choice) {
  return static_cast<std::uint8_t>(1 + static_cast<unsigned>(choice));
}

// The threads have the keys 100, 101 and 102.
class ScriptTest : public testing::Test {
 protected:
  ScriptTest() { forget_arena(); }

  Script& follow(const Items& items, Clock from = 1) {
    guide_ = script_guide(items);
    script_ = std::make_unique<Script>(make_job(1, &guide_), run_);
    switch_to(run_.current, from);
    return *script_;
  }
  // The thread runs from event `first` on, the first that it executes itself.
  void switch_to(ThreadIndex thread, Clock first) {
    run_.current = thread;
    run_.first = first;
    run_.preemptions = 0;
    script_->learn({Occurrence::Kind::kSwitched, run_.running(), 0, first});
  }

  FakeRun run_;
  std::vector<std::uint8_t> guide_;
  std::unique_ptr<Script> script_;
};

TEST_F(ScriptTest, PreemptsBeforeAnEventOfTheThread) {
  Script& script = follow({{100, 5, 0, 0, 102}});
  EXPECT_EQ(script.next_decision(0), 5u);
  const Decision decision = script.preempt(5);
  EXPECT_EQ(decision.kind, Decision::Kind::kTo);
  EXPECT_EQ(decision.to, 2u);
  EXPECT_EQ(script.preempt(5).kind, Decision::Kind::kStay);
  EXPECT_EQ(script.next_decision(5), kNever);
}

TEST_F(ScriptTest, PositionsAreThoseOfTheThreadWhateverOthersDo) {
  Script& script = follow({{101, 3, 0, 0, 0}});
  EXPECT_EQ(script.next_decision(0), kNever) << "T0 has no items";
  switch_to(1, 40);
  EXPECT_EQ(script.next_decision(39), 42u) << "its third event";
  EXPECT_EQ(script.preempt(42).kind, Decision::Kind::kNext);
}

TEST_F(ScriptTest, SeveralAtOnePlaceAreTakenInTurn) {
  Script& script = follow({{100, 2, 0, 1, 102}, {100, 2, 0, 0, 101}});
  EXPECT_EQ(script.preempt(2).to, 1u);
  ++run_.preemptions;
  EXPECT_EQ(script.preempt(2).to, 2u);
}

TEST_F(ScriptTest, WhatCannotBeDoneIsNotedAndCountsAsTaken) {
  run_.all[1].status = ThreadStatus::kBlocked;
  Script& script = follow({{100, 2, 0, 0, 101}, {100, 2, 0, 1, 555}});
  EXPECT_EQ(script.preempt(2).kind, Decision::Kind::kStay);
  EXPECT_EQ(
      run_.notes,
      (Strings{"the preemption of T0 before its event 2 had no effect: the other thread is waiting",
               "the preemption of T0 before its event 2 had no effect: the other thread is not "
               "there"}));
  EXPECT_EQ(run_.preemptions, 2u);
}

TEST_F(ScriptTest, ThereMustBeSomebodyToRunNext) {
  run_.all[1].status = run_.all[2].status = ThreadStatus::kBlocked;
  Script& script = follow({{100, 2, 0, 0, 0}});
  EXPECT_EQ(script.preempt(2).kind, Decision::Kind::kStay);
  EXPECT_EQ(
      run_.notes,
      Strings{"the preemption of T0 before its event 2 had no effect: no other thread can run"});
}

TEST_F(ScriptTest, WhatLiesBeforeTheCheckpointIsLeftOut) {
  guide_ = script_guide(Items{{100, 2, 0, 0, 101}, {100, 4, 0, 0, 101}, {100, 4, 0, 1, 102}});
  script_ = std::make_unique<Script>(make_job(1, &guide_), run_);
  run_.preemptions = 1;  // at its event 4, where it stands
  script_->learn({Occurrence::Kind::kSwitched, run_.running(), 0, 4});
  EXPECT_EQ(script_->preempt(4).to, 2u);
}

TEST_F(ScriptTest, AnswersTheQuestionsOfItsThread) {
  Script& script = follow({{100, 3, kind(abi::ChoiceKind::kWake), 1, 102},
                           {100, 3, kind(abi::ChoiceKind::kTimeout), 2, 0}});
  Question question{.kind = abi::ChoiceKind::kWake, .own_event = 3, .own_ordinal = 0};
  EXPECT_EQ(script.choose(question).kind, Choice::Kind::kDefault);
  question.own_ordinal = 1;
  EXPECT_EQ(script.choose(question).value, 2u);
  question = {.kind = abi::ChoiceKind::kTimeout, .own_event = 3, .own_ordinal = 2};
  EXPECT_EQ(script.choose(question).value, 1u);
  EXPECT_EQ(script.choose(question).kind, Choice::Kind::kDefault) << "each is given once";
}

TEST_F(ScriptTest, AnotherQuestionThanTheOneMeantIsNoted) {
  Script& script = follow({{100, 3, kind(abi::ChoiceKind::kWake), 0, 102}});
  const Question question{.kind = abi::ChoiceKind::kTimeout, .own_event = 3};
  EXPECT_EQ(script.choose(question).kind, Choice::Kind::kDefault);
  EXPECT_EQ(run_.notes,
            Strings{"the choice of T0 before its event 3 had no effect: the question was another"});
}

TEST_F(ScriptTest, ACompareExchangeFailsAtItsEvent) {
  Script& script = follow({{100, 6, kind(abi::ChoiceKind::kCas), 0, 0}});
  EXPECT_EQ(script.next_decision(0), 6u) << "it has to be looked at";
  EXPECT_EQ(script.choose({.kind = abi::ChoiceKind::kCas, .own_event = 5}).value, 0u);
  EXPECT_EQ(script.choose({.kind = abi::ChoiceKind::kCas, .own_event = 6}).value, 1u);
}

}  // namespace
}  // namespace clew::rt::simulation
