// Strong types of the host: numbers that must not be mixed up.
#ifndef CLEW_HOST_TYPES_H_
#define CLEW_HOST_TYPES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace clew {

// Yield points passed since the start, over all threads (Choi and Zeller 2002, section 3).
struct Clock {
  std::uint64_t value = 0;
  auto operator<=>(const Clock&) const = default;
};

// The stream's heads have 61 bits for a clock (abi/clew_abi/stream.h).
inline constexpr Clock kMaxClock{(std::uint64_t{1} << 61) - 1};

// The path of creation: "T0" is main, "T0.2" the second thread that main created,
// "T0.2.1" the first that T0.2 created. It names the same thread in runs with
// different schedules.
class ThreadId {
 public:
  ThreadId() = default;  // T0

  // "T0", then any number of ".N" with N from 1, without leading zeros.
  [[nodiscard]] static Result<ThreadId> parse(std::string_view text);

  [[nodiscard]] std::string text() const;
  // REQUIRES: ordinal >= 1.
  [[nodiscard]] ThreadId child(std::uint32_t ordinal) const;
  [[nodiscard]] bool is_main() const { return path_.empty(); }
  [[nodiscard]] std::size_t hash() const;

  // Parents before children, older siblings first: T0, T0.1, T0.1.1, T0.2, T0.10.
  auto operator<=>(const ThreadId&) const = default;

 private:
  std::vector<std::uint32_t> path_;  // ordinals below T0
};

}  // namespace clew

template <>
struct std::hash<clew::ThreadId> {
  std::size_t operator()(const clew::ThreadId& id) const noexcept { return id.hash(); }
};

#endif  // CLEW_HOST_TYPES_H_
