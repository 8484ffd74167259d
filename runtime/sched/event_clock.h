// The event clock: how many events have been passed, at which one anything has to be looked at, and
// virtual time, which follows from both.
//
// An event gets its number when its thread passes the point. A thread parked at a point has not
// passed it; whoever runs next takes the number (Choi and Zeller 2002, figures 3 to 5).
//
// Compiled code counts down a variable of its thread, and calls the slow side when that would fall
// below 0. So between two looks the clock is the limit less what is left of the countdown:
//
//     settled ..... now ............ limit ........ attention
//                   |<- countdown ->|
//
// Invariants, while the thread counts:  now = limit - 1 - countdown;  settled <= now < limit;
//                                       limit <= attention.
// `limit` is the event of the next look. `attention` is the next event at which anything has to be
// done; events between the two are looked at one by one for a strategy that decides at every point,
// or because somebody listens (Window). If the hooks can tell which of these have to be looked at
// (event/quick_points_x86_64.S), the limit is the event of attention, and the variable has kHooked less
// than the countdown: it is below 0 at each point, and the hooks tell by CLEW_DUE_BIT whether the
// countdown has run out.
#ifndef CLEW_RUNTIME_SCHED_EVENT_CLOCK_H_
#define CLEW_RUNTIME_SCHED_EVENT_CLOCK_H_

#include <atomic>

#include "runtime/event/listener.h"
#include "runtime/event/stretch_layout.h"
#include "runtime/rt.h"

namespace clew::rt {

// Virtual time that a point takes. Chosen, not measured: about thirty instructions of a processor
// of 3 GHz. Recordings depend on it.
inline constexpr Nanos kNanosPerPoint = 10;
// A countdown that never runs out.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;
// So much less is in a countdown if all points call their hooks, which pass most of them without the slow
// side (event/stretch.h, event/sharing.h).
inline constexpr std::int64_t kHooked = std::int64_t{1} << CLEW_HOOKED_BIT;

class EventClock {
 public:
  // `live`: where the host reads the clock of a run that hangs or has died.
  // `speed`: how many times as much virtual time as usual a point takes; at least 1.
  void init(std::atomic<std::uint64_t>& live, std::uint32_t speed) {
    live_ = &live;
    speed_ = speed;
  }
  // The events of the window are looked at one by one. `regions`: what is not counted is looked at
  // as well.
  enum class Regions : std::uint8_t { kUnseen, kSeen };
  // Hooks::kChoose: but for those that the hooks pass. REQUIRES: the window has all events, or none.
  enum class Hooks : std::uint8_t { kLookAtAll, kChoose };
  void set_window(Window window, Regions regions = Regions::kUnseen,
                  Hooks hooks = Hooks::kLookAtAll) {
    window_ = window;
    hooks_ = hooks;
    uncounted_ = regions == Regions::kSeen ? 0 : kUnlimited;
    only_listened_to_ = false;
  }

  // The thread with this countdown runs from now on. Counts::kNo: it is in a region without yield
  // points.
  enum class Counts : std::uint8_t { kNo, kYes };
  void run(std::int64_t* countdown, Counts counts) {
    countdown_ = countdown;
    counts_ = counts == Counts::kYes;
  }

  // Events passed so far. Exact at points, in calls and in what they call. Between two points of a
  // straight line of code it may be ahead: the compiler counts such points at once.
  Clock now() const { return counts_ ? limit_ - 1 - static_cast<Clock>(left()) : settled_; }
  Clock settled() const { return settled_; }
  void settle() { settled_ = now(); }

  // The running thread passes a point. False: the slow side has to look at it.
  bool count() {
    --*countdown_;
    return left() >= 0 && !hooked_at_every_point();
  }
  // For a strategy that decides at every scheduling point: this is none, and nothing else is due.
  bool pass_quickly() {
    if (hooked_ != 0) return left() >= 0;
    if (CLEW_UNLIKELY(limit_ >= attention_)) return false;
    settled_ = limit_++;
    set_left(0);
    return true;
  }
  // The event is looked at only because somebody listens, and would otherwise have been counted
  // down: all stays as it is, above all the event at which the next thing is due, which is not
  // computed anew, for it could come out otherwise (pass_time). False: there is more to do.
  bool pass_for_listeners();
  // Whether the newest event was such a one.
  bool only_listened_to() const { return only_listened_to_; }

