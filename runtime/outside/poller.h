// Threads that wait for something from outside the program, and how the kernel is polled for it:
// after each call that may have changed something, now and then while threads compute, and when no
// thread is runnable. Each poll has a number; what came of it is an input of the run.
#ifndef CLEW_RUNTIME_OUTSIDE_POLLER_H_
#define CLEW_RUNTIME_OUTSIDE_POLLER_H_

#include <poll.h>

#include "clew_abi/control.h"
#include "runtime/sched/surroundings.h"

namespace clew::rt {

struct OutsideWait {
  Wait wait;  // first
  pollfd* fds = nullptr;
  nfds_t count = 0;
  // For what cannot be polled: tries again, in any thread's context. Null: there is nothing to try.
  bool (*try_again)(OutsideWait&) = nullptr;
  const void* data = nullptr;  // for try_again
  bool inside = false;         // only this program can end it
  OutsideWait* next = nullptr;
};

class Poller {
 public:
  void init(abi::Control& control) { control_ = &control; }

  // Whether anything may come from outside at all.
  bool expecting() const { return waits_ != nullptr || signals_expected_; }

  // Blocks the running thread until the wait ends.
  Woke wait(OutsideWait& wait, Nanos deadline, unsigned ended_by);

  // Removes a wait whose thread leaves without returning through it.
  void forget(OutsideWait& wait);

  // Polls without waiting.
  void poll();
  // Polls because the clock has reached `event`.
  void poll_at(Clock event);
  // Polls because a thread spins where no points pass. The number of such polls depends on real
  // time, so they are not counted.
  void poll_while_stuck();

  using Came = Surroundings::Came;
  // No thread is runnable, and the next timer is due then (kForever: there is none). While child
  // processes live, it takes as long in real time as in virtual time, because it does for them.
  Came wait_for_something(Nanos due);

  // The program has a signal handler: signals may come at any time.
  void expect_signals();

 private:
  // The number of a poll when nothing was expected, but a call has caused a signal (kSentByCalls).
  static constexpr std::uint64_t kUnexpected = 0;

  void begin_expecting();
  void tell_scheduler() const;
  struct Waiting {
    Nanos begin;  // of real time
    Nanos most;   // that virtual time may move on
  };
  bool look(std::uint64_t number, const timespec* timeout, const Waiting* waiting = nullptr);
  void find_ready_waits(pollfd* fds, std::size_t count, const timespec& timeout) const;
  bool catches_up(std::uint64_t number);
  bool replay(std::uint64_t number);
  bool all_inside() const;
  // Whose signals are to be expected. If no other process has to do with this one, a signal that the
  // program has sent itself comes from nobody else: a wait that has missed it is a deadlock.
  enum class Senders : std::uint8_t { kOtherProcesses, kThisProgram };
  bool signal_is_waited_for(Senders senders) const;
  // Real time waited since anything came, in all jobs of a program that is run many times.
  Nanos& waited_in_vain();

  abi::Control* control_ = nullptr;
  OutsideWait* waits_ = nullptr;
  bool signals_expected_ = false;
  bool told_ = false;  // who waits
  Nanos in_vain_ = 0;  // of a program that is run once
  std::uint64_t polls_ = 0;
  Clock next_ = 0;
};

extern Poller g_poller;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_POLLER_H_
