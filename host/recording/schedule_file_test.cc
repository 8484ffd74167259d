#include "host/recording/schedule_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/recording/schedule_format.h"
#include "host/recording/test_util.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

using abi::EntryKind;

class ScheduleFile : public FolderTest {
 protected:
  std::filesystem::path write(const std::vector<Entry>& entries,
                              const std::vector<std::string>& names) {
    const auto path = folder_ / std::to_string(++files_);
    auto writer = ScheduleFileWriter::create(path).value();
    for (const Entry& entry : entries) EXPECT_TRUE(writer.append(entry));
    EXPECT_TRUE(writer.finish(names));
    return path;
  }

  int files_ = 0;
};

Stream stream_of(const std::vector<Entry>& entries, std::vector<std::string> names) {
  StreamEncoder encoder;
  for (const Entry& entry : entries) encoder.append(entry);
  return {encoder.take(), std::move(names)};
}

TEST_F(ScheduleFile, RoundTrips) {
  std::mt19937_64 random(6);
  for (const std::size_t count : {0, 1, 2, 10, 1000, 65'535, 65'536, 65'537, 200'000}) {
    const std::vector<Entry> entries = random_entries(random, count);
    const std::vector<std::string> names{"T0", "T0.1", std::string(count % 1000, '7')};
    const auto stream = read_schedule_file(write(entries, names));
    ASSERT_TRUE(stream) << stream.error().message;
    EXPECT_EQ(*stream, stream_of(entries, names)) << count;
  }
}

TEST_F(ScheduleFile, KeepsTheWholeRangeOfEveryField) {
  const std::vector<Entry> entries{
      {.kind = EntryKind::kSwitchNext, .clock = {0}},
      {.kind = EntryKind::kSwitchTo, .clock = {0}, .thread = UINT64_MAX},
      {.kind = EntryKind::kCheck,
       .clock = kMaxClock,
       .thread = 1,
       .place = UINT64_MAX,
       .hash = 0xffff}};
  EXPECT_EQ(read_schedule_file(write(entries, {})), stream_of(entries, {}));
}

TEST_F(ScheduleFile, SmallSchedulesAreSmall) {
  EXPECT_LE(std::filesystem::file_size(write({{.clock = {6}}, {.clock = {9}}}, {})), 80u);
}

// The shape of what `run` records: slices of log-uniform length, a check every 64th switch.
TEST_F(ScheduleFile, TakesWellUnderTwoBytesASwitch) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, std::log(16384.0));
  std::vector<Entry> entries;
  Clock clock;
  constexpr std::size_t kSwitches = 1'000'000;
  for (std::size_t i = 1; i <= kSwitches; ++i) {
    clock.value += static_cast<std::uint64_t>(std::exp(exponent(random)));
    entries.push_back({.kind = EntryKind::kSwitchNext, .clock = clock});
    if (i % 64 == 0)
      entries.push_back({.kind = EntryKind::kCheck,
                         .clock = clock,
                         .thread = below(random, 8),
                         .place = below(random, 500) << 1,
                         .hash = static_cast<std::uint16_t>(random())});
  }
  const auto size = static_cast<double>(std::filesystem::file_size(write(entries, {})));
  RecordProperty("bytes_per_switch", std::to_string(size / kSwitches));
  EXPECT_LT(size / kSwitches, 1.6);
}

TEST_F(ScheduleFile, WriterRefusesMessagesAndDescendingClocks) {
  auto writer = ScheduleFileWriter::create(folder_ / "a").value();
  EXPECT_TRUE(writer.append({.clock = {5}}));
  EXPECT_FALSE(writer.append({.clock = {4}}));
  EXPECT_FALSE(writer.append({.kind = EntryKind::kMessage, .clock = {5}}));
  EXPECT_FALSE(writer.append({.clock = {kMaxClock.value + 1}}));
  EXPECT_FALSE(ScheduleFileWriter::create(folder_ / "a"));  // exists
}

TEST_F(ScheduleFile, EveryCutIsNoticed) {
  std::mt19937_64 random(8);
  const std::string whole = slurp(write(random_entries(random, 300), {"T0", "T0.1"}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto stream = read_schedule_bytes(bytes_of(whole).first(size), "s");
    ASSERT_FALSE(stream) << size;
    EXPECT_TRUE(stream.error().message.starts_with("s is damaged at byte "))
        << stream.error().message;
    EXPECT_FALSE(stream.error().hint.empty());
  }
}

TEST_F(ScheduleFile, EveryFlippedBitIsNoticed) {
  std::mt19937_64 random(9);
  std::string bytes = slurp(write(random_entries(random, 100), {"T0", "T0.1"}));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    const auto stream = read_schedule_bytes(bytes_of(bytes), "s");
    ASSERT_FALSE(stream) << bit;
    EXPECT_NE(stream.error().message.find(" at byte "), std::string::npos)
        << stream.error().message;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(read_schedule_bytes(bytes_of(bytes), "s"));
}

TEST_F(ScheduleFile, NoticesMoreAfterTheEnd) {
  const std::string bytes = slurp(write({{.clock = {6}}}, {}));
  const auto stream = read_schedule_bytes(bytes_of(bytes + "x"), "s");
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().message, "s is damaged at byte " + std::to_string(bytes.size()) +
                                        ": there is more after the end");
}

TEST_F(ScheduleFile, NamesOtherVersions) {
  std::string bytes = slurp(write({{.clock = {6}}}, {}));
  bytes[8] = 9;
  const std::uint64_t hash = content_hash(bytes_of(bytes).first(16));
  for (int i = 0; i < 8; ++i)
    bytes[16 + static_cast<std::size_t>(i)] = static_cast<char>(hash >> 8 * i);
  const auto stream = read_schedule_bytes(bytes_of(bytes), "s");
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().message, "s has version 9.1, this clew reads 1.1");
}

TEST_F(ScheduleFile, MissingFile) {
  const auto stream = read_schedule_file(folder_ / "none");
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace clew
