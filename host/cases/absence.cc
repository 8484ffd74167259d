#include <algorithm>
#include <set>
#include <vector>

#include "host/cases/impossible.h"
#include "host/cases/matching.h"

namespace clew {
namespace {

// Where a run comes to the two events of an order.
struct Visits {
  const LabRun* run = nullptr;
  std::vector<std::size_t> firsts;
  std::vector<std::size_t> seconds;
};

// Whether a thread that may come to the second event has not when the first happens, and does something
// after that: so it could come to it. REQUIRES: no run has the order, so it does not.
bool is_too_late(const Visits& visits, const std::set<abi::ThreadKey>& second_threads) {
  if (visits.firsts.empty()) return false;
  const std::vector<TraceStep>& steps = visits.run->steps;
  const std::size_t first = visits.firsts.front();
  std::set<abi::ThreadKey> came{steps[first].thread};
  for (const std::size_t at : visits.seconds) came.insert(steps[at].thread);
  for (std::size_t at = first + 1; at < steps.size(); ++at)
    if (second_threads.contains(steps[at].thread) && !came.contains(steps[at].thread)) return true;
  return false;
}

}  // namespace

NotPossible reason_in_absence(const Case& one, const EventSites& sites, const Survey& survey,
                              std::span<const LabRun> others) {
  std::vector<const LabRun*> runs;
  for (const LabRun& run : survey.runs()) runs.push_back(&run);
  for (const LabRun& run : others) runs.push_back(&run);
  for (std::size_t i = 0; i < one.orders.size(); ++i) {
    const CaseOrder& order = one.orders[i];
    if (order.kind != CaseOrder::Kind::kBefore) continue;
    const std::size_t a = order.events[0];
    const std::size_t b = order.events[1];
    std::vector<Visits> visits;
    std::set<abi::ThreadKey> second_threads;  // that come to it in some run
    for (const LabRun* run : runs) {
      if (!run->complete || run->verdict != Verdict::kPass) continue;
      const TracedRun traced = survey.traced(*run);
      visits.push_back({run, instances_of(one.events[a], sites[a], traced),
                        instances_of(one.events[b], sites[b], traced)});
      for (const std::size_t at : visits.back().seconds)
        second_threads.insert(run->steps[at].thread);
    }
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(
        visits, [&](const Visits& one_run) { return is_too_late(one_run, second_threads); }));
    if (count < kEnoughRuns) continue;
    NotPossible reason;
    reason.why = NotPossible::Why::kNeverAfter;
    reason.order = i;
    reason.schedules = count;
    return reason;
  }
  return {};
}

}  // namespace clew
