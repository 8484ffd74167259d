// Time that passes, for limits and progress.
#ifndef CLEW_HOST_SECONDS_H_
#define CLEW_HOST_SECONDS_H_

#include <algorithm>
#include <chrono>

namespace clew {

inline double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// A limit bounds everything; what was found by then is still recorded if that is quick.
inline double seconds_to_keep(double limit) { return std::max(1.0, limit / 5); }

}  // namespace clew

#endif  // CLEW_HOST_SECONDS_H_
