// Names for people: system calls and signals by number.
#ifndef CLEW_HOST_TARGET_SYSCALL_NAMES_H_
#define CLEW_HOST_TARGET_SYSCALL_NAMES_H_

#include <string>

namespace clew {

// "read"; "system call 999" if it is none that usually blocks.
std::string syscall_name(long number);

// True if the call's first argument is a file descriptor.
bool syscall_takes_descriptor(long number);

// "SIGSEGV"; "signal 77" if it has no name.
std::string signal_name(int number);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SYSCALL_NAMES_H_
