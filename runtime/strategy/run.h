// What a strategy that follows a recording sees of the run, and what it says about it. The
// scheduler is one, the simulated run of the tests another.
#ifndef CLEW_RUNTIME_STRATEGY_RUN_H_
#define CLEW_RUNTIME_STRATEGY_RUN_H_

#include "runtime/strategy/strategy.h"

namespace clew::rt {

enum class ThreadStatus : std::uint8_t { kUnknown, kRunning, kRunnable, kBlocked, kEnded };

class Run {
 public:
  // --- threads; an index that was never given out has the status kUnknown
  [[nodiscard]] virtual Candidate running() const = 0;
  [[nodiscard]] virtual ThreadIndex threads_created() const = 0;
  [[nodiscard]] virtual ThreadStatus status(ThreadIndex thread) const = 0;
  // Its path of creation ("T0.2.1").
  virtual void name(ThreadIndex thread, char* out, std::size_t size) const = 0;
  // The thread with this key that has not ended; kNoThread: there is none.
  static constexpr ThreadIndex kNoThread = UINT32_MAX;
  [[nodiscard]] virtual ThreadIndex find(abi::ThreadKey key) const = 0;
  [[nodiscard]] virtual bool others_can_run() const = 0;

  // --- where the running thread stands
  [[nodiscard]] virtual abi::Place place() const = 0;
  // The number of `event` among its own, from 1, if it executes that next.
  [[nodiscard]] virtual std::uint64_t own_number(Clock event) const = 0;
  // How often it was preempted where it stands. What does not take effect counts too, so that the
  // ordinals of a script keep their meaning.
  [[nodiscard]] virtual std::uint32_t& preemptions_here() = 0;

  // --- the recording
  [[nodiscard]] virtual std::uint16_t hash16() const = 0;  // of what happened so far
  virtual void note(const char* line) = 0;
  // The run is not the recorded one: at `event`, thread and place should have been these. The real
  // run ends here.
  virtual void depart(Clock event, std::uint64_t thread, abi::Place place, const char* what) = 0;

 protected:
  ~Run() = default;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_RUN_H_
