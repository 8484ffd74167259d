// One run to make of a program that is run many times (abi::Job).
#ifndef CLEW_HOST_TARGET_JOB_PLAN_H_
#define CLEW_HOST_TARGET_JOB_PLAN_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "clew_abi/job.h"

namespace clew {

struct JobPlan {
  abi::StrategyKind strategy = abi::StrategyKind::kNone;
  std::uint32_t flags = 0;  // abi::JobFlags
  std::uint64_t seed = 0;
  std::array<std::uint64_t, 4> parameters{};
  abi::TraceWindow window;  // kJobTrace
  std::vector<std::uint8_t> guide;
  std::vector<std::string> names;  // thread ids, for kSchedule
  std::uint64_t stop_at = 0;       // kJobCheckpoint: the event to stop before
  abi::Place watch = 0;            // of a strategy that follows: JobResult::watched; 0: none
  bool operator==(const JobPlan&) const = default;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_JOB_PLAN_H_
