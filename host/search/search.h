// A search proposes schedules and learns from what became of them. It runs nothing itself: the
// hunt (hunt.h) takes jobs from it in rounds, runs a round's jobs on all cores, and hands the
// reports back in the order of the proposals. So a search is a deterministic function of its seed
// and of the reports, however many cores there are, and can be tested with a simulated program.
#ifndef CLEW_HOST_SEARCH_SEARCH_H_
#define CLEW_HOST_SEARCH_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/job.h"
#include "host/outcome.h"
#include "host/target/job_plan.h"
#include "host/trace/trace.h"

namespace clew {

struct JobReport {
  abi::JobResult result{};
  Verdict verdict = Verdict::kPass;
  bool new_interleaving = false;  // none of the hunt's runs before had this result.interleaving
  Trace trace;                    // with kJobTrace
  // Of one that fails: its position in HuntResult::failures. Nothing: it is not listed there.
  std::optional<std::size_t> failure = {};
  std::vector<std::uint32_t> shared_points = {};  // newly found to touch what threads share
};

// Whoever wants to see the jobs of a hunt and what became of them.
class ReportListener {
 public:
  virtual ~ReportListener() = default;
  // In the order of the proposals, all of a round before the next is proposed.
  virtual void learn(const JobPlan& plan, const JobReport& report) = 0;
};

// Of the pairs of a write and a read that a search knows: how many a run has shown.
struct PairCoverage {
  std::uint64_t seen = 0;
  std::uint64_t impossible = 0;
  std::uint64_t open = 0;  // neither
};

class Search : public ReportListener {
 public:
  // Guides are made by guides.h. Jobs need kJobAllPoints only to see every access; the hunt adds
  // it to jobs before it knows what threads share.
  //
  // At most `most` jobs, perhaps fewer. None: the search is over, there is nothing left to try.
  [[nodiscard]] virtual std::vector<JobPlan> next(std::size_t most) = 0;
  // Whether what threads share is known well enough: what later jobs show of it changes nothing.
  [[nodiscard]] virtual bool sharing_is_settled() const { return false; }
  // What the last next() drew on, for the status line ("pos").
  [[nodiscard]] virtual std::string using_now() const = 0;
  // Nothing: it does not look for them.
  [[nodiscard]] virtual std::optional<PairCoverage> coverage() const { return std::nullopt; }
  // When the search is over, in whatever way: jobs that are to be run once more and kept as
  // recordings, if the verdict is the same again, in this order.
  struct Keep {
    JobPlan plan;
    Verdict verdict = Verdict::kPass;
  };
  [[nodiscard]] virtual std::vector<Keep> to_keep() { return {}; }
  // The number of the recording; nothing: there is none.
  virtual void kept(std::size_t which, std::optional<std::uint64_t> recording) {
    (void)which, (void)recording;
  }
  // When the search is over: what that means, as a sentence ("all 36 schedules with at most 2
  // preemptions pass"). Nothing: nothing can be said.
  [[nodiscard]] virtual std::optional<std::string> conclusion() const { return std::nullopt; }
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_SEARCH_H_
