#include "host/schedule/stream.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "host/schedule/test_util.h"

namespace clew {
namespace {

using abi::ChoiceKind;
using abi::EntryKind;
using abi::MessageType;
using Bytes = std::vector<std::uint8_t>;

Result<std::vector<StreamItem>> decode_all(StreamDecoder& decoder) {
  std::vector<StreamItem> items;
  for (;;) {
    CLEW_TRY(auto item, decoder.next());
    if (!item) return items;
    items.push_back(*std::move(item));
  }
}

Error error_of(const Bytes& bytes) {
  StreamDecoder decoder;
  decoder.push(bytes);
  auto items = decode_all(decoder);
  if (items) return decoder.finish().error();
  EXPECT_EQ(decoder.next().error().message, items.error().message);  // it stays
  return items.error();
}

std::vector<StreamItem> random_items(std::mt19937_64& random) {
  std::vector<StreamItem> items;
  Clock last;
  for (std::uint64_t n = below(random, 60); n > 0; --n) {
    Entry entry = random_entry(random, last);
    last = entry.clock;
    if (below(random, 3)) {
      items.emplace_back(entry);
      continue;
    }
    Message message{entry.clock, static_cast<MessageType>(1 + below(random, 12)), {}};
    message.payload.resize(below(random, 400));
    for (auto& byte : message.payload) byte = static_cast<std::uint8_t>(random());
    items.emplace_back(std::move(message));
  }
  return items;
}

TEST(Stream, EncodesAsTheAbiSays) {
  StreamEncoder encoder;
  encoder.append(Entry{.kind = EntryKind::kSwitchNext, .clock = {6}});
  encoder.append(Entry{.kind = EntryKind::kSwitchTo, .clock = {9}, .thread = 1});
  encoder.append(
      Entry{.kind = EntryKind::kCheck, .clock = {9}, .thread = 2, .place = 300, .hash = 0xabcd});
  encoder.append(Message{{10}, MessageType::kNote, {7, 8}});
  encoder.append(Entry{.kind = EntryKind::kChoice,
                       .clock = {12},
                       .ordinal = 5,
                       .choice = ChoiceKind::kWake,
                       .value = 300});
  encoder.append(
      Entry{.kind = EntryKind::kChoice, .clock = {12}, .choice = ChoiceKind::kCas, .value = 1});
  EXPECT_EQ(encoder.bytes(), (Bytes{6 << 3,                                 //
                                    3 << 3 | 1, 1,                          //
                                    2,          2, 0xac, 2,    0xcd, 0xab,  //
                                    1 << 3 | 3, 9, 2,    7,    8,           //
                                    2 << 3 | 4, 5, 1,    0xac, 2,           //
                                    4,          0, 5,    1}));
}

TEST(Stream, RoundTripsInChunksOfAnySize) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::vector<StreamItem> items = random_items(random);
    StreamEncoder encoder;
    for (const StreamItem& item : items)
      std::visit([&](const auto& it) { encoder.append(it); }, item);
    StreamDecoder decoder;
    std::vector<StreamItem> decoded;
    for (std::span<const std::uint8_t> rest = encoder.bytes(); !rest.empty();) {
      const std::size_t size =
          std::min<std::size_t>(rest.size(), 1 + below(random, 1 << below(random, 9)));
      decoder.push(rest.first(size));
      rest = rest.subspan(size);
      auto some = decode_all(decoder);
      ASSERT_TRUE(some) << some.error().message;
      decoded.insert(decoded.end(), some->begin(), some->end());
    }
    EXPECT_EQ(decoded, items) << "case " << i;
    EXPECT_TRUE(decoder.finish());
    EXPECT_EQ(decoder.offset(), encoder.bytes().size());
  }
}

