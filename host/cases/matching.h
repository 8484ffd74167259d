// Whether a run has the order of a case: its events found among the steps of a trace.
#ifndef CLEW_HOST_CASES_MATCHING_H_
#define CLEW_HOST_CASES_MATCHING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/sites.h"
#include "host/trace/trace.h"

namespace clew {

// A run as a case sees it.
struct TracedRun {
  std::span<const TraceStep> steps;
  std::vector<SiteId> sites;  // of each step
  bool failed = false;        // events that were still to come may be missing
};

// For each event of the case the position of its step; nothing: it did not come any more, or no
// order needs it.
using Match = std::vector<std::optional<std::size_t>>;

// `sites`: of each event of the case, ascending.
using EventSites = std::vector<std::vector<SiteId>>;

// The first match found. Nothing: the run has another order.
[[nodiscard]] std::optional<Match> find_match(const Case& one, const EventSites& sites,
                                              const TracedRun& run);

// Steps that could be the events of the case if the threads came in another order: of one thread
// and the same data where the case says so. visit(match) returns whether to continue.
enum class Choices : std::uint8_t { kAll, kSome };  // kSome: there are too many to visit them all
Choices each_choice(const Case& one, const EventSites& sites, const TracedRun& run,
                    const std::function<bool(const Match&)>& visit);

// The steps that are the event, in order: those at its sites, of the right time.
[[nodiscard]] std::vector<std::size_t> instances_of(const CaseEvent& event,
                                                    const std::vector<SiteId>& sites,
                                                    const TracedRun& run);

[[nodiscard]] bool same_data(const TraceStep& a, const TraceStep& b);

}  // namespace clew

#endif  // CLEW_HOST_CASES_MATCHING_H_
