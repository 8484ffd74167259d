// The assertion by which a test framework says that a test has failed. It ends the program with a
// status that says no more than that; the text and the line stand in what it has printed.
#ifndef CLEW_HOST_REPORT_ASSERTION_H_
#define CLEW_HOST_REPORT_ASSERTION_H_

#include <optional>
#include <string>
#include <string_view>

#include "host/report/symptom.h"

namespace clew {

struct Assertion {
  std::string text;   // one line: "Expected equality of these values: size Which is: 1 2"
  std::string place;  // "queue.cc:42"; empty: the framework did not say
};

// The first that GoogleTest, Catch2, doctest or Boost.Test reports in `output`. Nothing: there is
// none. The output is the program's: anything may stand before, after and in between.
std::optional<Assertion> assertion_in(std::string_view output);
// Of standard output, otherwise of standard error.
std::optional<Assertion> assertion_in(const LastWords& words);

// "queue.cc:42: Expected equality of these values: ..."
std::string assertion_line(const Assertion& assertion);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ASSERTION_H_
