// Making a system call, with the kernel or from the recording.
#ifndef CLEW_RUNTIME_OUTSIDE_PERFORM_H_
#define CLEW_RUNTIME_OUTSIDE_PERFORM_H_

#include <poll.h>

#include "runtime/outside/calls.h"
#include "runtime/outside/poller.h"

namespace clew::rt {

long to_kernel(const Call& call);

// Asks `live` for the answer and records it, or takes it from the recording. `live` is not called
// in a replay.
template <class Live>
long answered(const Call& call, Live live);
inline long recorded(const Call& call) {
  return answered(call, [&] { return to_kernel(call); });
}

// How long a thread waits before a call can be made, and what else ends the wait.
struct Patience {
  Nanos deadline = kForever;
  unsigned ended_by = kSignals | kCancel;
};
// What the functions below return when the call can be made.
inline constexpr long kReady = 1;

// Waits until the descriptor is ready. Returns kReady, or the error that ends the call.
long wait_until_ready(const Call& call, int fd, short events, const Patience& patience);
// Waits until `try_again` returns true.
long wait_by_trying(const Call& call, abi::WaitKind kind, bool (*try_again)(OutsideWait&),
                    const void* data, const Patience& patience);
// Whether the call waits here: in a replay by the recording, otherwise by `would_block`.
template <class Test>
bool has_to_wait(const Call& call, Test would_block) {
  if (g_inputs.replaying()) return g_inputs.take_blocks(call.number);
  if (!would_block()) return false;
  if (g_inputs.recording()) g_inputs.put_blocks(call.number);
  return true;
}
// For a call that may have transferred `done` bytes by then; in a replay `done` only tells whether
// there were any.
template <class Test>
bool has_to_wait(const Call& call, std::size_t& done, Test would_block) {
  const long partly = call.number | abi::kPartlyDone;
  if (g_inputs.replaying()) {
    if (g_inputs.next_blocks(partly)) done = 1;
    return g_inputs.take_blocks(done > 0 ? partly : call.number);
  }
  if (!would_block()) return false;
  if (g_inputs.recording()) g_inputs.put_blocks(done > 0 ? partly : call.number);
  return true;
}

void record_answer(const Call& call, const Answer& answer);
Answer replay_answer(const Call& call);

template <class Live>
long answered(const Call& call, Live live) {
  if (g_inputs.replaying()) return replay_answer(call).result;
  const long result = live();
  if (g_inputs.recording()) record_answer(call, {result, 0});
  return result;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_PERFORM_H_
