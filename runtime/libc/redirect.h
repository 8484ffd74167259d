// A function inside libc that calls the runtime instead of the kernel.
//
// Streams (printf, std::cout) end in libc's own write, which is caught as a system call: that takes
// 2.3 microseconds, where a call takes 0.5, and test frameworks print half a dozen lines in each run
// (bench/hunt/throughput --frameworks). So a process that serves many runs (abi::kFlagServe) has its
// first instructions replaced by a jump. In runs that are recorded or traced it stays as it is.
#ifndef CLEW_RUNTIME_LIBC_REDIRECT_H_
#define CLEW_RUNTIME_LIBC_REDIRECT_H_

namespace clew::rt {

// Does nothing if the system does not allow code to be changed.
void redirect_write();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LIBC_REDIRECT_H_
