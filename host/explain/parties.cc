#include "host/explain/parties.h"

#include <string_view>

namespace clew {
namespace {

// Calls of the runtime in which signals are delivered, and which call nothing else of the program's.
bool delivers(std::string_view name) {
  for (const std::string_view prefix :
       {"__clew_", "pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_barrier_", "sem_",
        "mtx_", "cnd_"})
    if (name.starts_with(prefix)) return true;
  for (const std::string_view known :
       {"pthread_join", "pthread_kill", "pthread_create", "raise", "kill", "sched_yield", "sleep",
        "usleep", "nanosleep", "clock_nanosleep", "pause", "sigsuspend", "thrd_join"})
    if (name == known) return true;
  return false;
}

}  // namespace

Parties::Parties(const RunTrace& run, CodeMap& code) : run_(run) {
  for (FrameIndex i = 0; i < run.frames().size(); ++i) {
    const TraceFrame& frame = run.frames()[i];
    handlers_.push_back(frame.parent == kNoFrame ? kNoFrame : handlers_[frame.parent]);
    if (frame.call == kNoStep) continue;
    const BlockStep& before = run.steps()[frame.call];
    const Instruction& last = run.code(frame.call)[before.executed - 1u];
    // It comes in the middle of a block, or where the runtime was called and has delivered it.
    bool interrupts = before.executed < run.code(frame.call).size();
    if (last.is_call()) {
      const std::string_view name = code.called(last);
      const auto registers = run.call_registers(frame.call);
      interrupts =
          delivers(name) || (name.empty() && registers && code.is_point(registers->arguments[0]));
    }
    if (interrupts) handlers_[i] = i;
  }
}

PartyId Parties::of(StepIndex step) const {
  const FrameIndex frame = run_.steps()[step].frame;
  if (frame != kNoFrame && handlers_[frame] != kNoFrame)
    return static_cast<PartyId>(run_.thread_count()) + handlers_[frame];
  return run_.steps()[step].thread;
}

}  // namespace clew
