#include "host/noise/campaign.h"

#include <algorithm>
#include <utility>

#include "clew_abi/guides.h"
#include "host/search/guides.h"
#include "host/search/sampling.h"

namespace clew {
namespace {

// Chosen, not measured: runs until the points are taken to be known.
constexpr std::uint64_t kLeastDiscovery = 48;
constexpr std::uint64_t kDiscoveryWithoutNews = 32;
constexpr std::uint64_t kMostDiscovery = 256;

}  // namespace

class Campaign::HuntSearch final : public Search {
 public:
  explicit HuntSearch(Campaign& campaign) : campaign_(campaign) {}
  std::vector<JobPlan> next(std::size_t most) override { return campaign_.next(most); }
  void learn(const JobPlan&, const JobReport& report) override { campaign_.learn(report); }
  bool sharing_is_settled() const override { return !campaign_.discovering_; }
  std::string using_now() const override { return "noise"; }

 private:
  Campaign& campaign_;
};

Campaign::Campaign(CampaignOptions options, Locate locate, Algorithm algorithm, NumberOf number_of,
                   SampleKeeper& keeper)
    : options_(options),
      locate_(std::move(locate)),
      algorithm_(std::move(algorithm)),
      number_of_(std::move(number_of)),
      keeper_(keeper) {
  progress_.stage = "looking for program points";
}

Campaign::~Campaign() { stop(); }

std::unique_ptr<Search> Campaign::search() { return std::make_unique<HuntSearch>(*this); }

// --- discovery -----------------------------------------------------------------------------------

bool Campaign::has_discovered() const {
  return discovered_ >= kMostDiscovery ||
         (discovered_ >= kLeastDiscovery && finder_.calls_without_news() >= kDiscoveryWithoutNews);
}

std::vector<JobPlan> Campaign::discovery_jobs(std::size_t most) {
  std::vector<JobPlan> jobs;
  for (; jobs.size() < most && proposed_ < kMostDiscovery; ++proposed_) {
    JobPlan job;
    static constexpr std::uint64_t kDensities[]{100, 30, 10};
    job.strategy = proposed_ % 4 == 3 ? abi::StrategyKind::kRandom : abi::StrategyKind::kNoise;
    if (proposed_ == 0)
      job.strategy = kQuietRun;
    else if (proposed_ % 4 != 3)
      job.parameters[abi::kNoiseDensity] = kDensities[proposed_ % 4];
    job.flags = abi::kJobTrace;
    job.seed = job_seed(options_.seed, proposed_);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void Campaign::learn_point(const JobReport& report) {
  ++discovered_;
  discovery_failures_ += report.verdict == Verdict::kFail;
  if (discovered_ == 1) finder_.remember(report.trace);
  finder_.learn(report.trace, report.shared_points);
  const std::lock_guard lock(mutex_);
  progress_.runs = discovered_;
  progress_.failed = discovery_failures_;
}

// False: the campaign cannot begin.
bool Campaign::begin() {
  discovering_ = false;
  points_ = finder_.points();
  edges_ = finder_.edges();
  neighbours_ = Neighbours(points_.size(), edges_);
  if (points_.empty()) return false;
  for (auto done : {locate_(points_, finder_.clocks()), keeper_.begin(points_)})
    if (!done) {
      error_ = done.error();
      return false;
    }
  thread_ = std::jthread([this] {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return turn_ == Turn::kAlgorithm || stopped_; });
    }
    algorithm_(*this);
    const std::lock_guard lock(mutex_);
    finished_ = !stopped_;
    turn_ = Turn::kHunt;
    changed_.notify_all();
  });
  return true;
}

// --- the hunt's side -----------------------------------------------------------------------------

// Those of the design tell what noise before an event does from what noise after it does.
void Campaign::choose_sides(std::size_t number, Sample& sample) const {
  constexpr std::uint64_t kSalt = 0x51de5;
  sample.sides = mix(options_.seed ^ kSalt, number) | 1;
  sample.after = points_after(points_, sample.sides);
}

JobPlan Campaign::job(std::size_t position, std::uint32_t run) const {
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kNoise;
  plan.parameters[abi::kNoisePercent] = options_.percent;
  plan.parameters[abi::kNoiseSides] = samples_[to_run_[position]].sides;
  plan.seed = job_seed(mix(options_.seed, to_run_[position]), run);
  plan.guide = guides_[position];
  if (on_run_ != nullptr) plan.flags = abi::kJobTrace;
  return plan;
}

