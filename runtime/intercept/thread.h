// Shared by thread.cc and thread_end.cc.
#ifndef CLEW_RUNTIME_INTERCEPT_THREAD_H_
#define CLEW_RUNTIME_INTERCEPT_THREAD_H_

namespace clew::rt {

// The running thread returns from its start routine, or has been unwound to it.
[[noreturn]] void end_thread(void* result);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_THREAD_H_
