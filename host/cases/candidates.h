// What a failing run has in another order than a passing one: candidates for the orders of a case.
#ifndef CLEW_HOST_CASES_CANDIDATES_H_
#define CLEW_HOST_CASES_CANDIDATES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/lab.h"
#include "host/cases/sites.h"
#include "host/isolate/isolate_result.h"

namespace clew {

struct OrderCandidate {
  CaseOrder::Kind kind = CaseOrder::Kind::kBefore;
  std::vector<std::size_t> steps;  // of the failing run, as CaseOrder::events
  bool same_data = true;
  bool counted = false;  // it matters how often the threads were there before
  bool operator==(const OrderCandidate&) const = default;
};

// The most telling first: those of the critical pair, then those whose reads see another write, then
// all others whose order differs. `sites`: of the failing run.
[[nodiscard]] std::vector<OrderCandidate> order_candidates(const LabRun& failing,
                                                           const std::vector<SiteId>& sites,
                                                           const std::optional<LabRun>& passing,
                                                           const std::optional<CriticalPair>& pair);

// The events and orders of these candidates, in terms of the program.
void describe(const std::vector<OrderCandidate>& chosen, const LabRun& failing,
              const std::vector<SiteId>& of_failing, const Sites& sites, Case& one);

}  // namespace clew

#endif  // CLEW_HOST_CASES_CANDIDATES_H_
