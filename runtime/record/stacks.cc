#include "runtime/record/stacks.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unwind.h>

#include "runtime/arena.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/log.h"
#include "runtime/sched/active.h"
#include "runtime/translate/translate.h"

namespace clew::rt {
namespace {

struct Walk {
  std::uintptr_t* frames;
  std::size_t capacity;
  std::size_t count;
};

_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (walk.count == walk.capacity) return _URC_END_OF_STACK;
  int before_instruction = 0;
  std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  // Return addresses point behind the call, interrupted instructions at themselves.
  if (address != 0) walk.frames[walk.count++] = before_instruction ? address : address - 1;
  return _URC_NO_REASON;
}

Clock g_event = 0;

void report_stack(Fiber& fiber) {
  std::uintptr_t frames[kMaxFrames];
  std::size_t count = 0;
  if (fiber.state == FiberState::kNotStarted) {
    frames[count++] = reinterpret_cast<std::uintptr_t>(fiber.start);
  } else {
    count = walk_stack(frames, kMaxFrames);
  }
  Payload payload;
  payload.number(g_event)
      .number(fiber.index)
      .number(fiber.state == FiberState::kRunning)
      .number(fiber.reached.place)
      .frames(frames, count);
  g_log.message(abi::MessageType::kStack, payload);
}

}  // namespace

std::size_t walk_stack(std::uintptr_t* frames, std::size_t capacity) {
  Walk walk{frames, capacity, 0};
  const OffDuty off_duty;  // the unwinder calls pthread_once
  const Untranslated untranslated;
  _Unwind_Backtrace(visit_frame, &walk);
  return walk.count;
}

void report_stacks(Clock event) {
  if (g_sched.debugged) return debug_stop(abi::DebugStop::kClock);
  g_event = event;
  report_stack(*g_sched.current);
  g_sched.visit_others(report_stack);
}

void report_maps() {
  constexpr std::size_t kCapacity = 1 << 20;
  auto* text = static_cast<std::uint8_t*>(arena_alloc(kCapacity + abi::kMaxVarint));
  const long fd = raw_syscall(SYS_open, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY, 0);
  std::size_t size = 0;
  while (fd >= 0 && size < kCapacity) {
    const long got =
        raw_syscall(SYS_read, fd, reinterpret_cast<long>(text + abi::kMaxVarint + size),
                    static_cast<long>(kCapacity - size));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (fd >= 0) raw_syscall(SYS_close, fd);
  // A string is its length and its bytes; the length goes right before them.
  std::uint8_t length[abi::kMaxVarint];
  const std::size_t n = abi::put_varint(length, size);
  std::uint8_t* start = text + abi::kMaxVarint - n;
  for (std::size_t i = 0; i < n; ++i) start[i] = length[i];
  g_log.message(abi::MessageType::kMaps, start, n + size);
}

}  // namespace clew::rt
