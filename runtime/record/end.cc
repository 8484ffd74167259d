#include "runtime/record/end.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/record/callbacks.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/generation.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/record/stacks.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

bool g_failure_reported = false;
bool g_ended = false;

struct FailureText {
  abi::FailureKind kind;
  const char* detail;
  const char* file;
  std::uint32_t line;
  const char* function;
};

// The newest that has not come to anything yet. The texts of a place are the program's constants.
struct Symptom {
  bool there;
  std::uint32_t thread;
  std::uintptr_t stack;
  FailureText text;
  char detail[1024];
  std::size_t frames_count;
  std::uintptr_t frames[kMaxFrames];
};
Symptom g_symptom;

bool is_symptom_of(const Fiber& fiber) {
  return g_symptom.there && g_symptom.thread == fiber.index;
}

bool g_departed = false;

// The host relies on the messages, not on this status.
constexpr int kEndedByClew = 122;

enum class Buffers : std::uint8_t { kWritten, kLost };

[[noreturn]] void leave(Buffers buffers = Buffers::kWritten) {
  report_end(g_sched.clock());
  if (buffers == Buffers::kWritten) fflush(nullptr);
  if (running_job()) finish_job(abi::JobEnd::kFailed, kEndedByClew, g_sched.clock());
  report_status(kEndedByClew << 8);
  raw_syscall(SYS_exit_group, kEndedByClew);
  __builtin_unreachable();
}

// Who holds what the thread waits for: its index + 1, or 0.
std::uint32_t holder_of(const Fiber& waiting) {
  std::uint32_t holder = 0;
  if (waiting.wait_kind() == abi::WaitKind::kJoin)
    return static_cast<const Fiber*>(waiting.wait_object())->index + 1;
  g_sched.threads.for_each_living([&](const Fiber& fiber) {
    const std::size_t count =
        fiber.held_count < Fiber::kMaxHeld ? fiber.held_count : Fiber::kMaxHeld;
    for (std::size_t i = 0; i < count; ++i)
      if (fiber.held[i].object == waiting.wait_object()) holder = fiber.index + 1;
  });
  return holder;
}

// A hash of where a thread stands: equal for equal call chains.
std::uint64_t key_of(const std::uintptr_t* frames, std::size_t count) {
  constexpr std::size_t kInnermost = 8;
  std::uint64_t key = 0x6b6579;
  for (std::size_t i = 0; i < count && i < kInnermost; ++i)
    key = (key ^ frames[i]) * 0x9e3779b97f4a7c15 >> 1;
  return key;
}

void report(const FailureText& text, std::uint32_t thread, const std::uintptr_t* frames,
            std::size_t count) {
  g_failure_reported = true;
  if (running_job()) {
    const bool by_source = text.file != nullptr && text.line != 0;
    std::uint64_t key = by_source                                  ? text.line
                        : text.kind == abi::FailureKind::kDeadlock ? 0
                                                                   : key_of(frames, count);
    for (const char* c = by_source ? text.file : ""; *c != '\0'; ++c)
      key = key * 31 + static_cast<unsigned char>(*c);
    return note_job_failure(text.kind, key * 64 + static_cast<std::uint64_t>(text.kind));
  }
  Payload payload;
  payload.number(static_cast<std::uint64_t>(text.kind))
      .number(thread)
      .text(text.detail)
      .text(text.file != nullptr ? text.file : "")
      .number(text.line)
      .text(text.function != nullptr ? text.function : "")
      .frames(frames, count);
  g_log.message(abi::MessageType::kFailure, payload);
  report_maps();
}

void report_symptom() {
  report(g_symptom.text, g_symptom.thread, g_symptom.frames, g_symptom.frames_count);
}

void report_wait(Fiber& fiber) {
  std::uintptr_t frames[kMaxFrames];
  const std::size_t count =
      fiber.state == FiberState::kNotStarted ? 0 : walk_stack(frames, kMaxFrames);
  // A sum: the order of the threads does not matter.
  if (running_job()) return add_to_failure_key(key_of(frames, count));
  Payload waits;
  waits.number(fiber.index)
      .number(static_cast<std::uint64_t>(fiber.wait_kind()))
      .number(reinterpret_cast<std::uintptr_t>(fiber.wait_object()))
      .number(holder_of(fiber))
      .number(fiber.reached.place)
      .number(fiber.wait != nullptr ? fiber.wait->since : 0)
      .frames(frames, count);
  g_log.message(abi::MessageType::kWaits, waits);
  const std::size_t held = fiber.held_count < Fiber::kMaxHeld ? fiber.held_count : Fiber::kMaxHeld;
  for (std::size_t i = 0; i < held; ++i) {
    Payload holds;
    holds.number(fiber.index)
        .number(static_cast<std::uint64_t>(fiber.held[i].kind))
        .number(reinterpret_cast<std::uintptr_t>(fiber.held[i].object))
        .number(fiber.held[i].taken_at)
        .number(fiber.held[i].taken_by);
    g_log.message(abi::MessageType::kHolds, holds);
  }
}

}  // namespace

bool failure_reported() { return g_failure_reported; }

