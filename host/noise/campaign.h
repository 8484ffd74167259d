// A campaign: many samples of noise, each run many times, as a search that a hunt carries out. An
// algorithm, which asks for samples as if they were run at once (Laboratory), runs in a thread of its
// own and takes turns with the hunt: only one of the two is at work at any time, so a campaign is a
// function of its seed, whatever the number of cores.
//
// First come runs that show which points there are (discovery): with noise everywhere and random
// walks, until many in a row have brought nothing new. From then on what is shared is settled.
//
// The seed of a run follows from those of the campaign and the numbers of sample and run. So a
// campaign that was interrupted is resumed by asking the algorithm again: samples that the store has
// are not run.
#ifndef CLEW_HOST_NOISE_CAMPAIGN_H_
#define CLEW_HOST_NOISE_CAMPAIGN_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/error.h"
#include "host/noise/points.h"
#include "host/noise/sample.h"
#include "host/search/search.h"

namespace clew {

// Keeps samples (campaign_store.h).
class SampleKeeper {
 public:
  virtual ~SampleKeeper() = default;
  // The sample with this number, if it is there with the same points, purpose and number of runs.
  [[nodiscard]] virtual std::optional<Sample> find(std::size_t number, const Sample& wanted) = 0;
  // The points are settled. Errors: those that are kept are others.
  [[nodiscard]] virtual Result<void> begin(const std::vector<NoisePoint>& points) = 0;
  // One batch, all of it or nothing.
  [[nodiscard]] virtual Result<void> keep(std::size_t first, std::span<const Sample> samples) = 0;
};

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t percent = 0;  // the probability of noise at a chosen point; 0: the default
};

struct CampaignProgress {
  std::string stage;
  std::size_t samples = 0;
  std::size_t planned = 0;  // 0: not known
  // Of the stage: samples run before it, and how long it has taken.
  std::size_t samples_before = 0;
  double stage_seconds = 0;
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
};

class Campaign final : public Laboratory {
 public:
  // Fills in where points are. `clocks`: at which a run without noise (kQuietRun) came to each place.
  using Clocks = std::map<abi::Place, std::vector<std::uint64_t>>;
  using Locate = std::function<Result<void>(std::vector<NoisePoint>& points, const Clocks& clocks)>;
  using Algorithm = std::function<void(Laboratory& laboratory)>;
  // The number that a failure has in the campaign, by its position in the hunt's list.
  using NumberOf = std::function<std::uint32_t(std::size_t failure)>;

  Campaign(CampaignOptions options, Locate locate, Algorithm algorithm, NumberOf number_of,
           SampleKeeper& keeper);
  ~Campaign() override;

  // The first that is run: no preemptions.
  static constexpr abi::StrategyKind kQuietRun = abi::StrategyKind::kPrefix;

  // For the hunt. REQUIRES: the campaign outlives it.
  [[nodiscard]] std::unique_ptr<Search> search();
  // The hunt is over: ends the algorithm, which may still think but gets no more runs.
  void stop();

  [[nodiscard]] CampaignProgress progress() const;
  // After stop().
  [[nodiscard]] const std::vector<NoisePoint>& found_points() const { return points_; }
  [[nodiscard]] const std::set<PointEdge>& edges() const { return edges_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::uint64_t discovery_runs() const { return discovered_; }
  [[nodiscard]] std::uint64_t discovery_failures() const { return discovery_failures_; }
  [[nodiscard]] std::uint64_t late_points() const { return late_points_; }
  [[nodiscard]] bool finished() const { return finished_; }

  // --- Laboratory
  [[nodiscard]] std::size_t points() const override { return points_.size(); }
  [[nodiscard]] bool may_answer(std::size_t point) const override {
    return !points_[point].starts_thread();
  }
  [[nodiscard]] bool is_suspect(std::size_t point) const override {
    return points_[point].races || points_[point].inverts;
  }
  [[nodiscard]] std::vector<std::uint32_t> neighbours(std::size_t point) const override;
  [[nodiscard]] std::span<const Sample> run(std::vector<Sample> batch) override;
  [[nodiscard]] std::span<const Sample> run_traced(std::vector<Sample> batch,
                                                   const OnRun& on_run) override;
  [[nodiscard]] std::span<const Sample> all() const override { return samples_; }
  [[nodiscard]] std::uint64_t seed() const override { return options_.seed; }
  void say(const char* stage, std::size_t planned) override;

 private:
  class HuntSearch;
  enum class Turn : std::uint8_t { kHunt, kAlgorithm };

  std::vector<JobPlan> next(std::size_t most);
  void learn(const JobReport& report);
  void learn_point(const JobReport& report);
  [[nodiscard]] std::vector<JobPlan> discovery_jobs(std::size_t most);
  [[nodiscard]] bool begin();
  [[nodiscard]] bool has_discovered() const;
  void choose_sides(std::size_t number, Sample& sample) const;
  [[nodiscard]] JobPlan job(std::size_t sample, std::uint32_t run) const;
  void let_algorithm_run();
  [[nodiscard]] bool let_hunt_run();

  CampaignOptions options_;
  Locate locate_;
  Algorithm algorithm_;
  NumberOf number_of_;
  SampleKeeper& keeper_;

  bool discovering_ = true;
  PointFinder finder_;
  std::uint64_t proposed_ = 0, discovered_ = 0, discovery_failures_ = 0, late_points_ = 0;
  std::vector<NoisePoint> points_;
  std::set<PointEdge> edges_;
  Neighbours neighbours_;
  std::optional<Error> error_;

  std::vector<Sample> samples_;  // those of the batch under way are the last
  // Of the batch under way: what is to be run, and how far it has been proposed and learned.
  struct Cursor {
    std::size_t at = 0;  // in to_run_
    std::uint32_t run = 0;
  };
  std::vector<std::size_t> to_run_;  // positions in samples_
  std::vector<std::uint32_t> wanted_;
  std::vector<std::vector<std::uint8_t>> guides_;
  Cursor proposed_up_to_, learned_up_to_;
  const OnRun* on_run_ = nullptr;  // of a batch that is traced

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::kHunt;
  bool stopped_ = false;
  bool finished_ = false;  // the algorithm
  CampaignProgress progress_;
  std::chrono::steady_clock::time_point stage_began_ = std::chrono::steady_clock::now();
  std::jthread thread_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_CAMPAIGN_H_
