// The child processes that the program makes by fork, and being one of them.
//
// Test programs that fork each case have their threads in the child. Natively, parent and child run
// at the same time; what matters is the child. So a run can be that of a child alone
// (abi::Control::enter_child): the fork is answered with 0 in the process that made it, which is
// then the child, and nobody runs as its parent. Which child that is to be is learned from a run in
// which all children are made and continue natively (abi::JobResult::threaded_children).
#ifndef CLEW_RUNTIME_OUTSIDE_CHILDREN_H_
#define CLEW_RUNTIME_OUTSIDE_CHILDREN_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// Whether the next child that the program makes is the one that this process is to continue as.
bool is_next_child_entered();
// The program makes a child by fork. Whether this process is to continue as that child.
bool begin_child();
// Whether it has.
bool is_entered_child();
// What a parent keeps open of the pipes and sockets that it shares with its child: the child must
// not find the other end closed because there is no parent. REQUIRES: not in a replay.
void hold_descriptors_of_parent();
// Calls by which an entered child would leave the group or the session of the processes that clew
// runs. They are not made: the group is the program's own in any case.
bool is_left_out_in_child(const Call& call);

// Of all child processes, also those that are none of the program's copies any more. Without /proc, none
// is known to live as long as one that has ended has not been waited for.
enum class Children : std::uint8_t {
  kNone,
  kLive,
  kEnded
};  // kEnded: one of them has, and none lives
Children children();

// The kernel has made the child that was begun last: its number, in the parent.
void note_child(long number);
// A wait has told the program that this child has ended, with this status (wait(2)).
void note_end_of_child(long number, int status);
// This process is a child without clew, and is about to create a thread.
void note_thread_of_child();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_CHILDREN_H_
