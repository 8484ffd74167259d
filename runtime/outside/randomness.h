// Randomness for the program: a stream that depends on the seed alone.
#ifndef CLEW_RUNTIME_OUTSIDE_RANDOMNESS_H_
#define CLEW_RUNTIME_OUTSIDE_RANDOMNESS_H_

#include "runtime/rt.h"

namespace clew::rt {

// Also replaces the random bytes that the kernel has given the process.
void seed_random(std::uint64_t seed);
// Also in a replay: nothing of it is recorded.
void random_bytes(void* buffer, std::size_t size);
// What /dev/random and /dev/urandom give, which is recorded. REQUIRES: not in a replay.
void random_device_bytes(void* buffer, std::size_t size);
std::uint64_t random_word();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_RANDOMNESS_H_
