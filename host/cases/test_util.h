// A case for tests.
#ifndef CLEW_HOST_CASES_TEST_UTIL_H_
#define CLEW_HOST_CASES_TEST_UTIL_H_

#include "host/cases/case_file.h"

namespace clew {

inline Case example_case() {
  Case one;
  one.program = "../build/calc";
  one.arguments = {"21", "a \"quoted\" \\ one\n"};
  one.failure = FailureKind::kSignal;
  one.detail = "SIGFPE";
  one.found = "hunt";
  one.criteria.fails_if_output = "lost [0-9]+";
  one.criteria.only = {FailureKind::kSignal};
  one.events.push_back(
      {"a",
       1,
       0,
       {abi::StepKind::kWrite, "n", "reset", "calc.cpp", {"n", "=", "0", ";"}, "n = 0;", 2}});
  one.events.push_back({"b",
                        2,
                        3,
                        {abi::StepKind::kRead,
                         "n",
                         "divide",
                         "calc.cpp",
                         {"return", "21", "/", "n", ";"},
                         "return 21 / n;",
                         1}});
  one.orders.push_back({CaseOrder::Kind::kSees, {1, 0}, true});
  one.orders.push_back({CaseOrder::Kind::kBefore, {0, 1}, false});
  return one;
}

}  // namespace clew

#endif  // CLEW_HOST_CASES_TEST_UTIL_H_