TEST(StreamEncoder, RefusesFaultyCallers) {
  StreamEncoder encoder;
  encoder.append(Entry{.clock = {5}});
  EXPECT_THROW(encoder.append(Entry{.clock = {4}}), std::logic_error);
  EXPECT_THROW(encoder.append(Entry{.clock = {kMaxClock.value + 1}}), std::logic_error);
  for (const Entry& entry :
       {Entry{.kind = EntryKind::kMessage, .clock = {5}},
        Entry{.kind = static_cast<EntryKind>(5), .clock = {5}},
        Entry{.kind = EntryKind::kChoice, .clock = {5}, .choice = ChoiceKind::kCount, .value = 1},
        Entry{.kind = EntryKind::kChoice, .clock = {5}, .choice = ChoiceKind::kCas, .value = 2}})
    EXPECT_THROW(encoder.append(entry), std::logic_error);
  EXPECT_EQ(encoder.bytes().size(), 1u);
}

TEST(Encode, RefusesFaultyCallers) {
  const auto cas = [](std::uint64_t clock, std::uint64_t ordinal) {
    return Choice{{clock}, ordinal, ChoiceKind::kCas, std::nullopt};
  };
  const auto with = [](std::vector<Choice> choices) { return Schedule{{}, std::move(choices)}; };
  EXPECT_NO_THROW((void)encode(with({cas(1, 0), cas(1, 1), cas(2, 0)})));
  EXPECT_THROW((void)encode(with({cas(1, 0), cas(1, 0)})), std::logic_error);
  EXPECT_THROW((void)encode(with({cas(1, 1), cas(1, 0)})), std::logic_error);
  EXPECT_THROW((void)encode(with({cas(2, 0), cas(1, 1)})), std::logic_error);
  EXPECT_THROW((void)encode(with({{{1}, 0, ChoiceKind::kCas, ThreadId()}})), std::logic_error);
  EXPECT_THROW((void)encode(with({{{1}, 0, ChoiceKind::kWake, std::nullopt}})), std::logic_error);
}

TEST(StreamDecoder, NamesTheOffsetOfGarbage) {
  EXPECT_EQ(error_of({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).message,
            "bad number at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x03, 99}).message, "unknown message 99 at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x03, 0}).message, "unknown message 0 at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x02, 0x01}).message, "the stream ends within the entry at byte 1");
  // One past the largest clock.
  EXPECT_EQ(error_of({0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x08}).message,
            "the clock overflows at byte 10 of the stream");
}

TEST(StreamDecoder, RefusesUnknownKindsChoicesAndValues) {
  for (const std::uint8_t kind : {5, 6, 7})
    EXPECT_EQ(error_of({0x08, kind}).message,
              "unknown kind of entry " + std::to_string(kind) + " at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x04, 0, 6}).message, "unknown choice 6 at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x04, 0, 0x80, 2}).message,
            "unknown choice 256 at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x04, 0, 5, 2}).message, "the value 2 for cas at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x04, 0, 2, 0}).message,
            "the value 0 for spurious at byte 1 of the stream");
  EXPECT_EQ(error_of({0x08, 0x04, 0, 1}).message, "the stream ends within the entry at byte 1");
}

TEST(Stream, TakesTheLastClock) {
  const Schedule schedule = parse_schedule("1 2305843009213693951/cas 2305843009213693951").value();
  EXPECT_EQ(schedule.switches.back().clock, kMaxClock);
  EXPECT_EQ(to_schedule(encode(schedule)), schedule);
}

TEST(StreamDecoder, RefusesLongMessagesBeforeTheyArrive) {
  StreamEncoder encoder;
  encoder.append(Message{{1}, MessageType::kMaps, Bytes(kMaxMessage, 1)});
  StreamDecoder decoder;
  decoder.push(encoder.bytes());
  const auto items = decode_all(decoder);
  ASSERT_TRUE(items);
  EXPECT_EQ(items->size(), 1u);
  EXPECT_NE(error_of({0x0b, 8, 0x81, 0x80, 0x80, 0x08})
                .message.find("a message of 16777217 bytes, more than 16777216, at byte 0"),
            std::string::npos);
}

TEST(Stream, SchedulesRoundTrip) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    const Schedule schedule = random_schedule(random);
    EXPECT_EQ(to_schedule(encode(schedule)), schedule) << "case " << i;
  }
}

