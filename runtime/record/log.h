// What a run leaves behind while it runs: the stream of abi/stream.h, in the ring that the
// host empties, and the running hash of what happened.
#ifndef CLEW_RUNTIME_RECORD_LOG_H_
#define CLEW_RUNTIME_RECORD_LOG_H_

#include "clew_abi/control.h"
#include "clew_abi/stream.h"
#include "runtime/sched/fiber.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

// Collects a message's payload. What does not fit is cut off, never written past the end.
// All payloads share one buffer, because a thread's stack may be too small for it: only one may be
// in the making at a time.
class Payload {
 public:
  Payload& number(std::uint64_t value);
  Payload& text(const char* text);
  Payload& frames(const std::uintptr_t* addresses, std::size_t count);

  const std::uint8_t* data() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  static std::uint8_t bytes_[8192];
  std::size_t size_ = 0;
};

class Log {
 public:
  void init(abi::Control& control) {
    control_ = &control;
    // A served run reports through its JobResult: nobody empties the ring.
    silent_ = (control.flags & abi::kFlagServe) != 0;
  }

  // Order matters; anything that could differ between two runs of the same schedule goes in.
  void fold(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t hash() const { return hash_; }
  // Entries of the schedule, and bytes in the ring, since the start.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t written() const { return head_; }
  // This process is a copy, and has a ring of its own, which is empty.
  void begin_anew() { head_ = last_clock_ = 0; }
  void set_hash(std::uint64_t hash) { hash_ = hash; }
  std::uint16_t hash16() const { return static_cast<std::uint16_t>(hash_ ^ hash_ >> 32); }

  void preemption(Clock event, const Fiber& from, const Decision& decision);
  void choice(Clock event, std::uint32_t ordinal, abi::ChoiceKind kind, std::uint64_t value);
  void slice(const Fiber& fiber, Clock last, abi::SliceEnd why);
  void thread_created(const Fiber& fiber, const ThreadRecord& record);
  void note(const char* line);
  void message(abi::MessageType type, const Payload& payload);
  void message(abi::MessageType type, const std::uint8_t* bytes, std::size_t size);

 private:
  void begin(Clock clock, abi::EntryKind kind);
  void put(std::uint64_t value);
  void put(const std::uint8_t* bytes, std::size_t size);
  void publish();

  abi::Control* control_ = nullptr;
  bool silent_ = false;
  std::uint64_t head_ = 0;  // written, not necessarily published
  Clock last_clock_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t hash_ = 0x636c6577;
  std::uint64_t preemptions_ = 0;
  std::uint32_t notes_ = 0;
};

extern Log g_log;

// A module with yield points.
struct PointModule {
  const abi::Point* begin;
  const abi::Point* end;
  std::uint64_t base;  // id of the first point
};
extern PointModule g_last_module;  // the one asked for last

// The place of a point of an instrumented module, or of a code address.
abi::Place place_of_slow(const abi::Point* point);
inline abi::Place place_of(const abi::Point* point) {
  const PointModule& module = g_last_module;
  if (CLEW_LIKELY(point >= module.begin && point < module.end))
    return (module.base + static_cast<std::uint64_t>(point - module.begin)) << 1;
  return place_of_slow(point);
}
inline abi::Place place_of_code(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) << 1 | 1;
}
// A module's points have appeared.
void register_points(const abi::Point* begin, const abi::Point* end);
// Whether an instrumented module lies there.
bool has_points(std::uintptr_t begin, std::uintptr_t end);
// Reports the modules that registered before the log was there.
void report_registered_points();
// One more than the highest id.
std::uint64_t points_given();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_LOG_H_
