#include "host/recording/meta.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "clew_abi/notes.h"
#include "clew_abi/version.h"
#include "host/recording/content_hash.h"
#include "host/recording/test_util.h"

namespace clew {
namespace {

using nlohmann::json;

// With a checksum that fits, so that the code behind it is tested.
std::string sealed(json object) {
  object.erase("checksum");
  object["checksum"] = fmt::format("{:016x}", content_hash(bytes_of(object.dump())));
  return object.dump();
}

TEST(Meta, RoundTrips) {
  Meta meta = sample_meta();
  meta.stdin_data = Captured{10, 11, 5, 12};
  meta.inputs = Captured{10, 11, 20, 12};
  const std::string text = format_meta(meta);
  const auto parsed = parse_meta(text, "meta.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(format_meta(*parsed), text);
  EXPECT_EQ(parsed->arguments, meta.arguments);
  EXPECT_EQ(parsed->environment, meta.environment);
  EXPECT_EQ(parsed->seed, meta.seed);
  EXPECT_EQ(parsed->epoch_ns, -5);
  EXPECT_EQ(parsed->clock_speed, 50u);
  EXPECT_EQ(parsed->enter_child, 3u);
  EXPECT_EQ(parsed->identity, meta.identity);
  EXPECT_EQ(parsed->stdin_data, meta.stdin_data);
  EXPECT_EQ(parsed->inputs, meta.inputs);
  EXPECT_EQ(parsed->strategy, abi::StrategyKind::kTimer);
  EXPECT_TRUE(parsed->from_main);
  EXPECT_EQ(parsed->pool, 8u);
  EXPECT_EQ(parsed->origin.line(), "hunt, schedule 12, strategy pos, seed 7");
  EXPECT_EQ(parsed->origin.kind(), Origin::Kind::kHunt);
  EXPECT_EQ(parsed->wall_seconds, 0.1);
  EXPECT_EQ(parsed->summary.failure->at->line, 7u);
  EXPECT_EQ(parsed->summary.hash, meta.summary.hash);
}

TEST(Meta, AbsentPartsRoundTrip) {
  Meta meta = sample_meta();
  meta.summary.failure.reset();
  EXPECT_FALSE(parse_meta(format_meta(meta), "m").value().summary.failure);
  meta.summary.failure = Failure{FailureKind::kDeadlock, "", "", std::nullopt};
  EXPECT_FALSE(parse_meta(format_meta(meta), "m").value().summary.failure->at);
  EXPECT_FALSE(parse_meta(format_meta(meta), "m").value().stdin_data);
  EXPECT_FALSE(parse_meta(format_meta(meta), "m").value().inputs);
}

TEST(Meta, OriginsAreKnownByTheirKind) {
  const auto read_back = [](Origin origin) {
    Meta meta = sample_meta();
    meta.origin = std::move(origin);
    return parse_meta(format_meta(meta), "m").value().origin;
  };
  const Origin found = Origin::hunt(12, "pos", 7);
  EXPECT_EQ(read_back(found), found);
  EXPECT_EQ(read_back(Origin::isolation(3)).kind(), Origin::Kind::kIsolation);
  EXPECT_EQ(read_back(Origin::isolation()).kind(), Origin::Kind::kIsolation);
  EXPECT_EQ(read_back(Origin::process(7, 3, Origin::Start::kForked)).kind(),
            Origin::Kind::kProcess);
  EXPECT_EQ(read_back({}).kind(), Origin::Kind::kOther);
}

TEST(Meta, CriteriaRoundTrip) {
  Meta meta = sample_meta();
  EXPECT_FALSE(parse_meta(format_meta(meta), "m").value().judged);
  meta.judged = Judged{{"lost [0-9]+", std::nullopt, true, "sort | cmp - \xff", {}},
                       FailureKind::kOutput,
                       "the output contains 'lost 3'"};
  meta.judged->criteria.only = {FailureKind::kOutput, FailureKind::kDeadlock};
  EXPECT_EQ(parse_meta(format_meta(meta), "m").value().judged, meta.judged);
  meta.judged->criteria.judge = std::string(kMaxCriterion + 1, 'x');
  EXPECT_FALSE(check_limits(meta));
  EXPECT_EQ(parse_meta(format_meta(meta), "m").error().message,
            "m is damaged: 'judged.judge' has more than 65536 bytes");
  meta.judged->criteria.judge.reset();
  json object = json::parse(format_meta(meta));
  object["judged"]["only"][0] = "bad luck";
  EXPECT_EQ(parse_meta(sealed(object), "m").error().message,
            "m is damaged: 'judged.kind' has the unknown value 'bad luck'");
}

TEST(Meta, NotesAreKnownByTheirKind) {
  Meta meta = sample_meta();
  meta.summary.notes = {note_from_text(abi::kNoteOtherProcesses),
                        note_from_text(std::string(abi::kNoteBecame) + "/bin/true"),
                        note_from_text("not recorded: rdtsc"), note_from_text("a note")};
  const auto notes = parse_meta(format_meta(meta), "m").value().summary.notes;
  EXPECT_EQ(notes, meta.summary.notes);
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0].kind, Note::Kind::kOtherProcesses);
  EXPECT_EQ(notes[1].kind, Note::Kind::kBecame);
  EXPECT_EQ(notes[2].kind, Note::Kind::kNotRecorded);
  EXPECT_EQ(notes[2].subject, "rdtsc");
  EXPECT_EQ(notes[3].kind, Note::Kind::kOther);
}

TEST(Meta, EveryStrategyRoundTrips) {
  Meta meta = sample_meta();
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(abi::StrategyKind::kCount); ++i) {
    meta.strategy = static_cast<abi::StrategyKind>(i);
    EXPECT_EQ(parse_meta(format_meta(meta), "m").value().strategy, meta.strategy);
  }
  EXPECT_STREQ(to_word(abi::StrategyKind::kNone), "none");
  EXPECT_STREQ(to_word(abi::StrategyKind::kPrefix), "prefix");
}

