// Why the order of a case cannot happen, as far as the runs of a survey show it.
#ifndef CLEW_HOST_CASES_IMPOSSIBLE_H_
#define CLEW_HOST_CASES_IMPOSSIBLE_H_

#include "host/cases/case_file.h"
#include "host/cases/check_result.h"
#include "host/cases/trial.h"
#include "host/error.h"

namespace clew {

// From the locks that threads hold in all runs of the survey, and from when threads are created and
// joined. kNone: no reason seen.
[[nodiscard]] NotPossible reason_in_runs(const Case& one, const EventSites& sites,
                                         const Survey& survey);

// From executing every schedule, at most `most`. kNone: there are more, or one has the order.
// `tally` counts the runs.
[[nodiscard]] Result<NotPossible> reason_by_exhaustion(const Case& one, const EventSites& sites,
                                                       Survey& survey, std::uint64_t most,
                                                       Tally& tally);

}  // namespace clew

#endif  // CLEW_HOST_CASES_IMPOSSIBLE_H_
