#include "host/schedule/stream.h"

#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>
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
      return true;
  }
  return false;
}

}  // namespace

void StreamEncoder::put(std::uint64_t value) {
  std::uint8_t varint[abi::kMaxVarint];
  bytes_.insert(bytes_.end(), varint, varint + abi::put_varint(varint, value));
}

void StreamEncoder::put_head(Clock clock, EntryKind kind) {
  if (clock < last_) throw std::logic_error("StreamEncoder: clocks must ascend");
  if (clock > kMaxClock) throw std::logic_error("StreamEncoder: the clock is too large");
  put((clock.value - last_.value) << 2 | static_cast<std::uint64_t>(kind));
  last_ = clock;
}

void StreamEncoder::append(const Entry& entry) {
  if (entry.kind > EntryKind::kCheck) throw std::logic_error("StreamEncoder: not an entry");
  put_head(entry.clock, entry.kind);
  if (entry.kind == EntryKind::kSwitchNext) return;
  put(entry.thread);
  if (entry.kind == EntryKind::kSwitchTo) return;
  put(entry.place);
  bytes_.push_back(static_cast<std::uint8_t>(entry.hash));
  bytes_.push_back(static_cast<std::uint8_t>(entry.hash >> 8));
}

void StreamEncoder::append(const Message& message) {
  if (message.payload.size() > kMaxMessage)
    throw std::logic_error("StreamEncoder: message too long");
  put_head(message.clock, EntryKind::kMessage);
  put(static_cast<std::uint64_t>(message.type));
  put(message.payload.size());
  bytes_.insert(bytes_.end(), message.payload.begin(), message.payload.end());
}

// Tells "cut short" from "wrong", which abi::Reader does not.
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
  if (cursor.bad())
    error_ = Error{ErrorCode::kBadInput,
                   fmt::format("bad number at byte {} of the stream", offset_ + cursor.position()),
                   {}};
  if (error_) return std::unexpected(*error_);
  if (!item) return std::nullopt;
  begin_ += cursor.position();
  offset_ += cursor.position();
  last_ = std::visit([](const auto& it) { return it.clock; }, *item);
  return item;
}

std::optional<StreamItem> StreamDecoder::decode(Cursor& cursor) {
  const std::uint64_t head = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  const std::uint64_t delta = head >> 2;
  if (delta > kMaxClock.value - last_.value) {
    error_ = Error{ErrorCode::kBadInput,
                   fmt::format("the clock overflows at byte {} of the stream", offset_),
                   {}};
    return std::nullopt;
  }
  Entry entry{.kind = static_cast<EntryKind>(head & 3), .clock = {last_.value + delta}};
  if (entry.kind == EntryKind::kMessage) return decode_message(cursor, entry.clock);
  if (entry.kind != EntryKind::kSwitchNext) entry.thread = cursor.varint();
  if (entry.kind == EntryKind::kCheck) {
    entry.place = cursor.varint();
    entry.hash = cursor.u16();
  }
  if (!cursor.good()) return std::nullopt;
  return entry;
}

std::optional<StreamItem> StreamDecoder::decode_message(Cursor& cursor, Clock clock) {
  const std::uint64_t type = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (!is_known(type)) {
    error_ = Error{ErrorCode::kBadInput,
                   fmt::format("unknown message {} at byte {} of the stream", type, offset_),
                   {}};
    return std::nullopt;
  }
  const std::uint64_t size = cursor.varint();
  if (!cursor.good()) return std::nullopt;
  if (size > kMaxMessage) {
    error_ =
        Error{ErrorCode::kBadInput,
              fmt::format("a message of {} bytes at byte {} of the stream (at most {} are allowed)",
                          size, offset_, kMaxMessage),
              {}};
    return std::nullopt;
  }
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

Stream encode(const Schedule& schedule) {
  StreamEncoder encoder;
  Stream stream;
  std::unordered_map<ThreadId, std::uint64_t> indices;
  for (const Switch& item : schedule.switches) {
    Entry entry{.kind = EntryKind::kSwitchNext, .clock = item.clock};
    if (item.to) {
      const auto [it, is_new] = indices.try_emplace(*item.to, stream.names.size());
      if (is_new) stream.names.push_back(item.to->text());
      entry.kind = EntryKind::kSwitchTo;
      entry.thread = it->second;
    }
    encoder.append(entry);
  }
  stream.bytes = encoder.take();
  return stream;
}

Result<Schedule> to_schedule(const Stream& stream) {
  std::vector<ThreadId> threads;
  for (const std::string& name : stream.names) {
    auto id = ThreadId::parse(name);
    if (!id) {
      id.error().code = ErrorCode::kBadInput;
      return std::unexpected(id.error());
    }
    threads.push_back(*std::move(id));
  }
  Schedule schedule;
  StreamDecoder decoder;
  decoder.push(stream.bytes);
  for (;;) {
    const std::uint64_t offset = decoder.offset();
    auto item = decoder.next();
    if (!item) return std::unexpected(item.error());
    if (!*item) break;
    const Entry* entry = std::get_if<Entry>(&**item);
    if (!entry)
      return fail(ErrorCode::kBadInput,
                  fmt::format("a message among the switches at byte {}", offset));
    if (entry->kind == EntryKind::kCheck) continue;
    Switch next{entry->clock, std::nullopt};
    if (next.clock.value == 0)
      return fail(ErrorCode::kBadInput, fmt::format("a switch at clock 0 at byte {}", offset));
    if (entry->kind == EntryKind::kSwitchTo) {
      if (entry->thread >= threads.size())
        return fail(
            ErrorCode::kBadInput,
            fmt::format("the switch at byte {} goes to thread name {}, but there are only {}",
                        offset, entry->thread, threads.size()));
      next.to = threads[entry->thread];
    }
    schedule.switches.push_back(std::move(next));
  }
  if (auto done = decoder.finish(); !done) return std::unexpected(done.error());
  return schedule;
}

}  // namespace clew
