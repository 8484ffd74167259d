// Time that passes, for limits and progress.
#ifndef CLEW_HOST_SECONDS_H_
#define CLEW_HOST_SECONDS_H_

#include <chrono>

namespace clew {

inline double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace clew

#endif  // CLEW_HOST_SECONDS_H_
