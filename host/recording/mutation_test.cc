// Valid files, damaged in thousands of ways: an error or a value, never a crash. Where
// there is a checksum it is made to fit again, or the code behind it would not be reached.
#include <gtest/gtest.h>

#include <random>

#include "host/recording/resealed.h"
#include "host/recording/test_util.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

class Mutation : public FolderTest {
 protected:
  std::vector<std::uint8_t> schedule_file(std::mt19937_64& random) {
    const auto path = folder_ / "schedule";
    std::filesystem::remove(path);
    auto writer = ScheduleFileWriter::create(path).value();
    for (const Entry& entry : random_entries(random, below(random, 200)))
      EXPECT_TRUE(writer.append(entry));
    EXPECT_TRUE(writer.finish({"T0", "T0.1"}));
    return read_file(path, 1 << 20).value();
  }
};

TEST_F(Mutation, ScheduleFiles) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 100; ++i) {
    const std::vector<std::uint8_t> whole = schedule_file(random);
    ASSERT_TRUE(read_schedule_bytes(whole, "s"));
    for (int k = 0; k < 100; ++k) {
      std::vector<std::uint8_t> bytes = mutate(random, whole);
      if (bytes == whole) continue;
      EXPECT_FALSE(read_schedule_bytes(bytes, "s")) << i << " " << k;
    }
  }
}

TEST_F(Mutation, ScheduleFilesWithChecksumsThatFit) {
  std::mt19937_64 random(11);
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    const SealedParts parts = split_sealed(schedule_file(random));
    for (int k = 0; k < 100; ++k) {
      SealedParts mutated = parts;
      auto& part = mutated[below(random, mutated.size())];
      part = mutate(random, part);
      const auto stream = read_schedule_bytes(join_sealed(mutated), "s");
      if (!stream) continue;
      ++good;
      StreamDecoder decoder;  // whatever it is, it is a stream
      decoder.push(stream->bytes);
      for (;;) {
        const auto item = decoder.next();
        ASSERT_TRUE(item);
        if (!*item) break;
      }
      EXPECT_TRUE(decoder.finish());
    }
  }
  EXPECT_GT(good, 0);  // the checksums did fit
}

TEST_F(Mutation, Meta) {
  std::mt19937_64 random(12);
  const std::string text = format_meta(sample_meta());
  for (int i = 0; i < 5'000; ++i) {
    const auto meta = parse_meta(mutate(random, text), "m");
    if (meta) EXPECT_EQ(format_meta(*meta), text) << "case " << i;
  }
}

}  // namespace
}  // namespace clew
