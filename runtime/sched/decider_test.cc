#include "runtime/sched/decider.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace clew::rt {
namespace {

class Scripted final : public Strategy {
 public:
  explicit Scripted(Manner m) : Strategy(m) {}
  std::uint32_t pick(const Candidates& candidates) override {
    seen.clear();
    for (std::uint32_t i = 0; i < candidates.count; ++i)
      seen += std::to_string(candidates.list[i].index);
    return answer;
  }
  std::uint32_t answer = 0;
  std::string seen;
};

class DeciderTest : public testing::Test {
 protected:
  DeciderTest() {
    for (std::uint32_t i = 0; i < fibers_.size(); ++i) fibers_[i].index = i;
  }

  Fiber* ask(Fiber* running) { return decider_.pick(decider_.gather(running, queue_, 5)); }

  std::array<Fiber, 4> fibers_;
  RunQueue queue_;
  Scripted strategy_{kAtEveryPoint};
  Decider decider_;
};

constexpr std::uint32_t kEverything = ~0u;

bool never(const Fiber&) { return false; }

TEST_F(DeciderTest, TheRunningThreadIsTheFirstCandidate) {
  decider_.begin(strategy_, kEverything);
  queue_.push(&fibers_[2]);
  queue_.push(&fibers_[1]);
  EXPECT_EQ(ask(&fibers_[0]), &fibers_[0]);
  EXPECT_EQ(strategy_.seen, "021");
  EXPECT_EQ(decider_.enabled(), 0b111u);
  strategy_.answer = 1;
  EXPECT_EQ(ask(nullptr), &fibers_[1]);
  EXPECT_EQ(strategy_.seen, "21");
}

TEST_F(DeciderTest, AnswersOutOfRangeAreTheDefault) {
  decider_.begin(strategy_, kEverything);
  queue_.push(&fibers_[1]);
  strategy_.answer = 17;
  EXPECT_EQ(ask(&fibers_[0]), &fibers_[0]);
}

TEST_F(DeciderTest, OneCandidateIsNoQuestion) {
  decider_.begin(strategy_, kEverything);
  strategy_.seen = "not asked";
  EXPECT_EQ(ask(&fibers_[3]), &fibers_[3]);
  EXPECT_EQ(strategy_.seen, "not asked");
}

TEST_F(DeciderTest, ThreadsBeforeALockThatIsHeldAreNotOffered) {
  decider_.begin(strategy_, kEverything);
  fibers_[1].reached.can_proceed = never;
  queue_.push(&fibers_[1]);
  queue_.push(&fibers_[2]);
  const Candidates candidates = decider_.gather(&fibers_[0], queue_, 5);
  EXPECT_EQ(candidates.count, 2u);
  EXPECT_EQ(decider_.enabled(), 0b101u);
  // One that is disturbed attends to that first.
  fibers_[1].disturbed = true;
  EXPECT_EQ(decider_.gather(&fibers_[0], queue_, 5).count, 3u);
}

TEST_F(DeciderTest, IfNobodyCanProceedTheyFindOutThemselves) {
  decider_.begin(strategy_, kEverything);
  fibers_[0].reached.can_proceed = never;
  fibers_[1].reached.can_proceed = never;
  queue_.push(&fibers_[1]);
  const Candidates candidates = decider_.gather(&fibers_[0], queue_, 5);
  EXPECT_EQ(candidates.count, 2u);
  EXPECT_TRUE(candidates.current_first);
}

TEST_F(DeciderTest, AsksOnlyWhatTheJobAllows) {
  decider_.begin(strategy_, 1u << static_cast<unsigned>(abi::ChoiceKind::kWake));
  EXPECT_TRUE(decider_.asks(abi::ChoiceKind::kWake));
  EXPECT_FALSE(decider_.asks(abi::ChoiceKind::kTimeout));
  EXPECT_FALSE(decider_.picks());
}

TEST_F(DeciderTest, AStrategyThatFollowsIsAskedEverything) {
  Scripted follower{kFollows};
  decider_.begin(follower, 0);
  EXPECT_TRUE(decider_.asks(abi::ChoiceKind::kTimeout));
  EXPECT_TRUE(decider_.follows());
  EXPECT_FALSE(decider_.at_every_point());
}

TEST_F(DeciderTest, NobodyIsAskedAfterTheStop) {
  decider_.begin(strategy_, kEverything);
  decider_.stop();
  EXPECT_FALSE(decider_.at_every_point());
  EXPECT_FALSE(decider_.picks());
  EXPECT_FALSE(decider_.asks(abi::ChoiceKind::kWake));
}

TEST_F(DeciderTest, QuestionsAreNumberedForEachEvent) {
  EXPECT_EQ(decider_.next_ordinal(5), 0u);
  EXPECT_EQ(decider_.next_ordinal(5), 1u);
  EXPECT_EQ(decider_.next_ordinal(6), 0u);
  EXPECT_EQ(decider_.next_ordinal(5), 0u);
}

TEST_F(DeciderTest, RemembersWhichQuestionsArose) {
  EXPECT_EQ(decider_.arisen(), 0u);
  decider_.note_arisen(abi::ChoiceKind::kCas);
  decider_.note_arisen(abi::ChoiceKind::kWake);
  EXPECT_EQ(decider_.arisen(), (1u << static_cast<unsigned>(abi::ChoiceKind::kCas)) |
                                   (1u << static_cast<unsigned>(abi::ChoiceKind::kWake)));
}

TEST(RunQueue, IsFirstInFirstOut) {
  RunQueue queue;
  std::array<Fiber, 3> fibers;
  for (Fiber& fiber : fibers) queue.push(&fiber);
  queue.remove(&fibers[1]);
  EXPECT_FALSE(queue.has(&fibers[1]));
  EXPECT_EQ(queue.pop(), &fibers[0]);
  EXPECT_EQ(queue.pop(), &fibers[2]);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace clew::rt
