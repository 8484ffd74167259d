// Checks cases: whether the order of each still happens in the program as it is now, and what
// becomes of it.
#ifndef CLEW_HOST_CASES_CHECK_H_
#define CLEW_HOST_CASES_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/cases/check_result.h"
#include "host/error.h"
#include "host/recording/recording.h"
#include "host/search/hunt.h"

namespace clew {

struct CheckOptions {
  std::vector<std::string> files;
  std::string program;       // instead of what the cases name; empty: those
  double seconds = 20;       // for each case; 0: no limit
  std::uint64_t hunt = 200;  // schedules of the hunt around the order; 0: none
  unsigned jobs = 0;
  std::uint64_t seed = 1;
};

// All files below a folder whose name ends like that of a case, sorted.
[[nodiscard]] std::vector<std::string> find_cases(const std::string& folder);

// What a case cannot do is part of its result: one that cannot be read or run hides no other.
[[nodiscard]] CheckResult check_cases(const CheckOptions& options, RecordingStore& store,
                                      HuntObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_CASES_CHECK_H_
