#include "host/enumerate/resumptions.h"

#include <cstddef>
#include <unordered_map>

namespace clew {

std::vector<bool> resumptions(std::span<const TraceStep> trace) {
  struct Last {
    std::size_t step = 0;
    bool repeats = false;  // the same wait as the step before
  };
  std::vector<bool> result(trace.size());
  std::unordered_map<abi::ThreadKey, Last> threads;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceStep& step = trace[i];
    const auto [last, is_first] = threads.try_emplace(step.thread, Last{i, false});
    if (is_first) continue;
    const TraceStep& before = trace[last->second.step];
    if (last->second.repeats && before.own == step.own) result[last->second.step] = true;
    last->second = {i, step.kind == abi::StepKind::kWait && before.kind == step.kind &&
                           before.place == step.place && before.object == step.object};
  }
  for (const auto& [thread, last] : threads)
    if (last.repeats) result[last.step] = true;  // nothing came after it
  return result;
}

}  // namespace clew
