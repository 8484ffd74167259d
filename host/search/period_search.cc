#include "host/search/period_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

constexpr double kExact = 0x1p53;

// The same key points, perhaps after other numbers of steps.
bool alike(const KeyPoints& a, const KeyPoints& b) {
  return std::ranges::equal(a.threads, b.threads, [](const KeyThread& s, const KeyThread& t) {
    return s.key == t.key &&
           std::ranges::equal(s.points, t.points, {}, &KeyPoint::place, &KeyPoint::place);
  });
}

}  // namespace

void PeriodSearch::rebuild(KeyPoints model) {
  model_ = std::move(model);
  ++models_;
  cuts_.clear();
  levels_.clear();
  known_.clear();
  point_count_ = pass_ = current_ = taken_ = tried_ = 0;
  for (std::uint32_t thread = 0; thread < model_.threads.size(); ++thread) {
    const std::vector<KeyPoint>& points = model_.threads[thread].points;
    point_count_ += points.size();
    for (std::uint32_t point = 1; point < points.size(); ++point) {
      const auto distance =
          static_cast<std::uint32_t>(std::bit_width(points[point].step - points[point - 1].step));
      const bool same = points[point].objects.front() == points[point - 1].objects.front();
      cuts_.push_back({thread, point, 2 * distance + (same ? 0 : 1), 0, 0});
    }
  }
  std::ranges::sort(cuts_, {}, [this](const Cut& cut) {
    const std::uint64_t tie = mix(mix(job_seed(seed_, models_), cut.thread), cut.point);
    return std::tuple(cut.score, tie, cut.thread, cut.point);
  });
}

// The longer of two neighbours in a word is at most one longer than all others together.
std::size_t PeriodSearch::most_preemptions() const {
  std::size_t most = 0;
  for (const KeyThread& thread : model_.threads) most = std::max(most, thread.points.size());
  const std::size_t turns = std::min({point_count_, 2 * (point_count_ - most) + 1, kMostTurns});
  return turns - std::min(turns, model_.threads.size());
}

bool PeriodSearch::add_level() {
  Level level;
  if (!levels_.empty()) {
    const Level& before = levels_.back();
    const bool more_periods = before.preemptions > 0 && before.periods <= before.preemptions;
    level.preemptions = before.preemptions + (more_periods ? 0 : 1);
    level.periods = more_periods ? before.periods + 1 : 2;
  }
  if (level.preemptions > most_preemptions()) return false;
  level.order.resize(cuts_.size());
  std::iota(level.order.begin(), level.order.end(), 0);
  std::ranges::sort(level.order, {}, [this](std::uint32_t cut) {
    const bool in_vain = cuts_[cut].runs >= 4 && cuts_[cut].new_runs == 0;
    return std::pair(in_vain, cut);
  });
  level.chosen.resize(level.preemptions);
  begin_round(level);
  levels_.push_back(std::move(level));
  return true;
}

void PeriodSearch::begin_round(Level& level) {
  std::iota(level.chosen.begin(), level.chosen.end(), 0);
  level.round_over = level.round_had_words = false;
}

void PeriodSearch::next_cuts(Level& level) {
  for (std::size_t i = 0; i < level.chosen.size(); ++i) {
    const std::size_t end = i + 1 < level.chosen.size() ? level.chosen[i + 1] : level.order.size();
    if (level.chosen[i] + 1 < end) {
      ++level.chosen[i];
      std::iota(level.chosen.begin(), level.chosen.begin() + static_cast<std::ptrdiff_t>(i), 0);
      return;
    }
  }
  level.round_over = true;
}

// A different order of the words for each set of cuts.
double PeriodSearch::pick_word(const Level& level, double count) const {
  std::uint64_t hash = job_seed(seed_, level.preemptions);
  for (const std::uint32_t position : level.chosen) hash = mix(hash, level.order[position]);
  if (count > kExact) return Random(mix(hash, level.round)).unit() * count;
  const auto size = static_cast<std::uint64_t>(count);
  std::uint64_t stride = 1 + mix(hash, 1) % size;
  while (std::gcd(stride, size) != 1) ++stride;
  const auto place = static_cast<unsigned __int128>(level.round) * stride + mix(hash, 2) % size;
  return static_cast<double>(static_cast<std::uint64_t>(place % size));
}