TEST(Stream, EveryCutIsASmallerScheduleOrAnError) {
  const Stream whole = encode(parse_schedule("300:T0.1, 300/pick:T0, 300/200/cas, 900").value());
  std::vector<std::string> good;
  for (std::size_t size = 0; size <= whole.bytes.size(); ++size) {
    const Stream cut{{whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                     whole.names};
    const auto schedule = to_schedule(cut);
    if (schedule)
      good.push_back(format_schedule(*schedule));
    else
      EXPECT_TRUE(schedule.error().message.starts_with("the stream ends within the entry"));
  }
  EXPECT_EQ(good, (std::vector<std::string>{"", "300/pick:T0", "300/pick:T0, 300/200/cas",
                                            "300/pick:T0, 300/200/cas, 300:T0.1",
                                            "300/pick:T0, 300/200/cas, 300:T0.1, 900"}));
}

TEST(Stream, NamesEachThreadOnce) {
  const Stream stream = encode(parse_schedule("1:T0.1 2:T0 3:T0.1 4").value());
  EXPECT_EQ(stream.names, (std::vector<std::string>{"T0.1", "T0"}));
  EXPECT_EQ(encode(parse_schedule("1:T0.1 2/pick:T0 3/wake:T0.1 4/cas").value()).names,
            stream.names);
}

TEST(Stream, PutsChoicesBeforeSwitchesOfTheSameClock) {
  const Stream stream = encode(parse_schedule("1, 2, 2/cas, 2/7/pick:T0").value());
  EXPECT_EQ(stream.bytes, (Bytes{1 << 3, 1 << 3 | 4, 0, 5, 1, 4, 7, 0, 0, 0}));
}

TEST(ToSchedule, LeavesOutChecks) {
  Stream stream = encode(parse_schedule("1:T0.1 2").value());
  StreamEncoder encoder;
  encoder.append(Entry{.kind = EntryKind::kSwitchTo, .clock = {1}, .thread = 0});
  encoder.append(
      Entry{.kind = EntryKind::kCheck, .clock = {1}, .thread = 4, .place = 8, .hash = 7});
  encoder.append(Entry{.clock = {2}});
  EXPECT_EQ(to_schedule({encoder.bytes(), stream.names}), to_schedule(stream).value());
}

TEST(ToSchedule, RefusesBadNamesIndicesMessagesAndClockZero) {
  EXPECT_FALSE(to_schedule({{}, {"x"}}));
  EXPECT_FALSE(to_schedule({{0x09, 1}, {"T0"}}));
  EXPECT_FALSE(to_schedule({{0x0b, 9, 0}, {}}));
  EXPECT_FALSE(to_schedule({{0x00}, {}}));
  EXPECT_FALSE(to_schedule({{0x09}, {"T0"}}));
  EXPECT_TRUE(to_schedule({{0x09, 0}, {"T0"}}));
  EXPECT_FALSE(to_schedule({{0x04, 0, 5, 1}, {}}));
  EXPECT_FALSE(to_schedule({{0x0c, 0, 0, 1}, {"T0"}}));
  EXPECT_TRUE(to_schedule({{0x0c, 0, 0, 0}, {"T0"}}));
}

TEST(ToSchedule, TakesChoicesAfterSwitchesButInOrder) {
  EXPECT_EQ(to_schedule({{0x08, 0x04, 0, 5, 1, 0x00, 0x04, 2, 4, 1}, {}}),
            parse_schedule("1/cas, 1/2/trylock, 1, 1").value());
  for (const std::uint8_t ordinal : {0, 1, 2}) {
    const auto schedule = to_schedule({{0x0c, 2, 5, 1, 0x00, 0x04, ordinal, 4, 1}, {}});
    ASSERT_FALSE(schedule);
    EXPECT_EQ(schedule.error().message, "a choice out of order at byte 5 of the stream");
  }
}

}  // namespace
}  // namespace clew
