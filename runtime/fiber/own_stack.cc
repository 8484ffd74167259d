#include "runtime/fiber/own_stack.h"

#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/arena.h"
#include "runtime/raw_syscall.h"
#include "runtime/translate/translate.h"

extern "C" {
std::uintptr_t clew_own_base = 0;
std::uintptr_t clew_own_top = 0;
unsigned char clew_vectors_untouched = 0;
}

namespace clew::rt {
namespace {

constexpr std::size_t kSignalStackSize = 256 * 1024;
constexpr std::uintptr_t kRedZone = 128;

std::uintptr_t g_signal_stack = 0;
SignalHandler g_handlers[NSIG] = {};
bool g_stay = false;  // on the signal stack

// The kernel's frame of a signal: what the handler returns to, a context, what is known about the
// signal. The state of the vector registers lies elsewhere, the context says where.
constexpr std::size_t kContextSize = 304;  // the kernel's, smaller than libc's
struct Frame {
  void* returns_to;
  unsigned char context[kContextSize];
  siginfo_t info;
};
static_assert(sizeof(Frame) == 440);

// linux: struct _fpx_sw_bytes.
struct VectorState {
  unsigned char legacy[464];
  std::uint32_t magic;
  std::uint32_t size;
};

std::size_t size_of(const VectorState& state) {
  constexpr std::uint32_t kExtended = 0x46505853;
  constexpr std::size_t kLegacy = 512;
  return state.magic == kExtended ? state.size : kLegacy;
}

void fill_entry(const gregset_t& registers) {
  const auto value = [&](int number) { return static_cast<std::uintptr_t>(registers[number]); };
  reinterpret_cast<Entry*>(clew_own_top)[-1] = {
      value(REG_R15), value(REG_R14), value(REG_R13), value(REG_R12),
      value(REG_RBX), value(REG_RBP), value(REG_RIP), value(REG_RSP) - kRedZone};
}

// The address below which the frame is copied; 0: it stays where it is.
std::uintptr_t place_for_frame(const Frame& frame, const gregset_t& registers) {
  if (g_stay) return 0;
  const auto stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
  // Another handler has just begun, or the kernel knows no signal stack yet; or nobody knows how much of
  // the runtime's own stack is in use.
  constexpr std::uintptr_t kLargest = 64 * 1024;
  if (stack - g_signal_stack < kSignalStackSize ||
      stack - reinterpret_cast<std::uintptr_t>(&frame) < kLargest || is_asking_host(stack))
    return 0;
  if (is_on_own_stack(stack)) return stack - kRedZone;
  if (clew_own_top == 0) return is_stack_overflow(frame.info, stack) ? 0 : stack - kRedZone;
  fill_entry(registers);
  return clew_own_top - sizeof(Entry);
}

}  // namespace

OwnStack make_own_stack() {
  // With tens of thousands of threads the last ones do without.
  if (arena_used_until() > kArenaAddress + kArenaSize / 2) return {};
  const auto base = reinterpret_cast<std::uintptr_t>(arena_alloc(CLEW_OWN_STACK_SIZE));
  return {base, base + CLEW_OWN_STACK_SIZE};
}

OnSignalStack::OnSignalStack() { g_stay = true; }
OnSignalStack::~OnSignalStack() { g_stay = false; }

void install_signal_stack() {
  g_signal_stack = reinterpret_cast<std::uintptr_t>(arena_alloc(kSignalStackSize));
  stack_t stack{};
  stack.ss_sp = reinterpret_cast<void*>(g_signal_stack);
  stack.ss_size = kSignalStackSize;
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
}

bool is_stack_overflow(const siginfo_t& info, std::uintptr_t stack) {
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return info.si_signo == SIGSEGV && address + 65536 > stack && address < stack + 4096;
}

void set_signal_handler(int signal, SignalHandler handler) { g_handlers[signal] = handler; }

extern "C" {

// Copies the frame to where the handler can stay: it may switch threads, and the next handler
// begins on the same stack as this one. Returns the copy; null: the frame stays where it is.
Frame* clew_move_frame(Frame* frame) {
  auto& context = reinterpret_cast<ucontext_t&>(frame->context);
  show_origin(context);
  std::uintptr_t place = place_for_frame(*frame, context.uc_mcontext.gregs);
  if (place == 0) return nullptr;
  if (auto* state = reinterpret_cast<VectorState*>(context.uc_mcontext.fpregs)) {
    const std::size_t size = size_of(*state);
    place = (place - size) & ~std::uintptr_t{63};
    memcpy(reinterpret_cast<void*>(place), state, size);
    context.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(place);
  }
  // Aligned as after a call.
  place = ((place - sizeof(Frame)) & ~std::uintptr_t{15}) - 8;
  memcpy(reinterpret_cast<void*>(place), frame, sizeof(Frame));
  return reinterpret_cast<Frame*>(place);
}

void clew_handle_signal(int signal, siginfo_t* info, void* context) {
  g_handlers[signal](signal, info, context);
  resume_translated(*static_cast<ucontext_t*>(context));
}
}

}  // namespace clew::rt
