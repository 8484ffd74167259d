// Randomness: a stream that depends on the seed alone.
#include "runtime/random.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/outside/system_call.h"

using namespace clew::rt;

// Of the dynamic linker.
extern "C" void* __libc_stack_end;

namespace {

std::uint64_t g_state = 0;

void fill(void* buffer, std::size_t size) {
  auto* out = static_cast<unsigned char*>(buffer);
  while (size > 0) {
    const std::uint64_t word = split_mix(g_state);
    const std::size_t n = size < sizeof word ? size : sizeof word;
    memcpy(out, &word, n);
    out += n;
    size -= n;
  }
}

// What the dynamic linker has made of it, in the thread control block: the value that protects
// frames. Those that exist are left with the new one. (Not the one that pointers are mangled with:
// some may have been, as AddressSanitizer registers functions for exit before any constructor.)
void set_frame_guard() {
  std::uint64_t frame_guard;
  asm("movq %%fs:0x28, %0" : "=r"(frame_guard));
  const std::uint64_t guard = split_mix(g_state) & ~std::uint64_t{0xff};  // ends strings
  auto* const end = static_cast<volatile std::uint64_t*>(__libc_stack_end);
  for (auto* word = static_cast<volatile std::uint64_t*>(__builtin_frame_address(0)); word < end;
       ++word)
    if (*word == frame_guard) *word = guard;
  asm volatile("movq %0, %%fs:0x28" ::"r"(guard) : "memory");
}

}  // namespace

namespace clew::rt {
void seed_random(std::uint64_t seed) {
  g_state = seed ^ 0x72616e646f6d;
  // What the kernel gives each process. Qt seeds its hashes with it.
  constexpr std::size_t kSize = 16;
  if (const unsigned long bytes = getauxval(AT_RANDOM); bytes != 0)
    fill(reinterpret_cast<void*>(bytes), kSize);
  set_frame_guard();
}
void random_bytes(void* buffer, std::size_t size) { fill(buffer, size); }
}  // namespace clew::rt

CLEW_INTERPOSE ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  if (!g_sched.active) return CLEW_REAL(getrandom)(buffer, size, flags);
  return with_errno(system_call(SYS_getrandom, buffer, size, flags));
}

CLEW_INTERPOSE int getentropy(void* buffer, size_t size) {
  if (!g_sched.active) return CLEW_REAL(getentropy)(buffer, size);
  if (size > 256) return answer_errno(EIO);
  return with_errno(system_call(SYS_getrandom, buffer, size, 0)) < 0 ? -1 : 0;
}

CLEW_INTERPOSE std::uint32_t arc4random() noexcept {
  if (!g_sched.active) return CLEW_REAL(arc4random)();
  return static_cast<std::uint32_t>(split_mix(g_state));
}

CLEW_INTERPOSE void arc4random_buf(void* buffer, size_t size) noexcept {
  if (!g_sched.active) return CLEW_REAL(arc4random_buf)(buffer, size);
  fill(buffer, size);
}

CLEW_INTERPOSE std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  if (!g_sched.active) return CLEW_REAL(arc4random_uniform)(bound);
  return bound == 0 ? 0 : static_cast<std::uint32_t>(split_mix(g_state) % bound);
}

// In place of the instructions in code that was built with clew.
extern "C" __attribute__((target("rdrnd"))) std::uint64_t clew_random_slow() {
  if (g_sched.active) return split_mix(g_state);
  unsigned long long bits;
  while (__builtin_ia32_rdrand64_step(&bits) == 0) {
  }
  return bits;
}

// std::random_device::_M_getval(): libstdc++ would ask the processor (rdrand, rdseed).
CLEW_INTERPOSE unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  if (g_sched.active) return static_cast<unsigned>(split_mix(g_state));
  static unsigned (*real_getval)(void*) = nullptr;
  if (real_getval == nullptr)
    real_getval =
        reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv"));
  return real_getval(self);
}
