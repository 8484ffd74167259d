#include "host/search/surw_search.h"

#include <bit>
#include <unordered_map>
#include <utility>

#include "host/search/guides.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::ThreadKey;

// Limits of memory, chosen, not measured.
constexpr std::size_t kMostGroups = 4096;
constexpr std::size_t kMostPlaces = 64;   // of a group
constexpr std::uint64_t kMostTraces = 8;  // in the means; then the old ones count half

}  // namespace

std::vector<JobPlan> SurwSearch::next(std::size_t most) {
  std::vector<JobPlan> jobs;
  const std::size_t count = proposed_ == 0 ? std::min<std::size_t>(most, 1) : most;
  while (jobs.size() < count) jobs.push_back(propose());
  return jobs;
}

JobPlan SurwSearch::propose() {
  JobPlan job;
  job.seed = job_seed(seed_, proposed_);
  const bool early = proposed_ < kTraceEvery && std::has_single_bit(proposed_);
  if (wants_trace_ || early || proposed_ % kTraceEvery == 0) job.flags |= abi::kJobTrace;
  wants_trace_ = false;
  ++proposed_;
  job.strategy = traces_ > 0 ? abi::StrategyKind::kSurw : abi::StrategyKind::kPos;
  if (groups_.empty()) return job;

  const Places& delta = draw_delta();
  std::map<ThreadKey, SurwThread> threads;
  for (const abi::Place place : delta)
    for (const auto& [key, count] : counts_[place]) threads[key].own += mean(count);
  const std::map<ThreadKey, SurwThread> own = threads;
  for (const auto& [key, thread] : own)
    for (auto link = parents_.find(key); link != parents_.end(); link = parents_.find(link->second))
      threads[link->second].created += thread.own;
  std::vector<SurwThread> list;
  for (auto& [key, thread] : threads) list.push_back({key, thread.own, thread.created});
  job.guide = surw_guide(list, delta);
  return job;
}

const SurwSearch::Places& SurwSearch::draw_delta() {
  auto group = groups_.begin();
  if (random_.below(2) == 0) {
    std::advance(group, static_cast<std::ptrdiff_t>(random_.below(groups_.size())));
    return group->first;
  }
  std::uint64_t ticket = random_.below(accesses_);
  while (ticket >= group->second) ticket -= (group++)->second;
  return group->first;
}

std::uint64_t SurwSearch::mean(std::uint64_t count) const {
  return std::max<std::uint64_t>((count + traces_ / 2) / traces_, 1);
}

void SurwSearch::learn(const JobPlan&, const JobReport& report) {
  wants_trace_ |= report.result.sharing_count > 0;
  if (report.trace.steps.empty()) return;
  if (std::exchange(previewed_, false)) {
    groups_.clear();
    counts_.clear();
    traces_ = 0;
  }
  learn_from(report);
}

void SurwSearch::preview(const JobReport& report) {
  if (traces_ > 0 || report.trace.steps.empty()) return;
  previewed_ = true;
  learn_from(report);
}

void SurwSearch::learn_from(const JobReport& report) {
  learn_groups(report.trace.steps);
  learn_counts(report.trace.steps);
  learn_parents(report.trace.steps);
}

void SurwSearch::learn_groups(std::span<const TraceStep> trace) {
  struct Object {
    Places places;
    std::uint64_t accesses = 0;
  };
  const std::vector<bool> interesting = contended(trace);
  std::unordered_map<std::uint64_t, Object> objects;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (!interesting[i]) continue;
    for_each_granule(trace[i], [&](std::uint64_t granule, std::uint8_t) {
      Object& object = objects[granule];
      ++object.accesses;
      const auto at = std::ranges::lower_bound(object.places, trace[i].place);
      const bool known = at != object.places.end() && *at == trace[i].place;
      if (!known && object.places.size() < kMostPlaces) object.places.insert(at, trace[i].place);
    });
  }
  std::map<Places, std::uint64_t> groups;
  for (auto& [granule, object] : objects) groups[std::move(object.places)] += object.accesses;
  for (auto& [places, accesses] : groups)
    if (groups_.size() < kMostGroups || groups_.contains(places)) groups_[places] = accesses;
  accesses_ = 0;
  for (const auto& [places, accesses] : groups_) accesses_ += accesses;
}

void SurwSearch::learn_counts(std::span<const TraceStep> trace) {
  if (traces_ == kMostTraces) {
    traces_ /= 2;
    for (auto& [place, threads] : counts_)
      for (auto& [key, count] : threads) count /= 2;
  }
  ++traces_;
  const std::vector<bool> loops = in_loops(trace);
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (!loops[i]) ++counts_[trace[i].place][trace[i].thread];
}

void SurwSearch::learn_parents(std::span<const TraceStep> trace) {
  std::map<ThreadKey, std::uint32_t> keys;  // and how many they may have created
  for (const TraceStep& event : trace) keys[event.thread] += event.kind == StepKind::kCreate;
  for (const auto& [key, created] : keys)
    for (std::uint32_t ordinal = 1; ordinal <= created; ++ordinal)
      if (const ThreadKey child = abi::child_key(key, ordinal); keys.contains(child))
        parents_[child] = key;
}

std::string SurwSearch::using_now() const { return "surw"; }

}  // namespace clew
