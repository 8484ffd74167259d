#include "host/observe/record_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "clew_abi/translation.h"

namespace clew {
namespace {

std::deque<TranslatedBlock> some_blocks(std::mt19937& random) {
  std::deque<TranslatedBlock> blocks(1);
  for (int i = 0; i < 20; ++i) {
    TranslatedBlock block;
    block.instructions = {0};
    block.record_size = 8 + 8 * (random() % 23);
    blocks.push_back(block);
  }
  return blocks;
}

template <class Mark>
void add(const Mark& mark, RecordEncoder& encoder, std::vector<std::uint8_t>& raw) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(&mark), sizeof mark);
  encoder.mark(bytes);
  raw.insert(raw.end(), bytes.begin(), bytes.end());
}

// Records as runs have them: words that stay, move a little, or are anything.
std::vector<std::uint8_t> some_records(std::mt19937_64& random,
                                       const std::deque<TranslatedBlock>& blocks,
                                       RecordEncoder& encoder) {
  std::vector<std::uint8_t> raw;
  add(abi::ReturnMark{abi::kReturnMark, 1, 9, 8, 7, 6}, encoder, raw);
  for (int i = 0; i < 2000; ++i) {
    const auto number = static_cast<std::uint32_t>(1 + random() % (blocks.size() - 1));
    std::vector<std::uint64_t> words(blocks[number].record_size / 8);
    words[0] = number;
    for (std::size_t k = 1; k < words.size(); ++k)
      words[k] = random() % 3 == 0 ? random() : 0x7fff'0000 + 8 * (random() % 4);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
    encoder.block(number, {bytes, words.size() * 8});
    raw.insert(raw.end(), bytes, bytes + words.size() * 8);
    if (i % 97 == 0) add(abi::CutMark{abi::kCutMark, 0, random()}, encoder, raw);
  }
  return raw;
}

TEST(RecordCodec, WhatIsReadIsWhatWasWritten) {
  std::mt19937 choice(7);
  std::mt19937_64 random(8);
  const auto blocks = some_blocks(choice);
  RecordEncoder encoder;
  for (int section = 0; section < 3; ++section) {
    const auto raw = some_records(random, blocks, encoder);
    ASSERT_EQ(encoder.expanded(), raw.size());
    const auto taken = encoder.take();
    const auto bytes = taken.bytes();
    EXPECT_TRUE(encoder.empty());
    const auto read = decode_records(bytes, blocks, raw.size());
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, raw);
    EXPECT_FALSE(decode_records(bytes, blocks, raw.size() - 1));
    EXPECT_FALSE(decode_records(bytes, blocks, raw.size() + 8));
  }
}

TEST(RecordCodec, WhatStaysTakesNextToNothing) {
  std::deque<TranslatedBlock> blocks(2);
  blocks[1].instructions = {0};
  blocks[1].record_size = 8 + 16 * 8;
  const std::vector<std::uint64_t> words = {1,  2,  3,  4,  5,  6,  7,  8, 9,
                                            10, 11, 12, 13, 14, 15, 16, 17};
  const std::span record(reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 8);
  RecordEncoder encoder;
  for (int i = 0; i < 1000; ++i) encoder.block(1, record);
  EXPECT_LT(encoder.take().size, 1000u * 5 + 60);
}

TEST(RecordCodec, DamagedBytesGiveNothingOrRecordsOfTheBlocks) {
  std::mt19937 choice(9);
  std::mt19937_64 random(10);
  const auto blocks = some_blocks(choice);
  RecordEncoder encoder;
  const auto raw = some_records(random, blocks, encoder);
  const auto taken = encoder.take();
  const std::vector<std::uint8_t> whole(taken.bytes().begin(), taken.bytes().end());
  std::size_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    auto bytes = whole;
    for (int k = 0; k < 3; ++k)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    const auto read = decode_records(bytes, blocks, raw.size());
    refused += !read;
    if (read) EXPECT_EQ(read->size(), raw.size());
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace clew