void report_failure(abi::FailureKind kind, const char* detail, const char* file, std::uint32_t line,
                    const char* function) {
  if (g_failure_reported) return;
  debug_note_failure(detail);
  debug_stop(abi::DebugStop::kEnding);
  const bool dies = kind == abi::FailureKind::kSignal;
  if (dies && is_symptom_of(*g_sched.current)) return report_symptom();
  std::uintptr_t frames[kMaxFrames];
  const std::size_t count = walk_stack(frames, kMaxFrames);
  report({kind, detail, file, line, function}, g_sched.current->index, frames, count);
}

void note_symptom(abi::FailureKind kind, const char* detail, const char* file, std::uint32_t line,
                  const char* function) {
  if (is_symptom_of(*g_sched.current)) return;  // the first is the cause
  g_symptom.there = true;
  g_symptom.thread = g_sched.current->index;
  g_symptom.stack = program_stack_pointer();
  strncpy(g_symptom.detail, detail, sizeof g_symptom.detail - 1);
  g_symptom.text = {kind, g_symptom.detail, file, line, function};
  g_symptom.frames_count = walk_stack(g_symptom.frames, kMaxFrames);
}

void forget_symptom_below(std::uintptr_t stack) {
  if (is_symptom_of(*g_sched.current) && g_symptom.stack < stack) g_symptom.there = false;
}

void report_end(Clock clock) {
  if (g_ended) return;
  g_ended = true;
  debug_stop(abi::DebugStop::kEnding);
  g_listeners.ended();
  g_sched.announce_end(clock);
  g_hash.fold(clock);
  Payload payload;
  payload.number(clock)
      .number(g_sched.counts.switches)
      .number(g_sched.counts.preemptions)
      .number(g_sched.threads.count())
      .number(g_hash.value());
  g_log.message(abi::MessageType::kEnd, payload);
}

void report_status(int status) {
  if (generation() > 0) g_record_callbacks.leave_locks_to_others();
  Payload payload;
  g_log.message(abi::MessageType::kStatus, payload.number(static_cast<std::uint64_t>(status)));
}

EndInSight::EndInSight(const char* path) : hash_(g_hash.value()) {
  g_record_callbacks.tell_unrecorded();
  report_end(g_sched.clock());
  Payload payload;
  g_log.message(abi::MessageType::kBecomes, payload.text(path));
}

void EndInSight::take_back() const {
  g_ended = false;
  g_hash.set(hash_);
  Payload payload;
  g_log.message(abi::MessageType::kBecomes, payload.text(""));
}

void report_exit(int status) {
  if (g_ended) return;
  g_record_callbacks.tell_unrecorded();
  char reason[256];
  if (!g_failure_reported && (status & 0xff) != 0 && is_symptom_of(*g_sched.current))
    report_symptom();
  else if (!g_failure_reported && g_sched.left_over(reason, sizeof reason))
    report_failure(abi::FailureKind::kInfeasible, reason);
  else if (g_sched.reports_places())
    report_maps();
  report_end(g_sched.clock());
}

void leave_program(int status) {
  report_exit(status);
  if (running_job()) finish_job(abi::JobEnd::kExited, status & 0xff, g_sched.clock());
  report_status((status & 0xff) << 8);
  raw_syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

void report_waits() {
  if (g_sched.current->state != FiberState::kFinished) report_wait(*g_sched.current);
  g_sched.visit_others(report_wait);
}

void end_hang(const char* why) {
  g_record_callbacks.keep_copy();
  report_failure(abi::FailureKind::kHang, why);
  leave();
}

// Buffered output was lost when the recording was interrupted, and its write is not among the
// inputs.
void end_broken_off() {
  report_failure(abi::FailureKind::kHang, "the recording was interrupted here");
  leave(Buffers::kLost);
}

void end_deadlock() {
  g_record_callbacks.keep_copy();
  // The current thread is the last that blocked; its stack is the one we are on.
  report_failure(abi::FailureKind::kDeadlock, "no thread is runnable");
  report_waits();
  leave();
}

void end_misuse(const char* what) {
  g_record_callbacks.keep_copy();
  report_failure(abi::FailureKind::kMisuse, what);
  leave();
}

void end_found(abi::FailureKind kind, const char* what) {
  g_record_callbacks.keep_copy();
  report_failure(kind, what);
  leave();
}

void end_unsupported(const char* what) {
  g_record_callbacks.keep_copy();
  report_failure(abi::FailureKind::kUnsupported, what);
  leave();
}

void end_departed(Clock event, std::uint64_t expected_thread, abi::Place expected_place,
                  const char* what) {
  // Writing out the buffers asks for answers too, which the recording may not have: the first
  // departure is the one that counts, and the rest of the output is lost.
  if (g_departed) leave(Buffers::kLost);
  g_departed = true;
  debug_note_failure("the replay departed from the recording");
  debug_stop(abi::DebugStop::kEnding);
  Payload payload;
  payload.number(event)
      .number(expected_thread)
      .number(g_sched.current->index)
      .number(expected_place)
      .number(g_sched.current->reached.place)
      .text(what);
  g_log.message(abi::MessageType::kDeparted, payload);
  report_maps();
  leave();
}

}  // namespace clew::rt
