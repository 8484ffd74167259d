#include "runtime/outside/perform.h"

#include <errno.h>

#include "runtime/layout/layout.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/file_times.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"

namespace clew::rt {
namespace {

Piece g_pieces[kMaxPieces];

// How reports identify a wait for something outside.
const void* described(const Call& call) {
  return reinterpret_cast<const void*>(call.number << 32 |
                                       static_cast<long>(static_cast<std::uint32_t>(call.a[0])));
}

long error_of(Woke woke) {
  switch (woke) {
    case Woke::kByObject:
      return kReady;
    case Woke::kByTime:
      return -ETIMEDOUT;
    case Woke::kBySignal:
      return -EINTR;
    case Woke::kByCancel:
      return kCancelled;
  }
  return -EINTR;
}

}  // namespace

long to_kernel(const Call& call) {
  if (CLEW_UNLIKELY(call.number == SYS_readlink || call.number == SYS_readlinkat))
    if (const LoadedFiles loaded = loaded_files(); loaded.asks_for_program(call.number, call.a))
      return loaded.copy_program(call.a + path_argument(call.number));
  if (CLEW_UNLIKELY(g_sched.active && is_about_times(call.number))) return call_with_times(call);
  return raw_syscall(call.number, call.a[0], call.a[1], call.a[2], call.a[3], call.a[4], call.a[5]);
}

void record_answer(const Call& call, const Answer& answer) {
  const std::size_t count = pieces_before(call, g_pieces, kMaxPieces);
  measure_pieces(call, answer.result, g_pieces, count);
  g_sched.current->answered = true;
  g_inputs.put_answer(call.number, check_of(call), answer, g_pieces, count);
}

Answer replay_answer(const Call& call) {
  const std::size_t count = pieces_before(call, g_pieces, kMaxPieces);
  g_sched.current->answered = true;
  return g_inputs.take_answer(call.number, check_of(call), g_pieces, count);
}

long wait_until_ready(const Call& call, int fd, short events, const Patience& patience) {
  pollfd ready{fd, events, 0};
  OutsideWait wait;
  wait.wait.kind = abi::WaitKind::kDescriptor;
  wait.wait.about = described(call);
  wait.fds = &ready;
  wait.count = 1;
  if (!g_inputs.replaying()) wait.inside = descriptor(fd).inside;
  return error_of(g_poller.wait(wait, patience.deadline, patience.ended_by));
}

long wait_by_trying(const Call& call, abi::WaitKind kind, bool (*try_again)(OutsideWait&),
                    const void* data, const Patience& patience) {
  OutsideWait wait;
  wait.wait.kind = kind;
  wait.wait.about = described(call);
  wait.try_again = try_again;
  wait.data = data;
  return error_of(g_poller.wait(wait, patience.deadline, patience.ended_by));
}

}  // namespace clew::rt
