#include "runtime/record/log.h"

#include <sys/syscall.h>
#include <time.h>

#include <cstring>

#include "runtime/raw_syscall.h"
#include "runtime/record/callbacks.h"
#include "runtime/record/trace.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {

Log g_log;
Trace g_trace;

namespace {
// A check costs about five bytes; every preemption has one at first, so that short runs
// are compared everywhere, and then every 64th.
constexpr std::uint64_t kDenseChecks = 64;
constexpr std::uint64_t kCheckEvery = 64;
constexpr std::uint32_t kMaxNotes = 20;
}  // namespace

std::uint8_t Payload::bytes_[];

Payload& Payload::number(std::uint64_t value) {
  if (size_ + abi::kMaxVarint <= sizeof bytes_) size_ += abi::put_varint(bytes_ + size_, value);
  return *this;
}

Payload& Payload::text(const char* text) {
  std::size_t length = text != nullptr ? strlen(text) : 0;
  const std::size_t room = sizeof bytes_ - size_;
  if (room < 2 * abi::kMaxVarint) return *this;
  if (length > room - 2 * abi::kMaxVarint) length = room - 2 * abi::kMaxVarint;
  number(length);
  memcpy(bytes_ + size_, text, length);
  size_ += length;
  return *this;
}

Payload& Payload::frames(const std::uintptr_t* addresses, std::size_t count) {
  const std::size_t room = (sizeof bytes_ - size_) / abi::kMaxVarint;
  if (count + 1 > room) count = room > 0 ? room - 1 : 0;
  number(count);
  for (std::size_t i = 0; i < count; ++i) number(addresses[i]);
  return *this;
}

void Log::begin(Clock clock, abi::EntryKind kind) {
  const Clock delta = clock > last_clock_ ? clock - last_clock_ : 0;
  last_clock_ += delta;
  if (kind != abi::EntryKind::kMessage) ++entries_;
  put(delta << abi::kKindBits | static_cast<std::uint64_t>(kind));
}

void Log::put(std::uint64_t value) {
  std::uint8_t bytes[abi::kMaxVarint];
  put(bytes, abi::put_varint(bytes, value));
}

void Log::put(const std::uint8_t* bytes, std::size_t size) {
  auto* ring = reinterpret_cast<std::uint8_t*>(control_) + control_->ring_offset;
  const std::uint64_t mask = control_->ring_size - 1;
  while (CLEW_UNLIKELY(head_ + size - control_->tail.load(std::memory_order_acquire) >
                       control_->ring_size)) {
    // The host empties the ring. If it is gone, so are we (PR_SET_PDEATHSIG), or it has let us go.
    publish();
    g_record_callbacks.keep_copy();
    if (control_->let_go.load(std::memory_order_relaxed) != 0) return;
    const timespec nap{0, 200'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
  }
  for (std::size_t i = 0; i < size; ++i) ring[(head_ + i) & mask] = bytes[i];
  head_ += size;
}

void Log::publish() { control_->head.store(head_, std::memory_order_release); }

void Log::preemption(Clock event, const Fiber& from, const Decision& decision) {
  const std::uint64_t number = preemptions_++;
  if (silent_ || (control_->flags & abi::kFlagReplay)) return;
  if (number < kDenseChecks || number % kCheckEvery == 0) {
    begin(event, abi::EntryKind::kCheck);
    put(from.index);
    put(from.place);
    const std::uint8_t hash[2] = {static_cast<std::uint8_t>(hash16()),
                                  static_cast<std::uint8_t>(hash16() >> 8)};
    put(hash, sizeof hash);
  }
  if (decision.kind == Decision::Kind::kTo) {
    begin(event, abi::EntryKind::kSwitchTo);
    put(decision.to->index);
  } else {
    begin(event, abi::EntryKind::kSwitchNext);
  }
  publish();
}

void Log::choice(Clock event, std::uint32_t ordinal, abi::ChoiceKind kind, std::uint64_t value) {
  fold(0xc801ce ^ event << 16 ^ value << 8 ^ static_cast<std::uint64_t>(kind));
  if (silent_ || (control_->flags & abi::kFlagReplay)) return;
  begin(event, abi::EntryKind::kChoice);
  put(ordinal);
  put(static_cast<std::uint64_t>(kind));
  put(value);
  publish();
}

void Log::message(abi::MessageType type, const std::uint8_t* bytes, std::size_t size) {
  if (silent_) return;
  begin(last_clock_, abi::EntryKind::kMessage);
  put(static_cast<std::uint64_t>(type));
  put(size);
  put(bytes, size);
  publish();
}

void Log::message(abi::MessageType type, const Payload& payload) {
  message(type, payload.data(), payload.size());
}

void Log::slice(const Fiber& fiber, Clock last, abi::SliceEnd why) {
  if (CLEW_LIKELY(!(control_->flags & abi::kFlagSlices))) return;
  Payload payload;
  payload.number(fiber.index)
      .number(fiber.slice_begin)
      .number(last)
      .number(fiber.slice_place)
      .number(fiber.place)
      .number(static_cast<std::uint64_t>(why))
      .number(static_cast<std::uint64_t>(fiber.wait_kind()))
      .number(fiber.wait_kind() == abi::WaitKind::kJoin
                  ? static_cast<const Fiber*>(fiber.wait_object())->index
                  : reinterpret_cast<std::uintptr_t>(fiber.wait_object()));
  message(abi::MessageType::kSlice, payload);
}

void Log::thread_created(const Fiber& fiber, const ThreadRecord& record) {
  fold(0xc4ea7e ^ static_cast<std::uint64_t>(fiber.index) << 32);
  Payload payload;
  payload.number(fiber.index)
      .number(record.parent)
      .number(record.ordinal)
      .number(reinterpret_cast<std::uintptr_t>(fiber.start));
  message(abi::MessageType::kThread, payload);
}

void Log::note(const char* line) {
  if (++notes_ > kMaxNotes) return;
  Payload payload;
  message(abi::MessageType::kNote, payload.text(line));
}

}  // namespace clew::rt
