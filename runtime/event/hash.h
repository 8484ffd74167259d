// The running hash of what happened: two runs that differ have different hashes, and a replay
// compares it as it goes.
#ifndef CLEW_RUNTIME_EVENT_HASH_H_
#define CLEW_RUNTIME_EVENT_HASH_H_

#include "runtime/rt.h"

namespace clew::rt {

class RunHash {
 public:
  // Order matters; anything that could differ between two runs of the same schedule goes in.
  void fold(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t value() const { return hash_; }
  std::uint16_t value16() const { return static_cast<std::uint16_t>(hash_ ^ hash_ >> 32); }
  void set(std::uint64_t value) { hash_ = value; }

 private:
  std::uint64_t hash_ = 0x636c6577;
};

extern RunHash g_hash;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_HASH_H_
