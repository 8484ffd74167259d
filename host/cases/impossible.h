// Why the order of a case cannot happen, as far as the runs of a survey show it.
#ifndef CLEW_HOST_CASES_IMPOSSIBLE_H_
#define CLEW_HOST_CASES_IMPOSSIBLE_H_

#include <cstdint>
#include <span>

#include "host/cases/case_file.h"
#include "host/cases/check_result.h"
#include "host/cases/trial.h"
#include "host/error.h"

namespace clew {

// Runs that have the events, so that what they have read before is a reason. Chosen, not measured.
inline constexpr std::uint64_t kEnoughRuns = 20;

// From what the events are now: one atomic step. kNone: no reason seen.
[[nodiscard]] NotPossible reason_in_code(const Case& one, const EventSites& sites,
                                         const Survey& survey);

// From what is not there any more: a variable that all events of an order are about, while nothing
// like the statement of one of them was found. REQUIRES: `placed` of all events.
[[nodiscard]] NotPossible reason_in_names(const Case& one, const std::vector<Placed>& placed,
                                          const Survey& survey);

// From what orders the events in all runs of the survey and in these others: the locks that threads
// hold, their creation and join, barriers, what they have read or waited for before
// (host/enumerate/must_order.h). kNone: no reason seen.
enum class Placing : std::uint8_t { kSure, kNearest };  // kNearest: an event may be another one
[[nodiscard]] NotPossible reason_in_runs(const Case& one, const EventSites& sites,
                                         const Survey& survey, std::span<const LabRun> others,
                                         Placing placing);

// From what comes of the first event of an order: in many of these runs it comes before a thread has
// come to the second, and then that thread, which comes there in others, does not. REQUIRES: no run has the order.
[[nodiscard]] NotPossible reason_in_absence(const Case& one, const EventSites& sites,
                                            const Survey& survey, std::span<const LabRun> others);

// From executing every schedule, at most `most`. kNone: there are more, or one has the order.
// `tally` counts the runs.
[[nodiscard]] Result<NotPossible> reason_by_exhaustion(const Case& one, const EventSites& sites,
                                                       Survey& survey, std::uint64_t most,
                                                       Tally& tally);

}  // namespace clew

#endif  // CLEW_HOST_CASES_IMPOSSIBLE_H_
