#include "host/schedule/schedule.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "host/schedule/test_util.h"

namespace clew {
namespace {

namespace fs = std::filesystem;
using abi::ChoiceKind;

Switch at(std::uint64_t clock) { return {Clock{clock}, std::nullopt}; }
Switch at(std::uint64_t clock, const char* thread) {
  return {Clock{clock}, ThreadId::parse(thread).value()};
}

Choice choice(std::uint64_t clock, std::uint64_t ordinal, abi::ChoiceKind kind) {
  return {Clock{clock}, ordinal, kind, std::nullopt};
}
Choice choice(std::uint64_t clock, std::uint64_t ordinal, abi::ChoiceKind kind,
              const char* thread) {
  return {Clock{clock}, ordinal, kind, ThreadId::parse(thread).value()};
}

TEST(ParseSchedule, TakesCommasWhiteSpaceAndComments) {
  const Schedule expected{{at(6, "T0.1"), at(9), at(9, "T0"), at(12, "T0.2.1")}};
  EXPECT_EQ(parse_schedule("6:T0.1, 9, 9:T0, 12:T0.2.1"), expected);
  EXPECT_EQ(parse_schedule("6:T0.1 9 9:T0 12:T0.2.1"), expected);
  EXPECT_EQ(parse_schedule("6:T0.1,9,9:T0,12:T0.2.1,\n"), expected);
  EXPECT_EQ(parse_schedule(
                "# figure 4, of the paper\n6:T0.1 # enqueue\r\n\t9 ,\n9:T0#,,,\n,12:T0.2.1 #end"),
            expected);
}

TEST(ParseSchedule, EmptyIsTheEmptySchedule) {
  for (const char* text : {"", " ", "\n\n", "# nothing", "# nothing\n"})
    EXPECT_EQ(parse_schedule(text), Schedule{}) << text;
}

TEST(ParseSchedule, TakesChoicesAmongTheSwitches) {
  const Schedule expected{
      {at(6, "T0.1"), at(9), at(12)},
      {choice(9, 0, ChoiceKind::kTimeout), choice(9, 3, ChoiceKind::kTrylock),
       choice(12, 0, ChoiceKind::kPick, "T0.3"), choice(12, 1, ChoiceKind::kWake, "T0"),
       choice(15, 0, ChoiceKind::kSpurious), choice(15, UINT64_MAX, ChoiceKind::kCas)}};
  const char* kCanonical =
      "6:T0.1, 9/timeout, 9/3/trylock, 9, 12/pick:T0.3, 12/1/wake:T0, 12, 15/spurious, "
      "15/18446744073709551615/cas";
  EXPECT_EQ(parse_schedule(kCanonical), expected);
  EXPECT_EQ(format_schedule(expected), kCanonical);
  EXPECT_EQ(parse_schedule("6:T0.1 9/0/timeout 9 9/03/trylock#\n12,12/pick:T0.3,12/1/wake:T0\n"
                           "15/spurious 15/18446744073709551615/cas"),
            expected);
  EXPECT_EQ(parse_schedule("3/cas"), (Schedule{{}, {choice(3, 0, ChoiceKind::kCas)}}));
}

TEST(ChoiceKinds, HaveWords) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(ChoiceKind::kCount); ++i) {
    const auto kind = static_cast<ChoiceKind>(i);
    EXPECT_EQ(choice_kind_from_word(to_word(kind)), kind);
  }
  EXPECT_STREQ(to_word(ChoiceKind::kPick), "pick");
  EXPECT_STREQ(to_word(ChoiceKind::kCas), "cas");
  EXPECT_FALSE(choice_kind_from_word(""));
  EXPECT_FALSE(choice_kind_from_word("Pick"));
}

struct Bad {
  const char* text;
  const char* message;  // a part of it
};

class ParseScheduleRefuses : public testing::TestWithParam<Bad> {};

