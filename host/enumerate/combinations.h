// Terms of two or three reads that one run shows together.
#ifndef CLEW_HOST_ENUMERATE_COMBINATIONS_H_
#define CLEW_HOST_ENUMERATE_COMBINATIONS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/enumerate/terms.h"

namespace clew {

class Combinations {
 public:
  explicit Combinations(std::uint32_t together) : together_(together) {}

  struct Combination {
    std::vector<Terms::Number> terms;  // of different reads, ascending
    Witness passing;
    Witness failing;
    std::uint64_t attempts = 0;
    [[nodiscard]] bool seen() const { return passing.runs + failing.runs > 0; }
  };

  // A run showed these terms.
  void learn(const Terms& terms, const Trace& trace, const JobPlan& plan, Verdict verdict,
             std::uint64_t run);
  // The next prefixes to try, for a combination that no run has shown; empty: there is none. Only
  // terms that were seen are combined: a term that cannot be makes all of its combinations
  // impossible.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> propose_next(const Terms& terms);

  [[nodiscard]] const std::vector<Combination>& all() const { return all_; }
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] std::uint32_t together() const { return together_; }

 private:
  // A run in which reads and writes of terms happen.
  struct Base {
    std::shared_ptr<const BaseRun> run;
    std::map<EventKey, StepNumber> steps;  // the first with this key
  };
  void add_all(const Terms& terms);

  std::uint32_t together_;
  std::vector<Combination> all_;
  std::map<std::vector<Terms::Number>, std::size_t> numbers_;
  std::deque<Base> bases_;
  std::size_t known_terms_ = 0;  // seen, when combinations were last made
  std::size_t next_ = 0;
  bool is_cut_ = false;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_COMBINATIONS_H_
