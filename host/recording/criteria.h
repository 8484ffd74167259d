// What counts as a failure, as values; host/search/criteria.h applies them.
#ifndef CLEW_HOST_RECORDING_CRITERIA_H_
#define CLEW_HOST_RECORDING_CRITERIA_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "host/outcome.h"

namespace clew {

struct Criteria {
  std::optional<std::string> fails_if_output;      // ECMAScript regular expression
  std::optional<std::string> fails_unless_output;  // likewise
  bool fails_if_output_differs = false;            // from the first run's
  std::optional<std::string> judge;                // shell command: output on its standard input
  std::vector<FailureKind> only;                   // others are unresolved

  bool operator==(const Criteria&) const = default;

  // Whether the output of passing runs has to be looked at.
  [[nodiscard]] bool need_output() const {
    return fails_if_output || fails_unless_output || fails_if_output_differs || judge ||
           std::ranges::find(only, FailureKind::kSanitizer) != only.end();
  }
};

// A run that only the criteria of a hunt call a failure.
struct Judged {
  Criteria criteria;
  FailureKind kind = FailureKind::kOutput;
  std::string detail;  // one line for people

  bool operator==(const Judged&) const = default;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_CRITERIA_H_
