#include "host/explain/parties.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace clew {
namespace {

// Calls of the runtime in which signals are delivered, and which call nothing else of the program's.
bool delivers(std::string_view name) {
  for (const std::string_view prefix : {"__clew_", "pthread_mutex_", "pthread_cond_",
                                        "pthread_rwlock_", "pthread_barrier_", "sem_"})
    if (name.starts_with(prefix)) return true;
  for (const std::string_view known :
       {"pthread_join", "pthread_kill", "pthread_create", "raise", "kill", "sched_yield", "sleep",
        "usleep", "nanosleep", "clock_nanosleep", "pause", "sigsuspend"})
    if (name == known) return true;
  return false;
}

// A call by a register is that of a point's hook if the block has just made its argument, a point.
bool calls_hook(const RunTrace& run, CodeMap& code, StepIndex step) {
  constexpr int kRdi = 7;
  const auto registers = run.call_registers(step);
  return registers && code.is_point(registers->arguments[0]) &&
         std::ranges::any_of(run.code(step), [](const Instruction& one) {
           return (one.writes & bit_of(kRdi)) != 0 && !one.is_call();
         });
}

}  // namespace

Parties::Parties(const RunTrace& run, CodeMap& code) : run_(run) {
  for (FrameIndex i = 0; i < run.frames().size(); ++i) {
    const TraceFrame& frame = run.frames()[i];
    handlers_.push_back(frame.parent == kNoFrame ? kNoFrame : handlers_[frame.parent]);
    if (frame.call == kNoStep) continue;
    const std::uint32_t executed = run.steps()[frame.call].executed;
    const Instruction& last = run.code(frame.call)[executed - 1u];
    // It comes in the middle of a block, or out of a call of something else.
    bool interrupts = !last.is_call() && executed < run.code(frame.call).size();
    if (last.is_call()) {
      const std::string_view name = code.called(last);
      const bool itself = std::ranges::any_of(
          code.symbols(frame.entry), [&](const auto& symbol) { return symbol.name == name; });
      interrupts = !itself && (name.empty() ? calls_hook(run, code, frame.call) : delivers(name));
    }
    if (interrupts) {
      handlers_[i] = i;
      has_handlers_ = true;
    }
  }
}

PartyId Parties::of(StepIndex step) const {
  const FrameIndex frame = run_.steps()[step].frame;
  if (frame != kNoFrame && handlers_[frame] != kNoFrame)
    return static_cast<PartyId>(run_.thread_count()) + handlers_[frame];
  return run_.steps()[step].thread;
}

std::vector<std::vector<StepIndex>> Parties::split(std::size_t thread) const {
  std::vector<std::vector<StepIndex>> lists(1);
  std::unordered_map<PartyId, std::size_t> places;
  for (const StepIndex step : run_.thread(thread)) {
    const PartyId party = of(step);
    if (!is_handler(party)) {
      lists[0].push_back(step);
      continue;
    }
    const auto [place, added] = places.try_emplace(party, lists.size());
    if (added) lists.emplace_back();
    lists[place->second].push_back(step);
  }
  return lists;
}

}  // namespace clew
