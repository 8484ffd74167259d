// Processes that a program under test, or a command that judges it, leaves behind. A hunt runs
// either a thousand times: what a single run may leave behind, a hunt may not.
#ifndef CLEW_HOST_TARGET_ORPHANS_H_
#define CLEW_HOST_TARGET_ORPHANS_H_

#include <sys/types.h>

#include <string_view>

namespace clew {

// While it lives, processes whose parents have ended are clew's children, as they would be init's.
// REQUIRES: there is one at a time, and when it ends, clew waits for none of its own children any
// more: all that are left are ended.
class Orphans {
 public:
  Orphans();
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;
};

// fork() of a process that clew itself waits for; forget_own_child() once it has. Thread safety:
// full.
[[nodiscard]] pid_t fork_own_child();
void forget_own_child(pid_t child);

// Takes note of orphans that have ended: otherwise each would keep its process id. Without an
// Orphans it does nothing.
void reap_orphans();

// Ends the orphans that were started with this variable, "NAME=value", in their environment.
void end_orphans_with(std::string_view variable);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_ORPHANS_H_
