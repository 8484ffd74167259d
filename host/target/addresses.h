// Whether the kernel loads a program at the same addresses in every run.
#ifndef CLEW_HOST_TARGET_ADDRESSES_H_
#define CLEW_HOST_TARGET_ADDRESSES_H_

namespace clew {

// Set to anything, it makes kernel_fixes_addresses() false: for tests, and for recordings that are
// to be replayed in a container.
inline constexpr char kLoadAgainVariable[] = "CLEW_LOAD_AGAIN";

// False if it refuses to (Docker's default seccomp profile does): the runtime fixes them then
// (abi::kFlagLoadAgain).
bool kernel_fixes_addresses();

}  // namespace clew

#endif  // CLEW_HOST_TARGET_ADDRESSES_H_
