// System calls that no interposed function sees.
#ifndef CLEW_RUNTIME_RAW_SYSCALL_H_
#define CLEW_RUNTIME_RAW_SYSCALL_H_

namespace clew::rt {

// The kernel's answer: -errno on failure. errno is left alone.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RAW_SYSCALL_H_
