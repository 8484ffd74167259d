// The time at which every run begins.
#ifndef CLEW_ABI_EPOCH_H_
#define CLEW_ABI_EPOCH_H_

#include <cstdint>

namespace clew::abi {

// What CLOCK_REALTIME shows then: 2025-01-01 00:00 UTC. It is the same for every run, so that the
// same seed gives the same run even for a program that takes its own seed from the date.
inline constexpr std::int64_t kEpochNs = 1'735'689'600'000'000'000;

}  // namespace clew::abi

#endif  // CLEW_ABI_EPOCH_H_
