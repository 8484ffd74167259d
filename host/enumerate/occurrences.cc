#include "host/enumerate/occurrences.h"

#include <map>
#include <utility>

namespace clew {

std::vector<std::uint64_t> occurrences(std::span<const TraceStep> trace) {
  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> times;
  std::vector<std::uint64_t> result;
  result.reserve(trace.size());
  for (const TraceStep& step : trace) result.push_back(++times[{step.thread, step.place}]);
  return result;
}

}  // namespace clew
