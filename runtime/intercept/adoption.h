#ifndef CLEW_RUNTIME_INTERCEPT_ADOPTION_H_
#define CLEW_RUNTIME_INTERCEPT_ADOPTION_H_

namespace clew::rt {

// The descriptor of a control memory from the clew that runs an ancestor of this process
// (clew_abi/adoption.h). -1: there is none, or it does not want to.
int ask_ancestors_for_control();

// This process is a copy that fork() made, and is about to make a thread: the user is told, once.
void tell_of_threads_in_copy();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_ADOPTION_H_
