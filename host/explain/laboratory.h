// Runs with something changed, on all cores, and what becomes of them. Bounded in number and time.
#ifndef CLEW_HOST_EXPLAIN_LABORATORY_H_
#define CLEW_HOST_EXPLAIN_LABORATORY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/explain/intervention.h"
#include "host/explain/traced_pair.h"
#include "host/observe/traced_replay.h"
#include "host/target/replay.h"

namespace clew {

struct ExperimentLimits {
  std::uint64_t tests = 100;
  double seconds = 30;
};

class Laboratory {
 public:
  Laboratory(TracedPair& pair, const Replay& failing, const Replay& passing,
             const ExperimentLimits& limits);

  struct Task {
    WhichRun side = kFailing;
    std::vector<RunChange> changes;
    bool traced = false;  // what it did is wanted as well
    // Another schedule than the recorded one; nothing: that.
    std::optional<Schedule> schedule = {};
  };
  struct Ran {
    Verdict verdict = Verdict::kUnresolved;
    // The general registers at each change, before it.
    std::vector<std::array<std::uint64_t, 16>> registers;
    // Of a traced one; null: it is too long to be kept.
    std::unique_ptr<RunTrace> trace;
    std::vector<std::string> threads;  // their ids
  };
  // In the order of the tasks. Nothing: it was not run, since a limit was reached, or could not be changed so.
  [[nodiscard]] std::vector<std::optional<Ran>> run(const std::vector<Task>& tasks);
  [[nodiscard]] std::optional<Ran> run(Task task);

  // Tasks that run at the same time.
  [[nodiscard]] static std::size_t cores();

  [[nodiscard]] bool may_go_on() const;
  [[nodiscard]] std::uint64_t tests() const { return tests_; }
  [[nodiscard]] int interrupted_by() const { return interrupted_by_; }
  // Whether traced runs are kept: they take as much memory as the pair does.
  [[nodiscard]] bool keeps_traces() const;
  [[nodiscard]] TracedPair& pair() { return pair_; }

 private:
  struct Raw {
    std::optional<ChangedRun> run;
    std::unique_ptr<RunTrace> trace;
  };
  void run_one(const Task& task, Raw& raw);
  [[nodiscard]] Verdict judge(const RunResult& run) const;

  TracedPair& pair_;
  std::array<const Replay*, 2> replays_;
  ExperimentLimits limits_;
  std::atomic<std::uint64_t> tests_ = 0;
  std::atomic<int> interrupted_by_ = 0;
  double started_;
};

// A run beside the passing one: aligned with it.
class BesidePassing {
 public:
  BesidePassing(TracedPair& pair, const Laboratory::Ran& ran);
  [[nodiscard]] RunsView view() const;

 private:
  TracedPair& pair_;
  const Laboratory::Ran& ran_;
  Parties parties_;
  Alignment alignment_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_LABORATORY_H_
