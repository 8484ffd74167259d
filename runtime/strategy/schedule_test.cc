#include "runtime/strategy/schedule.h"

#include <gtest/gtest.h>

#include "runtime/strategy/fake_run.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

using Replay = ScheduleStrategy::Replay;
using Strings = std::vector<std::string>;

// A stream of abi/clew_abi/stream.h, by hand.
class Stream {
 public:
  Stream& next(Clock clock) { return head(clock, abi::EntryKind::kSwitchNext); }
  Stream& to(Clock clock, std::uint64_t name) {
    return head(clock, abi::EntryKind::kSwitchTo).put(name);
  }
  Stream& check(Clock clock, std::uint64_t thread, abi::Place place, std::uint16_t hash) {
    head(clock, abi::EntryKind::kCheck).put(thread).put(place);
    bytes.push_back(static_cast<std::uint8_t>(hash));
    bytes.push_back(static_cast<std::uint8_t>(hash >> 8));
    return *this;
  }
  Stream& choice(Clock clock, std::uint64_t ordinal, abi::ChoiceKind kind, std::uint64_t value) {
    return head(clock, abi::EntryKind::kChoice)
        .put(ordinal)
        .put(static_cast<std::uint64_t>(kind))
        .put(value);
  }
  std::vector<std::uint8_t> bytes;

 private:
  Stream& head(Clock clock, abi::EntryKind kind) {
    put((clock - last_) << abi::kKindBits | static_cast<std::uint64_t>(kind));
    last_ = clock;
    return *this;
  }
  Stream& put(std::uint64_t value) {
    std::uint8_t encoded[abi::kMaxVarint];
    const std::size_t size = abi::put_varint(encoded, value);
    bytes.insert(bytes.end(), encoded, encoded + size);
    return *this;
  }
  Clock last_ = 0;
};

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() { forget_arena(); }

  ScheduleStrategy made(const Stream& stream, Replay replay = Replay::kSchedule,
                        std::uint32_t flags = 0) {
    abi::Job job = make_job(1, &stream.bytes);
    job.flags = flags;
    job.names_count = 3;
    job.names.offset = reinterpret_cast<std::uintptr_t>("T0\0T0.1\0T0.2");
    return ScheduleStrategy(job, run_, replay);
  }
  static Question question(abi::ChoiceKind kind, Clock event, std::uint32_t ordinal) {
    return {.kind = kind, .event = event, .ordinal = ordinal};
  }

  FakeRun run_;
};

TEST_F(ScheduleTest, NamesTheNextEventOfItsSwitches) {
  const Stream stream = Stream().next(6).to(12, 2);
  ScheduleStrategy strategy = made(stream);
  EXPECT_TRUE(strategy.manner.follows);
  EXPECT_EQ(strategy.next_decision(0), 6u);
  EXPECT_EQ(strategy.preempt(6).kind, Decision::Kind::kNext);
  EXPECT_EQ(strategy.preempt(6).kind, Decision::Kind::kStay);
  EXPECT_EQ(strategy.next_decision(6), 12u);
  const Decision decision = strategy.preempt(12);
  EXPECT_EQ(decision.kind, Decision::Kind::kTo);
  EXPECT_EQ(decision.to, 2u);
  EXPECT_EQ(strategy.next_decision(12), kNever);
}

TEST_F(ScheduleTest, ASwitchThatWasPassedTakesEffectAtTheFirstChance) {
  const Stream stream = Stream().to(5, 1);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.preempt(9).to, 1u);
}

TEST_F(ScheduleTest, ThreadsAreFoundByName) {
  run_.all = {{100, "T0"}, {102, "T0.2"}, {101, "T0.1"}};
  const Stream stream = Stream().to(4, 2);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.preempt(4).to, 1u) << "T0.2 was created first in this run";
}

TEST_F(ScheduleTest, ASwitchToAThreadThatCannotRunHasNoEffectAndIsNoted) {
  run_.all[1].status = ThreadStatus::kBlocked;
  run_.all[2].status = ThreadStatus::kEnded;
  const Stream stream = Stream().to(3, 1).to(4, 2).to(5, 0);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.preempt(3).kind, Decision::Kind::kStay);
  EXPECT_EQ(strategy.preempt(4).kind, Decision::Kind::kStay);
  EXPECT_EQ(strategy.preempt(5).kind, Decision::Kind::kStay) << "it runs already";
  EXPECT_EQ(run_.notes, (Strings{"the switch 3:T0.1 had no effect: it is waiting",
                                 "the switch 4:T0.2 had no effect: it has ended"}));
  EXPECT_TRUE(run_.departures.empty());
}

