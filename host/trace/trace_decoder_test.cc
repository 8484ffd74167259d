#include "host/trace/trace_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "host/trace/test_util.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::TraceKind;
using Bytes = std::vector<std::uint8_t>;

struct Decoded {
  Trace trace;
  std::optional<std::uint64_t> bad_at;
};
Decoded decode(const Bytes& bytes, std::size_t piece = SIZE_MAX) {
  TraceDecoder decoder;
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size() - at))
    decoder.push(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  Trace trace = decoder.finish();
  return {std::move(trace), decoder.bad_at()};
}

TEST(TraceDecoder, GivesWhatRecordsSay) {
  const auto [trace, bad_at] =
      decode(bytes_of(decision_record(2), access_record(2), sync_record(4), decision_record(6)));
  EXPECT_TRUE(trace.complete);
  EXPECT_FALSE(bad_at);
  const std::vector<TraceStep> steps{
      {0x77, 12, 0x1000, 2, 1, 5, 8, 3, StepKind::kWrite, abi::kTraceSwitched},
      {0x77, 14, 0x2000, 4, 2, 6, 0, 3, StepKind::kLock, abi::kTraceSwitched}};
  const std::vector<TraceDecision> decisions{{0x77, 16, 0x99, 2, 1, 0, 2, 1},
                                             {0x77, 16, 0x99, 6, 3, 2, 2, 1}};
  EXPECT_EQ(trace.steps, steps);
  EXPECT_EQ(trace.decisions, decisions);
}

TEST(TraceDecoder, OfNothingIsComplete) {
  const auto [trace, bad_at] = decode({});
  EXPECT_TRUE(trace.empty() && trace.complete);
}

TEST(TraceDecoder, DoesNotCareAboutPieces) {
  abi::TraceHead unknown = trace_head<abi::TraceHead>(static_cast<TraceKind>(200), 3);
  unknown.size = 4096;
  Bytes bytes = bytes_of(access_record(1), unknown);
  bytes.resize(bytes.size() + 4096 - sizeof unknown);
  const Bytes rest = bytes_of(decision_record(5), sync_record(5));
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  for (const std::size_t piece : {1, 7, 31, 32, 33, 63, 64, 65, 1000, 4096}) {
    const auto [trace, bad_at] = decode(bytes, piece);
    EXPECT_TRUE(trace.complete) << piece;
    EXPECT_EQ(trace.steps.size(), 2u) << piece;
    EXPECT_EQ(trace.decisions.size(), 1u) << piece;
  }
}

TEST(TraceDecoder, SkipsKindsThatItDoesNotKnow) {
  abi::TraceSync unknown = sync_record(3);
  unknown.head.kind = static_cast<TraceKind>(5);
  unknown.kind = static_cast<StepKind>(99);
  const auto [trace, bad_at] = decode(bytes_of(access_record(2), unknown, sync_record(4)));
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.steps.size(), 2u);
}

TEST(TraceDecoder, PassesOverTheValueOfAnAccess) {
  abi::TraceAccess with_value = access_record(2);
  with_value.head.size += 16;
  with_value.value_size = 12;
  const auto [trace, bad_at] =
      decode(bytes_of(with_value, std::uint64_t{1}, std::uint64_t{2}, sync_record(4)));
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.steps.size(), 2u);
}

TEST(TraceDecoder, KeepsWhatLiesBeforeARecordThatIsCutShort) {
  const Bytes whole = bytes_of(access_record(2), decision_record(3), sync_record(4));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto [trace, bad_at] =
        decode(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    const bool at_record = size == 0 || size == sizeof(abi::TraceAccess) ||
                           size == sizeof(abi::TraceAccess) + sizeof(abi::TraceDecision);
    EXPECT_EQ(trace.complete, at_record) << size;
    EXPECT_EQ(trace.steps.size(), size >= sizeof(abi::TraceAccess) ? 1u : 0u) << size;
    EXPECT_FALSE(bad_at) << size;
  }
}

class Hostile : public testing::Test {
 protected:
  // The record comes second, and is where reading stops.
  template <class Record>
  static void expect_bad(const Record& record) {
    const auto [trace, bad_at] = decode(bytes_of(access_record(2), record, sync_record(4)));
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(bad_at, sizeof(abi::TraceAccess));
    EXPECT_EQ(trace.steps.size(), 1u);
    EXPECT_TRUE(trace.decisions.empty());
  }
};

