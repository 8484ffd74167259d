#include "host/search/surw_search.h"

#include <limits>
#include <unordered_map>
#include <utility>

#include "host/search/guides.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::ThreadKey;
using abi::TraceEvent;

constexpr std::size_t kMostGroups = 4096;
constexpr std::size_t kMostPlaces = 64;   // of a group
constexpr std::uint64_t kMostTraces = 8;  // in the means; then the old ones count half

// When each thread exists, as positions in the trace.
struct Lifetime {
  std::size_t created = std::numeric_limits<std::size_t>::max();
  std::size_t joined = std::numeric_limits<std::size_t>::max();
  std::size_t last_step = 0;
};

// A join names its thread by the object of its creation, or by its index. A join that does neither
// is passed over: the thread then exists until the end.
std::unordered_map<ThreadKey, Lifetime> lifetimes_of(std::span<const TraceEvent> trace) {
  std::unordered_map<ThreadKey, Lifetime> lives;
  std::unordered_map<std::uint64_t, ThreadKey> names;
  std::unordered_map<ThreadKey, std::uint32_t> children;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceEvent& event = trace[i];
    Lifetime& life = lives[event.thread];
    life.created = std::min(life.created, i);
    life.last_step = i;
    if (event.index != 0) names.try_emplace(event.index, event.thread);
    if (event.kind != StepKind::kCreate) continue;
    const ThreadKey child = abi::child_key(event.thread, ++children[event.thread]);
    lives[child].created = i;
    if (event.object != 0) names[event.object] = child;
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind != StepKind::kJoin) continue;
    const auto child = names.find(trace[i].object);
    if (child == names.end() || child->second == trace[i].thread) continue;
    Lifetime& life = lives[child->second];
    life.joined = std::max(i, life.last_step);  // the join may have been noted when it began
  }
  return lives;
}

// For each position whether one thread alone exists there.
std::vector<bool> alone(std::span<const TraceEvent> trace) {
  std::vector<int> change(trace.size() + 1);
  for (const auto& [key, life] : lifetimes_of(trace)) {
    ++change[std::min(life.created, trace.size())];
    if (life.joined < trace.size()) --change[life.joined];
  }
  std::vector<bool> result(trace.size());
  int existing = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) result[i] = (existing += change[i]) <= 1;
  return result;
}

struct Toucher {
  ThreadKey thread;
  std::uint8_t read = 0;
  std::uint8_t written = 0;
};
using Touchers = std::unordered_map<std::uint64_t, std::vector<Toucher>>;  // by granule

void touch(std::vector<Toucher>& list, const TraceEvent& event, std::uint8_t mask) {
  auto at = std::ranges::find(list, event.thread, &Toucher::thread);
  if (at == list.end()) at = list.insert(at, Toucher{event.thread});
  (event.kind == StepKind::kRead ? at->read : at->written) |= mask;
}

bool conflicts(const std::vector<Toucher>& list, const TraceEvent& event, std::uint8_t mask) {
  return std::ranges::any_of(list, [&](const Toucher& other) {
    const std::uint8_t theirs =
        event.kind == StepKind::kRead ? other.written : other.written | other.read;
    return other.thread != event.thread && (theirs & mask) != 0;
  });
}

}  // namespace

std::vector<bool> contended(std::span<const TraceEvent> trace) {
  const std::vector<bool> solo = alone(trace);
  Touchers touchers;
  touchers.reserve(trace.size() / 4);
  const auto counts = [&](std::size_t i) { return touches(trace[i]) && !solo[i]; };
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (counts(i))
      for_each_granule(trace[i], [&](std::uint64_t granule, std::uint8_t mask) {
        touch(touchers[granule], trace[i], mask);
      });
  std::vector<bool> result(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (counts(i))
      for_each_granule(trace[i], [&](std::uint64_t granule, std::uint8_t mask) {
        if (!result[i]) result[i] = conflicts(touchers[granule], trace[i], mask);
      });
  return result;
}

std::vector<JobPlan> SurwSearch::next(std::size_t most) {
  std::vector<JobPlan> jobs;
  const std::size_t count = proposed_ == 0 ? std::min<std::size_t>(most, 1) : most;
  while (jobs.size() < count) jobs.push_back(propose());
  return jobs;
}

JobPlan SurwSearch::propose() {
  JobPlan job;
  job.seed = job_seed(seed_, proposed_);
  if (wants_trace_ || proposed_ % kTraceEvery == 0) job.flags |= abi::kJobTrace;
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
  if (report.trace.empty()) return;
  learn_groups(report.trace);
  learn_counts(report.trace);
  learn_parents(report.trace);
}

void SurwSearch::learn_groups(std::span<const TraceEvent> trace) {
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

void SurwSearch::learn_counts(std::span<const TraceEvent> trace) {
  if (traces_ == kMostTraces) {
    traces_ /= 2;
    for (auto& [place, threads] : counts_)
      for (auto& [key, count] : threads) count /= 2;
  }
  ++traces_;
  for (const TraceEvent& event : trace) ++counts_[event.place][event.thread];
}

void SurwSearch::learn_parents(std::span<const TraceEvent> trace) {
  std::map<ThreadKey, std::uint32_t> keys;  // and how many they may have created
  for (const TraceEvent& event : trace) keys[event.thread] += event.kind == StepKind::kCreate;
  for (const auto& [key, created] : keys)
    for (std::uint32_t ordinal = 1; ordinal <= created; ++ordinal)
      if (const ThreadKey child = abi::child_key(key, ordinal); keys.contains(child))
        parents_[child] = key;
}

std::string SurwSearch::using_now() const { return "surw"; }

}  // namespace clew
