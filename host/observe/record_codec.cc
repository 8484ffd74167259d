#include "host/observe/record_codec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "clew_abi/translation.h"

namespace clew {
namespace {

// Before a mark, which follows as it is. Before a block's record: 1 and how far its number is from the
// expected one.
constexpr std::uint64_t kMark = 0;
// Of so many words a byte says how each is told, in two bits.
constexpr std::size_t kGroup = 4;
enum Told : unsigned {
  kSame,
  kNear,   // by how much it has moved follows, in a byte
  kFar,    // ... in four
  kOther,  // all of it follows, as it is: so the compressor sees values that come again
};
constexpr std::size_t size_of(unsigned told) { return 0x8410u >> (4 * told) & 0xf; }
static_assert(size_of(kSame) == 0 && size_of(kNear) == 1 && size_of(kFar) == 4 &&
              size_of(kOther) == 8);
constexpr std::size_t kNumberSize = 8;

// Small numbers of either sign as small ones without.
std::uint64_t folded(std::uint64_t difference) {
  return difference << 1 ^ (std::uint64_t{0} - (difference >> 63));
}
std::uint64_t unfolded(std::uint64_t number) {
  return number >> 1 ^ (std::uint64_t{0} - (number & 1));
}

constexpr std::size_t kLongestNumber = 10;

// In LEB128. Returns what is behind it.
std::uint8_t* put(std::uint64_t number, std::uint8_t* to) {
  while (number >= 0x80) {
    *to++ = static_cast<std::uint8_t>(number | 0x80);
    number >>= 7;
  }
  *to++ = static_cast<std::uint8_t>(number);
  return to;
}

// Puts down how a word has changed, and eight bytes at most behind that. Whether it has changed is mostly as
// the last time; how far cannot be foretold, so that there is no branch for it.
unsigned tell(std::uint64_t word, std::uint64_t& before, std::uint8_t*& to) {
  if (word == before) return kSame;
  const std::uint64_t difference = folded(word - before);
  before = word;
  const unsigned told =
      kNear + unsigned{difference > UINT8_MAX} + unsigned{difference > UINT32_MAX};
  const std::uint64_t what = told == kOther ? word : difference;
  std::memcpy(to, &what, sizeof what);
  to += size_of(told);
  return told;
}

std::size_t size_of_mark(std::uint32_t mark) {
  if (mark == abi::kReturnMark) return sizeof(abi::ReturnMark);
  return mark == abi::kCutMark ? sizeof(abi::CutMark) : 0;
}

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  [[nodiscard]] bool good() const { return good_; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7fu} << shift;
      if (part < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  std::uint8_t byte() {
    if (bytes_.empty()) {
      good_ = false;
      return 0;
    }
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::span<const std::uint8_t> take(std::size_t size) {
    if (bytes_.size() < size) {
      good_ = false;
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
  bool good_ = true;
};

bool decode_mark(Reader& reader, std::vector<std::uint8_t>& to) {
  std::uint32_t kind = 0;
  if (reader.rest().size() < sizeof kind) return false;
  std::memcpy(&kind, reader.rest().data(), sizeof kind);
  const auto mark = reader.take(size_of_mark(kind));
  to.insert(to.end(), mark.begin(), mark.end());
  return reader.good() && !mark.empty();
}

void decode_words(Reader& reader, std::span<std::uint64_t> words) {
  for (std::size_t at = 0; at < words.size(); at += kGroup) {
    const unsigned told = reader.byte();
    for (std::size_t i = at; i < std::min(at + kGroup, words.size()); ++i) {
      const unsigned how = told >> (2 * (i - at)) & 3;
      const auto bytes = reader.take(size_of(how));
      if (bytes.empty()) continue;
      std::uint64_t what = 0;
      std::memcpy(&what, bytes.data(), bytes.size());
      words[i] = how == kOther ? what : words[i] + unfolded(what);
    }
  }
}

}  // namespace

RecordHistory::Block& RecordHistory::begin_slow(std::uint32_t block, std::uint32_t record_size) {
  if (block >= blocks_.size()) blocks_.resize(block + block / 2 + 1);
  const std::uint32_t count = (record_size - kNumberSize) / 8;
  blocks_[block] = {section_, 0, static_cast<std::uint32_t>(words_.size()), count};
  words_.resize(words_.size() + count);
  return blocks_[block];
}

std::uint8_t* RecordEncoder::room_for(std::size_t size) {
  if (bytes_.size() < used_ + size) bytes_.resize(std::max(2 * bytes_.size(), used_ + size));
  return bytes_.data() + used_;
}

void RecordEncoder::block(std::uint32_t number, std::span<const std::uint8_t> record) {
  const std::size_t count = (record.size() - kNumberSize) / 8;
  std::uint8_t* to = room_for(kLongestNumber + (count + 1) * 9 + sizeof(std::uint64_t));
  to = put(1 + folded(std::uint64_t{number} - expected_), to);
  if (number != expected_) history_.at(last_, last_size_).follower = number;
  last_ = number;
  last_size_ = static_cast<std::uint32_t>(record.size());
  expanded_ += record.size();
  const RecordHistory::Block& before = history_.at(number, last_size_);
  expected_ = before.follower;
  std::uint64_t* words = history_.words(before).data();
  const std::uint8_t* from = record.data() + kNumberSize;
  const std::uint8_t* const end = from + 8 * count;
  while (from != end) {
    std::uint8_t* const mask = to++;
    const std::uint8_t* const until = std::min(from + 8 * kGroup, end);
    unsigned told = 0;
    for (unsigned shift = 0; from != until; from += 8, shift += 2) {
      std::uint64_t word;
      std::memcpy(&word, from, sizeof word);
      told |= tell(word, *words++, to) << shift;
    }
    *mask = static_cast<std::uint8_t>(told);
  }
  used_ = static_cast<std::size_t>(to - bytes_.data());
}

void RecordEncoder::mark(std::span<const std::uint8_t> mark) {
  std::uint8_t* to = room_for(mark.size() + 1);
  to = std::ranges::copy(mark, put(kMark, to)).out;
  used_ = static_cast<std::size_t>(to - bytes_.data());
  expanded_ += mark.size();
}

RecordBytes RecordEncoder::take(std::vector<std::uint8_t> next) {
  RecordBytes taken{std::exchange(bytes_, std::move(next)), used_};
  history_.clear();
  used_ = expanded_ = 0;
  expected_ = last_ = 0;
  last_size_ = kNumberSize;
  return taken;
}

std::optional<std::vector<std::uint8_t>> decode_records(std::span<const std::uint8_t> bytes,
                                                        const std::deque<TranslatedBlock>& blocks,
                                                        std::size_t expanded) {
  std::vector<std::uint8_t> records;
  records.reserve(expanded);
  RecordHistory history;
  std::uint32_t expected = 0;
  std::uint32_t last = 0;
  std::uint32_t last_size = kNumberSize;
  Reader reader(bytes);
  while (!reader.at_end()) {
    const std::uint64_t code = reader.number();
    if (code == kMark) {
      if (!decode_mark(reader, records)) return std::nullopt;
    } else {
      const std::uint64_t number = expected + unfolded(code - 1);
      if (number == 0 || number >= blocks.size() || blocks[number].instructions.empty())
        return std::nullopt;
      const std::uint32_t size = blocks[number].record_size;
      if (size > expanded - std::min(records.size(), expanded)) return std::nullopt;
      if (number != expected)
        history.at(last, last_size).follower = static_cast<std::uint32_t>(number);
      last = static_cast<std::uint32_t>(number);
      last_size = size;
      RecordHistory::Block& block = history.at(last, size);
      expected = block.follower;
      const std::span<std::uint64_t> words = history.words(block);
      decode_words(reader, words);
      const std::size_t at = records.size();
      records.resize(at + size);
      std::memcpy(records.data() + at, &last, sizeof last);
      if (!words.empty())
        std::memcpy(records.data() + at + kNumberSize, words.data(), words.size_bytes());
    }
    if (!reader.good() || records.size() > expanded) return std::nullopt;
  }
  if (records.size() != expanded) return std::nullopt;
  return records;
}

}  // namespace clew
