#include "runtime/record/log.h"

#include <sys/syscall.h>
#include <time.h>

#include <cstring>

#include "runtime/raw_syscall.h"
#include "runtime/record/callbacks.h"

namespace clew::rt {

constinit Log g_log;

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
    // The host empties the ring. If it is gone, so is this process (PR_SET_PDEATHSIG), or it has
    // let it go.
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

Hearing Log::hearing() const {
  if (silent_) return {};
  std::uint32_t topics = kTopicThreads;
  if (!(control_->flags & abi::kFlagReplay)) topics |= kTopicDecisions;
  if (control_->flags & abi::kFlagSlices) topics |= kTopicSlices;
  return {.topics = topics};
}

void Log::decided(const DecisionMade& decision) {
  if (decision.is_preemption) {
    preemption(decision);
  } else {
    begin(decision.event, abi::EntryKind::kChoice);
    put(decision.ordinal);
    put(static_cast<std::uint64_t>(decision.kind));
    put(decision.value);
  }
  publish();
}

void Log::preemption(const DecisionMade& decision) {
  const std::uint64_t number = preemptions_++;
  if (number < kDenseChecks || number % kCheckEvery == 0) {
    begin(decision.event, abi::EntryKind::kCheck);
    put(decision.thread.index);
    put(decision.place);
    const std::uint16_t value = g_hash.value16();
    const std::uint8_t hash[2] = {static_cast<std::uint8_t>(value),
                                  static_cast<std::uint8_t>(value >> 8)};
    put(hash, sizeof hash);
  }
  if (decision.names_thread) {
    begin(decision.event, abi::EntryKind::kSwitchTo);
    put(decision.to.index);
  } else {
    begin(decision.event, abi::EntryKind::kSwitchNext);
  }
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

void Log::left(const SliceEnded& slice) {
  Payload payload;
  payload.number(slice.thread.index)
      .number(slice.first)
      .number(slice.last)
      .number(slice.first_place)
      .number(slice.last_place)
      .number(static_cast<std::uint64_t>(slice.why))
      .number(static_cast<std::uint64_t>(slice.waits_for))
      .number(slice.object);
  message(abi::MessageType::kSlice, payload);
}

void Log::created(const ThreadCreated& thread) {
  Payload payload;
  payload.number(thread.thread.index)
      .number(thread.parent)
      .number(thread.ordinal)
      .number(thread.start);
  message(abi::MessageType::kThread, payload);
}

void Log::note(const char* line) {
  if (++notes_ > kMaxNotes) return;
  Payload payload;
  message(abi::MessageType::kNote, payload.text(line));
}

}  // namespace clew::rt
