#include "runtime/translate/translate.h"

#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "clew_abi/translation.h"
#include "runtime/libc/code_range.h"
#include "runtime/raw_syscall.h"
#include "runtime/rt.h"

extern "C" {
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
void clew_ask_host() __attribute__((visibility("hidden")));
std::uint64_t clew_serve_translated() __attribute__((visibility("hidden")));
alignas(4096) unsigned char clew_translating[4096] = {};
std::uintptr_t clew_translation_stack __attribute__((visibility("hidden"))) = 0;
std::uintptr_t clew_enter_translated __attribute__((visibility("hidden"))) = 0;
std::uintptr_t clew_native_begin __attribute__((visibility("hidden"))) = 0;
std::uintptr_t clew_native_size __attribute__((visibility("hidden"))) = 0;
}

namespace clew::rt {

TranslationCallbacks g_translation_callbacks;

namespace {

using abi::TranslationRequest;
using abi::TranslationState;
using abi::TranslationTurn;

// translate_x86_64.S
static_assert(abi::kTranslationAddress == 0x43ff'8000'0000);
static_assert(offsetof(TranslationState, scratch) == 0);
static_assert(offsetof(TranslationState, target) == 9 * 8);
static_assert(offsetof(TranslationState, request) == 13 * 8 + 4);
static_assert(static_cast<std::uint32_t>(TranslationRequest::kReturn) == 3);
static_assert(offsetof(TranslationState, registers) == 14 * 8);
static_assert(offsetof(TranslationState, is_last_thread) == 35 * 8);

TranslationState& state() { return *reinterpret_cast<TranslationState*>(abi::kTranslationAddress); }

void ask(TranslationRequest request) {
  TranslationState& to = state();
  to.request = request;
  auto* turn = reinterpret_cast<std::uint32_t*>(&to.turn);
  to.turn.store(TranslationTurn::kHost, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(turn), FUTEX_WAKE, 1);
  while (to.turn.load(std::memory_order_acquire) == TranslationTurn::kHost)
    raw_syscall(SYS_futex, reinterpret_cast<long>(turn), FUTEX_WAIT,
                static_cast<long>(TranslationTurn::kHost));
  to.request = TranslationRequest::kBlock;
}

// There is room: each block makes sure of more, and one runs between two marks.
template <class Mark>
void put(const Mark& mark) {
  *reinterpret_cast<Mark*>(state().buffer) = mark;
  state().buffer += sizeof mark;
}

// Of a counting run, where blocks do not make sure of room: who has called out, before another thread
// runs or is created.
void put_out_mark() {
  if (state().buffer >= abi::kBufferEnd) ask(TranslationRequest::kDrain);
  if (state().out_stack == 0) return;
  put(abi::CallMark{abi::kOutMark, state().out_site, state().out_stack, 0});
  state().out_stack = 0;
}

// Of a counting run only where it tells something.
void put_return_mark(const abi::ReturnMark& mark) {
  if (state().counts != 0) {
    state().is_last_thread = 1;
    if (state().last_thread == mark.thread) return;
    state().last_thread = mark.thread;
    put_out_mark();
  }
  put(mark);
}

// As far as it is there.
std::uint32_t copy_code(std::uint64_t from) {
  iovec here{state().bytes, abi::kMostCodeBytes};
  iovec there{reinterpret_cast<void*>(from), abi::kMostCodeBytes};
  const long pid = raw_syscall(SYS_getpid);
  const long got = raw_syscall(SYS_process_vm_readv, pid, reinterpret_cast<long>(&here), 1,
                               reinterpret_cast<long>(&there), 1, 0);
  if (got > 0) return static_cast<std::uint32_t>(got);
  // Not allowed here: up to the end of the page, which is there if anything is.
  const std::size_t size = 0x1000 - from % 0x1000;
  for (std::size_t i = 0; i < size; ++i)
    state().bytes[i] = reinterpret_cast<const volatile std::uint8_t*>(from)[i];
  return static_cast<std::uint32_t>(size);
}

// The code for the target of the indirect branch that is under way, if the host has been asked for it
// before; 0: it has not, or the branch is a direct one.
std::uint64_t known_code() {
  const std::uint64_t target = state().target;
  const std::uint32_t table = 0u - state().exit;
  if (table >= abi::kTargetTables) return 0;
  auto* const tables =
      reinterpret_cast<abi::Target*>(abi::kTranslationAddress + abi::kTargetsOffset);
  const auto* const all =
      reinterpret_cast<const abi::Target*>(abi::kTranslationAddress + abi::kAllTargetsOffset) +
      table * abi::kAllTargetCount;
  for (std::size_t i = 0; i < abi::kTargetProbes; ++i) {
    const abi::Target& here = all[(abi::slot_of(target) + i) % abi::kAllTargetCount];
    if (here.inverse == 0) return 0;
    if (here.inverse != 0 - target) continue;
    tables[table * abi::kTargetCount + target % abi::kTargetCount] = here;
    return here.code;
  }
  return 0;
}

// The program can see what is left in them: they are saved when a library is bound lazily. The
// functions of libc would change more of them than this keeps.
class VectorRegisters {
 public:
  VectorRegisters() { asm volatile("fxsave64 %0" : "=m"(state_)); }
  ~VectorRegisters() { asm volatile("fxrstor64 %0" ::"m"(state_)); }