TEST_F(Hostile, Sizes) {
  for (const std::uint16_t size : {0, 8, 31, 33, 40, 56, 63, 65}) {
    abi::TraceSync record = sync_record(3);
    record.head.size = size;
    SCOPED_TRACE(size);
    expect_bad(record);
  }
  abi::TraceDecision record = decision_record(3);
  record.head.size = 48;
  expect_bad(record);
}

TEST_F(Hostile, Kinds) {
  abi::TraceSync no_sync = sync_record(3);
  no_sync.kind = StepKind::kRead;
  expect_bad(no_sync);
  no_sync.kind = StepKind::kCount;
  expect_bad(no_sync);
  no_sync.kind = static_cast<StepKind>(255);
  expect_bad(no_sync);
  abi::TraceAccess no_access = access_record(3);
  no_access.kind = StepKind::kLock;
  expect_bad(no_access);
  abi::TraceDecision no_decision = decision_record(3);
  no_decision.kind = abi::kScriptKinds;
  expect_bad(no_decision);
}

TEST_F(Hostile, ValueThatLeadsOutside) {
  abi::TraceAccess record = access_record(3);
  record.value_size = 1;
  expect_bad(record);
}

TEST_F(Hostile, ASizeBeyondTheEnd) {
  abi::TraceSync record = sync_record(3);
  record.head.size = 0xfff8;
  const auto [trace, bad_at] = decode(bytes_of(access_record(2), record, sync_record(4)));
  EXPECT_FALSE(trace.complete);
  EXPECT_EQ(trace.steps.size(), 1u);
}

// Whatever the bytes: no crash (under the sanitizers), and pieces make no difference.
TEST_F(Hostile, Mutations) {
  std::mt19937_64 random(6);
  const Bytes whole = bytes_of(decision_record(2), access_record(2), sync_record(4),
                               decision_record(6), access_record(8), sync_record(9));
  int complete = 0;
  constexpr int kCases = 10'000;
  for (int i = 0; i < kCases; ++i) {
    Bytes bytes = whole;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Decoded once = decode(bytes);
    const Decoded often = decode(bytes, 1 + random() % 80);
    EXPECT_EQ(once.trace.steps, often.trace.steps) << "case " << i;
    EXPECT_EQ(once.trace.decisions, often.trace.decisions) << "case " << i;
    EXPECT_EQ(once.trace.complete, often.trace.complete) << "case " << i;
    EXPECT_EQ(once.bad_at, often.bad_at) << "case " << i;
    complete += once.trace.complete;
  }
  EXPECT_GT(complete, kCases / 10);
  EXPECT_LT(complete, kCases * 9 / 10);
}

TEST(Trace, GivesAScriptOfItsDecisionsInOrder) {
  Trace trace;
  trace.steps.emplace_back();
  const abi::ScriptKind wake = abi::script_kind(abi::ChoiceKind::kWake);
  trace.decisions = {{.thread = 5, .place = 9, .to = 6, .clock = 12, .own = 3},
                     {.thread = 6, .place = 9, .clock = 14, .own = 2, .ordinal = 1, .kind = wake}};
  EXPECT_EQ(script_of(trace), (std::vector<abi::ScriptItem>{{5, 3, abi::kScriptPreemption, 0, 6},
                                                            {6, 2, wake, 1, 0}}));
}

TEST(Trace, DecisionAtIsTheLastOfItsKind) {
  const Trace trace{.steps = {},
                    .decisions = {{.place = 1, .clock = 4},
                                  {.place = 2, .clock = 4},
                                  {.place = 3, .clock = 4, .kind = 1},
                                  {.place = 4, .clock = 5}}};
  ASSERT_NE(decision_at(trace, 4, 0), nullptr);
  EXPECT_EQ(decision_at(trace, 4, 0)->place, 2u);
  EXPECT_EQ(decision_at(trace, 4, 1)->place, 3u);
  EXPECT_EQ(decision_at(trace, 4, 2), nullptr);
  EXPECT_EQ(decision_at(trace, 6, 0), nullptr);
}

}  // namespace
}  // namespace clew
