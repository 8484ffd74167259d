#include "host/recording/schedule_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "clew_abi/version.h"
#include "host/recording/resealed.h"
#include "host/recording/schedule_format.h"
#include "host/recording/test_util.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

using abi::ChoiceKind;
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

// For a copy of the program, while the program continues.
TEST_F(ScheduleFile, ItsBeginningCanBeReadWhileItGrows) {
  std::mt19937_64 random(7);
  const std::vector<Entry> entries = random_entries(random, 70'000);
  const auto path = folder_ / "growing";
  auto writer = ScheduleFileWriter::create(path).value();
  EXPECT_EQ(read_schedule_beginning(path, 0), std::vector<Entry>{});
  for (const Entry& entry : entries) EXPECT_TRUE(writer.append(entry));
  EXPECT_TRUE(writer.flush());
  EXPECT_TRUE(writer.flush());
  for (const std::size_t count : {0, 1, 65'536, 70'000})
    EXPECT_EQ(
        read_schedule_beginning(path, count),
        std::vector<Entry>(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count)));
  EXPECT_EQ(read_schedule_beginning(path, 70'001).error().code, ErrorCode::kBadInput);
  EXPECT_TRUE(writer.finish({"T0"}));
  EXPECT_EQ(read_schedule_beginning(path, 70'000), entries);
  EXPECT_EQ(read_schedule_file(path), stream_of(entries, {"T0"}));
}

TEST_F(ScheduleFile, KeepsTheWholeRangeOfEveryField) {
  const std::vector<Entry> entries{
      {.kind = EntryKind::kSwitchNext, .clock = {0}},
      {.kind = EntryKind::kSwitchTo, .clock = {0}, .thread = UINT64_MAX},
      {.kind = EntryKind::kCheck,
       .clock = kMaxClock,
       .thread = 1,
       .place = UINT64_MAX,
       .hash = 0xffff},
      {.kind = EntryKind::kChoice,
       .clock = kMaxClock,
       .ordinal = UINT64_MAX,
       .choice = ChoiceKind::kWake,
       .value = UINT64_MAX},
      {.kind = EntryKind::kChoice, .clock = kMaxClock, .choice = ChoiceKind::kCas, .value = 1}};
  EXPECT_EQ(read_schedule_file(write(entries, {})), stream_of(entries, {}));
}

TEST_F(ScheduleFile, KeepsEveryKindOfChoice) {
  std::vector<Entry> entries;
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(ChoiceKind::kCount); ++i)
    entries.push_back({.kind = EntryKind::kChoice,
                       .clock = {7},
                       .ordinal = i,
                       .choice = static_cast<ChoiceKind>(i),
                       .value = 1});
  const auto stream = read_schedule_file(write(entries, {"T0", "T0.1"}));
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(*stream, stream_of(entries, {"T0", "T0.1"}));
  EXPECT_EQ(format_schedule(to_schedule(*stream).value()),
            "7/pick:T0.1, 7/1/wake:T0.1, 7/2/spurious, 7/3/timeout, 7/4/trylock, 7/5/cas");
}

TEST_F(ScheduleFile, SmallSchedulesAreSmall) {
  // 24 bytes of header, 20 of block, 15 of trailer.
  EXPECT_LE(std::filesystem::file_size(write({{.clock = {6}}, {.clock = {9}}}, {})), 60u);
  // With the kinds and their sizes.
  const Entry cas{.kind = EntryKind::kChoice, .clock = {9}, .choice = ChoiceKind::kCas, .value = 1};
  EXPECT_LE(std::filesystem::file_size(write({{.clock = {6}}, cas}, {})), 64u);
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
  RecordProperty("stream_bytes_per_switch",
                 std::to_string(static_cast<double>(stream_of(entries, {}).bytes.size()) /
                                static_cast<double>(kSwitches)));
  EXPECT_LT(size / kSwitches, 1.47);
}

// A random thread runs whenever one blocks; occasionally there are several questions at a clock.
TEST_F(ScheduleFile, TakesWellUnderTwoBytesAChoice) {
  std::mt19937_64 random(13);
  std::vector<Entry> entries;
  Clock clock;
  constexpr std::size_t kChoices = 200'000;
  while (entries.size() < kChoices) {
    clock.value += 1 + below(random, 200);
    for (std::uint64_t i = 0, n = below(random, 8) ? 1 : 3; i < n; ++i) {
      const ChoiceKind kind = below(random, 4) ? ChoiceKind::kPick : ChoiceKind::kCas;
      entries.push_back({.kind = EntryKind::kChoice,
                         .clock = clock,
                         .ordinal = i,
                         .choice = kind,
                         .value = abi::names_thread(kind) ? below(random, 4) : 1});
    }
  }
  const auto size = static_cast<double>(std::filesystem::file_size(write(entries, {})));
  const auto stream = static_cast<double>(stream_of(entries, {}).bytes.size());
  RecordProperty("bytes_per_choice", std::to_string(size / kChoices));
  RecordProperty("stream_bytes_per_choice", std::to_string(stream / kChoices));
  EXPECT_LT(size / kChoices, 1.7);
}

TEST_F(ScheduleFile, WriterRefusesMessagesAndDescendingClocks) {
  auto writer = ScheduleFileWriter::create(folder_ / "a").value();
  EXPECT_TRUE(writer.append({.clock = {5}}));
  EXPECT_FALSE(writer.append({.clock = {4}}));
  EXPECT_FALSE(writer.append({.kind = EntryKind::kMessage, .clock = {5}}));
  EXPECT_FALSE(writer.append({.clock = {kMaxClock.value + 1}}));
  EXPECT_FALSE(writer.append({.kind = static_cast<EntryKind>(5), .clock = {5}}));
  EXPECT_FALSE(writer.append(
      {.kind = EntryKind::kChoice, .clock = {5}, .choice = ChoiceKind::kCount, .value = 1}));
  EXPECT_FALSE(writer.append(
      {.kind = EntryKind::kChoice, .clock = {5}, .choice = ChoiceKind::kCas, .value = 0}));
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
  SealedParts parts = split_sealed(bytes_of(slurp(write({{.clock = {6}}}, {}))));
  const auto message = [&](std::uint8_t version, std::uint8_t abi) {
    parts[0][8] = version;
    parts[0][12] = abi;
    return read_schedule_bytes(join_sealed(parts), "s").error().message;
  };
  const std::string reads =
      fmt::format("this clew reads {}.{}", schedule_format::kVersion, abi::kVersion);
  EXPECT_EQ(message(9, abi::kVersion),
            fmt::format("s belongs to a recording of another clew: it has version 9.{}, {}",
                        abi::kVersion, reads));
  EXPECT_EQ(message(1, 1),
            "s belongs to a recording of an earlier clew: it has version 1.1, " + reads);
}

// Damage that the checksums do not show.
TEST_F(ScheduleFile, RefusesUnknownKindsAndColumns) {
  const Entry cas{.kind = EntryKind::kChoice, .clock = {9}, .choice = ChoiceKind::kCas, .value = 1};
  const SealedParts good = split_sealed(bytes_of(slurp(write({{.clock = {6}}, cas}, {}))));
  // 'B', 2 entries, clock 0, mask, sizes of the kinds and of the lowest bytes of the clocks.
  ASSERT_EQ(good[1], (std::vector<std::uint8_t>{'B', 2, 0, 0x03, 2, 2, 2, 2, 0, 5 << 3 | 4, 6, 3}));
  const auto message = [&](std::size_t at, std::uint8_t byte) {
    SealedParts parts = good;
    parts[1][at] = byte;
    const auto stream = read_schedule_bytes(join_sealed(parts), "s");
    return stream ? "" : stream.error().message;
  };
  EXPECT_EQ(message(9, 4 << 3 | 4), "");  // another choice
  for (const std::uint8_t kind : {3, 5, 6, 7, 6 << 3 | 4, 31 << 3 | 4, 1 << 3, 5 << 3 | 1})
    EXPECT_EQ(message(9, kind), "s is damaged at byte 24: an unknown kind of entry") << int{kind};
  // It names a thread: the column of threads is absent, all zero.
  EXPECT_EQ(message(9, 4), "");
  SealedParts parts = good;
  parts[1].erase(parts[1].begin() + 3);
  const std::vector<std::uint8_t> mask{0x83, 0x80, 0x80, 0x80, 0x80, 0x01};  // bit 35
  parts[1].insert(parts[1].begin() + 3, mask.begin(), mask.end());
  EXPECT_EQ(read_schedule_bytes(join_sealed(parts), "s").error().message,
            "s is damaged at byte 24: unknown columns");
}

TEST_F(ScheduleFile, MissingFile) {
  const auto stream = read_schedule_file(folder_ / "none");
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace clew
