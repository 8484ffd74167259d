// The window of a preemption: the first and the last of its thread's own events at which it still
// leads to the failure.
#ifndef CLEW_HOST_ISOLATE_WINDOW_H_
#define CLEW_HOST_ISOLATE_WINDOW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"

namespace clew {

struct Window {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t tested = 0;  // positions from first to last that were tried, all failing
};

// Whether it fails at each of these positions; empty: stop.
using FailsAt = std::function<Result<std::vector<bool>>(const std::vector<std::uint64_t>& at)>;

// Both ends are found by doubling steps and halving; then positions in between are tried, all of
// them up to `inner`, otherwise so many, evenly. One that does not fail cuts the window short.
// So within it every position that was tried fails, and those next to it do not. Nothing: stopped.
// REQUIRES: it fails at `known`; positions lie in 1..end.
[[nodiscard]] Result<std::optional<Window>> find_window(std::uint64_t known, std::uint64_t end,
                                                        std::uint64_t inner, const FailsAt& fails);

// Where the window of a script's item begins and ends.
struct ScriptWindow {
  Window window;
  abi::Place before = 0;  // of the event just before the first; 0: not known
  abi::Place first = 0;
  abi::Place last = 0;
};
[[nodiscard]] Result<std::optional<ScriptWindow>> window_of(Trials& trials,
                                                            const ThreadScript& script,
                                                            std::size_t item, std::uint64_t inner);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_WINDOW_H_
