// The scheduler proper, with real fibers, a strategy of the test's and nothing around it.
#include "runtime/sched/scheduler.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/arena.h"

std::uintptr_t clew_own_base = 0;
std::uintptr_t clew_own_top = 0;
extern "C" void clew_call_on_own_stack(void (*function)()) { function(); }

namespace clew::rt {

// Memory that is zero and costs nothing until it is used.
void* arena_alloc(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

OwnStack make_own_stack() { return {}; }

namespace {

Strategy* g_strategy = nullptr;

// Preempts at given events.
class AtEvents final : public Strategy {
 public:
  explicit AtEvents(std::vector<Clock> events) : Strategy(kByClock), events_(std::move(events)) {}
  Clock next_decision(Clock now) override {
    return at_ < events_.size() && events_[at_] > now ? events_[at_] : kNever;
  }
  Decision preempt(Clock event) override {
    if (at_ == events_.size() || events_[at_] != event) return {};
    ++at_;
    return {Decision::Kind::kNext};
  }

 private:
  std::vector<Clock> events_;
  std::size_t at_ = 0;
};

class PicksLast final : public Strategy {
 public:
  PicksLast() : Strategy(kAtEveryPoint) {}
  std::uint32_t pick(const Candidates& candidates) override { return candidates.count - 1; }
};

struct Stuck {};

class Nothing final : public Surroundings {
 public:
  void tune_in(const abi::Job&, const Manner&) override {
    if (listener != nullptr) g_listeners.add(*listener, hearing);
  }
  void stop_at_checkpoint() override {}
  void report_stacks(Clock) override {}
  void poll(Clock) override {}
  void poll_if_expected() override {}
  void poll_while_stuck() override {}
  Came wait_for_something(Nanos) override { return Came::kNothing; }
  void forget(Wait&) override {}
  bool is_copy() const override { return false; }
  Clock clock_of_jump(Clock clock) override { return clock; }
  Attended attend(Fiber& self, unsigned) override {
    self.disturbed = false;
    ++attended;
    return {.handled = true};
  }
  void give_back(Fiber&) override {}
  void parked(const Fiber&) override {}
  void note(const char*) override {}
  // Thrown in the main fiber, whose stack is the test's.
  [[noreturn]] void end_at_budget() override { throw Stuck(); }
  [[noreturn]] void end_stuck() override { throw Stuck(); }
  [[noreturn]] void end_spinning() override { throw Stuck(); }
  [[noreturn]] void end_departed(Clock, std::uint64_t, abi::Place, const char*) override {
    throw Stuck();
  }

  Listener* listener = nullptr;
  Hearing hearing;
  int attended = 0;
};

class SchedulerTest : public testing::Test {
 protected:
  static constexpr std::size_t kStackSize = 64 * 1024;

  SchedulerTest() {
    g_sched = Scheduler();
    g_hash = RunHash();
    control_->budget = 1'000'000;
    control_->fair_slice = 500'000;
    control_->clock_speed = 1;
    main_.countdown = &countdowns_[0];
    main_.context.thread_pointer = current_thread_pointer();
    init_context();
  }
  ~SchedulerTest() override { g_listeners.clear(); }

  void begin(Strategy& strategy) {
    g_strategy = &strategy;
    g_sched.init(*control_, surroundings_, main_);
  }

  // A thread that does `body`.
  Fiber& start(std::function<void()> body) {
    Fiber& fiber = g_sched.threads.create(*g_sched.current);
    stacks_.push_back(std::make_unique<char[]>(kStackSize));
    countdowns_[fiber.index] = 0;
    fiber.countdown = &countdowns_[fiber.index];
    bodies().resize(fiber.index + 1);
    bodies()[fiber.index] = std::move(body);
    init_parked_context(fiber.context, stacks_.back().get() + kStackSize, [] {
      g_sched.started();
      bodies()[g_sched.current->index]();
      g_sched.finish_current();
    });
    g_sched.add(fiber);
    return fiber;
  }
  static std::vector<std::function<void()>>& bodies() {
    static std::vector<std::function<void()>> all;
    return all;
  }

  // The running thread passes this many events, and writes a letter for each.
  void pass(char letter, int events) {
    for (int i = 0; i < events; ++i) {
      g_sched.reach({.place = 2});
      order_ += letter;
    }
  }
  void until_alone() {
    while (g_sched.threads.has_company()) g_sched.yield_voluntarily();
  }

  std::unique_ptr<abi::Control> control_ = std::make_unique<abi::Control>();
  Nothing surroundings_;
  Fiber main_;
  std::int64_t countdowns_[64] = {};
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::string order_;
};

TEST_F(SchedulerTest, ANewThreadRunsWhenItsCreatorYields) {
  AtEvents strategy({});
  begin(strategy);
  start([&] { pass('a', 3); });
  start([&] { pass('b', 2); });
  pass('m', 1);
  until_alone();
  EXPECT_EQ(order_, "maaabb");
  EXPECT_EQ(g_sched.clock(), 6u);
  EXPECT_EQ(g_sched.counts.preemptions, 0u);
}

// A systematic search executes no schedule in which it continues at once: that is to be known.
TEST_F(SchedulerTest, AYieldLeavesOutTheRoundsThatTheThreadCouldHaveMade) {
  AtEvents strategy({});
  begin(strategy);
  g_sched.uncovered = 0;
  g_sched.yield_voluntarily();
  EXPECT_EQ(g_sched.uncovered & abi::kUncoveredRounds, 0);
  start([&] { pass('a', 1); });
  g_sched.yield_voluntarily();
  EXPECT_NE(g_sched.uncovered & abi::kUncoveredRounds, 0);
  until_alone();
}

TEST_F(SchedulerTest, PreemptsAtTheEventsOfTheStrategy) {
  AtEvents strategy({2, 5});
  begin(strategy);
  start([&] { pass('a', 4); });
  pass('m', 4);
  until_alone();
  EXPECT_EQ(order_, "maaammma") << "event 2 is a's, event 5 main's again";
  EXPECT_EQ(g_sched.counts.preemptions, 2u);
}

TEST_F(SchedulerTest, AThreadThatIsAloneIsNotPreempted) {
  AtEvents strategy({2, 3});
  begin(strategy);
  pass('m', 5);
  EXPECT_EQ(order_, "mmmmm");
  EXPECT_EQ(g_sched.counts.preemptions, 0u);
  EXPECT_EQ(g_sched.last_company(), 0u);
}

TEST_F(SchedulerTest, NobodyRunsForLongerThanAFairSlice) {
  control_->fair_slice = 4;
  AtEvents strategy({});
  begin(strategy);
  start([&] { pass('a', 6); });
  pass('m', 6);
  until_alone();
  EXPECT_EQ(order_.find("mmmmmm"), std::string::npos);
  EXPECT_EQ(order_.find("aaaaaa"), std::string::npos);
  EXPECT_GT(g_sched.counts.preemptions, 0u);
}

// A loop of any length is preempted at every one of its events sooner or later: none is in step
// with the slices.
TEST_F(SchedulerTest, FairSlicesAreNotInStepWithALoop) {
  constexpr Clock kSlice = 60;
  for (Clock length = 1; length <= kSlice; ++length) {
    g_sched = Scheduler();
    main_ = Fiber();
    main_.countdown = &countdowns_[0];
    main_.context.thread_pointer = current_thread_pointer();
    control_->fair_slice = kSlice;
    AtEvents strategy({});
    begin(strategy);
    Clock own = 0;
    bool over = false;
    std::vector<bool> preempted(length);
    start([&] {
      while (!over) {
        preempted[own % length] = true;
        g_sched.yield_voluntarily();
      }
    });
    for (; own < 100'000; ++own) g_sched.reach({.place = 2});
    over = true;
    until_alone();
    for (Clock at = 0; at < length; ++at) EXPECT_TRUE(preempted[at]) << at << " of " << length;
  }
}

TEST_F(SchedulerTest, BlockedThreadsRunWhenTheyAreWoken) {
  AtEvents strategy({});
  begin(strategy);
  const int object = 0;
  start([&] {
    EXPECT_TRUE(g_sched.block(abi::WaitKind::kMutex, &object, kForever));
    pass('a', 1);
  });
  g_sched.yield_voluntarily();
  EXPECT_TRUE(g_sched.has_waiter(&object, abi::WaitKind::kMutex));
  pass('m', 2);
  EXPECT_NE(g_sched.wake_one(&object), nullptr);
  EXPECT_EQ(g_sched.wake_one(&object), nullptr);
  until_alone();
  EXPECT_EQ(order_, "mma");
}

TEST_F(SchedulerTest, TimeJumpsToTheNextDeadlineWhenNobodyCanRun) {
  AtEvents strategy({});
  begin(strategy);
  const int object = 0;
  EXPECT_EQ(g_sched.block(abi::WaitKind::kSleep, &object, 5'000'000'000, kUndisturbed),
            Woke::kByTime);
  EXPECT_EQ(g_sched.now(), 5'000'000'000);
  EXPECT_EQ(g_sched.idle(), 5'000'000'000);
}

TEST_F(SchedulerTest, DeadlinesComeInOrder) {
  AtEvents strategy({});
  begin(strategy);
  for (int i = 3; i > 0; --i)
    start([&, i] {
      g_sched.block(abi::WaitKind::kSleep, nullptr, i * 1'000'000'000);
      order_ += static_cast<char>('0' + i);
    });
  until_alone();
  EXPECT_EQ(order_, "123");
}

// Two that yield to each other until a third has slept for an hour do not spin for ever.
TEST_F(SchedulerTest, ThreadsThatOnlyYieldReachADeadline) {
  control_->budget = kNever;
  AtEvents strategy({});
  begin(strategy);
  bool over = false;
  start([&] {
    g_sched.block(abi::WaitKind::kSleep, nullptr, 3'600'000'000'000);
    over = true;
  });
  start([&] {
    while (!over) g_sched.yield_voluntarily();
  });
  while (!over) g_sched.yield_voluntarily();
  until_alone();
  EXPECT_GE(g_sched.now(), 3'600'000'000'000);
}

class TimesOut final : public Strategy {
 public:
  TimesOut() : Strategy(kFollows) {}
  Choice choose(const Question&) override { return Choice::position(1); }
};

TEST_F(SchedulerTest, TimeoutsOfLessThanASecondMayFireEarly) {
  TimesOut strategy;
  begin(strategy);
  // Whether the time has run out when the other thread, which could run all the time, does.
  const auto times_out_early = [&](Nanos length) {
    Nanos seen = 0;
    start([&] { seen = g_sched.now(); });
    const Nanos deadline = g_sched.now() + length;
    pass('m', 3);  // the deadline was computed a little before the wait
    g_sched.block(abi::WaitKind::kCondition, &seen, deadline);
    until_alone();
    return seen >= deadline;
  };
  EXPECT_TRUE(times_out_early(10'000'000));
  EXPECT_TRUE(times_out_early(899'000'000));
  EXPECT_FALSE(times_out_early(1'000'000'000));
  EXPECT_FALSE(times_out_early(2'000'000'000));
}

TEST_F(SchedulerTest, AFastClockAndItsDeadlinesAgree) {
  control_->clock_speed = 100;
  TimesOut strategy;
  begin(strategy);
  pass('m', 3);
  EXPECT_EQ(g_sched.now(), 3 * 100 * kNanosPerPoint);
  const int object = 0;
  const Nanos deadline = g_sched.now() + 1'000'000;
  EXPECT_FALSE(g_sched.block(abi::WaitKind::kCondition, &object, deadline));
  EXPECT_EQ(g_sched.now(), deadline + 99 * kSlack);
  EXPECT_FALSE(g_sched.block(abi::WaitKind::kCondition, &object, kForever - 1)) << "no overflow";
}

// As a loop around a wait does that was woken for something else.
TEST_F(SchedulerTest, ASecondThatHasBegunIsStillASecond) {
  TimesOut strategy;
  begin(strategy);
  const int object = 0;
  const Nanos deadline = 1'000'000'000;
  Nanos seen = 0;
  start([&] {
    g_sched.pass_time(500'000'000);
    g_sched.wake_one(&object);
    g_sched.yield_voluntarily();
    seen = g_sched.now();
  });
  EXPECT_TRUE(g_sched.block(abi::WaitKind::kCondition, &object, deadline));
  EXPECT_FALSE(g_sched.block(abi::WaitKind::kCondition, &object, deadline));
  until_alone();
  EXPECT_LT(seen, deadline);
}

TEST_F(SchedulerTest, NobodyCanRunAndNothingIsDueIsADeadlock) {
  AtEvents strategy({});
  begin(strategy);
  const int object = 0;
  start([&] { g_sched.block(abi::WaitKind::kMutex, &object, kForever); });
  g_sched.yield_voluntarily();
  EXPECT_THROW(g_sched.block(abi::WaitKind::kMutex, &object, kForever), Stuck);
}

TEST_F(SchedulerTest, ARunEndsWhenItsBudgetIsSpent) {
  control_->budget = 10;
  AtEvents strategy({});
  begin(strategy);
  EXPECT_THROW(pass('m', 100), Stuck);
  EXPECT_EQ(order_.size(), 9u);
}

TEST_F(SchedulerTest, ADisturbedThreadAttendsToThatInTheMiddleOfItsWait) {
  AtEvents strategy({});
  begin(strategy);
  const int object = 0;
  Fiber& fiber = start([&] {
    EXPECT_EQ(g_sched.block(abi::WaitKind::kMutex, &object, kForever, kSignalsAlways),
              Woke::kBySignal);
  });
  g_sched.yield_voluntarily();
  g_sched.disturb(&fiber);
  until_alone();
  EXPECT_EQ(surroundings_.attended, 1);
  EXPECT_FALSE(g_sched.has_waiter(&object, abi::WaitKind::kMutex));
}

TEST_F(SchedulerTest, StrategiesAtEveryPointPickWhoRuns) {
  PicksLast strategy;
  begin(strategy);
  const auto touch = [&](char letter) {
    g_sched.reach({.place = 2, .step = {0x1000, 2, 4, abi::StepKind::kWrite}});
    order_ += letter;
  };
  start([&] {
    touch('a');
    touch('a');
  });
  touch('m');
  touch('m');
  until_alone();
  // Each gives way to the other, which stands before its point when it is picked and passes it.
  EXPECT_EQ(order_, "mama");
  EXPECT_EQ(g_sched.counts.points, 4u);
}

TEST_F(SchedulerTest, SameDecisionsSameHash) {
  std::uint64_t hashes[2];
  for (std::uint64_t& hash : hashes) {
    g_sched = Scheduler();
    g_hash = RunHash();
    main_ = Fiber();
    main_.countdown = &countdowns_[0];
    main_.context.thread_pointer = current_thread_pointer();
    AtEvents strategy({2, 4});
    begin(strategy);
    start([&] { pass('a', 4); });
    pass('m', 4);
    until_alone();
    hash = g_hash.value();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

class Diary final : public Listener {
 public:
  void before(const Event& event) override {
    text += " " + std::to_string(event.clock) + ":" + std::to_string(event.thread.index) + "." +
            std::to_string(event.own);
  }
  void decided(const DecisionMade& decision) override {
    text += " preempt " + std::to_string(decision.thread.index) + ">" +
            std::to_string(decision.to.index) + "@" + std::to_string(decision.event);
  }
  void created(const ThreadCreated& thread) override {
    text += " new " + std::to_string(thread.thread.index);
  }
  std::string text;
};

TEST_F(SchedulerTest, AnnouncesWhatHappensInOrder) {
  Diary diary;
  surroundings_.listener = &diary;
  surroundings_.hearing = {.topics = kTopicEvents | kTopicDecisions | kTopicThreads,
                           .window = {2, 4},
                           .looks = Hearing::Looks::kAtEach};
  AtEvents strategy({3});
  begin(strategy);
  const auto touch = [&] {
    g_sched.reach({.place = 2});
    g_sched.announce({0x1000, 2, 4, abi::StepKind::kRead}, Scheduler::Counted::kYes);
  };
  start([&] {
    touch();
    touch();
  });
  for (int i = 0; i < 4; ++i) touch();
  until_alone();
  EXPECT_EQ(diary.text, " new 1 2:0.2 preempt 0>1@3 3:1.1 4:1.2");
}

}  // namespace

Strategy* make_strategy(const abi::Job&, Run&) { return g_strategy; }

}  // namespace clew::rt
