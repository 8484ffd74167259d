// The stream encoding of abi/clew_abi/stream.h, on the host's side: writing schedules
// for the runtime to follow, reading what it reports through the ring.
#ifndef CLEW_HOST_SCHEDULE_STREAM_H_
#define CLEW_HOST_SCHEDULE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clew_abi/stream.h"
#include "host/error.h"
#include "host/schedule/schedule.h"
#include "host/types.h"

namespace clew {

// Anything but a message. Which fields count depends on the kind; the others are 0.
struct Entry {
  abi::EntryKind kind = abi::EntryKind::kSwitchNext;
  Clock clock;
  std::uint64_t thread = 0;   // kSwitchTo: index into the names; kCheck: the thread
  abi::Place place = 0;       // kCheck
  std::uint16_t hash = 0;     // kCheck
  std::uint64_t ordinal = 0;  // kChoice
  abi::ChoiceKind choice{};   // kChoice
  std::uint64_t value = 0;    // kChoice: index into the names if names_thread(choice), else 1
  bool operator==(const Entry&) const = default;
};

struct Message {
  Clock clock;
  abi::MessageType type{};
  std::vector<std::uint8_t> payload;
  bool operator==(const Message&) const = default;
};

// As the runtime reads it.
struct Stream {
  std::vector<std::uint8_t> bytes;
  std::vector<std::string> names;  // thread ids, for kSwitchTo and kChoice
  bool operator==(const Stream&) const = default;
};

inline constexpr std::size_t kMaxMessage = std::size_t{16} << 20;

// Whether choice and value are as the abi says. True for all entries that are not choices.
[[nodiscard]] bool is_valid_choice(const Entry& entry);

// Appends entries to bytes. REQUIRES: clocks that ascend and lie within kMaxClock,
// is_valid_choice(); throws std::logic_error otherwise, because that is a fault of the caller.
class StreamEncoder {
 public:
  // REQUIRES: not kMessage.
  void append(const Entry& entry);
  void append(const Message& message);

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void put_head(Clock clock, abi::EntryKind kind);
  void put(std::uint64_t value);

  std::vector<std::uint8_t> bytes_;
  Clock last_;
};

// Reads a stream that arrives in pieces. Its input is untrusted.
//
//   decoder.push(bytes);
//   for (;;) {
//     CLEW_TRY(const std::optional<StreamItem> item, decoder.next());  // garbage is an error
//     if (!item) break;                                                // needs more bytes
//     ...
//   }
// The first error is final: every later call of next() returns it again.
using StreamItem = std::variant<Entry, Message>;

class StreamDecoder {
 public:
  void push(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Result<std::optional<StreamItem>> next();

  // Fails if the stream ended within an entry (the program was killed while it wrote one).
  [[nodiscard]] Result<void> finish() const;

  // Bytes of the entries returned so far: where the next entry begins.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  class Cursor;
  // Empty: more bytes are needed, or error_ is set.
  std::optional<StreamItem> decode(Cursor& cursor);
  std::optional<StreamItem> decode_message(Cursor& cursor, Clock clock);
  std::optional<StreamItem> decode_choice(Cursor& cursor, Clock clock);
  std::nullopt_t fail_here(std::string_view what);  // sets error_, with the offset

  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;     // of what buffer_ holds and next() has not returned
  std::uint64_t offset_ = 0;  // of buffer_[begin_] in the stream
  Clock last_;
  std::optional<Error> error_;
};

// The schedule as the runtime reads it, in the order of for_each_item. REQUIRES: Schedule's
// invariant (as StreamEncoder).
[[nodiscard]] Stream encode(const Schedule& schedule);

// The switches and choices of a stream; checks are left out, messages are an error.
[[nodiscard]] Result<Schedule> to_schedule(const Stream& stream);

}  // namespace clew

#endif  // CLEW_HOST_SCHEDULE_STREAM_H_
