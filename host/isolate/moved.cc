#include "host/isolate/moved.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/isolate/effort.h"
#include "host/isolate/fewer.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

// Chosen, not measured: together about a second of short runs.
constexpr std::size_t kMostMoved = 4'000;
constexpr std::size_t kMostItems = 1'000'000;   // of all of them: some thirty megabytes
constexpr std::uint64_t kLongestRun = 100'000;  // events

using Places = std::map<abi::ThreadKey, std::vector<std::uint64_t>>;  // ascending

// Where each thread stands before a step whose order with those of others can matter.
Places places_of(std::span<const TraceStep> trace) {
  const std::vector<bool> matters = contended(trace);
  Places places;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    std::vector<std::uint64_t>& own = places[trace[i].thread];
    if (matters[i] && (own.empty() || own.back() != trace[i].own)) own.push_back(trace[i].own);
  }
  return places;
}

std::size_t position_of(const std::vector<std::uint64_t>& places, std::uint64_t own) {
  return static_cast<std::size_t>(std::ranges::lower_bound(places, own) - places.begin());
}

}  // namespace

std::vector<ThreadScript> moved(const ThreadScript& script, std::span<const TraceStep> trace,
                                std::size_t most) {
  struct Course {
    std::size_t item;
    const std::vector<std::uint64_t>* places;  // of the item's thread
    std::size_t from;                          // where the item stands among them
  };
  const Places places = places_of(trace);
  std::vector<Course> courses;
  std::size_t longest = 0;
  for (std::size_t item = 0; item < script.size(); ++item) {
    const auto there = places.find(script[item].thread);
    if (!is_preemption(script[item]) || there == places.end()) continue;
    courses.push_back({item, &there->second, position_of(there->second, script[item].own)});
    longest = std::max(longest, there->second.size());
  }
  std::vector<ThreadScript> scripts;
  const auto add = [&](const Course& course, std::size_t left_out, std::size_t to) {
    if (to >= course.places->size() || scripts.size() >= most) return;
    const std::uint64_t own = (*course.places)[to];
    if (own == script[course.item].own) return;
    ThreadScript other = script;
    other[course.item].own = own;
    other[course.item].ordinal = 0;
    other.erase(other.begin() + static_cast<std::ptrdiff_t>(left_out));
    scripts.push_back(std::move(other));
  };
  for (std::size_t distance = 0; distance <= longest && scripts.size() < most; ++distance)
    for (std::size_t left_out = 0; left_out < script.size() && scripts.size() < most; ++left_out)
      for (const Course& course : courses) {
        if (course.item == left_out) continue;
        if (distance <= course.from) add(course, left_out, course.from - distance);
        if (distance > 0) add(course, left_out, course.from + distance);
      }
  return scripts;
}

Result<std::optional<ThreadScript>> one_fewer_by_moving(Trials& trials,
                                                        const ThreadScript& script) {
  if (script.size() < 2 || trials.failure().result.clock > kLongestRun) return std::nullopt;
  JobPlan plan = job_of(script, abi::kJobWholeTrace);
  plan.window = {1, kLongestRun};
  CLEW_TRY(const auto runs, trials.run({&plan, 1}));
  if (runs.empty() || !runs.front().trace.complete) return std::nullopt;
  const std::size_t most = std::min(kMostMoved, kMostItems / script.size());
  std::vector<ThreadScript> scripts = moved(script, runs.front().trace.steps, most);
  CLEW_TRY(const auto found, first_failing(trials, scripts, seconds_to_try(script.size())));
  if (!found) return std::nullopt;
  return std::move(scripts[*found]);
}

}  // namespace clew
