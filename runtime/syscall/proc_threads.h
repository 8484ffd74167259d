// /proc/self/status and /proc/self/stat say how many threads a process has. The kernel knows only
// one: a program that opens these files reads the number of its own threads.
#ifndef CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_
#define CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_

namespace clew::rt {

// Right after the kernel has opened `path` as `fd`: if it is one of these, also by the id of the
// process or of a thread, `fd` becomes a copy of the file as of this moment.
void tell_own_threads(const char* path, int fd);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_PROC_THREADS_H_
