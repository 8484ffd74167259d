#include "host/schedule/stream.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace clew {
namespace {

using abi::EntryKind;
using abi::MessageType;

// A message type that is added to the abi must be added here, or this does not compile.
bool is_known(std::uint64_t type) {
  if (type > 0xff) return false;
  switch (static_cast<MessageType>(type)) {
    case MessageType::kThread:
    case MessageType::kModule:
    case MessageType::kFailure:
    case MessageType::kWaits:
    case MessageType::kHolds:
    case MessageType::kSlice:
    case MessageType::kStack:
    case MessageType::kMaps:
    case MessageType::kNote:
    case MessageType::kDeparted:
    case MessageType::kEnd:
    case MessageType::kName:
    case MessageType::kStatus:
    case MessageType::kBecomes:
    case MessageType::kCreated:
    case MessageType::kFinding:
      return true;
  }
  return false;
}

std::unexpected<Error> bad(std::uint64_t offset, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{} at byte {} of the stream", what, offset));
}

}  // namespace

bool is_valid_choice(const Entry& entry) {
  if (entry.kind != EntryKind::kChoice) return true;
  return entry.choice < abi::ChoiceKind::kCount &&
         (abi::names_thread(entry.choice) || entry.value == 1);
}

void StreamEncoder::put(std::uint64_t value) {
  std::uint8_t varint[abi::kMaxVarint];
  bytes_.insert(bytes_.end(), varint, varint + abi::put_varint(varint, value));
}

void StreamEncoder::put_head(Clock clock, EntryKind kind) {
  if (clock < last_) throw std::logic_error("StreamEncoder: clocks must ascend");
  if (clock > kMaxClock) throw std::logic_error("StreamEncoder: the clock is too large");
  put((clock.value - last_.value) << abi::kKindBits | static_cast<std::uint64_t>(kind));
  last_ = clock;
}

void StreamEncoder::append(const Entry& entry) {
  if (!is_valid_choice(entry)) throw std::logic_error("StreamEncoder: not a choice");
  switch (entry.kind) {
    case EntryKind::kSwitchNext:
      return put_head(entry.clock, entry.kind);
    case EntryKind::kSwitchTo:
      put_head(entry.clock, entry.kind);
      return put(entry.thread);
    case EntryKind::kCheck:
      put_head(entry.clock, entry.kind);
      put(entry.thread);
      put(entry.place);
      bytes_.push_back(static_cast<std::uint8_t>(entry.hash));
      bytes_.push_back(static_cast<std::uint8_t>(entry.hash >> 8));
      return;
    case EntryKind::kChoice:
      put_head(entry.clock, entry.kind);
      put(entry.ordinal);
      put(static_cast<std::uint64_t>(entry.choice));
      return put(entry.value);
    case EntryKind::kMessage:
      break;
  }
  throw std::logic_error("StreamEncoder: not an entry");
}

void StreamEncoder::append(const Message& message) {
  if (message.payload.size() > kMaxMessage)
    throw std::logic_error("StreamEncoder: message too long");
  put_head(message.clock, EntryKind::kMessage);
  put(static_cast<std::uint64_t>(message.type));
  put(message.payload.size());
  bytes_.insert(bytes_.end(), message.payload.begin(), message.payload.end());
}

// Distinguishes "truncated" from "wrong", which abi::Reader does not.
class StreamDecoder::Cursor {
 public:
  enum class State : std::uint8_t { kGood, kNeedsMore, kBad };

  Cursor(const std::uint8_t* data, std::size_t size) : reader_(data, size), size_(size) {}

  std::uint64_t varint() {
    const std::uint64_t value = reader_.varint();
    if (!reader_.ok() && state_ == State::kGood)
      state_ = size_ - reader_.position() < abi::kMaxVarint ? State::kNeedsMore : State::kBad;
    return value;
  }

  std::uint16_t u16() {
    const std::uint16_t value = reader_.u16();
    if (!reader_.ok() && state_ == State::kGood) state_ = State::kNeedsMore;
    return value;
  }

