#include "host/report/assertion.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

std::string line_of(std::string_view output) {
  const auto found = assertion_in(output);
  return found ? assertion_line(*found) : "none";
}

TEST(Assertion, GoogleTest) {
  EXPECT_EQ(line_of("Running main()\n"
                    "[ RUN      ] Queue.Push\n"
                    "queue_test.cc:42: Failure\n"
                    "Expected equality of these values:\n"
                    "  size\n"
                    "    Which is: 1\n"
                    "  2\n"
                    "lost one\n"
                    "[  FAILED  ] Queue.Push (0 ms)\n"
                    "[----------] 1 test from Queue\n"),
            "queue_test.cc:42: Expected equality of these values: size Which is: 1 2 lost one");
  EXPECT_EQ(line_of("a.cc:3: Failure\nValue of: ready\n  Actual: false\nExpected: true\n\n"
                    "b.cc:4: Failure\nFailed\n"),
            "a.cc:3: Value of: ready Actual: false Expected: true");
  EXPECT_EQ(
      line_of("unknown file: Failure\nC++ exception with description \"x\" thrown in the test "
              "body.\n"),
      "C++ exception with description \"x\" thrown in the test body.");
}

TEST(Assertion, Catch2) {
  EXPECT_EQ(line_of("-------------------\nqueue push\n-------------------\nt.cpp:10\n.........\n\n"
                    "t.cpp:14: FAILED:\n  REQUIRE( size == 2 )\nwith expansion:\n  1 == 2\n\n"
                    "===================\n"),
            "t.cpp:14: REQUIRE( size == 2 ) with expansion: 1 == 2");
}

TEST(Assertion, Doctest) {
  EXPECT_EQ(line_of("====================\nt.cpp:5:\nTEST CASE:  push\n\n"
                    "t.cpp:8: ERROR: CHECK( size == 2 ) is NOT correct!\n"
                    "  values: CHECK( 1 == 2 )\n\n====================\n"),
            "t.cpp:8: CHECK( size == 2 ) is NOT correct! values: CHECK( 1 == 2 )");
  EXPECT_EQ(line_of("t.cpp:9: FATAL ERROR: REQUIRE( x ) is NOT correct!\n"),
            "t.cpp:9: REQUIRE( x ) is NOT correct!");
}

TEST(Assertion, BoostTest) {
  EXPECT_EQ(line_of("Running 1 test case...\n"
                    "t.cpp(10): error: in \"queue/push\": check size == 2 has failed [1 != 2]\n"),
            "t.cpp:10: check size == 2 has failed [1 != 2]");
}

TEST(Assertion, ColoursAreLeftOut) {
  EXPECT_EQ(line_of("\x1b[1;31mt.cpp:8: \x1b[0mERROR: CHECK( x ) is NOT correct!\n"),
            "t.cpp:8: CHECK( x ) is NOT correct!");
}

TEST(Assertion, OtherOutputIsNone) {
  EXPECT_EQ(line_of(""), "none");
  EXPECT_EQ(line_of("12:30: Failure\n"), "none") << "no text follows";
  EXPECT_EQ(line_of("what a : Failure\nof all\n"), "none");
  EXPECT_EQ(line_of("a.cc:x: Failure\ntext\n"), "none");
  EXPECT_EQ(line_of("warning: ERROR: bad\n"), "none");
  EXPECT_EQ(line_of("\x1b["), "none");
}

TEST(Assertion, StandardOutputComesFirst) {
  EXPECT_EQ(assertion_in(LastWords{"a.cc:1: Failure\nout\n", "b.cc:2: Failure\nerr\n"})->text,
            "out");
  EXPECT_EQ(assertion_in(LastWords{"quiet\n", "b.cc:2: Failure\nerr\n"})->text, "err");
}

}  // namespace
}  // namespace clew
