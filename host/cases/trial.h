// A case tried on a program: its events are placed, its order is steered for, and each run is judged
// by its trace. What `clew case new` and `clew check` share.
#ifndef CLEW_HOST_CASES_TRIAL_H_
#define CLEW_HOST_CASES_TRIAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/lab.h"
#include "host/cases/matching.h"
#include "host/cases/placing.h"
#include "host/cases/sites.h"

namespace clew {

// What runs with the order of a case did.
struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t with_order = 0;
  std::uint64_t failed = 0;            // of those with the order
  std::uint64_t failed_otherwise = 0;  // without it
  std::optional<LabRun> failing;       // the first with the order
  std::optional<LabRun> passing;
  std::optional<LabRun> failing_otherwise;
  std::vector<LabRun> ordered;    // some of those with the order that were not in the survey
  std::vector<LabRun> unordered;  // some of those without it, likewise
};

// Runs of a program that were made to know it: the sites that it has, and what its threads do.
class Survey {
 public:
  explicit Survey(Lab& lab) : lab_(lab) {}

  // The run without preemptions, and `count` random ones.
  [[nodiscard]] Result<void> make(std::size_t count);
  // A run that is given, first of all.
  [[nodiscard]] Result<void> add(LabRun run);

  [[nodiscard]] const Sites& sites() const { return sites_; }
  [[nodiscard]] const std::vector<LabRun>& runs() const { return runs_; }
  [[nodiscard]] Lab& lab() const { return lab_; }
  [[nodiscard]] TracedRun traced(const LabRun& run) const;
  // What traced() tells of this run is from now on by its own stacks.
  void learn(const LabRun& run, std::shared_ptr<const RunResult> result);

 private:
  Lab& lab_;
  Sites sites_;
  std::vector<LabRun> runs_;
};

[[nodiscard]] std::vector<Placed> place_events(const Case& one, const Sites& sites);
[[nodiscard]] EventSites sites_of(const std::vector<Placed>& placed);

enum class Until : std::uint8_t { kFailing, kEnd };  // the first run that fails with the order

// At most `most` runs besides those of the survey, which count.
[[nodiscard]] Result<Tally> try_case(const Case& one, const EventSites& sites, Survey& survey,
                                     Until until, std::size_t most);

}  // namespace clew

#endif  // CLEW_HOST_CASES_TRIAL_H_
