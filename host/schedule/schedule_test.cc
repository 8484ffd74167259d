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

Switch at(std::uint64_t clock) { return {Clock{clock}, std::nullopt}; }
Switch at(std::uint64_t clock, const char* thread) {
  return {Clock{clock}, ThreadId::parse(thread).value()};
}

TEST(ParseSchedule, TakesCommasWhiteSpaceAndComments) {
  const Schedule expected{{at(6, "T0.1"), at(9), at(9, "T0"), at(12, "T0.2.1")}};
  EXPECT_EQ(parse_schedule("6:T0.1, 9, 9:T0, 12:T0.2.1"), expected);
  EXPECT_EQ(parse_schedule("6:T0.1 9 9:T0 12:T0.2.1"), expected);
  EXPECT_EQ(parse_schedule("6:T0.1,9,9:T0,12:T0.2.1,\n"), expected);
  EXPECT_EQ(parse_schedule(
                "# figure 4, of paper 1\n6:T0.1 # enqueue\r\n\t9 ,\n9:T0#,,,\n,12:T0.2.1 #end"),
            expected);
}

TEST(ParseSchedule, EmptyIsTheEmptySchedule) {
  for (const char* text : {"", " ", "\n\n", "# nothing", "# nothing\n"})
    EXPECT_EQ(parse_schedule(text), Schedule{}) << text;
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
        Bad{"9, 6", "line 1, column 4 (switch 2): clock 6 comes after clock 9"},
        Bad{"# x\n 1\n  2 1", "line 3, column 5 (switch 3): clock 1 comes after clock 2"},
        Bad{"0", "line 1, column 1 (switch 1): '0' has clock 0"},
        Bad{"18446744073709551616", "too large"}, Bad{"4611686018427387904", "too large"},
        Bad{"-1", "'-1' is not a switch"}, Bad{"+1", "'+1' is not a switch"},
        Bad{"0x10", "'0x10' is not a switch"}, Bad{"6;7", "'6;7' is not a switch"},
        Bad{"6:", "'' is not a thread id"}, Bad{"6:T1", "'T1' is not a thread id"},
        Bad{":T0", "':T0' is not a switch"}, Bad{"6 :T0", "':T0' is not a switch"},
        Bad{"6:T0:T0.1", "'T0:T0.1' is not a thread id"}, Bad{"6:T0.99999999999", "too large"},
        Bad{",6", "column 1 (switch 0): a comma without"},
        Bad{"6,,7", "column 3 (switch 1): a comma without"},
        Bad{"6\x01", "'6\\x01' is not a switch"}, Bad{"\xff\xfe", "'\\xff\\xfe' is not a switch"}));

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
  EXPECT_EQ(load_schedule(""), Schedule{});
}

TEST_F(LoadSchedule, NamesTheFileInErrors) {
  write("bad", "6\n5\n");
  const auto schedule = load_schedule("bad");
  ASSERT_FALSE(schedule);
  EXPECT_TRUE(schedule.error().message.starts_with("bad: bad schedule, line 2, column 1"));
}

TEST_F(LoadSchedule, SaysThatThereIsNoSuchFile) {
  const auto schedule = load_schedule("missing.txt");
  ASSERT_FALSE(schedule);
  EXPECT_NE(schedule.error().hint.find("there is no file 'missing.txt'"), std::string::npos);
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
