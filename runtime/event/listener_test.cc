#include "runtime/event/listener.h"

#include <gtest/gtest.h>

#include <string>

namespace clew::rt {
namespace {

class Diary final : public Listener {
 public:
  void before(const Event& event) override { text += " b" + std::to_string(event.clock); }
  void after(const Event& event) override {
    text += " a" + std::to_string(event.clock) + "=" + std::to_string(event.value);
  }
  void at(const SchedulingPoint& point) override { text += " p" + std::to_string(point.clock); }
  void decided(const DecisionMade& decision) override {
    text += " d" + std::to_string(decision.event);
  }
  void left(const SliceEnded& slice) override { text += " l" + std::to_string(slice.last); }
  void created(const ThreadCreated& thread) override {
    text += " c" + std::to_string(thread.thread.index);
  }
  std::string text;
};

Event event_at(Clock clock) {
  Event event;
  event.clock = clock;
  event.value = 7;
  return event;
}

void announce_all(const Listeners& listeners, Clock clock) {
  if (listeners.hears(clock)) listeners.before(event_at(clock));
  if (listeners.hears_result(clock)) listeners.after(event_at(clock));
  listeners.at({.clock = clock});
  listeners.decided({.event = clock});
  listeners.left({.last = clock});
  listeners.created({.thread = {0, 3}});
}

TEST(Listeners, NobodyListensAtFirst) {
  const Listeners listeners;
  EXPECT_FALSE(listeners.hears(1));
  EXPECT_FALSE(listeners.hears_result(1));
  EXPECT_FALSE(listeners.hears_of(kTopicPoints));
  EXPECT_TRUE(listeners.looked_at().empty());
  announce_all(listeners, 1);
}

TEST(Listeners, EachHearsItsTopicsOnly) {
  Diary points, slices_and_threads, all;
  Listeners listeners;
  listeners.add(points, {.topics = kTopicPoints});
  listeners.add(slices_and_threads, {.topics = kTopicSlices | kTopicThreads});
  listeners.add(all, {.topics = ~0u, .window = Window::all()});
  announce_all(listeners, 9);
  EXPECT_EQ(points.text, " p9");
  EXPECT_EQ(slices_and_threads.text, " l9 c3");
  EXPECT_EQ(all.text, " b9 a9=7 p9 d9 l9 c3");
}

TEST(Listeners, EventsAreHeardWithinTheWindow) {
  Diary early, late;
  Listeners listeners;
  listeners.add(early, {.topics = kTopicEvents, .window = {2, 3}});
  listeners.add(late, {.topics = kTopicEvents | kTopicResults, .window = {6, 7}});
  for (Clock clock = 1; clock <= 8; ++clock) announce_all(listeners, clock);
  EXPECT_EQ(early.text, " b2 b3");
  EXPECT_EQ(late.text, " b6 a6=7 b7 a7=7");
  EXPECT_FALSE(listeners.hears(1));
  EXPECT_FALSE(listeners.hears(8));
}

TEST(Listeners, OnlyThoseWhoAskForItHaveEachEventLookedAt) {
  Diary sharing, trace;
  Listeners listeners;
  listeners.add(sharing, {.topics = kTopicEvents, .window = Window::all()});
  EXPECT_TRUE(listeners.looked_at().empty());
  listeners.add(trace,
                {.topics = kTopicEvents, .window = {10, 20}, .looks = Hearing::Looks::kAtEach});
  EXPECT_EQ(listeners.looked_at().first, 10u);
  EXPECT_EQ(listeners.looked_at().last, 20u);
}

TEST(Listeners, TheListIsMadeAnewForEachJob) {
  Diary diary;
  Listeners listeners;
  listeners.add(diary, {.topics = ~0u, .window = Window::all()});
  listeners.clear();
  announce_all(listeners, 1);
  EXPECT_EQ(diary.text, "");
}

}  // namespace
}  // namespace clew::rt
