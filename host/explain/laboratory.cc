#include "host/explain/laboratory.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "clew_abi/control.h"
#include "host/schedule/stream.h"
#include "host/seconds.h"
#include "host/symbolize/locate.h"
#include "host/time_limit.h"

namespace clew {
namespace {

// What a run with something changed may take, beyond three times what the traced one took.
constexpr double kMostSeconds = 5;
constexpr std::uint64_t kMoreClock = 1'000'000;
// Of a trace that is kept beside the two of the pair, as many at once as there are cores. Each takes about three
// times as much memory.
constexpr std::uint64_t kMostKept = std::uint64_t{512} << 20;

class Quiet final : public RunObserver {
 public:
  Quiet(double until, const std::atomic<int>& interrupted)
      : until_(until), interrupted_(interrupted) {}
  bool time_is_up() override { return interrupted_ != 0 || seconds_now() > until_; }

 private:
  double until_;
  const std::atomic<int>& interrupted_;
};

class Ignore final : public CodeTraceListener {
 public:
  void block(const BlockRun&) override {}
  void cut(std::uint64_t) override {}
  void returned(const abi::ReturnMark&) override {}
};

bool same_output(const RunResult& run, const Meta& meta) {
  return run.output.size == meta.stdout_data.size && run.output.hash == meta.stdout_data.hash &&
         run.errors.size == meta.stderr_data.size && run.errors.hash == meta.stderr_data.hash;
}

}  // namespace

Laboratory::Laboratory(TracedPair& pair, const Replay& failing, const Replay& passing,
                       const ExperimentLimits& limits)
    : pair_(pair), replays_{&failing, &passing}, limits_(limits), started_(seconds_now()) {}

std::size_t Laboratory::cores() { return std::max(1u, std::thread::hardware_concurrency()); }

bool Laboratory::may_go_on() const {
  return interrupted_by_ == 0 && tests_ < limits_.tests && !TimeLimit::is_over() &&
         seconds_now() - started_ < limits_.seconds;
}

bool Laboratory::keeps_traces() const {
  return std::max(pair_.trace(kFailing).bytes(), pair_.trace(kPassing).bytes()) < kMostKept / 2;
}

void Laboratory::run_one(const Task& task, Raw& raw) {
  Replay changed = *replays_[task.side];
  changed.plan.flags |= abi::kFlagEveryPoint;
  const RunSummary& recorded = changed.recording.meta.summary;
  changed.recording.meta.budget =
      std::min(changed.recording.meta.budget, 2 * recorded.clock + kMoreClock);
  changed.plan.queries = {recorded.clock};
  if (task.schedule) changed.plan.follow = encode(*task.schedule);
  const double now = seconds_now();
  const double most = kMostSeconds + 3 * pair_.seconds(task.side);
  Quiet quiet(std::min(now + most, std::max(started_ + limits_.seconds, now + 1)), interrupted_by_);
  Ignore ignore;
  if (task.traced) raw.trace = std::make_unique<RunTrace>(kMostKept);
  auto result = run_changed(changed, TraceDetail::kCalls, task.changes, quiet,
                            task.traced ? static_cast<CodeTraceListener&>(*raw.trace) : ignore);
  if (result && result->run.interrupted_by != 0) interrupted_by_ = result->run.interrupted_by;
  if (result && interrupted_by_ == 0) raw.run = *std::move(result);
}

std::vector<std::optional<Laboratory::Ran>> Laboratory::run(const std::vector<Task>& tasks) {
  std::vector<Raw> raw(tasks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      if (!may_go_on()) return;
      ++tests_;
      run_one(tasks[i], raw[i]);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores(), tasks.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  std::vector<std::optional<Ran>> results(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!raw[i].run) continue;
    Ran& ran = results[i].emplace();
    locate_failure(raw[i].run->run, pair_.symbols(kFailing));
    ran.verdict = judge(raw[i].run->run);
    ran.registers = std::move(raw[i].run->registers);
    if (raw[i].trace == nullptr || raw[i].trace->too_long() || !raw[i].run->whole) continue;
    ran.trace = std::move(raw[i].trace);
    ran.trace->finish(std::move(raw[i].run->blocks), pair_.code());
    ran.threads = thread_ids(raw[i].run->run, *ran.trace);
  }
  return results;
}

std::optional<Laboratory::Ran> Laboratory::run(Task task) {
  std::vector<Task> one;
  one.push_back(std::move(task));
  return std::move(run(one).front());
}

Verdict Laboratory::judge(const RunResult& run) const {
  const Meta& failing = replays_[kFailing]->recording.meta;
  // By its output alone: it is that of the one run or that of the other.
  if (!failing.summary.failure) {
    if (run.summary.outcome != Outcome::kPass && !run.summary.failure) return Verdict::kUnresolved;
    if (same_output(run, replays_[kPassing]->recording.meta)) return Verdict::kPass;
    return same_output(run, failing) ? Verdict::kFail : Verdict::kUnresolved;
  }
  if (run.summary.outcome == Outcome::kPass) return Verdict::kPass;
  const auto& wanted = failing.summary.failure;
  const auto& found = run.summary.failure;
  if (!found || found->kind != wanted->kind) return Verdict::kUnresolved;
  const bool same_place =
      found->at.has_value() == wanted->at.has_value() &&
      (!found->at || (found->at->line == wanted->at->line && found->at->file == wanted->at->file));
  return same_place ? Verdict::kFail : Verdict::kUnresolved;
}

BesidePassing::BesidePassing(TracedPair& pair, const Laboratory::Ran& ran)
    : pair_(pair),
      ran_(ran),
      parties_(*ran.trace, pair.code()),
      alignment_(
          *ran.trace, pair.trace(kPassing), parties_, pair.parties(kPassing),
          same_threads(ran.threads, *ran.trace, pair.run(kPassing).threads(), pair.trace(kPassing)),
          pair.graphs()) {}

RunsView BesidePassing::view() const {
  return {{ran_.trace.get(), &pair_.trace(kPassing)},
          {&ran_.threads, &pair_.run(kPassing).threads()},
          &alignment_};
}

}  // namespace clew
