#include "host/observe/block_codec.h"

#include <cstring>
#include <utility>

#include "host/model/instruction.h"

namespace clew {
namespace {

constexpr std::uint64_t kMostInstructions = 64;  // of a block
constexpr std::uint32_t kLargestValue = 64;
constexpr std::uint64_t kMostAccesses = 8 * kMostInstructions;

void append_number(std::uint64_t number, std::vector<std::uint8_t>& to) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 0x80));
  to.push_back(static_cast<std::uint8_t>(number));
}

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto part = take(1);
      if (part.empty()) return 0;
      value |= std::uint64_t{part[0] & 0x7fu} << shift;
      if ((part[0] & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  // At most `most`, or not ok.
  std::uint32_t small(std::uint64_t most) {
    const std::uint64_t value = number();
    ok_ = ok_ && value <= most;
    return ok_ ? static_cast<std::uint32_t>(value) : 0;
  }
  // Empty, and not ok, if there are fewer.
  std::span<const std::uint8_t> take(std::size_t count) {
    ok_ = ok_ && count <= bytes_.size();
    if (!ok_) return {};
    const auto part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool ok_ = true;
};

std::uint32_t words_of(const RecordedAccess& access) {
  if (access.kind == AccessKind::kString) return 24;
  return 8 + (access.has_value ? (access.size + 7) / 8 * 8 : 0);
}

bool read_code(Reader& reader, TranslatedBlock& block) {
  const std::uint32_t count = reader.small(kMostInstructions);
  block.size = reader.small(kMostInstructions * 15);
  const auto code = reader.take(block.size);
  if (!reader.ok() || count == 0) return false;
  block.code.assign(code.begin(), code.end());
  // Where instructions begin is what the code says.
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Instruction one;
    if (at >= block.size || !decode(block.address + at, code.subspan(at), one)) return false;
    block.instructions.push_back(at);
    at += one.length;
  }
  return at == block.size;
}

bool read_accesses(Reader& reader, TranslatedBlock& block) {
  const std::uint32_t count = reader.small(kMostAccesses);
  for (std::uint32_t i = 0; i < count; ++i) {
    RecordedAccess access;
    access.instruction = reader.small(block.instructions.size() - 1);
    const std::uint32_t kind = reader.small(7);
    access.kind = static_cast<AccessKind>(kind & 3);
    access.has_value = (kind & 4) != 0;
    access.size = reader.small(1u << 16);
    access.offset = block.record_size;
    const bool has_place = !access.has_value || (access.size > 0 && access.size <= kLargestValue &&
                                                 access.kind != AccessKind::kString);
    if (!reader.ok() || !has_place ||
        (i > 0 && access.instruction < block.accesses.back().instruction))
      return false;
    block.record_size += words_of(access);
    block.accesses.push_back(access);
  }
  return reader.ok();
}

}  // namespace

void append_block(std::uint32_t number, const TranslatedBlock& block,
                  std::vector<std::uint8_t>& to) {
  append_number(number, to);
  append_number(block.address, to);
  append_number(block.instructions.size(), to);
  append_number(block.size, to);
  to.insert(to.end(), block.code.begin(), block.code.end());
  append_number(block.accesses.size(), to);
  for (const RecordedAccess& access : block.accesses) {
    append_number(access.instruction, to);
    append_number(static_cast<std::uint64_t>(access.kind) | (access.has_value ? 4 : 0), to);
    append_number(access.size, to);
  }
  append_number((block.result_offset != 0 ? 1 : 0) | (block.call_offset != 0 ? 2 : 0), to);
}

bool read_blocks(std::span<const std::uint8_t> bytes, std::deque<TranslatedBlock>& blocks) {
  Reader reader(bytes);
  while (!reader.at_end()) {
    const std::uint32_t number = reader.small(kMostBlocks - 1);
    TranslatedBlock block;
    block.address = reader.number();
    if (!reader.ok() || number == 0 || !read_code(reader, block) || !read_accesses(reader, block))
      return false;
    // The same order as in Translator::emit_block.
    const std::uint32_t more = reader.small(3);
    if (!reader.ok()) return false;
    if ((more & 1) != 0) {
      block.result_offset = block.record_size;
      block.record_size += 8;
    }
    if ((more & 2) != 0) {
      block.call_offset = block.record_size;
      block.record_size += sizeof(CallRegisters);
    }
    if (blocks.size() <= number) blocks.resize(number + 1);
    if (!blocks[number].instructions.empty()) return false;  // twice
    blocks[number] = std::move(block);
  }
  return true;
}

}  // namespace clew
