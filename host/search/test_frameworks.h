// The test cases of a GoogleTest, Catch2, doctest, Boost.Test or acutest program, so that each can be
// hunted by itself.
#ifndef CLEW_HOST_SEARCH_TEST_FRAMEWORKS_H_
#define CLEW_HOST_SEARCH_TEST_FRAMEWORKS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/target/launch_plan.h"

namespace clew {

enum class TestFramework : std::uint8_t {
  kGoogleTest,
  kCatch2,
  kDoctest,
  kBoostTest,
  kAcutest,
  kOwnChildren,  // none that is known: the program forks its test cases
};

const char* to_word(TestFramework framework);  // "GoogleTest"

struct TestCase {
  std::string name;   // as the framework lists it: "Queue.Push"
  std::string group;  // GoogleTest's or Boost.Test's suite: "Queue"; otherwise empty
  std::vector<std::string> arguments;  // argv that runs this case alone
  std::uint32_t child = 0;             // run as this child process that the program forks; 0: no
};

struct TestList {
  TestFramework framework = TestFramework::kGoogleTest;
  std::vector<TestCase> cases;  // in the order of the program's own list, at least one
};

// Asks the program itself, run natively. Which framework it is made with is looked up in the file
// first; if that says nothing (the framework is in a library) all are tried. A filter among
// the program's arguments is honoured; in the arguments of the cases theirs takes its place.
[[nodiscard]] Result<TestList> list_tests(const LaunchPlan& plan);

// What the frameworks print, as names. Nothing: it is no such list. Program output: anything may
// come before and in between.
std::vector<std::string> google_test_names(std::string_view list);
std::vector<std::string> catch2_names(std::string_view list);
std::vector<std::string> doctest_names(std::string_view list);
std::vector<std::string> acutest_names(std::string_view list);

// The arguments that run one case: `arguments` without the user's own filter, with one for `name`.
std::vector<std::string> arguments_for(TestFramework framework,
                                       const std::vector<std::string>& arguments,
                                       std::string_view name);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_TEST_FRAMEWORKS_H_