  // The slow side of a point: the countdown stands at -1, or at anything if a hook called; the event was
  // taken off but has not happened. Its number.
  Clock begin_event() {
    if (hooked_ != 0) limit_ = now();
    settled_ = limit_ - 1;
    set_left(0);
    return settled_ + 1;
  }
  void end_event() {
    ++settled_;
    only_listened_to_ = false;  // as it may have been for another thread in between
  }

  // Sets the next looks. REQUIRES: the clock is settled.
  enum class Looks : std::uint8_t { kWhenDue, kAtEveryPoint };
  void arm(Clock attention, Looks looks);
  // What is due at `event` is due sooner than it was. REQUIRES: the clock is settled.
  void bring_forward(Clock event);

  // Regions without yield points.
  void stop_counting() {
    if (counts_) settle();
    counts_ = false;
    *countdown_ = uncounted_;
  }
  // Counting resumes with what was left.
  void resume_counting(std::int64_t left) {
    counts_ = true;
    set_left(left);
  }
  // What is left of the countdown.
  std::int64_t left() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(*countdown_) +
                                     static_cast<std::uint64_t>(hooked_));
  }
  // The running thread has passed a point at which nothing was due, and that the hook did not pass
  // because it might be no repetition.
  bool passed_for_listeners() const {
    return hooked_ != 0 && looks_ == Looks::kWhenDue && counts_ && left() >= 0;
  }
  // The hooks tell which points need not be looked at by a strategy that decides at every one.
  bool hooked_at_every_point() const { return hooked_ != 0 && looks_ == Looks::kAtEveryPoint; }
  // arm() follows.
  void start_counting() { counts_ = true; }
  bool counts() const { return counts_; }

  // Events passed at the last switch or synchronisation call: exact whenever it is asked.
  Clock certain() const { return certain_; }
  void note_certain(Clock clock) { certain_ = clock; }
  // A fault may strike where the clock is not exact. Its handler, and what comes after it if it
  // leaves by a jump, goes by the last clock that is: the same in a replay, though it may be
  // behind. Counting stops. Returns what the clock was.
  Clock fall_back() {
    const Clock interrupted = now();
    settled_ = certain_;
    counts_ = false;
    *countdown_ = kUnlimited;
    return interrupted;
  }
  void catch_up(Clock clock) {
    if (clock > settled_) settled_ = clock;
  }

  // What now() is made of, for a debugger.
  struct Parts {
    const void *countdown, *counts, *limit;
    const Clock* settled;
  };
  Parts parts() const { return {&countdown_, &counts_, &limit_, &settled_}; }

  // --- virtual time, since the start of the machine
  Nanos time() const { return time_of(now()); }
  Nanos settled_time() const { return time_of(settled_); }
  Nanos certain_time() const { return time_of(certain_); }
  // What takes `usual` at speed 1.
  Nanos at_speed(Nanos usual) const { return usual * speed_; }
  Nanos idle() const { return idle_; }  // of that, when nobody could run
  // Time passes that no point accounts for.
  void pass(Nanos t) { skew_ += t; }
  void pass_idle(Nanos t) {
    skew_ += t;
    idle_ += t;
  }
  // The process's time on processors begins anew.
  void forget_busy_time() { idle_ = time(); }
  // The event at which `deadline` is reached. REQUIRES: the clock is settled.
  Clock event_at(Nanos deadline) const {
    const Nanos left = deadline - settled_time();
    return settled_ + 1 + (left > 0 ? static_cast<Clock>(left / at_speed(kNanosPerPoint)) : 0);
  }

 private:
  Nanos time_of(Clock clock) const {
    return static_cast<Nanos>(clock) * at_speed(kNanosPerPoint) + skew_;
  }
  void set_limit(Clock limit) {
    limit_ = limit;
    set_left(static_cast<std::int64_t>(limit_ - settled_ - 1));
  }
  void set_left(std::int64_t left) { *countdown_ = left - hooked_; }

  std::int64_t* countdown_ = nullptr;  // of the running thread
  bool counts_ = true;
  bool only_listened_to_ = false;
  Clock settled_ = 0;
  Clock limit_ = 1;
  Clock attention_ = 0;
  Clock certain_ = 0;
  Looks looks_ = Looks::kWhenDue;
  Window window_ = Window::none();
  Hooks hooks_ = Hooks::kLookAtAll;
  std::int64_t hooked_ = 0;              // kHooked or nothing
  std::int64_t uncounted_ = kUnlimited;  // the countdown in regions without yield points
  Nanos speed_ = 1;
  Nanos skew_ = 0;
  Nanos idle_ = 0;
  std::atomic<std::uint64_t>* live_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_EVENT_CLOCK_H_
