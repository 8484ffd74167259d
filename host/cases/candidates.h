// What a failing run has in another order than a passing one: candidates for the orders of a case.
#ifndef CLEW_HOST_CASES_CANDIDATES_H_
#define CLEW_HOST_CASES_CANDIDATES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/lab.h"
#include "host/cases/sites.h"
#include "host/explain/explanation.h"
#include "host/isolate/isolate_result.h"

namespace clew {

struct OrderCandidate {
  CaseOrder::Kind kind = CaseOrder::Kind::kBefore;
  std::vector<std::size_t> steps;  // of OrderCandidates, as CaseOrder::events
  bool same_data = true;
  bool counted = false;  // it matters how often the threads were there before
  bool operator==(const OrderCandidate&) const = default;
};

// A failing run, what it has in another order than passing ones, and where in the source.
struct OrderCandidates {
  // Behind the steps of the run, those of passing runs that it does not come to.
  std::vector<TraceStep> steps;
  std::vector<SiteId> sites;
  std::vector<OrderCandidate> all;
  // Of these the ones that say together why a deadlock is one: each thread of the circle has taken its lock
  // before another one comes to take it; then the same by how often they were there, which matters in loops.
  // Empty: it is no such deadlock.
  std::vector<std::vector<std::size_t>> cycles;
};

// The most telling first: those of a circle of locks, of the cause that was explained and of the critical pair, then those whose reads see another write than
// in one of the passing runs, then threads between two accesses of another one, then all others whose order differs.
[[nodiscard]] OrderCandidates order_candidates(const LabRun& failing, const Sites& sites,
                                               const std::vector<const LabRun*>& passing,
                                               const std::optional<CriticalPair>& pair,
                                               const std::optional<Cause>& cause);

// The events and orders of these candidates, in terms of the program.
void describe(const std::vector<OrderCandidate>& chosen, const OrderCandidates& from,
              const Sites& sites, Case& one);

}  // namespace clew

#endif  // CLEW_HOST_CASES_CANDIDATES_H_
