#include "host/search/fresh_processes.h"

#include <utility>

namespace clew {

Result<void> FreshProcesses::start(std::uint32_t pool) {
  pool_ = pool;
  return {};
}

Result<void> FreshProcesses::run(std::span<const JobPlan> jobs,
                                 std::span<const std::uint8_t> sharing, std::uint32_t choices,
                                 const Pulse& pulse, std::vector<RanJob>& results) {
  results.clear();
  results.resize(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    CLEW_TRY(results[i], recorder_.run_anew({jobs[i], sharing, choices, pool_, Origin{}},
                                            [&] { return pulse(i); }));
    if (!results[i].done || !pulse(i + 1)) break;
  }
  return {};
}

}  // namespace clew