std::vector<JobPlan> Campaign::next(std::size_t most) {
  if (discovering_) {
    if (!has_discovered()) {
      auto jobs = discovery_jobs(most);
      if (!jobs.empty()) return jobs;
    }
    if (!begin()) return {};
  }
  if (error_) return {};
  if (proposed_up_to_.at == to_run_.size()) let_algorithm_run();
  std::vector<JobPlan> jobs;
  while (jobs.size() < most && proposed_up_to_.at < to_run_.size()) {
    Cursor& cursor = proposed_up_to_;
    jobs.push_back(job(cursor.at, cursor.run));
    if (++cursor.run == wanted_[cursor.at]) cursor = {cursor.at + 1, 0};
  }
  return jobs;
}

void Campaign::learn(const JobReport& report) {
  if (discovering_) return learn_point(report);
  late_points_ += report.shared_points.size();
  Cursor& cursor = learned_up_to_;
  if (cursor.at >= to_run_.size()) return;
  Sample& sample = samples_[to_run_[cursor.at]];
  const bool failed = report.verdict == Verdict::kFail && report.failure;
  std::optional<std::uint32_t> failure;
  if (failed) ++sample.failures[*(failure = number_of_(*report.failure))];
  const bool judged = failed || report.verdict == Verdict::kPass;
  if (judged) ++sample.runs;
  if (judged && on_run_ != nullptr) (*on_run_)(report.trace, failure);
  if (++cursor.run == wanted_[cursor.at]) cursor = {cursor.at + 1, 0};
  const std::lock_guard lock(mutex_);
  ++progress_.runs;
  progress_.failed += failed;
}

void Campaign::let_algorithm_run() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  turn_ = Turn::kAlgorithm;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::kHunt; });
}

// --- the algorithm's side ------------------------------------------------------------------------

// False: it will not run any more.
bool Campaign::let_hunt_run() {
  std::unique_lock lock(mutex_);
  if (stopped_) return false;
  turn_ = Turn::kHunt;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::kAlgorithm || stopped_; });
  return !stopped_;
}

std::vector<std::uint32_t> Campaign::neighbours(std::size_t point) const {
  std::vector<std::uint32_t> result;
  for (const auto& one : {neighbours_.previous[point], neighbours_.next[point]})
    if (one) result.push_back(*one);
  return result;
}

std::span<const Sample> Campaign::run(std::vector<Sample> batch) {
  const std::size_t first = samples_.size();
  to_run_.clear();
  wanted_.clear();
  guides_.clear();
  proposed_up_to_ = learned_up_to_ = {};
  for (Sample& sample : batch) {
    const std::size_t number = samples_.size();
    if (sample.purpose == SamplePurpose::kDesign) choose_sides(number, sample);
    if (auto kept = on_run_ == nullptr ? keeper_.find(number, sample) : std::nullopt) {
      samples_.push_back(std::move(*kept));
      continue;
    }
    if (sample.wanted > 0) {
      std::vector<abi::Place> places;
      for (const std::uint32_t i : sample.points.members()) places.push_back(points_[i].place);
      to_run_.push_back(number);
      wanted_.push_back(sample.wanted);
      guides_.push_back(noise_guide(places));
    }
    samples_.push_back(std::move(sample));
  }
  const auto added = [&] { return std::span<const Sample>(samples_).subspan(first); };
  if (!to_run_.empty()) {
    if (error_ || !let_hunt_run()) {
      samples_.resize(first);
      return {};
    }
    if (auto kept = keeper_.keep(first, added()); !kept) error_ = kept.error();
  }
  const std::lock_guard lock(mutex_);
  progress_.samples = samples_.size();
  return added();
}

std::span<const Sample> Campaign::run_traced(std::vector<Sample> batch, const OnRun& on_run) {
  on_run_ = &on_run;
  const auto ran = run(std::move(batch));
  on_run_ = nullptr;
  return ran;
}

void Campaign::say(const char* stage, std::size_t planned) {
  const std::lock_guard lock(mutex_);
  progress_.stage = stage;
  progress_.planned = planned;
  progress_.samples_before = samples_.size();
  stage_began_ = std::chrono::steady_clock::now();
}

CampaignProgress Campaign::progress() const {
  const std::lock_guard lock(mutex_);
  CampaignProgress now = progress_;
  now.stage_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - stage_began_).count();
  return now;
}

void Campaign::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = !finished_;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace clew
