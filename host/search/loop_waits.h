// Whether threads of the program that wait in loops are worth the time that strategies give them to
// leave these by themselves (runtime/strategy/patient.h). A loop that polls some hundred times and
// then gives up has to be given it, or what comes after it is hardly ever seen. A spin lock is not
// left that way, and with several threads that spin nearly all of a hunt's time would be spent so.
#ifndef CLEW_HOST_SEARCH_LOOP_WAITS_H_
#define CLEW_HOST_SEARCH_LOOP_WAITS_H_

#include <cstdint>

#include "clew_abi/job.h"
#include "host/target/job_plan.h"

namespace clew {

class LoopWaits {
 public:
  // Chosen, not measured: so many runs in vain say that further ones are, unless one in so many was
  // not; one in so many still tries.
  static constexpr std::uint64_t kEnoughInVain = 8;
  static constexpr std::uint64_t kTryOneIn = 8;

  void learn(const abi::JobResult& result) {
    left_ += (result.loops & abi::kLoopLeftByItself) != 0;
    in_vain_ += (result.loops & abi::kLoopNotLeft) != 0;
  }

  void adapt(JobPlan& plan) {
    const bool in_vain = in_vain_ >= kEnoughInVain && left_ * kTryOneIn < in_vain_;
    if (in_vain && ++planned_ % kTryOneIn != 0) plan.flags |= abi::kJobBriefWaits;
  }

 private:
  std::uint64_t left_ = 0;  // runs
  std::uint64_t in_vain_ = 0;
  std::uint64_t planned_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_LOOP_WAITS_H_
