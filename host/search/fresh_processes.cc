#include "host/search/fresh_processes.h"

#include <utility>

namespace clew {

Result<void> FreshProcesses::start(std::uint32_t pool) {
  pool_ = pool;
  return {};
}

Result<std::vector<RanJob>> FreshProcesses::run(std::span<const JobPlan> jobs,
                                                std::span<const std::uint8_t> sharing,
                                                std::uint32_t choices, const Pulse& pulse) {
  std::vector<RanJob> results;
  for (const JobPlan& job : jobs) {
    CLEW_TRY(auto ran, recorder_.run_anew({job, sharing, choices, pool_, Origin{}}));
    results.push_back(std::move(ran));
    if (!results.back().done || !pulse(results.size())) break;
  }
  results.resize(jobs.size());
  return results;
}

}  // namespace clew
