// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one word of state, passes BigCrush.
#ifndef CLEW_RUNTIME_RANDOM_H_
#define CLEW_RUNTIME_RANDOM_H_

#include <cstdint>

namespace clew::rt {

inline std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RANDOM_H_
