// What a run leaves behind while it runs: the stream of abi/clew_abi/stream.h, in the ring that the
// host empties.
#ifndef CLEW_RUNTIME_RECORD_LOG_H_
#define CLEW_RUNTIME_RECORD_LOG_H_

#include "clew_abi/control.h"
#include "clew_abi/stream.h"
#include "runtime/event/hash.h"
#include "runtime/event/listener.h"

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

class Log final : public Listener {
 public:
  void init(abi::Control& control) {
    control_ = &control;
    // A served run reports through its JobResult: nobody empties the ring.
    silent_ = (control.flags & abi::kFlagServe) != 0;
  }

  // Entries of the schedule, and bytes in the ring, since the start.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t written() const { return head_; }
  // This process is a copy, and has a ring of its own, which is empty.
  void begin_anew() { head_ = last_clock_ = 0; }

  // What of the events it writes down.
  Hearing hearing() const;
  void decided(const DecisionMade& decision) override;
  void left(const SliceEnded& slice) override;
  void created(const ThreadCreated& thread) override;

  void note(const char* line);
  void message(abi::MessageType type, const Payload& payload);
  void message(abi::MessageType type, const std::uint8_t* bytes, std::size_t size);

 private:
  void preemption(const DecisionMade& decision);
  void begin(Clock clock, abi::EntryKind kind);
  void put(std::uint64_t value);
  void put(const std::uint8_t* bytes, std::size_t size);
  void publish();

  abi::Control* control_ = nullptr;
  bool silent_ = false;
  std::uint64_t head_ = 0;  // written, not necessarily published
  Clock last_clock_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t preemptions_ = 0;
  std::uint32_t notes_ = 0;
};

extern Log g_log;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_LOG_H_