TEST(Meta, LimitsHoldBothWays) {
  Meta meta = sample_meta();
  meta.pool = kMaxPool;
  meta.origin = Origin::from_line(std::string(kMaxOrigin, '\xff'));
  EXPECT_TRUE(check_limits(meta));
  const auto parsed = parse_meta(format_meta(meta), "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->pool, kMaxPool);
  EXPECT_EQ(parsed->origin, meta.origin);

  meta.origin = Origin::from_line(meta.origin.line() + 'x');
  EXPECT_FALSE(check_limits(meta));
  EXPECT_EQ(parse_meta(format_meta(meta), "m").error().message,
            "m is damaged: 'origin' has more than 4096 bytes");
  meta.origin = {};
  EXPECT_EQ(parse_meta(format_meta(meta), "m").value().origin.line(), "");
  meta.pool = kMaxPool + 1;
  EXPECT_FALSE(check_limits(meta));
  EXPECT_EQ(parse_meta(format_meta(meta), "m").error().message,
            "m is damaged: 'pool' is more than 65536");
}

TEST(Meta, EveryChangedDigitIsNoticed) {
  const std::string text = format_meta(sample_meta());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    if (changed == text) continue;
    const auto parsed = parse_meta(changed, "m");
    // White space may change; nothing else.
    if (parsed) EXPECT_EQ(format_meta(*parsed), text) << i;
  }
}

