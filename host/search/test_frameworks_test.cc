#include "host/search/test_frameworks.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "host/search/boost_tests.h"

namespace clew {
namespace {

using Names = std::vector<std::string>;

TEST(TestFrameworks, GoogleTestList) {
  EXPECT_EQ(
      google_test_names("Running main() from gtest_main.cc\n"
                        "Queue.\n  Push\n  Pop\n"
                        "Typed/0.  # TypeParam = int\n  Works\n"
                        "Inst/P.\n  Case/0  # GetParam() = 3\n  Case/1  # GetParam() = \"a b\"\n"),
      (Names{"Queue.Push", "Queue.Pop", "Typed/0.Works", "Inst/P.Case/0", "Inst/P.Case/1"}));
  EXPECT_EQ(google_test_names("loading.\n  done with it\nthis is\n  indented\n"), Names{});
  EXPECT_EQ(google_test_names(""), Names{});
}

TEST(TestFrameworks, Catch2List) {
  EXPECT_EQ(catch2_names("plain\n\"# hash\"\n\"quoted\"\nwith, comma\n"),
            (Names{"plain", "# hash", "\"quoted\"", "with, comma"}));
}

TEST(TestFrameworks, DoctestList) {
  EXPECT_EQ(doctest_names("hello\n[doctest] listing all test case names\n"
                          "=====================\nplain\n  Scenario: x\nplain\n"
                          "=====================\n"
                          "[doctest] unskipped test cases passing the current filters: 3\nbye\n"),
            (Names{"plain", "  Scenario: x"}));
}

TEST(TestFrameworks, GoogleTestArguments) {
  EXPECT_EQ(
      arguments_for(TestFramework::kGoogleTest, {"./t", "--gtest_filter=Q*:-Q.x", "data"}, "Q.a/0"),
      (Names{"./t", "--gtest_filter=Q.a/0", "data"}));
}

TEST(TestFrameworks, Catch2Arguments) {
  EXPECT_EQ(arguments_for(TestFramework::kCatch2,
                          {"./t", "[queue]", "-r", "xml", "other", "--order=rand", "-s"}, "a"),
            (Names{"./t", "-r", "xml", "--order=rand", "-s", "a"}));
  EXPECT_EQ(arguments_for(TestFramework::kCatch2, {"./t"}, "a, b [c] \\ \"d\"").back(),
            "a\\, b \\[c\\] \\\\ \\\"d\\\"");
  EXPECT_EQ(arguments_for(TestFramework::kCatch2, {"./t"}, "~a").back(), "\\~a");
}

TEST(TestFrameworks, DoctestArguments) {
  EXPECT_EQ(arguments_for(TestFramework::kDoctest, {"./t", "-tc=a*", "--dt-test-case=b", "-s"},
                          "one, two *"),
            (Names{"./t", "-s", "--dt-test-case=one? two ?", "--dt-case-sensitive=true"}));
}

TEST(TestFrameworks, BoostTestList) {
  EXPECT_EQ(
      boost_test_names("ready.\n"
                       "counter*\n    safe*\n    racy*: lost: or not*\n    off \n"
                       "    typed<int*>*\n"
                       "inner*\n    deep*\n        one*: x\n        two : off\n    empty \n"
                       "off : all of it\n    in_it*\nlast*\n"),
      (Names{"counter/safe", "counter/racy", "counter/typed<int*>", "inner/deep/one", "last"}));
  EXPECT_EQ(boost_test_names("usage: program\n  -h help\n"), Names{});
  EXPECT_EQ(boost_test_names(""), Names{});
}

TEST(TestFrameworks, BoostTestFilters) {
  const Names all{"a/one", "a/two", "b/one", "b/in/two", "last"};
  const auto selected = [&](const Names& arguments) {
    Names names = all;
    return select_boost_tests(arguments, names) ? names : Names{"error"};
  };
  EXPECT_EQ(selected({"./t", "--log_level=all"}), all);
  EXPECT_EQ(selected({"./t", "--run_test=a"}), (Names{"a/one", "a/two"}));
  EXPECT_EQ(selected({"./t", "-t", "a,b/one"}), (Names{"a/one", "b/one"}));
  EXPECT_EQ(selected({"./t", "-t", "*/t*", "--run_test=last"}), (Names{"a/two", "last"}));
  EXPECT_EQ(selected({"./t", "-tb/in:last"}), (Names{"b/in/two", "last"}));
  EXPECT_EQ(selected({"./t", "--", "-t", "a"}), all);
  EXPECT_EQ(selected({"./t", "--run_test=none"}), Names{});
  EXPECT_EQ(selected({"./t", "--run_test=!a"}), Names{"error"});
  EXPECT_EQ(selected({"./t", "--run_test=@slow"}), Names{"error"});
}

TEST(TestFrameworks, BoostTestArguments) {
  const auto arguments = [](const Names& given, const char* name) {
    return arguments_for(TestFramework::kBoostTest, given, name);
  };
  EXPECT_EQ(arguments({"./t", "-t", "b", "--log_level=all", "--", "-t", "mine"}, "a/one"),
            (Names{"./t", "--run_test=a/one", "--catch_system_errors=no", "--log_level=all", "--",
                   "-t", "mine"}));
  EXPECT_EQ(arguments({"./t", "--catch_system_errors=yes"}, "a/f<int, long>/x"),
            (Names{"./t", "--run_test=a/f<int*/x", "--catch_system_errors=yes"}));
}

// A script in the program's place.
class Listing : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/clew_test_frameworks_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  LaunchPlan plan(const std::string& body, Names arguments = {}) {
    const std::string path = folder_ / "program";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0700);
    LaunchPlan plan;
    plan.program = path;
    plan.shown = "program";
    plan.arguments = {path};
    plan.arguments.insert(plan.arguments.end(), arguments.begin(), arguments.end());
    plan.environment = {"PATH=/usr/bin:/bin", "GTEST_OUTPUT=xml:here"};
    plan.working_folder = folder_;
    return plan;
  }
  static Names names(const TestList& list) {
    Names result;
    for (const TestCase& one : list.cases) result.push_back(one.name);
    return result;
  }
  std::filesystem::path folder_;
};