std::optional<Turns> PeriodSearch::turns_of(Level& level) {
  std::vector<std::vector<std::uint32_t>> ends(model_.threads.size());
  std::vector<std::uint32_t> counts(model_.threads.size(), 1);
  for (const std::uint32_t position : level.chosen) {
    const Cut& cut = cuts_[level.order[position]];
    ends[cut.thread].push_back(cut.point);
    ++counts[cut.thread];
  }
  if (std::ranges::max(counts) > level.periods) return std::nullopt;
  const double count = words_.count(counts);
  if (static_cast<double>(level.round) >= count) return std::nullopt;
  level.round_had_words = true;
  for (std::size_t thread = 0; thread < ends.size(); ++thread) {
    ends[thread].push_back(static_cast<std::uint32_t>(model_.threads[thread].points.size()));
    std::ranges::sort(ends[thread]);
  }
  Turns turns;
  std::vector<std::size_t> next(ends.size());
  for (const std::uint32_t thread : words_.word(counts, pick_word(level, count)))
    turns.push_back({thread, ends[thread][next[thread]++]});
  if (periods(turns) != level.periods) return std::nullopt;
  return turns;
}

std::optional<PeriodSearch::Candidate> PeriodSearch::step(Level& level) {
  for (std::size_t idle = 0; idle < kMostIdle && looked_ < kMostLooked; ++idle, ++looked_) {
    if (level.round_over) {
      level.exhausted = !level.round_had_words;
      if (level.exhausted) return std::nullopt;
      ++level.round;
      begin_round(level);
    }
    std::optional<Turns> turns = turns_of(level);
    std::vector<std::uint32_t> cuts;
    for (const std::uint32_t position : level.chosen) cuts.push_back(level.order[position]);
    next_cuts(level);
    if (turns) return Candidate{std::move(*turns), std::move(cuts)};
  }
  return std::nullopt;
}

std::optional<PeriodSearch::Candidate> PeriodSearch::next_candidate() {
  if (model_.threads.size() < 2) return std::nullopt;
  for (unsigned stalls = 0; stalls < kMostStalls && looked_ < kMostLooked;) {
    if (current_ > pass_) {
      ++pass_;
      current_ = taken_ = 0;
    }
    if (current_ == levels_.size() && !add_level()) {
      if (std::ranges::all_of(levels_, &Level::exhausted)) return std::nullopt;
      current_ = taken_ = 0;
    }
    Level& level = levels_[current_];
    if (level.exhausted || taken_ == kTurn) {
      ++current_;
      taken_ = 0;
      continue;
    }
    if (std::optional<Candidate> candidate = step(level)) {
      ++taken_;
      return candidate;
    }
    if (level.exhausted) continue;
    taken_ = kTurn;
    ++stalls;
  }
  stalled_ = true;
  return std::nullopt;
}

bool PeriodSearch::is_new(const Turns& turns) {
  if (point_count_ > kMostKeyPoints) return true;
  played_ += point_count_;
  return known_.insert(play(model_, turns)).second || played_ > kMostPlayed;
}

JobPlan PeriodSearch::job(abi::StrategyKind strategy, Running running) {
  JobPlan job;
  job.strategy = strategy;
  job.seed = job_seed(seed_, proposed_);
  // Otherwise nothing would be seen of threads that nobody joins.
  if (strategy == abi::StrategyKind::kPlan) job.parameters[abi::kPlanLinger] = kMostLinger;
  if (running.calibrates || proposed_ % kTraceEvery == 0) job.flags |= abi::kJobTrace;
  if (points_ == Points::kAll) job.flags |= abi::kJobAllPoints;
  if (strategy == abi::StrategyKind::kPlan && has_questions_ && proposed_ % 2 == 1)
    job.parameters[abi::kChoiceSeed] = job_seed(job.seed, 1) | 1;
  ++proposed_;
  running_.push_back(std::move(running));
  return job;
}

JobPlan PeriodSearch::job_of(Candidate candidate) {
  JobPlan plan = job(abi::StrategyKind::kPlan, {std::move(candidate.cuts), models_, false});
  plan.guide = plan_guide(directives(model_, candidate.turns));
  // A thread held is let go at last, should others wait for it in a loop.
  std::uint64_t& longest_hold = plan.parameters[abi::kPlanLongestHold];
  longest_hold = 1000;
  for (const KeyThread& thread : model_.threads) longest_hold += 2 * thread.steps;
  ++tried_;
  return plan;
}

