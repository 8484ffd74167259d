// Functions that ask for random numbers.
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/early.h"
#include "runtime/outside/randomness.h"
#include "runtime/syscall/system_call.h"

using namespace clew::rt;

CLEW_INTERPOSE ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  if (!g_sched.active)
    return early_random(buffer, size) ? static_cast<ssize_t>(size)
                                      : CLEW_REAL(getrandom)(buffer, size, flags);
  return with_errno(system_call(SYS_getrandom, buffer, size, flags));
}

CLEW_INTERPOSE int getentropy(void* buffer, size_t size) {
  if (!g_sched.active)
    return size <= 256 && early_random(buffer, size) ? 0 : CLEW_REAL(getentropy)(buffer, size);
  if (size > 256) return answer_errno(EIO);
  return with_errno(system_call(SYS_getrandom, buffer, size, 0)) < 0 ? -1 : 0;
}

CLEW_INTERPOSE std::uint32_t arc4random() noexcept {
  std::uint32_t early;
  if (!g_sched.active) return early_random(&early, sizeof early) ? early : CLEW_REAL(arc4random)();
  return static_cast<std::uint32_t>(random_word());
}

CLEW_INTERPOSE void arc4random_buf(void* buffer, size_t size) noexcept {
  if (!g_sched.active)
    return early_random(buffer, size) ? (void)0 : CLEW_REAL(arc4random_buf)(buffer, size);
  random_bytes(buffer, size);
}

CLEW_INTERPOSE std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  if (!g_sched.active) return CLEW_REAL(arc4random_uniform)(bound);
  return bound == 0 ? 0 : static_cast<std::uint32_t>(random_word() % bound);
}

// Called in place of rdrand and rdseed in code that was built with clew.
extern "C" __attribute__((target("rdrnd"))) std::uint64_t clew_random_slow() {
  if (g_sched.active) return random_word();
  unsigned long long bits;
  while (__builtin_ia32_rdrand64_step(&bits) == 0) {
  }
  return bits;
}

// std::random_device::_M_getval(): libstdc++ would ask the processor (rdrand, rdseed).
CLEW_INTERPOSE unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  if (g_sched.active) return static_cast<unsigned>(random_word());
  static unsigned (*real_getval)(void*) = nullptr;
  if (real_getval == nullptr)
    real_getval =
        reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv"));
  return real_getval(self);
}