 private:
  struct alignas(16) State {
    unsigned char bytes[512];
  } state_;
};

// All of them, as far as this processor and this kernel have them, but for those of AMX, which no
// call passes anything in. Whoever is called may use every one.
class AllVectorRegisters {
 public:
  AllVectorRegisters() {
    if (mask_ == 0) find_mask();
    if (mask_ != kNone) asm volatile("xsave64 %0" : "=m"(state_) : "a"(mask_), "d"(0) : "memory");
  }
  ~AllVectorRegisters() {
    if (mask_ != kNone) asm volatile("xrstor64 %0" ::"m"(state_), "a"(mask_), "d"(0) : "memory");
  }
  AllVectorRegisters(const AllVectorRegisters&) = delete;
  AllVectorRegisters& operator=(const AllVectorRegisters&) = delete;

 private:
  static constexpr std::uint32_t kNone = 1u << 31;  // clew_ask_host keeps those that there are
  static void find_mask() {
    constexpr std::uint32_t kOsxsave = 1u << 27;
    std::uint32_t a = 1, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    mask_ = kNone;
    if ((c & kOsxsave) == 0) return;
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    mask_ = low & 0xe7;  // x87, SSE, AVX, AVX-512
  }

  // Only one listener's call is under way at a time.
  struct alignas(64) State {
    unsigned char bytes[2816];
  };
  static State state_;
  static std::uint32_t mask_;
};
AllVectorRegisters::State AllVectorRegisters::state_;
std::uint32_t AllVectorRegisters::mask_ = 0;

void append(char*& end, const char* text) {
  while (*text != '\0') *end++ = *text++;
}

void append(char*& end, int number) {
  char digits[12];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) *end++ = digits[--count];
}

}  // namespace

void begin_translating(abi::Control& control) {
  if (control.translation < 0) return;
  const VectorRegisters kept;
  char path[64] = {};
  char* end = path;
  append(end, "/proc/");
  append(end, control.host);
  append(end, "/fd/");
  append(end, control.translation);
  const long fd =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC);
  CLEW_CHECK(fd >= 0);
  const auto map = [&](std::size_t offset, std::size_t size, long protection) {
    const long at = static_cast<long>(abi::kTranslationAddress + offset);
    CLEW_CHECK(raw_syscall(SYS_mmap, at, static_cast<long>(size), protection,
                           MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd,
                           static_cast<long>(offset)) == at);
  };
  map(0, abi::kCodeOffset, PROT_READ | PROT_WRITE);
  map(abi::kCodeOffset, abi::kCodeSize, PROT_READ | PROT_EXEC);
  map(abi::kBufferOffset, abi::kTranslationSize - abi::kBufferOffset, PROT_READ | PROT_WRITE);
  raw_syscall(SYS_close, fd);
  const CodeRange ours = range_of_object(reinterpret_cast<std::uintptr_t>(&__ehdr_start));
  clew_native_begin = ours.begin;
  clew_native_size = ours.end - ours.begin;
  state().native_begin = ours.begin;
  state().native_end = ours.end;
  state().ask = reinterpret_cast<std::uint64_t>(&clew_ask_host);
  state().process = static_cast<std::int32_t>(raw_syscall(SYS_getpid));
  clew_translation_stack = abi::kTranslationAddress + abi::kTargetsOffset;
  clew_enter_translated = state().enter;
  // A copy of the process runs its own code: the memory is the original's.
  raw_syscall(SYS_madvise, reinterpret_cast<long>(clew_translating), sizeof clew_translating,
              MADV_WIPEONFORK);
  clew_translating[0] = 1;
}