std::vector<JobPlan> PeriodSearch::next(std::size_t most) {
  std::vector<JobPlan> jobs;
  if (most > 0 && std::exchange(wants_calibration_, false))
    jobs.push_back(job(abi::StrategyKind::kPlan, {{}, 0, true}));
  if (!settled_) return jobs;
  played_ = looked_ = 0;
  stalled_ = false;
  while (jobs.size() < most && has_trace_ && (played_ <= kMostPlayed || jobs.empty())) {
    std::optional<Candidate> candidate = next_candidate();
    if (!candidate) break;
    if (is_new(candidate->turns)) jobs.push_back(job_of(std::move(*candidate)));
  }
  over_ = jobs.empty() && most > 0 && has_trace_ && !stalled_;
  // Traces do not fit, or what is left is too hard to find.
  while (jobs.size() < most && (!has_trace_ || stalled_))
    jobs.push_back(job(abi::StrategyKind::kPos, {}));
  return jobs;
}

void PeriodSearch::learn(const JobPlan& plan, const JobReport& report) {
  const Running running = std::move(running_.front());
  running_.pop_front();
  if (running.model == models_) {
    for (const std::uint32_t cut : running.cuts) {
      ++cuts_[cut].runs;
      cuts_[cut].new_runs += report.new_interleaving;
    }
  }
  if (report.result.sharing_count > 0) recalibrate();
  if (running.calibrates && points_ == Points::kAll) {
    settled_ = true;
  } else if (running.calibrates && !settled_) {
    const bool same_steps = report.trace.steps.size() == last_size_;
    const bool nothing_new =
        (plan.flags & abi::kJobAllPoints) == 0 && report.result.sharing_count == 0;
    settled_ = ++calibrations_ == kMostCalibrations || same_steps || nothing_new;
    wants_calibration_ |= !settled_;
    last_size_ = report.trace.steps.size();
  }
  // From before use_shared_points(): its steps are others.
  const bool of_other_points =
      points_ == Points::kShared && !running.calibrates && (plan.flags & abi::kJobAllPoints) != 0;
  if (!report.trace.steps.empty() && !of_other_points)
    learn_points(key_points(report.trace.steps), running.calibrates);
}

void PeriodSearch::calibrate(const JobReport& report) {
  if (points_ != Points::kAll || settled_ || report.trace.steps.empty()) return;
  settled_ = true;
  wants_calibration_ = false;
  learn_points(key_points(report.trace.steps), true);
  has_been_run(report.trace.steps);
}

void PeriodSearch::has_been_run(std::span<const TraceStep> trace) {
  if (points_ != Points::kAll || !settled_ || point_count_ > kMostKeyPoints) return;
  if (const auto order = played(model_, trace)) known_.insert(*order);
}

void PeriodSearch::use_shared_points() {
  if (std::exchange(points_, Points::kShared) == Points::kShared) return;
  settled_ = has_trace_ = false;
  wants_calibration_ = true;
}

void PeriodSearch::learn_points(KeyPoints model, bool calibrates) {
  bool new_points = false;
  for (const KeyThread& thread : model.threads)
    for (const KeyPoint& point : thread.points)
      new_points |= known_points_.insert({thread.key, point.place}).second;
  if (new_points || !has_trace_ || (calibrates && model_is_default_ && !alike(model, model_))) {
    rebuild(std::move(model));
    model_is_default_ = calibrates;
  } else if (calibrates && alike(model, model_)) {
    model_ = std::move(model);  // the same, but for the numbers of steps
  }
  has_trace_ = true;
}

std::string PeriodSearch::using_now() const { return "period"; }

std::optional<std::string> PeriodSearch::conclusion() const {
  if (!over_) return std::nullopt;
  if (model_.threads.size() < 2) return "no threads were seen to touch the same memory or lock";
  return "all orders of the " + std::to_string(point_count_) +
         " conflicting steps that were seen were tried, in " + std::to_string(tried_) +
         " schedules";
}

}  // namespace clew
