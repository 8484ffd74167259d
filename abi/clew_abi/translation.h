// Translated runs: the program's code, and that of its libraries, runs as a translation of itself
// that writes down what it does. One memfd, mapped by the host, which translates, and at a fixed
// address by the runtime, which runs what it gets. All addresses in it are the program's.
//
//   kTranslationAddress   TranslationState
//   + kTargetsOffset      Target[kTargetCount], kTargetTables times: where indirect branches lead
//   + kCountersOffset     counters of a counting run
//   + kAllTargetsOffset   Target[kAllTargetCount], kTargetTables times: what found no room in the former
//   + kCodeOffset         translated code
//   + kBufferOffset       what the code writes down; it ends at kBufferEnd, and a little beyond
#ifndef CLEW_ABI_TRANSLATION_H_
#define CLEW_ABI_TRANSLATION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace clew::abi {

inline constexpr std::uintptr_t kTranslationAddress = 0x43ff'8000'0000;
inline constexpr std::size_t kTargetsOffset = 0x10'0000;
inline constexpr std::size_t kTargetsSize = 0x10'0000;  // of one table
inline constexpr std::size_t kTargetTables = 4;
inline constexpr std::size_t kCountersOffset = 0x50'0000;
inline constexpr std::size_t kMostCounters = 0x100'0000;  // 8 bytes each
inline constexpr std::size_t kAllTargetsOffset = 0x900'0000;
inline constexpr std::size_t kCodeOffset = 0x1000'0000;
inline constexpr std::size_t kCodeSize = 0x3000'0000;
// The fifth byte of an address in the buffer is 0xff, and 0 from its end on: code can tell without
// touching the flags.
inline constexpr std::uintptr_t kBufferEnd = 0x4400'0000'0000;
inline constexpr std::size_t kBufferSize = 0x400'0000;
inline constexpr std::size_t kBufferOffset = kBufferEnd - kTranslationAddress - kBufferSize;
inline constexpr std::size_t kBufferBeyond = 0x1'0000;  // the most that one block writes
inline constexpr std::size_t kTranslationSize = kBufferOffset + kBufferSize + kBufferBeyond;

// Found by the low bits of the address. `inverse` is the negative of the address, so that a sum
// compares them; 1 (the negative of no code's address) if there is none.
struct Target {
  std::uint64_t inverse;
  std::uint64_t code;
};
inline constexpr std::size_t kTargetCount = 0x1'0000;
static_assert(kTargetCount * sizeof(Target) == kTargetsSize);
static_assert(kTargetsOffset + kTargetTables * kTargetsSize <= kCountersOffset);
static_assert(kCountersOffset + 8 * kMostCounters <= kAllTargetsOffset);

