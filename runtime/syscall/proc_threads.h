// /proc/self/status and /proc/self/stat say how many threads a process has. The kernel knows of
// one: what a program gets when it opens them tells of its own.
#ifndef CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_
#define CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_

namespace clew::rt {

// Right after the kernel has opened `path` as `fd`: if it is one of these, `fd` is a copy from now
// on, as of this moment. Also under the names of the process and its threads.
void tell_own_threads(const char* path, int fd);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_
