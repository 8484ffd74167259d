#include "runtime/event/listener.h"

namespace clew::rt {

constinit Listeners g_listeners;

namespace {

Window joined(Window a, Window b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

}  // namespace

void Listeners::add(Listener& listener, const Hearing& hearing) {
  if (hearing.topics == 0) return;
  CLEW_CHECK(count_ < kMost);
  entries_[count_++] = {&listener, hearing};
  topics_ |= hearing.topics;
  regions_ |= hearing.regions;
  heard_ = joined(heard_, hearing.window);
  if (hearing.looks == Hearing::Looks::kAtEach && hearing.repeats == Hearing::Repeats::kHeard &&
      !hearing.window.empty())
    repeats_ = true;
  if (hearing.looks == Hearing::Looks::kAtEach) looked_at_ = joined(looked_at_, hearing.window);
}

void Listeners::before(const Event& event) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Hearing& hearing = entries_[i].hearing;
    if ((hearing.topics & kTopicEvents) && hearing.window.has(event.clock))
      entries_[i].listener->before(event);
  }
}

void Listeners::before_each(const Event& event) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Hearing& hearing = entries_[i].hearing;
    if (hearing.looks == Hearing::Looks::kAtEach && (hearing.topics & kTopicEvents) &&
        hearing.window.has(event.clock))
      entries_[i].listener->before(event);
  }
}

void Listeners::before_in_region(const Event& event) const {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (entries_[i].hearing.regions) entries_[i].listener->before(event);
}

void Listeners::ended() const {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (entries_[i].hearing.topics & kTopicEnd) entries_[i].listener->ended();
}

void Listeners::after(const Event& event) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Hearing& hearing = entries_[i].hearing;
    if ((hearing.topics & kTopicResults) && hearing.window.has(event.clock))
      entries_[i].listener->after(event);
  }
}

}  // namespace clew::rt
