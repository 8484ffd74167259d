#include "runtime/intercept/early.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "clew_abi/epoch.h"
#include "runtime/random.h"
#include "runtime/raw_syscall.h"
#include "runtime/time/deadline.h"

// The dynamic linker's: where the kernel has put the arguments, and after them the environment.
extern "C" void* __libc_stack_end;

namespace clew::rt {
namespace {

enum class State : std::uint8_t { kUnknown, kOfClew, kNotOfClew };
State g_state = State::kUnknown;
// Only if clew has started the program itself.
bool g_has_seed = false;
std::uint64_t g_random = 0;

// libc has not been set up yet and does not know it.
char** environment() {
  auto** const arguments = static_cast<char**>(__libc_stack_end);
  return arguments + 1 + *reinterpret_cast<long*>(arguments) + 1;
}

void read_seed(const char* descriptor) {
  // Another sequence than that of the run, which begins when the runtime takes over.
  constexpr std::uint64_t kEarly = 0x6561726c79;
  const long offset = offsetof(abi::Control, seed);
  g_has_seed = raw_syscall(SYS_pread64, atoi(descriptor), reinterpret_cast<long>(&g_random),
                           sizeof g_random, offset) == sizeof g_random;
  g_random ^= kEarly;
}

}  // namespace

bool is_early() {
  if (CLEW_LIKELY(g_state != State::kUnknown)) return g_state == State::kOfClew;
  char** const control = entry_of(environment(), abi::kControlVariable);
  g_state = control == nullptr || getauxval(AT_SECURE) != 0 ? State::kNotOfClew : State::kOfClew;
  if (g_state == State::kNotOfClew) return false;
  const char* const value = strchr(*control, '=') + 1;
  if (strcmp(value, abi::kAskParent) != 0) read_seed(value);
  return true;
}

char** entry_of(char** environment, const char* name) {
  const std::size_t size = strlen(name);
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') return entry;
  return nullptr;
}

bool early_reading(clockid_t clock, timespec* out) {
  if (!is_early() || clock < 0 || !is_known_clock(clock)) return false;
  set_epoch(abi::kEpochNs);
  *out = to_timespec(reading_at_start(clock));
  return true;
}

bool early_random(void* buffer, std::size_t size) {
  if (!is_early() || !g_has_seed) return false;
  for (std::size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
    const std::uint64_t word = split_mix(g_random);
    const std::size_t left = size - done;
    memcpy(static_cast<char*>(buffer) + done, &word, left < sizeof word ? left : sizeof word);
  }
  return true;
}

void take_over_is_decided() { g_state = State::kNotOfClew; }

}  // namespace clew::rt
