// The system calls that clew knows: what is to be done with each, and which parts of the program's
// memory it fills. See calls.cc for the list.
#ifndef CLEW_RUNTIME_OUTSIDE_CALLS_H_
#define CLEW_RUNTIME_OUTSIDE_CALLS_H_

#include <ucontext.h>

#include "runtime/outside/inputs.h"

namespace clew::rt {

// A system call of the program.
struct Call {
  long number;
  long a[6];
  // Room for an address and for control data. The call overwrites both with what it would have
  // needed.
  std::uint32_t address_room = 0;
  std::uint64_t control_room = 0;
  // The state of the program, if the call was caught (syscall/dispatch.h); null: it came through a
  // function.
  const ucontext_t* caught = nullptr;
};
// Fills in address_room and control_room. REQUIRES: the call has not been made yet.
void note_room(Call& call);

enum class Treatment : std::uint8_t {
  kUnknown,   // goes to the kernel, in a replay too, and is named at the end of the run
  kNative,    // goes to the kernel, in a replay too: memory and what else is the process's own
  kRecorded,  // its answer is recorded; a replay takes it from there
  // The runtime answers, without the kernel or with calls of its own.
  kHere,    // threads, futex, randomness, the end (syscall/system_call.cc)
  kTime,    // syscall/time_calls.cc
  kSignal,  // syscall/signal_calls.cc
  // Recorded by the function of the family (syscall/families.h).
  kDescriptor,
  kControl,  // fcntl, ioctl
  kTransfer,
  kPoll,
  kLock,
  kProcess,
  kMap,
  kAsync,
};

Treatment treatment_of(long number);
// "read", or "system call 123".
const char* call_name(long number);

// The parts that the call may fill, as known before it is made; in and out sizes are read.
std::size_t pieces_before(const Call& call, Piece* out, std::size_t room);
// Sets what it has filled.
void measure_pieces(const Call& call, long result, Piece* pieces, std::size_t count);

// A hash of the arguments that are plain numbers, so that they are the same in a replay.
std::uint16_t check_of(const Call& call);

inline constexpr std::size_t kMaxPieces = 2100;  // two for each of UIO_MAXIOV parts, and some

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_CALLS_H_
