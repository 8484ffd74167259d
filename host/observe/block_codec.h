// Blocks of code as bytes of a trace file, and back. What is read is untrusted.
#ifndef CLEW_HOST_OBSERVE_BLOCK_CODEC_H_
#define CLEW_HOST_OBSERVE_BLOCK_CODEC_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "host/translate/translator.h"

namespace clew {

// More are not in a trace file. As many as the memory for translated code has room for.
inline constexpr std::uint32_t kMostBlocks = 1u << 22;

void append_block(std::uint32_t number, const TranslatedBlock& block,
                  std::vector<std::uint8_t>& to);

// Puts each of the blocks at its number. False: they make no sense; what was read is as a run would
// have it, in that records of the blocks can be read without leaving them.
[[nodiscard]] bool read_blocks(std::span<const std::uint8_t> bytes,
                               std::deque<TranslatedBlock>& blocks);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_BLOCK_CODEC_H_
