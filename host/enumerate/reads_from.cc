#include "host/enumerate/reads_from.h"

#include <algorithm>
#include <array>

#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

struct Touch {
  abi::ThreadKey thread = 0;
  bool by_two = false;
  bool written = false;
};

std::unordered_map<std::uint64_t, SharedBytes> bytes_of(std::span<const TraceStep> trace,
                                                        Memory which) {
  std::unordered_map<std::uint64_t, Touch> touched;
  for (const TraceStep& step : trace) {
    if (!abi::is_access(step.kind) || step.object == 0) continue;
    for_each_granule(step, [&](std::uint64_t granule, std::uint8_t) {
      const auto [touch, is_new] = touched.try_emplace(granule);
      if (is_new) touch->second.thread = step.thread;
      touch->second.by_two |= touch->second.thread != step.thread;
      touch->second.written |= is_write(step.kind);
    });
  }
  std::unordered_map<std::uint64_t, SharedBytes> shared;
  for (const auto& [granule, touch] : touched)
    if (which == Memory::kAll || (touch.by_two && touch.written)) shared.try_emplace(granule);
  return shared;
}

// Who wrote each of the eight bytes last.
using Writers = std::array<StepNumber, 8>;

}  // namespace

ReadsFrom reads_from(std::span<const TraceStep> trace, Memory which) {
  ReadsFrom result;
  result.shared = bytes_of(trace, which);
  std::unordered_map<std::uint64_t, Writers> last;
  std::unordered_map<std::uint64_t, std::uint32_t> lives;
  std::vector<StepNumber> seen;
  for (StepNumber i = 0; i < trace.size(); ++i) {
    const TraceStep& step = trace[i];
    if (!abi::is_access(step.kind) || step.object == 0) continue;
    seen.clear();
    for_each_granule(step, [&](std::uint64_t granule, std::uint8_t mask) {
      const auto bytes = result.shared.find(granule);
      if (bytes == result.shared.end()) return;
      const auto [writers, is_new] = last.try_emplace(granule);
      if (is_new) writers->second.fill(kInitialValue);
      std::uint32_t& life = lives[granule];
      bytes->second.accesses.push_back({i, life, mask, is_write(step.kind)});
      for (unsigned b = 0; b < 8; ++b) {
        if ((mask >> b & 1) == 0) continue;
        if (is_read(step.kind)) seen.push_back(writers->second[b]);
        if (is_write(step.kind)) writers->second[b] = i;
      }
      if (abi::ends_life(step.kind)) ++life;
    });
    std::ranges::sort(seen);
    const auto repeated = std::ranges::unique(seen);
    seen.erase(repeated.begin(), repeated.end());
    for (const StepNumber write : seen) result.sights.push_back({i, write});
  }
  return result;
}

}  // namespace clew
