#include "host/search/fuzz_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "host/schedule/stream.h"

namespace clew {
namespace {

std::uint64_t hash_of(const Stream& stream) {
  std::uint64_t hash = stream.bytes.size();
  const auto add = [&hash](std::uint64_t value) { hash = Random(hash ^ value).next(); };
  for (const std::uint8_t byte : stream.bytes) add(byte);
  for (const std::string& name : stream.names) add(std::hash<std::string_view>{}(name));
  return hash;
}

JobPlan plan_of(const Schedule& schedule) {
  Stream stream = encode(schedule);
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kSchedule;
  plan.flags = abi::kJobLoose;  // a run may end before the last of its switches
  plan.guide = std::move(stream.bytes);
  plan.names = std::move(stream.names);
  return plan;
}

}  // namespace

FuzzSearch::FuzzSearch(Schedule from, Verdict looking_for, std::uint64_t run_length,
                       std::uint64_t seed, double sigma)
    : from_(std::move(from)),
      looking_for_(looking_for),
      run_length_(std::clamp<std::uint64_t>(run_length, 1, kMaxClock.value)),
      random_(seed),
      sigma_(std::min(sigma, widest())) {
  known_.insert(hash_of(encode(from_)));
}

std::vector<JobPlan> FuzzSearch::next(std::size_t most) {
  std::vector<JobPlan> jobs;
  bool widest_was_tried = false;
  while (jobs.size() < most) {
    if (std::optional<Schedule> schedule = propose()) {
      jobs.push_back(plan_of(*schedule));
      if (++jobs_at_sigma_ >= kJobsPerSigma && !found_) widen();
      continue;
    }
    if (widest_was_tried) break;
    widest_was_tried = sigma_ >= widest();
    widen();  // even after a change was found: at this width there is nothing else
  }
  return jobs;
}

void FuzzSearch::learn(const JobPlan&, const JobReport& report) {
  found_ |= report.verdict == looking_for_;
  // Nobody could say how long a run without switches is.
  if (from_.switches.empty() && report.result.clock > 0)
    run_length_ = std::min(report.result.clock, kMaxClock.value);
}

std::string FuzzSearch::using_now() const { return "fuzz"; }

Schedule FuzzSearch::schedule_of(const JobPlan& plan) {
  return to_schedule(Stream{plan.guide, plan.names}).value();
}

std::optional<Schedule> FuzzSearch::propose() {
  for (unsigned attempt = 0; attempt < kRedraws; ++attempt) {
    Schedule schedule = draw();
    if (known_.insert(hash_of(encode(schedule))).second) return schedule;
  }
  return std::nullopt;
}

Schedule FuzzSearch::draw() {
  Schedule schedule = from_;
  if (from_.switches.empty()) {
    const double wideness = std::max(0.0, std::log2(sigma_ / kFirstSigma)) / 4;
    insert_switches(schedule, 1 + random_.below(1 + static_cast<std::uint64_t>(wideness)));
  } else {
    perturb_switches(schedule);
    if (sigma_ >= widest() && random_.below(2) == 0) insert_or_remove(schedule);
  }
  if (random_.below(2) == 0) prune_choices(schedule);
  return schedule;
}

void FuzzSearch::perturb_switches(Schedule& schedule) {
  std::vector<Clock> clocks;
  clocks.reserve(schedule.switches.size());
  for (const Switch& item : schedule.switches) clocks.push_back(perturbed(item.clock));
  std::ranges::sort(clocks);
  for (std::size_t i = 0; i < clocks.size(); ++i) schedule.switches[i].clock = clocks[i];
}

Clock FuzzSearch::perturbed(Clock clock) {
  // Reflection: a walk to and fro over length cells has period 2 * length.
  const double length = widest();
  const double moved =
      static_cast<double>(clock.value) - 1 + std::round(sigma_ * random_.gaussian());
  double place = std::fmod(moved + 0.5, 2 * length);
  if (place < 0) place += 2 * length;
  if (place >= length) place = 2 * length - place;
  const auto cell = static_cast<std::uint64_t>(place);
  return {1 + std::min(cell, run_length_ - 1)};
}

void FuzzSearch::insert_switches(Schedule& schedule, std::size_t count) {
  for (; count > 0; --count) {
    const Switch item{{1 + random_.below(run_length_)}, std::nullopt};
    const auto at = std::ranges::upper_bound(schedule.switches, item.clock, {}, &Switch::clock);
    schedule.switches.insert(at, item);
  }
}

void FuzzSearch::insert_or_remove(Schedule& schedule) {
  if (random_.below(2) == 0) return insert_switches(schedule, 1);
  const std::uint64_t at = random_.below(schedule.switches.size());
  schedule.switches.erase(schedule.switches.begin() + static_cast<std::ptrdiff_t>(at));
}

void FuzzSearch::prune_choices(Schedule& schedule) {
  const auto [was, is] = std::ranges::mismatch(from_.switches, schedule.switches);
  Clock change = kMaxClock;
  if (was != from_.switches.end()) change = std::min(change, was->clock);
  if (is != schedule.switches.end()) change = std::min(change, is->clock);
  std::erase_if(schedule.choices, [&](const Choice& choice) { return choice.clock >= change; });
}

void FuzzSearch::widen() {
  jobs_at_sigma_ = 0;
  sigma_ = std::min(sigma_ * std::numbers::sqrt2, widest());
}

}  // namespace clew
