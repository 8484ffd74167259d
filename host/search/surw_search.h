// SURW: Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025:
// the part outside the program. Every schedule has a set Delta of interesting events, whose
// interleavings are sampled uniformly (section 3; the walk itself is runtime/strategy/surw.h). That
// needs, for each thread, how many interesting events it is going to execute. As in the
// paper, a first run counts, and Delta is drawn again for every schedule: the accesses to one
// shared object, chosen at random.
//
// Deviations:
//  - An object is eight aligned bytes of memory, or a synchronisation object, that threads
//    contend for (contended(), below). Objects touched at the same places are one group, so the
//    elements of an array count as one object.
//  - Delta is a set of places, because addresses mean nothing to the next run: an event is
//    interesting if it is at a place where the object was accessed.
//  - Half of the draws take all groups as equally likely; the other half weigh a group by its
//    accesses. The first finds what is rarely touched, the second what is contended most; by
//    weight alone a variable that is polled would be the only one.
//  - Of a loop that a thread waits in only the first rounds count (in_loops()), as in the walk itself
//    (runtime/strategy/patient.h).
//  - Counts are means over the traces so far, of which the last few count most. Every
//    kTraceEvery-th job is traced to refresh them, more at first, and the one after a run that met
//    newly shared points. Before the first trace (or if none fits) jobs are runs of pos, unless somebody else's
//    run has been shown (preview()).
#ifndef CLEW_HOST_SEARCH_SURW_SEARCH_H_
#define CLEW_HOST_SEARCH_SURW_SEARCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "clew_abi/job.h"
#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

class SurwSearch final : public Search {
 public:
  // Chosen, not measured: a trace costs time, and counts change slowly.
  static constexpr std::uint64_t kTraceEvery = 32;

  explicit SurwSearch(std::uint64_t seed) : seed_(seed), random_(job_seed(seed, ~0ull)) {}

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;
  // A run of somebody else's: what is learnt from it counts until there is a trace of its own.
  void preview(const JobReport& report);
  // Somebody else's run met newly shared points: there are steps that have not been counted.
  void recount() { wants_trace_ = true; }

 private:
  using Places = std::vector<abi::Place>;  // ascending

  [[nodiscard]] JobPlan propose();
  [[nodiscard]] const Places& draw_delta();
  void learn_from(const JobReport& report);
  void learn_groups(std::span<const TraceStep> trace);
  void learn_counts(std::span<const TraceStep> trace);
  void learn_parents(std::span<const TraceStep> trace);
  // `count` steps over all traces, as a mean.
  [[nodiscard]] std::uint64_t mean(std::uint64_t count) const;

  std::uint64_t seed_;
  Random random_;
  std::uint64_t proposed_ = 0;
  bool wants_trace_ = true;
  bool previewed_ = false;

  std::map<Places, std::uint64_t> groups_;  // accesses in the last trace that had it
  std::uint64_t accesses_ = 0;              // over all groups
  std::map<abi::Place, std::map<abi::ThreadKey, std::uint64_t>> counts_;  // steps over all traces
  std::uint64_t traces_ = 0;
  std::map<abi::ThreadKey, abi::ThreadKey> parents_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_SURW_SEARCH_H_