void continue_translating(const abi::Control& control) {
  if (control.translation < 0 || clew_native_size == 0) return;
  // The process that ran before may have ended in the middle of a request.
  state().request = TranslationRequest::kBlock;
  state().turn.store(TranslationTurn::kProgram, std::memory_order_release);
  state().process = static_cast<std::int32_t>(raw_syscall(SYS_getpid));
  clew_translating[0] = 1;
}

void note_switched_thread_slow() { state().is_last_thread = 0; }

void note_created_thread(std::uint32_t creator, std::uint32_t created) {
  if (clew_translating[0] == 0 || state().counts == 0) return;
  put_out_mark();
  put(abi::CreateMark{abi::kCreateMark, 0, creator, created});
}

bool is_translated(const ucontext_t& context) {
  const auto code = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  return clew_translating[0] != 0 &&
         code - (abi::kTranslationAddress + abi::kCodeOffset) < abi::kCodeSize;
}

void show_origin(ucontext_t& context) {
  if (!is_translated(context)) return;
  auto& registers = context.uc_mcontext.gregs;
  // The code may have been about to ask something itself.
  const std::uint64_t target = state().target;
  const TranslationRequest request = state().request;
  state().target = static_cast<std::uint64_t>(registers[REG_RIP]);
  ask(TranslationRequest::kOrigin);
  state().target = target;
  state().request = request;
  if (state().answer == 0) return;
  const auto scratch = [&](int i) { return static_cast<greg_t>(state().scratch[i]); };
  const std::uint32_t saved = state().saved_registers;
  if (saved & abi::kSavedRax) registers[REG_RAX] = scratch(0);
  if (saved & abi::kSavedRcx) registers[REG_RCX] = scratch(1);
  constexpr int kBases[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, -1, -1, REG_RSI, REG_RDI};
  if (saved & abi::kSavedBase) registers[kBases[saved & 7]] = scratch(3);
  registers[REG_RIP] = static_cast<greg_t>(state().answer);
  put(abi::CutMark{.mark = abi::kCutMark, .unused = 0, .address = state().answer});
}

void resume_translated(ucontext_t& context) {
  auto& code = context.uc_mcontext.gregs[REG_RIP];
  const auto address = static_cast<std::uint64_t>(code);
  if (clew_translating[0] == 0 || is_translated(context)) return;
  if (address >= state().native_begin && address < state().native_end) return;
  state().target = address;
  code = static_cast<greg_t>(state().enter);
}

}  // namespace clew::rt

using namespace clew::rt;

// Returns where the program continues.
std::uint64_t clew_serve_translated() {
  switch (state().request) {
    case TranslationRequest::kDrain:
      ask(TranslationRequest::kDrain);
      return state().jump;
    case TranslationRequest::kFunction: {
      state().request = TranslationRequest::kBlock;
      const std::uint64_t next = state().jump;
      const AllVectorRegisters kept;
      g_translation_callbacks.function(state().target, state().registers[4]);
      return next;
    }
    case TranslationRequest::kReturn:
      state().request = TranslationRequest::kBlock;
      put_return_mark(g_translation_callbacks.mark());
      return state().enter;
    default:
      break;
  }
  if (const std::uint64_t code = known_code(); code != 0) return code;
  state().bytes_count = copy_code(state().target);
  ask(TranslationRequest::kBlock);
  return state().answer != 0 ? state().answer : state().target;
}