TEST_P(ParseScheduleRefuses, WithPlaceReasonAndHint) {
  const auto schedule = parse_schedule(GetParam().text);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().code, ErrorCode::kUsage);
  EXPECT_NE(schedule.error().message.find(GetParam().message), std::string::npos)
      << schedule.error().message;
  EXPECT_EQ(schedule.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(schedule.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseScheduleRefuses,
    testing::Values(
        Bad{"9, 6", "line 1, column 4 (item 2): clock 6 comes after clock 9"},
        Bad{"# x\n 1\n  2 1", "line 3, column 5 (item 3): clock 1 comes after clock 2"},
        Bad{"0", "line 1, column 1 (item 1): '0' has clock 0"},
        Bad{"18446744073709551616", "too large"}, Bad{"2305843009213693952", "too large"},
        Bad{"-1", "'-1' is neither a switch nor a choice"},
        Bad{"+1", "'+1' is neither a switch nor a choice"},
        Bad{"0x10", "'0x10' is neither a switch nor a choice"},
        Bad{"6;7", "'6;7' is neither a switch nor a choice"}, Bad{"6:", "'' is not a thread id"},
        Bad{"6:T1", "'T1' is not a thread id"},
        Bad{":T0", "':T0' is neither a switch nor a choice"},
        Bad{"6 :T0", "':T0' is neither a switch nor a choice"},
        Bad{"6:T0:T0.1", "'T0:T0.1' is not a thread id"}, Bad{"6:T0.99999999999", "too large"},
        Bad{",6", "column 1 (item 0): a comma without"},
        Bad{"6,,7", "column 3 (item 1): a comma without"},
        Bad{"6\x01", "'6\\x01' is neither a switch nor a choice"},
        Bad{"\xff\xfe", "'\\xff\\xfe' is neither a switch nor a choice"},
        Bad{"6/", "column 1 (item 1): '' is not a choice"}, Bad{"6/foo", "'foo' is not a choice"},
        Bad{"6/Pick:T0", "'Pick' is not a choice"}, Bad{"6/1", "'1' is not a choice"},
        Bad{"6/1/", "'' is not a choice"}, Bad{"6/1/2/cas", "'2/cas' is not a choice"},
        Bad{"/cas", "'/cas' is neither a switch nor a choice"},
        Bad{"x/cas", "'x/cas' is neither a switch nor a choice"},
        Bad{"0/cas", "'0/cas' has clock 0"},
        Bad{"2305843009213693952/cas", "the clock of '2305843009213693952/cas' is too large"},
        Bad{"6//cas", "'' is not the number of a choice"},
        Bad{"6/-1/cas", "'-1' is not the number of a choice"},
        Bad{"6/x/cas", "'x' is not the number of a choice"},
        Bad{"6/18446744073709551616/cas", "the number of the choice in"},
        Bad{"6/pick", "'6/pick' names no thread"}, Bad{"6/2/wake", "'6/2/wake' names no thread"},
        Bad{"6/cas:T0", "'6/cas:T0' names a thread, but cas takes none"},
        Bad{"6/pick:T1", "'T1' is not a thread id"}, Bad{"6/pick:", "'' is not a thread id"},
        Bad{"6:T0/cas", "'T0/cas' is not a thread id"},
        Bad{"6/cas 6/timeout", "(item 2): choice 0 at clock 6 occurs twice"},
        Bad{"6/cas 6 6/0/cas", "(item 3): choice 0 at clock 6 occurs twice"},
        Bad{"6/2/cas, 6/1/cas", "(item 2): choice 1 at clock 6 comes after choice 2"},
        Bad{"6/cas, 5", "(item 2): clock 5 comes after clock 6"},
        Bad{"6, 5/cas", "(item 2): clock 5 comes after clock 6"}));

TEST(ParseSchedule, HintsSayWhatToWrite) {
  const auto hint = [](const char* text) { return parse_schedule(text).error().hint; };
  EXPECT_EQ(hint("6/foo"), "choices are pick, wake, spurious, timeout, trylock, cas");
  EXPECT_EQ(hint("6/pick"), "say which thread, as in 6/pick:T0.1");
  EXPECT_EQ(hint("06/2/wake"), "say which thread, as in 6/2/wake:T0.1");
  EXPECT_EQ(hint("6/cas:T0"), "write 6/cas");
  EXPECT_EQ(hint("6/cas, 6/cas"), "number the choices at one clock, as in 6/timeout, 6/1/cas");
}

TEST(ParseSchedule, TakesTheLastClock) {
  const Schedule last{{{kMaxClock, std::nullopt}}};
  EXPECT_EQ(parse_schedule("2305843009213693951"), last);
}

TEST(ParseSchedule, ShortensLongGarbage) {
  const auto schedule = parse_schedule(std::string(1'000'000, 'x'));
  ASSERT_FALSE(schedule);
  EXPECT_LT(schedule.error().message.size(), 200u);
}

TEST(FormatSchedule, RoundTrips) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const Schedule schedule = random_schedule(random);
    EXPECT_EQ(parse_schedule(format_schedule(schedule)), schedule) << "case " << i;
  }
  EXPECT_EQ(format_schedule({}), "");
  EXPECT_EQ(format_schedule({{at(6, "T0.1"), at(9), at(12, "T0")}}), "6:T0.1, 9, 12:T0");
}