  const std::uint8_t* bytes(std::uint64_t count) {
    const std::uint8_t* bytes = reader_.bytes(count);
    if (!reader_.ok() && state_ == State::kGood) state_ = State::kNeedsMore;
    return bytes;
  }

  bool good() const { return state_ == State::kGood; }
  bool bad() const { return state_ == State::kBad; }
  std::size_t position() const { return reader_.position(); }

 private:
  abi::Reader reader_;
  std::size_t size_;
  State state_ = State::kGood;
};

void StreamDecoder::push(std::span<const std::uint8_t> bytes) {
  if (error_) return;
  if (begin_ >= buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<StreamItem>> StreamDecoder::next() {
  if (error_) return std::unexpected(*error_);
  if (begin_ == buffer_.size()) return std::nullopt;
  Cursor cursor(buffer_.data() + begin_, buffer_.size() - begin_);
  std::optional<StreamItem> item = decode(cursor);
  if (cursor.bad()) error_ = bad(offset_ + cursor.position(), "bad number").error();
  if (error_) return std::unexpected(*error_);
  if (!item) return std::nullopt;
  begin_ += cursor.position();
  offset_ += cursor.position();
  last_ = std::visit([](const auto& it) { return it.clock; }, *item);
  return item;
}

std::nullopt_t StreamDecoder::fail_here(std::string_view what) {
  error_ = bad(offset_, what).error();
  return std::nullopt;
}

std::optional<StreamItem> StreamDecoder::decode(Cursor& cursor) {
  const std::uint64_t head = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  const std::uint64_t delta = head >> abi::kKindBits;
  if (delta > kMaxClock.value - last_.value) return fail_here("the clock overflows");
  const std::uint64_t kind = head & ((1u << abi::kKindBits) - 1);
  Entry entry{.kind = static_cast<EntryKind>(kind), .clock = {last_.value + delta}};
  switch (entry.kind) {
    case EntryKind::kSwitchNext:
      return entry;
    case EntryKind::kSwitchTo:
      entry.thread = cursor.varint();
      break;
    case EntryKind::kCheck:
      entry.thread = cursor.varint();
      entry.place = cursor.varint();
      entry.hash = cursor.u16();
      break;
    case EntryKind::kMessage:
      return decode_message(cursor, entry.clock);
    case EntryKind::kChoice:
      return decode_choice(cursor, entry.clock);
    default:
      return fail_here(fmt::format("unknown kind of entry {}", kind));
  }
  if (!cursor.good()) return std::nullopt;
  return entry;
}

std::optional<StreamItem> StreamDecoder::decode_choice(Cursor& cursor, Clock clock) {
  Entry entry{.kind = EntryKind::kChoice, .clock = clock};
  entry.ordinal = cursor.varint();
  const std::uint64_t kind = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (kind >= static_cast<std::uint64_t>(abi::ChoiceKind::kCount))
    return fail_here(fmt::format("unknown choice {}", kind));
  entry.choice = static_cast<abi::ChoiceKind>(kind);
  entry.value = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (!is_valid_choice(entry))
    return fail_here(fmt::format("the value {} for {}", entry.value, to_word(entry.choice)));
  return entry;
}

std::optional<StreamItem> StreamDecoder::decode_message(Cursor& cursor, Clock clock) {
  const std::uint64_t type = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (!is_known(type)) return fail_here(fmt::format("unknown message {}", type));
  const std::uint64_t size = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (size > kMaxMessage)
    return fail_here(fmt::format("a message of {} bytes, more than {},", size, kMaxMessage));
  const std::uint8_t* payload = cursor.bytes(size);
  if (!cursor.good()) return std::nullopt;
  return Message{clock, static_cast<MessageType>(type), {payload, payload + size}};
}

Result<void> StreamDecoder::finish() const {
  if (error_) return std::unexpected(*error_);
  if (begin_ == buffer_.size()) return {};
  return fail(ErrorCode::kBadInput,
              fmt::format("the stream ends within the entry at byte {}", offset_));
}

}  // namespace clew
