// Schedules that should give a program the order of a case: threads are run up to an event and held
// there while others come to theirs (runtime/strategy/plan.h). Whether a run has the order is seen in
// its trace alone.
#ifndef CLEW_HOST_CASES_STEERING_H_
#define CLEW_HOST_CASES_STEERING_H_

#include <cstddef>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/matching.h"
#include "host/target/job_plan.h"

namespace clew {

// Positions in Case::events, so that all orders hold and events of one thread come as in `match`.
// Empty: the orders contradict each other.
[[nodiscard]] std::vector<std::size_t> sequence_of(const Case& one, const Match& match);

// Plans for the choices that a run offers, at most `most`.
[[nodiscard]] std::vector<JobPlan> steering_plans(const Case& one, const EventSites& sites,
                                                  const TracedRun& run, std::size_t most);

// Random walks that prefer what the orders ask for; `seeds` of them. None for orders other than of
// reads and writes.
[[nodiscard]] std::vector<JobPlan> preferring_plans(const Case& one, const EventSites& sites,
                                                    const Sites& all, std::uint64_t seed,
                                                    std::size_t seeds);

}  // namespace clew

#endif  // CLEW_HOST_CASES_STEERING_H_