TEST_F(Listing, GoogleTest) {
  const auto list =
      list_tests(plan("case \"$*\" in *--gtest_list_tests*) [ -z \"$GTEST_OUTPUT\" ] && "
                      "printf 'Q.\\n  a\\n  DISABLED_b\\nDISABLED_R.\\n  c\\n';; esac\n"));
  ASSERT_TRUE(list.has_value()) << list.error().message;
  EXPECT_EQ(list->framework, TestFramework::kGoogleTest);
  EXPECT_EQ(names(*list), (Names{"Q.a"}));
  EXPECT_EQ(list->cases[0].group, "Q");
}

TEST_F(Listing, Catch2OfBothVersions) {
  // Version 2 exits with the number of tests.
  const auto two = list_tests(plan(
      "case \"$*\" in --libidentify) printf 'framework:      Catch Test\\nversion: 2.13.10\\n';;\n"
      "*'--list-test-names-only') printf 'one\\ntwo, three\\n'; exit 2;; esac\n"));
  ASSERT_TRUE(two.has_value()) << two.error().message;
  EXPECT_EQ(two->framework, TestFramework::kCatch2);
  EXPECT_EQ(names(*two), (Names{"one", "two, three"}));
  const auto three = list_tests(plan(
      "case \"$*\" in --libidentify) printf 'framework:      Catch2\\nversion:     3.4.0\\n';;\n"
      "'[q] --list-tests --verbosity quiet') printf 'one\\n';; *) exit 255;; esac\n",
      {"[q]", "-r", "xml"}));
  ASSERT_TRUE(three.has_value()) << three.error().message;
  EXPECT_EQ(names(*three), (Names{"one"}));
  EXPECT_EQ(Names(three->cases[0].arguments.begin() + 1, three->cases[0].arguments.end()),
            (Names{"-r", "xml", "one"}));
}

// What it prints in its help stands in the program.
TEST_F(Listing, Acutest) {
  const std::string body =
      "# Same as --exec=never\n"
      "case \"$*\" in --list) printf 'ready\\nUnit tests:\\n  one\\n  two words\\n';; esac\n";
  const auto all = list_tests(plan(body, {"--verbose=3"}));
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(all->framework, TestFramework::kAcutest);
  EXPECT_EQ(names(*all), (Names{"one", "two words"}));
  EXPECT_EQ(Names(all->cases[1].arguments.begin() + 1, all->cases[1].arguments.end()),
            (Names{"--verbose=3", "--exec=never", "two words"}));
  const auto one = list_tests(plan(body, {"one"}));
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_EQ(names(*one), (Names{"one"}));
}

TEST_F(Listing, Doctest) {
  const auto list =
      list_tests(plan("case \"$*\" in -tc=x*\\ --dt-list-test-cases*) echo '[doctest] listing all "
                      "test case names'; "
                      "echo xy;; esac\n",
                      {"-tc=x*", "-r=xml"}));
  ASSERT_TRUE(list.has_value()) << list.error().message;
  EXPECT_EQ(list->framework, TestFramework::kDoctest);
  EXPECT_EQ(names(*list), (Names{"xy"}));
}

TEST_F(Listing, NoFramework) {
  for (const char* body : {"echo hello\n", "exit 1\n", "kill -9 $$\n", "cat\n"}) {
    const auto list = list_tests(plan(body));
    ASSERT_FALSE(list.has_value()) << body;
    EXPECT_EQ(list.error().message,
              "program is not a GoogleTest, Catch2, doctest, Boost.Test or acutest program");
  }
}

TEST_F(Listing, FilterThatMatchesNothing) {
  const auto list = list_tests(plan("# gtest_list_tests\n", {"--gtest_filter=x"}));
  ASSERT_FALSE(list.has_value());
  EXPECT_EQ(list.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace clew
