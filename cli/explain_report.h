// What `clew explain` and `clew debug` print alike.
#ifndef CLEW_CLI_EXPLAIN_REPORT_H_
#define CLEW_CLI_EXPLAIN_REPORT_H_

#include <string>

#include "host/explain/explanation.h"

namespace clew::cli {

// The first line on standard error. The story on standard output, or with the first line if JSON goes
// there. With --full all steps of it.
void print_explained(const Explanation& explanation, const std::string& json);

// What was not explained may be so because the program has no table of symbols: one line.
void tell_if_stripped(const std::string& program);

}  // namespace clew::cli

#endif  // CLEW_CLI_EXPLAIN_REPORT_H_
