// What was isolated, for people who never heard of delta debugging.
#ifndef CLEW_HOST_REPORT_ISOLATE_TEXT_H_
#define CLEW_HOST_REPORT_ISOLATE_TEXT_H_

#include <cstdint>
#include <string>

#include "host/isolate/isolate.h"
#include "host/outcome.h"

namespace clew {

// How far it came.
enum class Isolated : std::uint8_t {
  kDone,         // what is left is the difference between failing and passing
  kNarrowed,     // ended before that, with a smaller difference than at first
  kAlwaysFails,  // nothing to compare with: no schedule passed
  kNothing,      // ended before there was anything to tell
};
Isolated how_far(const IsolateResult& result);

// kPass: isolated; kUnresolved: not.
Outcome outcome_of(const IsolateResult& result);

// 0 isolated, 122 not isolated, 128 + n interrupted by signal n (docs/exit-status.md).
int exit_status_of(const IsolateResult& result);

// "isolating, 12 tests, 3,800 differences left, about 20 tests to go, 5 s"
std::string status_text(const IsolateStatus& status);

// The first line without "clew: ".
std::string headline(const IsolateResult& result);

// What follows the first line: the failure, the cause in a few sentences, each switch with its
// backtraces, both runs in columns, the figures, what could not be shown, the next commands.
std::string isolate_text(const IsolateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ISOLATE_TEXT_H_