// All targets, those included that share the low bits of their addresses: code whose branches lead to
// more places than the first table has would otherwise ask the host again and again. In the first of
// kTargetProbes places from slot_of() on that was free; an inverse of 0 is a free one.
inline constexpr std::size_t kAllTargetCount = 0x10'0000;
inline constexpr std::size_t kTargetProbes = 16;
static_assert(kAllTargetsOffset + kTargetTables * kAllTargetCount * sizeof(Target) <= kCodeOffset);
constexpr std::size_t slot_of(std::uint64_t address) {
  return (address * 0x9e37'79b9'7f4a'7c15 >> 44) % kAllTargetCount;
}

// Which table an indirect branch looks its target up in. A run that is not counted has the first only.
enum class TargetTable : std::uint32_t {
  kPlain,
  kFromLibrary,   // calls and jumps of code that is not the program's own, and the runtime
  kOfOwnReturns,  // returns of the program's own functions
  kOfOwnJumps,    // jumps of theirs: of a switch, or calls whose caller has nothing left to do
};
// TranslationState::exit of an indirect branch that was not found in a table.
constexpr std::uint32_t exit_of(TargetTable table) {
  return 0u - static_cast<std::uint32_t>(table);
}

enum class TranslationRequest : std::uint32_t {
  kNone = 0,
  kBlock,   // translate the code at `target`, or what exit number `exit` leads to
  kDrain,   // the buffer is full
  kReturn,  // not for the host: the runtime returns to the program, at `target`
  kOrigin,  // which of the program's instructions does the code at `target` stand for?
  kFunction,  // not for the host: the program is at the first instruction of the function at `target`,
              // or, if that is 0, at a return; the code continues at `jump`
};

enum class TranslationTurn : std::uint32_t { kProgram = 0, kHost };

// What of the program's registers is in scratch memory: rax in 0, rcx in 1, and in 3 the one that the
// low three bits give the number of.
enum SavedRegisters : std::uint32_t { kSavedRax = 8, kSavedRcx = 16, kSavedBase = 32 };

inline constexpr std::size_t kMostCodeBytes = 0x2000;

struct TranslationState {
  // What translated code uses.
  std::uint64_t scratch[8];
  std::uint64_t buffer;  // where the next record goes
  std::uint64_t target;  // of the branch that is under way
  std::uint64_t jump;
  std::uint64_t ask;    // the runtime's entry: asks the host
  std::uint64_t enter;  // the code's entry: continues at `target`
  std::uint32_t exit;   // the direct branch that is under way; 0: an indirect one
  TranslationRequest request;

  // The program's registers while the host is asked: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to
  // r15, flags.
  std::uint64_t registers[17];

  // What the runtime tells about itself when it begins: its code is never translated.
  std::uint64_t native_begin;
  std::uint64_t native_end;
  std::int32_t process;  // its id

  // Of a counting run, which has a return mark only where the thread has changed.
  std::uint32_t counts;  // 1: it is one
  std::uint32_t site;    // of the indirect jump that is under way
  std::uint32_t last_thread;
  // 1: the thread that runs is last_thread. Then the runtime returns to the program without a mark.
  std::uint32_t is_last_thread;
  // The program's own code last called out from this site, with this stack pointer; 0: that has been
  // written down.
  std::uint32_t out_site;
  std::uint64_t out_stack;

  // A request. `turn` is a futex.
  std::atomic<TranslationTurn> turn;
  std::uint32_t bytes_count;
  std::uint32_t saved_registers;       // kOrigin: bits of SavedRegisters
  std::uint64_t answer;                // kBlock: where to continue; kOrigin: the address, 0: none
  std::uint8_t bytes[kMostCodeBytes];  // kBlock: the code at `target`
};
static_assert(sizeof(TranslationState) <= kTargetsOffset);

// What a run writes down: records of whole words. A block's begins with its number, from 1; then come
// the addresses and values of its accesses (host/translate/translator.h). Others have one of these
// numbers instead.
inline constexpr std::uint32_t kReturnMark = 0xffff'ffff;

inline constexpr std::uint32_t kCutMark = 0xffff'fffe;

// A signal came: of the block before this, only what comes before the address was executed.
struct CutMark {
  std::uint32_t mark;  // kCutMark
  std::uint32_t unused;
  std::uint64_t address;
};

// The runtime returns to the program, or calls it.
struct ReturnMark {
  std::uint32_t mark;       // kReturnMark
  std::uint32_t thread;     // in order of creation
  std::uint64_t limit;      // the clock is this less 1 less the countdown; 0: nothing is counted
  std::uint64_t clock;      // ... and is now this
  std::uint64_t countdown;  // addresses of the variables that compiled code has of the runtime
  std::uint64_t call_site;
};

// What a counting run writes down (host/translate/counting.h).
inline constexpr std::uint32_t kCallMark = 0xffff'fffd;   // the program's own code calls
inline constexpr std::uint32_t kEntryMark = 0xffff'fffc;  // other code calls a function of its own
inline constexpr std::uint32_t kBackMark = 0xffff'fffb;   // ... which returns there

inline constexpr std::uint32_t kCreateMark = 0xffff'fffa;  // a thread creates another

inline constexpr std::uint32_t kOutMark = 0xffff'fff9;  // a call out, which a counter has counted

struct CreateMark {
  std::uint32_t mark;  // kCreateMark
  std::uint32_t unused;
  std::uint32_t creator;  // in order of creation
  std::uint32_t created;
};

struct CallMark {
  std::uint32_t mark;
  std::uint32_t site;    // its number; of kEntryMark and kBackMark that of the place it leads to
  std::uint64_t stack;   // the stack pointer; 0 (of kOutMark): there was none
  std::uint64_t target;  // of an indirect call
};

}  // namespace clew::abi

#endif  // CLEW_ABI_TRANSLATION_H_
