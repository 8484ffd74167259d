// The search behind `clew enumerate`: a run for each write that a read may see.
//
// Policy. The first run preempts nothing. From each trace come terms: pairs of a read and a write
// of the same bytes. Those that no run has shown are tried one after the other, by rearranging the
// steps of a trace in which both happen (rearrangement.h); pairs of places that were never seen
// come first, then other threads and instances of them. What a run shows is read from its trace, so
// a run that was made for one term may show others, and brings new ones. When there is nothing to
// try, every schedule is executed in turn, with samples in between (wander.h): in small programs
// that ends, and then what was not seen is impossible; in others the search ends when nothing is
// open and many runs have brought nothing (EnumerateSearchOptions). Combinations of terms of
// two or three reads are tried like terms, once those have been.
//
// A term that nothing rules out in every schedule, but that each of many runs orders the other way
// by what it has read and waited for (flags, semaphores, condition variables), counts as impossible
// when the search has come to rest: everything was tried, and nothing is new any more.
#ifndef CLEW_HOST_ENUMERATE_ENUMERATE_SEARCH_H_
#define CLEW_HOST_ENUMERATE_ENUMERATE_SEARCH_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/enumerate/combinations.h"
#include "host/enumerate/terms.h"
#include "host/enumerate/wander.h"
#include "host/search/search.h"

namespace clew {

struct EnumerateSearchOptions {
  std::uint64_t seed = 1;
  std::set<abi::Place> places;  // reads there alone; empty: all
  std::uint32_t together = 1;   // reads that are chosen for at a time: 1, 2 or 3
  std::uint32_t later_instances = kLaterInstances;
  // The search is at rest when so many runs have brought nothing, or more if what is new came late.
  std::uint64_t quiet = 400;
  // Then it ends, if nothing is open. kExhausted: only when every schedule was executed.
  enum class End : std::uint8_t { kAtRest, kExhausted };
  End end = End::kAtRest;
  // Then nothing more is planned, and runs are counted without being looked at. Empty: never.
  std::function<bool()> time_is_up = {};
};

enum class TermStatus : std::uint8_t { kSeen, kImpossible, kOpen };

class EnumerateSearch {
 public:
  explicit EnumerateSearch(EnumerateSearchOptions options);

  // For the hunt. REQUIRES: this outlives it.
  [[nodiscard]] std::unique_ptr<Search> search();

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most);
  void learn(const JobPlan& plan, const JobReport& report);

  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] const Combinations& combinations() const { return combinations_; }
  [[nodiscard]] TermStatus status(const Term& term) const;
  // Why it is impossible.
  [[nodiscard]] OrderReason reason(const Term& term) const;
  [[nodiscard]] bool exhausted() const { return wander_.exhausted(); }
  [[nodiscard]] std::string untried() const { return wander_.untried(); }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // Whether a run came to the place.
  [[nodiscard]] bool executed(abi::Place place) const { return executed_.contains(place); }
  // Runs whose traces were too long to be looked at, or not kept.
  [[nodiscard]] std::uint64_t not_looked_at() const { return not_looked_at_; }
  // Runs that came when the time was up.
  [[nodiscard]] std::uint64_t too_late() const { return too_late_; }
  using Coverage = PairCoverage;
  // Of reads with a choice: with more than one term.
  [[nodiscard]] Coverage coverage() const;

  // Jobs to keep as recordings, when the hunt is over.
  [[nodiscard]] std::vector<Search::Keep> to_keep();
  void kept(std::size_t which, std::optional<std::uint64_t> recording);
  [[nodiscard]] std::optional<std::uint64_t> recording(const Term& term, Verdict verdict) const;
  [[nodiscard]] std::optional<std::uint64_t> recording(const Combinations::Combination& combination,
                                                       Verdict verdict) const;
  // Whether it fails in all runs that show it, though none of its terms does.
  [[nodiscard]] bool fails_together(const Combinations::Combination& combination) const;
  // One that differs in one read alone, and passes; nothing: there is none.
  [[nodiscard]] const Combinations::Combination* passing_beside(
      const Combinations::Combination& combination) const;

 private:
  struct Target {
    Terms::Number term = 0;
    std::shared_ptr<const BaseRun> base;
    Aim aim;
    std::vector<std::vector<std::uint32_t>> prefixes;  // still to be tried, the next last
    bool expanded = false;
  };
  enum Urgency : std::uint8_t { kNewPlaces, kFirstInstances, kRest, kUrgencies };

  [[nodiscard]] bool time_is_up() const { return options_.time_is_up && options_.time_is_up(); }
  // So many plans at a time that their traces fit into memory.
  [[nodiscard]] std::size_t most_at_once(std::size_t most) const;
  [[nodiscard]] Urgency urgency(const Term& term) const;
  // Everything was tried, and many runs have brought nothing new.
  [[nodiscard]] bool rests() const;
  // Many runs have both events, and each of them orders them.
  [[nodiscard]] bool always_ordered(const Term& term) const;
  void add_directed(std::size_t most, std::vector<JobPlan>& plans);
  void add_combined(std::size_t most, std::vector<JobPlan>& plans);
  void take_candidates(const Trace& trace, const std::vector<Terms::Candidate>& candidates);
  // Of terms and of combinations.
  void keep(const Witness& witness, Verdict verdict);
  void keep_combinations();
  using SeenTerms = std::map<EventKey, std::vector<const Term*>>;  // by read
  void keep_most_failing(const SeenTerms& of_read);
  [[nodiscard]] std::optional<std::uint64_t> recording_of(const Witness& witness,
                                                          Verdict verdict) const;

  EnumerateSearchOptions options_;
  Terms terms_;
  Combinations combinations_;
  Wander wander_;
  std::size_t base_steps_ = 0;  // of the runs that targets have, which take them off in the end
  std::array<std::deque<Target>, kUrgencies> targets_;
  std::set<std::vector<std::uint8_t>> proposed_;  // guides of directed runs
  std::unordered_set<abi::Place> executed_;
  std::uint64_t runs_ = 0;
  std::uint64_t last_brought_ = 0;  // the last run that brought a term, or showed a new one
  std::uint64_t not_looked_at_ = 0;
  std::uint64_t too_late_ = 0;
  std::size_t longest_ = 0;      // trace
  std::uint64_t next_look_ = 0;  // at what is open
  struct Kept {
    std::shared_ptr<const JobPlan> plan;
    Verdict verdict = Verdict::kPass;
    std::optional<std::uint64_t> recording;
  };
  std::vector<Kept> kept_;
};

// For hunts that want nothing but failures and the coverage.
[[nodiscard]] std::unique_ptr<Search> make_enumerate_search(std::uint64_t seed);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_ENUMERATE_SEARCH_H_
