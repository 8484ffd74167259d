// RFF: Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing for Concurrency Testing",
// ASPLOS 2024: the fuzzer. (The scheduler that follows an abstract schedule is
// runtime/strategy/rff.h.)
//
// An abstract schedule is a set of constraints "the read at place r reads what was written at place
// w", or "... does not". A corpus of them begins with the empty one. One is taken from the corpus,
// mutated (a constraint is inserted, deleted, swapped for another, or negated) and run. What
// is observed of the run is its reads-from pairs, and their set is the run's signature. The
// mutant joins the corpus if a pair or the signature is new. How many mutants are made of an
// entry is the paper's power schedule, the cut-off exponential one of AFLFast: none while its
// signature has been seen more often than signatures have on average; otherwise twice as many
// each time it is taken, up to kMostEnergy.
//
// Constraints are drawn from pairs of contended accesses to the same bytes that were seen in any
// trace, whether or not one was seen to read from the other. The initial value is offered as w (0)
// unless something was written there before there were threads.
//
// Deviations:
//  - An event is a place; the paper's is a place and a variable (runtime/strategy/rff.h).
//  - When a whole turn of the corpus has no energy, the entry with the rarest signature is taken.
//  - A run that failed is not added: its mutants would mostly find the same failure again.
//  - A mutant that is in the corpus already is not added twice; it takes the newest signature.
//  - Bounds, for a trace may be long and a hunt too: kMostEvents of a trace, kMostPairs to draw
//    from, kMostEntries (beyond it the one with the commonest signature goes), kMostConstraints.
#ifndef CLEW_HOST_SEARCH_RFF_SEARCH_H_
#define CLEW_HOST_SEARCH_RFF_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clew_abi/job.h"
#include "host/search/guides.h"
#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

// A write, or 0 for the initial value, and a read.
using ReadsFrom = std::pair<abi::Place, abi::Place>;

struct ReadsFromPairs {
  std::vector<ReadsFrom> observed;  // of contended reads; ascending
  std::vector<ReadsFrom> possible;  // ascending
};
[[nodiscard]] ReadsFromPairs reads_from(std::span<const TraceStep> trace);

class RffSearch final : public Search {
 public:
  // Limits of memory and time, not of the method: chosen, not measured.
  static constexpr std::size_t kMostEvents = 100'000;
  static constexpr std::size_t kMostPairs = 4096;
  static constexpr std::size_t kMostEntries = 1024;
  static constexpr std::size_t kMostConstraints = 24;
  static constexpr std::uint64_t kMostEnergy = 64;

  explicit RffSearch(std::uint64_t seed) : seed_(seed), random_(job_seed(seed, ~0ull)) {}

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;

  [[nodiscard]] std::size_t corpus_size() const { return corpus_.size(); }

 private:
  using AbstractSchedule = std::vector<RffConstraint>;  // ascending by (write, read), no two equal
  struct Entry {
    AbstractSchedule schedule;
    std::uint64_t signature = 0;
    std::uint32_t taken = 0;
  };

  [[nodiscard]] AbstractSchedule next_schedule();
  // Where the variables are written whose initial values it asks for.
  [[nodiscard]] std::vector<abi::Place> rivals_of(const AbstractSchedule& schedule) const;
  [[nodiscard]] AbstractSchedule mutate(AbstractSchedule schedule);
  void insert_constraint(AbstractSchedule& schedule);
  void take_next_entry();
  [[nodiscard]] std::uint64_t energy_of(const Entry& entry) const;
  [[nodiscard]] std::uint64_t frequency_of(const Entry& entry) const;
  // Whether one of the pairs was new.
  bool note(const ReadsFromPairs& pairs);
  void add(AbstractSchedule schedule, std::uint64_t signature);

  std::uint64_t seed_;
  Random random_;
  std::uint64_t proposed_ = 0;
  std::deque<AbstractSchedule> running_;  // proposed, not yet reported

  std::vector<Entry> corpus_;
  std::size_t current_ = 0;
  std::uint64_t energy_ = 0;  // mutants still to be made of it

  std::set<ReadsFrom> observed_;
  std::set<ReadsFrom> offered_;
  std::vector<ReadsFrom> pool_;                                   // the same as offered_
  std::unordered_map<std::uint64_t, std::uint64_t> frequencies_;  // of signatures
  std::uint64_t runs_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_RFF_SEARCH_H_
