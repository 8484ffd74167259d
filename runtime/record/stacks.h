// Backtraces as code addresses; the host turns them into source lines.
#ifndef CLEW_RUNTIME_RECORD_STACKS_H_
#define CLEW_RUNTIME_RECORD_STACKS_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

inline constexpr std::size_t kMaxFrames = 128;

// The caller's stack, innermost first.
std::size_t walk_stack(std::uintptr_t* frames, std::size_t capacity);

// The stacks of all threads, as kStack messages, before `event` happens.
void report_stacks(Clock event);

// The memory map, for the host to make sense of addresses.
void report_maps();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_STACKS_H_
