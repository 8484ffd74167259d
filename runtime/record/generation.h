// Which process of the program this is: the program itself, or a copy that fork() has made
// (syscall/copy.h).
#ifndef CLEW_RUNTIME_RECORD_GENERATION_H_
#define CLEW_RUNTIME_RECORD_GENERATION_H_

#include "clew_abi/control.h"
#include "runtime/rt.h"

namespace clew::rt {

inline std::uint32_t g_generation = 0;

// The number of forks between the program as it was started and this process.
inline std::uint32_t generation() { return g_generation; }

// Whether what this process writes is to be seen in a replay: the output of the processes before
// the recorded one is not.
inline bool is_recorded_generation() {
  return g_generation >= reinterpret_cast<const abi::Control*>(abi::kControlAddress)->generation;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_GENERATION_H_