TEST_F(ScheduleTest, AFullReplayDepartsWhereAThreadCannotRun) {
  run_.all[1].status = ThreadStatus::kBlocked;
  const Stream stream = Stream().to(3, 1);
  ScheduleStrategy strategy = made(stream, Replay::kFull);
  strategy.preempt(3);
  EXPECT_EQ(run_.departures, Strings{"3 1 the thread cannot run"});
}

TEST_F(ScheduleTest, AFullReplayComparesEachCheck) {
  const Stream stream =
      Stream().check(3, 0, 2, 7).check(4, 1, 2, 7).check(5, 0, 8, 7).check(6, 0, 2, 9);
  ScheduleStrategy strategy = made(stream, Replay::kFull);
  strategy.preempt(3);
  EXPECT_TRUE(run_.departures.empty());
  for (Clock event = 4; event <= 6; ++event) strategy.preempt(event);
  EXPECT_EQ(run_.departures,
            (Strings{"4 1 another thread runs", "5 0 the thread is at another place",
                     "6 0 something before this differed"}));
}

TEST_F(ScheduleTest, AScheduleReplayComparesNothing) {
  const Stream stream = Stream().check(3, 1, 99, 99);
  ScheduleStrategy strategy = made(stream);
  strategy.preempt(3);
  EXPECT_TRUE(run_.departures.empty());
}

TEST_F(ScheduleTest, AnswersRecordedQuestions) {
  using Kind = abi::ChoiceKind;
  const Stream stream = Stream()
                            .choice(4, 1, Kind::kWake, 2)
                            .choice(4, 2, Kind::kTimeout, 1)
                            .choice(9, 0, Kind::kPick, 1);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.choose(question(Kind::kWake, 4, 0)).kind, Choice::Kind::kDefault);
  const Choice woken = strategy.choose(question(Kind::kWake, 4, 1));
  EXPECT_EQ(woken.kind, Choice::Kind::kThread);
  EXPECT_EQ(woken.value, 2u);
  EXPECT_EQ(strategy.choose(question(Kind::kTimeout, 4, 2)).value, 1u);
  EXPECT_EQ(strategy.choose(question(Kind::kPick, 9, 0)).value, 1u);
  EXPECT_TRUE(run_.notes.empty());
}

TEST_F(ScheduleTest, QuestionsThatDoNotAriseAreNoted) {
  using Kind = abi::ChoiceKind;
  const Stream stream = Stream().choice(4, 0, Kind::kWake, 2).choice(6, 0, Kind::kWake, 2);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.choose(question(Kind::kTimeout, 6, 0)).kind, Choice::Kind::kDefault);
  EXPECT_EQ(run_.notes, (Strings{"the choice 4/0/wake had no effect: the question did not arise",
                                 "the choice 6/0/wake had no effect: the question was another"}));
}

TEST_F(ScheduleTest, IsAskedAtACompareExchangeThatFails) {
  const Stream stream = Stream().choice(8, 0, abi::ChoiceKind::kCas, 1).next(20);
  ScheduleStrategy strategy = made(stream);
  EXPECT_EQ(strategy.next_decision(0), 8u);
  EXPECT_EQ(strategy.next_decision(8), 20u);
  EXPECT_EQ(strategy.choose(question(abi::ChoiceKind::kCas, 8, 0)).value, 1u);
}

TEST_F(ScheduleTest, WhatIsLeftOverIsTold) {
  const Stream stream = Stream().next(50);
  char reason[200];
  EXPECT_TRUE(made(stream).left_over(10, reason, sizeof reason));
  EXPECT_STREQ(reason, "the schedule has a switch at clock 50, but the run ended at clock 10");
  EXPECT_FALSE(made(stream).left_over(49, reason, sizeof reason)) << "one past the end is padding";
  EXPECT_FALSE(
      made(stream, Replay::kSchedule, abi::kJobLoose).left_over(10, reason, sizeof reason));
  run_.all.pop_back();
  EXPECT_TRUE(made(stream).left_over(49, reason, sizeof reason));
  EXPECT_STREQ(reason, "the schedule names thread T0.2, which this run did not create");
}

TEST_F(ScheduleTest, AFullReplayThatEndsEarlyDeparts) {
  const Stream stream = Stream().check(50, 2, 4, 7);
  char reason[200];
  ScheduleStrategy strategy = made(stream, Replay::kFull);
  strategy.left_over(10, reason, sizeof reason);
  EXPECT_EQ(run_.departures, Strings{"10 2 the run ended before its next switch"});
}

}  // namespace
}  // namespace clew::rt::simulation
