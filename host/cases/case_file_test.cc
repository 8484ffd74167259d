#include "host/cases/case_file.h"

#include <gtest/gtest.h>

#include <string>

#include "host/cases/test_util.h"

namespace clew {
namespace {

TEST(CaseFile, IsReadAsItWasWritten) {
  const Case one = example_case();
  const auto read = parse_case(format_case(one), "a.clewcase");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, one);
}

TEST(CaseFile, SaysItInTermsOfTheProgram) {
  const Case one = example_case();
  EXPECT_EQ(
      sentence_of(one, one.orders[0]),
      "the read of `n` in `divide` (calc.cpp, `return 21 / n;`) by thread 2, for the 3rd time, "
      "sees "
      "the write of `n` in `reset` (calc.cpp, `n = 0;`, the 2nd such statement there) by thread 1");
  Case alone = one;
  alone.orders.resize(1);
  EXPECT_EQ(
      sentence_of(alone, alone.orders[0]),
      "the read of `n` in `divide` (calc.cpp, `return 21 / n;`), for the 3rd time, sees the write "
      "of `n` in `reset` (calc.cpp, `n = 0;`, the 2nd such statement there)");
}

std::string error_of(const std::string& text) {
  const auto read = parse_case(text, "x");
  return read ? "none" : read.error().message;
}

TEST(CaseFile, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("program = \"a\"\n"),
            "x:1: the first field must be clew-case, the version of the format");
  EXPECT_EQ(error_of("# c\nclew-case = 9\n"),
            "x:2: the case has version 9 of the format, this clew reads versions up to 3");
  EXPECT_EQ(error_of("clew-case = 1\nprogram = a\n"), "x:2: the value must be in double quotes");
  EXPECT_EQ(error_of("clew-case = 1\nprogram = \"a\"\nprogram = \"b\"\n"),
            "x:3: 'program' is given twice");
  EXPECT_EQ(error_of("clew-case = 1\nprogram = \"a\"\n[orders]\nbefore = a b\n"),
            "x:4: there is no event 'a' above");
  EXPECT_EQ(error_of("clew-case = 1\nprogram = \"a\"\n[event a]\nthread = 9\n"),
            "x:4: '9' is not a number from 1 to 8");
  EXPECT_EQ(error_of("clew-case = 1\nprogram = \"a\"\n[event a]\ndoes = \"read\"\n"),
            "x:4: event 'a' has neither function nor text");
  EXPECT_EQ(error_of(""), "x:0: there is no field clew-case: this is no case");
}

// Whatever line it ends with, a file that was cut off is not taken for a case with less to ask for.
TEST(CaseFile, PartsAreNoCases) {
  const std::string whole = format_case(example_case());
  for (std::size_t end = whole.find('\n'); end + 1 < whole.size();
       end = whole.find('\n', end + 1)) {
    const auto read = parse_case(whole.substr(0, end + 1), "x");
    // Only the last order can be missing: all events are in the other one.
    if (read) EXPECT_EQ(read->orders.size(), 1U) << end;
  }
  Case without = example_case();
  without.events.clear();
  without.orders.clear();
  EXPECT_TRUE(parse_case(format_case(without), "x"));
  const std::string text = format_case(without);
  EXPECT_EQ(error_of(text.substr(0, text.find("[orders]"))).substr(5),
            " there is no section [orders]: the file may be cut off");
}

TEST(CaseFile, VersionOneIsRead) {
  EXPECT_EQ(error_of("clew-case = 1\nprogram = \"a\"\nfailure = \"exit\"\n"), "none");
}

TEST(CaseFile, OrdersAreOfDifferentThreads) {
  Case one = example_case();
  one.events[1].thread = 1;
  const auto read = parse_case(format_case(one), "x");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("the first two events are of one thread"), std::string::npos);
}

}  // namespace
}  // namespace clew