class LoadSchedule : public testing::Test {
 protected:
  LoadSchedule() : old_(fs::current_path()) {
    folder_ = fs::temp_directory_path() / ("clew_schedule_test." + std::to_string(::getpid()));
    fs::create_directory(folder_);
    fs::current_path(folder_);
  }
  ~LoadSchedule() override {
    fs::current_path(old_);
    fs::remove_all(folder_);
  }
  static void write(const char* name, const std::string& text) { std::ofstream(name) << text; }

  fs::path old_;
  fs::path folder_;
};

TEST_F(LoadSchedule, ReadsAFileOrTheTextItself) {
  const Schedule expected{{at(6, "T0.1"), at(9)}};
  write("bug.schedule", "6:T0.1\n9\n");
  EXPECT_EQ(load_schedule("bug.schedule"), expected);
  EXPECT_EQ(load_schedule("6:T0.1, 9"), expected);
  EXPECT_EQ(load_schedule("9/cas"), (Schedule{{}, {choice(9, 0, ChoiceKind::kCas)}}));
  EXPECT_EQ(load_schedule(""), Schedule{});
}

TEST_F(LoadSchedule, NamesTheFileInErrors) {
  write("bad", "6\n5\n");
  const auto schedule = load_schedule("bad");
  ASSERT_FALSE(schedule);
  EXPECT_TRUE(schedule.error().message.starts_with("bad: bad schedule, line 2, column 1"));
}

TEST_F(LoadSchedule, SaysThatThereIsNoSuchFile) {
  for (const std::string name : {"missing.txt", "missing/a", "7/missing"}) {
    const auto schedule = load_schedule(name);
    ASSERT_FALSE(schedule);
    EXPECT_NE(schedule.error().hint.find("there is no file '" + name + "'"), std::string::npos)
        << schedule.error().hint;
  }
}

TEST_F(LoadSchedule, RefusesFoldersAndBinaryFiles) {
  fs::create_directory("folder");
  const auto folder = load_schedule("folder");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("not a file"), std::string::npos);
  fs::create_directory("7");
  EXPECT_EQ(load_schedule("7"), Schedule{{at(7)}});
  write("binary", std::string("clewsch\0\1", 9));
  const auto binary = load_schedule("binary");
  ASSERT_FALSE(binary);
  EXPECT_NE(binary.error().message.find("not a schedule in text form"), std::string::npos);
}

TEST_F(LoadSchedule, RefusesEndlessAndUnreadableFiles) {
  const auto zero = load_schedule("/dev/zero");
  ASSERT_FALSE(zero);
  EXPECT_NE(zero.error().message.find("larger than 64 MiB"), std::string::npos);
  write("secret", "6");
  fs::permissions("secret", fs::perms::none);
  if (::geteuid() != 0) {
    const auto secret = load_schedule("secret");
    ASSERT_FALSE(secret);
    EXPECT_NE(secret.error().message.find("Permission denied"), std::string::npos);
  }
}

}  // namespace
}  // namespace clew
