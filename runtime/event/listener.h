// Who listens to what happens: the recording, what threads share, the trace, and whoever comes next
// (counters, race detection, plug-ins, a memory model). This is the one place where "something
// happens": the scheduler, the hooks and the models announce, and know none of the listeners.
//
// To add one: a class that derives from Listener and overrides what it wants to hear, and a line in
// tune_in() (intercept/surroundings.cc), which makes the list when a job begins.
//
// Invariant: listening changes nothing. A run is the same with and without, but for its speed.
#ifndef CLEW_RUNTIME_EVENT_LISTENER_H_
#define CLEW_RUNTIME_EVENT_LISTENER_H_

#include "runtime/event/event.h"

namespace clew::rt {

class Listener {
 public:
  // The thread executes the event next.
  virtual void before(const Event& event) { (void)event; }
  // In place of before(), if nobody who wants each needs to hear of repetitions.
  virtual void accesses(const PlainAccess& access) { (void)access; }
  // The call has returned `event.value`.
  virtual void after(const Event& event) { (void)event; }
  virtual void at(const SchedulingPoint& point) { (void)point; }
  virtual void decided(const DecisionMade& decision) { (void)decision; }
  virtual void left(const SliceEnded& slice) { (void)slice; }
  virtual void created(const ThreadCreated& thread) { (void)thread; }
  virtual void synchronised(const Synchronised& what) { (void)what; }
  virtual void changed(const MemoryChange& change) { (void)change; }
  // The program ends, or the run does.
  virtual void ended() {}

 protected:
  ~Listener() = default;
};

// Which of the functions are called.
enum Topics : std::uint32_t {
  kTopicEvents = 1u << 0,     // before()
  kTopicResults = 1u << 1,    // after()
  kTopicPoints = 1u << 2,     // at()
  kTopicDecisions = 1u << 3,  // decided()
  kTopicSlices = 1u << 4,     // left()
  kTopicThreads = 1u << 5,    // created()
  kTopicSync = 1u << 6,       // synchronised()
  kTopicMemory = 1u << 7,     // changed(); the program's allocator is hooked for it
  kTopicEnd = 1u << 8,        // ended()
};

// Events by their numbers, both ends included.
struct Window {
  Clock first = 1;
  Clock last = 0;

  static constexpr Window all() { return {0, kNever}; }
  static constexpr Window none() { return {}; }
  bool empty() const { return first > last; }
  bool has(Clock event) const { return event <= last && event >= first; }
};

struct Hearing {
  std::uint32_t topics = 0;  // Topics
  // Of which events it hears, as far as they are looked at.
  Window window = Window::none();
  // Whether each event of the window is to be looked at. Otherwise it is left to the strategy: one
  // that decides at every point looks at accesses to what threads may share, others at very few.
  // Calls are looked at in any case.
  enum class Looks : std::uint8_t { kAsItComes, kAtEach } looks = Looks::kAsItComes;
  // Whether it hears of accesses that repeat what it has heard of (event/stretch.h). REQUIRES of
  // kUnheard: kAtEach.
  enum class Repeats : std::uint8_t { kHeard, kUnheard } repeats = Repeats::kHeard;
  // Whether it hears of accesses in regions without yield points, too; they are not counted.
  // REQUIRES: kAtEach.
  bool regions = false;
};

// The list. What nobody listens to costs one comparison.
class Listeners {
 public:
  static constexpr std::uint32_t kMost = 32;

  void clear() { *this = Listeners(); }
  // REQUIRES: fewer than kMost were added.
  void add(Listener& listener, const Hearing& hearing);

  // Whether anybody wants to hear of this event.
  bool hears(Clock event) const { return heard_.has(event); }
  bool hears_result(Clock event) const {
    return (topics_ & kTopicResults) != 0 && heard_.has(event);
  }
  bool hears_of(Topics topic) const { return (topics_ & topic) != 0; }
  // The events that have to be looked at one by one, whatever the strategy.
  const Window& looked_at() const { return looked_at_; }
  // Whether those are all events, and nobody who wants each needs to hear of accesses that repeat.
  bool needs_no_repeats() const {
    return !repeats_ && looked_at_.first <= 1 && looked_at_.last == kNever;
  }

  void before(const Event& event) const;
  // The event would not have been looked at, were it not for those who want each: only they hear.
  void before_each(const Event& event) const;
  // REQUIRES: needs_no_repeats().
  void accesses(const PlainAccess& access) const {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (entries_[i].hearing.repeats == Hearing::Repeats::kUnheard)
        entries_[i].listener->accesses(access);
  }
  // The event lies in a region without yield points.
  void before_in_region(const Event& event) const;
  bool hears_regions() const { return regions_; }
  void after(const Event& event) const;
  void at(const SchedulingPoint& point) const { tell(kTopicPoints, &Listener::at, point); }
  void decided(const DecisionMade& decision) const {
    tell(kTopicDecisions, &Listener::decided, decision);
  }
  void left(const SliceEnded& slice) const { tell(kTopicSlices, &Listener::left, slice); }
  void created(const ThreadCreated& thread) const {
    tell(kTopicThreads, &Listener::created, thread);
  }
  void synchronised(const Synchronised& what) const {
    tell(kTopicSync, &Listener::synchronised, what);
  }
  void changed(const MemoryChange& change) const { tell(kTopicMemory, &Listener::changed, change); }
  void ended() const;

 private:
  struct Entry {
    Listener* listener;
    Hearing hearing;
  };

  template <class T>
  void tell(Topics topic, void (Listener::*function)(const T&), const T& what) const {
    if (CLEW_LIKELY(!hears_of(topic))) return;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (entries_[i].hearing.topics & topic) (entries_[i].listener->*function)(what);
  }

  Entry entries_[kMost] = {};
  std::uint32_t count_ = 0;
  std::uint32_t topics_ = 0;  // of all
  // From the first event that anybody is concerned with to the last.
  Window heard_ = Window::none();
  Window looked_at_ = Window::none();
  bool regions_ = false;
  bool repeats_ = false;  // somebody needs to hear of them
};

extern Listeners g_listeners;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_LISTENER_H_
