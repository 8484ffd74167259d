// Which locks threads hold at the steps of a run.
#ifndef CLEW_HOST_CASES_HELD_LOCKS_H_
#define CLEW_HOST_CASES_HELD_LOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "host/cases/lab.h"

namespace clew {

struct Held {
  std::uint64_t object = 0;
  std::size_t since = 0;  // the step that took it
};

// For each step the locks that its thread holds there, without those that may be shared.
[[nodiscard]] std::vector<std::vector<Held>> locks_held(const LabRun& run);

// A lock that one thread holds from `first` to `last` without a break and that is held at `other`: as
// taken by that thread, and by the other one.
[[nodiscard]] std::optional<std::pair<Held, Held>> common_lock(
    const std::vector<std::vector<Held>>& held, std::size_t first, std::size_t last,
    std::size_t other);

// The step that releases it; nothing: it is not released any more.
[[nodiscard]] std::optional<std::size_t> released_at(const LabRun& run, const Held& held);

}  // namespace clew

#endif  // CLEW_HOST_CASES_HELD_LOCKS_H_
