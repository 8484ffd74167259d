// What the watches and listeners of a hunt's runs find. A run reports its findings by their keys only
// (abi::FindingKey); one that has a new key is run once more, in a separate process, which tells the
// rest: names, lines, threads.
#ifndef CLEW_HOST_SEARCH_HUNT_FINDINGS_H_
#define CLEW_HOST_SEARCH_HUNT_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "host/search/hunt_result.h"
#include "host/target/run_result.h"

namespace clew {

class HuntFindings {
 public:
  // Whether a run with these keys has to be run again to know what it has found.
  [[nodiscard]] bool wants_run(std::span<const std::uint64_t> keys) const;
  // A run that was made again for this. REQUIRES: its findings are located (host/names/findings.h).
  void learn(const RunResult& run);
  // Counts a run, after it was made again if it had to be. What it did not find again is not counted.
  void count(std::span<const std::uint64_t> keys, std::uint64_t schedule);

  [[nodiscard]] std::vector<CountedFinding> take() { return std::move(found_); }
  // A sentence about what is not listed; empty: everything is.
  [[nodiscard]] std::string lack() const;

 private:
  std::size_t place_of(const Finding& finding);

  std::vector<CountedFinding> found_;
  std::map<std::uint64_t, std::size_t> of_key_;  // keys to found_
  std::map<std::uint64_t, bool> missing_;        // keys that were not found again
  std::uint64_t asked_ = 0;                      // runs that were made again
  bool too_many_ = false;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_FINDINGS_H_
