// A copy of this process, and waiting for its end.
#ifndef CLEW_RUNTIME_SNAPSHOT_FORK_H_
#define CLEW_RUNTIME_SNAPSHOT_FORK_H_

namespace clew::rt {

// Exit status of a process that ends because its job is done; the host never sees it.
inline constexpr int kOrderlyEnd = 119;

// True in the copy. False in this process, once the copy and all that descend from it have ended:
// *status is the copy's wait status, and the offsets and flags of open files, which both share, are
// as they were.
bool fork_and_wait(int* status);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_FORK_H_
