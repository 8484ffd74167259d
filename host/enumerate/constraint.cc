#include "host/enumerate/constraint.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/enumerate/reads_from.h"

namespace clew {
namespace {

bool meets(std::span<const TraceStep> trace, const ReadsFrom& reads, const Constraint& constraint) {
  const std::vector<bool> second = matches(trace, constraint.second);
  if (constraint.kind == Constraint::Kind::kSeesInitial)
    return std::ranges::any_of(reads.sights, [&](const Sight& sight) {
      return sight.write == kInitialValue && second[sight.read];
    });
  const std::vector<bool> first = matches(trace, constraint.first);
  if (constraint.kind == Constraint::Kind::kSees)
    return std::ranges::any_of(reads.sights, [&](const Sight& sight) {
      return sight.write != kInitialValue && second[sight.read] && first[sight.write];
    });
  const auto a = std::ranges::find(first, true);
  return a != first.end() &&
         std::find(second.begin() + (a - first.begin()) + 1, second.end(), true) != second.end();
}

}  // namespace

std::vector<bool> matches(std::span<const TraceStep> trace, const EventSpec& event) {
  std::vector<bool> result(trace.size());
  std::map<abi::ThreadKey, std::uint64_t> times;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (std::ranges::find(event.places, trace[i].place) == event.places.end()) continue;
    const std::uint64_t time = ++times[trace[i].thread];
    result[i] = (event.thread == 0 || event.thread == trace[i].thread) &&
                (event.occurrence == 0 || event.occurrence == time);
  }
  return result;
}

std::vector<std::uint64_t> occurrences(std::span<const TraceStep> trace) {
  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> times;
  std::vector<std::uint64_t> result;
  result.reserve(trace.size());
  for (const TraceStep& step : trace) result.push_back(++times[{step.thread, step.place}]);
  return result;
}

bool meets(const Trace& trace, std::span<const Constraint> constraints) {
  const ReadsFrom reads = reads_from(trace.steps, Memory::kAll);
  return std::ranges::all_of(constraints, [&](const Constraint& constraint) {
    return meets(trace.steps, reads, constraint);
  });
}

}  // namespace clew