TEST(Meta, NamesTheFieldThatIsMissingOrWrong) {
  const json good = json::parse(format_meta(sample_meta()));
  const auto message = [](const json& object) {
    return parse_meta(sealed(object), "m").error().message;
  };
  json object = good;
  object.erase("seed");
  EXPECT_EQ(message(object), "m is damaged: 'seed' is missing");
  object = good;
  object["seed"] = -1;
  EXPECT_EQ(message(object), "m is damaged: 'seed' is not a number of the right size");
  object = good;
  object["summary"]["failure"]["at"]["line"] = 1ull << 32;
  EXPECT_EQ(message(object),
            "m is damaged: 'summary.failure.at.line' is not a number of the right size");
  object = good;
  object["strategy"] = "best";
  EXPECT_EQ(message(object), "m is damaged: 'strategy' has the unknown value 'best'");
  object = good;
  object["summary"]["failure"]["kind"] = "crash";
  EXPECT_EQ(message(object), "m is damaged: 'summary.failure.kind' has the unknown value 'crash'");
  object = good;
  object["from_main"] = 1;
  EXPECT_EQ(message(object), "m is damaged: 'from_main' is neither true nor false");
  object = good;
  object["pool"] = -1;
  EXPECT_EQ(message(object), "m is damaged: 'pool' is not a number of the right size");
  object = good;
  object["origin"] = json();
  EXPECT_EQ(message(object), "m is damaged: 'origin' is not a string");
  object = good;
  object["arguments"][1] = json{{"hex", "0g"}};
  EXPECT_EQ(message(object), "m is damaged: 'arguments' has bad hex digits");
  object = good;
  object["stdout"]["stored"] = 1;
  EXPECT_EQ(message(object), "m is damaged: 'stdout.stored' is more than the size");
  object = good;
  object["inputs"] = {{"size", kMaxInputs + 1},
                      {"hash", "0000000000000000"},
                      {"stored", 1},
                      {"stored_hash", "0000000000000000"}};
  EXPECT_EQ(message(object), "m is damaged: 'inputs.size' is more than 549755813888");
}

// Each member in turn replaced by each kind of value: never a crash.
TEST(Meta, AnyTypeAnywhereIsAValueOrAnError) {
  const json good = json::parse(format_meta(sample_meta())).flatten();
  for (const auto& [key, value] : good.items())
    for (const json& other : {json(), json(1.5), json(-1), json("x"), json(true), json::array({1}),
                              json{{"hex", 7}}, json::object()}) {
      json object = good.unflatten();
      object[json::json_pointer(key)] = other;
      (void)parse_meta(sealed(object), "m");
    }
}

TEST(Meta, OtherVersionsAreNamed) {
  json object = json::parse(format_meta(sample_meta()));
  const auto error = [&](std::uint64_t recording, std::uint64_t abi) {
    object["recording_version"] = recording;
    object["abi_version"] = abi;
    return parse_meta(sealed(object), "m").error();
  };
  object.erase("program");
  const std::string reads = fmt::format("this clew reads {}.{}", kRecordingVersion, abi::kVersion);
  EXPECT_EQ(error(77, abi::kVersion).message,
            fmt::format("m belongs to a recording of another clew: it has version 77.{}, {}",
                        abi::kVersion, reads));
  EXPECT_EQ(error(1, 1).message,
            "m belongs to a recording of an earlier clew: it has version 1.1, " + reads);
  EXPECT_EQ(error(1, 1).hint, "use the clew that made it, or record again");
  EXPECT_EQ(error(kRecordingVersion, abi::kVersion).message, "m is damaged: 'program' is missing");
  object["abi_version"] = "2";
  EXPECT_EQ(parse_meta(sealed(object), "m").error().message,
            "m is damaged: 'abi_version' is not a number of the right size");
}

TEST(Meta, DeepNestingIsAnError) {
  EXPECT_FALSE(parse_meta(std::string(1'000'000, '['), "m"));
  EXPECT_FALSE(parse_meta("", "m"));
  EXPECT_FALSE(parse_meta("[]", "m"));
}

TEST(Identity, KnowsABuildAndItsChanges) {
  const auto self = identify_program("/proc/self/exe");
  ASSERT_TRUE(self);
  EXPECT_GT(self->size, 1000u);
  EXPECT_EQ(*self, identify_program("/proc/self/exe").value());
  const auto shell = identify_program("/bin/sh");
  ASSERT_TRUE(shell);
  EXPECT_NE(*shell, *self);
  EXPECT_EQ(shell->build_id.size(), 40u);  // Debian's programs have one
  EXPECT_FALSE(identify_program("/nowhere"));
  EXPECT_FALSE(identify_program("/tmp"));
}

}  // namespace
}  // namespace clew
