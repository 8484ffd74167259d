// Names for people: system calls and signals by number.
#ifndef CLEW_HOST_TARGET_SYSCALL_NAMES_H_
#define CLEW_HOST_TARGET_SYSCALL_NAMES_H_

#include <cstdint>
#include <string>

#include "clew_abi/stream.h"

namespace clew {

// "read"; "system call 999" if it is not one that usually blocks.
std::string syscall_name(long number);

// A call whose effect outlasts a run (abi::JobResult::lasting), as a programmer would write it:
// "setgid()".
std::string lasting_call(long number);

// True if the call's first argument is a file descriptor.
bool syscall_takes_descriptor(long number);

// Where a thread is blocked that waits for something outside: "read of descriptor 5", "wait4 for
// child process 12", "poll". Empty if it is not blocked in a system call. The object is that of
// abi::WaitKind.
std::string waiting_call(abi::WaitKind kind, std::uint64_t object);

// "SIGSEGV"; "signal 77" if it has no name.
std::string signal_name(int number);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SYSCALL_NAMES_H_
