#include "runtime/outside/randomness.h"

#include <string.h>
#include <sys/auxv.h>

#include "runtime/random.h"

// Of the dynamic linker.
extern "C" void* __libc_stack_end;

namespace clew::rt {
namespace {

std::uint64_t g_state = 0;
// What is read from the device is recorded, and a replay makes none of it: if both took their
// numbers from one state, a replay's would differ from then on.
std::uint64_t g_device_state = 0;

void fill(std::uint64_t& state, void* buffer, std::size_t size) {
  auto* out = static_cast<unsigned char*>(buffer);
  while (size > 0) {
    const std::uint64_t word = split_mix(state);
    const std::size_t n = size < sizeof word ? size : sizeof word;
    memcpy(out, &word, n);
    out += n;
    size -= n;
  }
}

// Replaces the stack guard that the dynamic linker has derived from these bytes, in the thread
// control block and in the frames that exist. (The pointer guard stays: pointers may have been
// mangled already, as AddressSanitizer registers functions for exit before any constructor.)
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

void seed_random(std::uint64_t seed) {
  g_state = seed ^ 0x72616e646f6d;
  g_device_state = seed ^ 0x646576696365;
  // The random bytes that the kernel gives each process. Qt seeds its hashes with them.
  constexpr std::size_t kSize = 16;
  if (const unsigned long bytes = getauxval(AT_RANDOM); bytes != 0)
    fill(g_state, reinterpret_cast<void*>(bytes), kSize);
  set_frame_guard();
}

void random_bytes(void* buffer, std::size_t size) { fill(g_state, buffer, size); }

void random_device_bytes(void* buffer, std::size_t size) { fill(g_device_state, buffer, size); }

std::uint64_t random_word() { return split_mix(g_state); }

}  // namespace clew::rt
