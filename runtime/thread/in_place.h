// Libc begins and ends a thread on a kernel thread. Where system calls are caught, the calling kernel
// thread can do both by itself: it runs libc's code on the new thread's stack, answers the few system
// calls that the code makes, and is back as soon as the new thread has parked itself, or has made the
// call that would end it. Two kernel threads for each thread cost a program that creates and joins
// threads one after another most of its time.
#ifndef CLEW_RUNTIME_THREAD_IN_PLACE_H_
#define CLEW_RUNTIME_THREAD_IN_PLACE_H_

#include <pthread.h>
#include <ucontext.h>

#include "runtime/fiber/context.h"

namespace clew::rt {

// Whether it can be done here, for a thread with these attributes: those that libc asks the kernel
// for, which does not know the thread, need a kernel thread.
bool can_do_in_place();
bool can_begin_in_place(const pthread_attr_t* attributes);

// The program has limited what the kernel allows it, possibly threads: it is asked from now on.
void leave_beginnings_to_kernel();

// libc's pthread_create. The new thread has run up to park_in_place() when it returns. REQUIRES:
// can_begin_in_place().
int begin_in_place(pthread_t* out, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument);
// Whether the caller is a thread that begin_in_place() has begun.
bool is_begun_in_place();
// Parks the caller and returns to who began it.
void park_in_place(Context& self);

// Calls `entry`, which leads to libc's end of the thread, on the stack of the parked context, below
// what is in use. REQUIRES: can_do_in_place().
void end_in_place(const Context& parked, void (*entry)(void*), void* argument);

// Answers a caught system call that libc makes meanwhile. False: it is for the kernel.
bool answer_in_place(greg_t* registers);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_THREAD_IN_PLACE_H_
