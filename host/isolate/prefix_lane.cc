#include "host/isolate/prefix_lane.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "host/time_limit.h"

namespace clew {
namespace {

// As in workers.cc; and checkpoints are processes: chosen, not measured.
constexpr auto kPulse = std::chrono::milliseconds(50);
constexpr std::size_t kMostCheckpoints = 64;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

// The clock of the first item that only one of the lists has.
template <class Item>
std::uint64_t first_difference(const std::vector<Item>& a, const std::vector<Item>& b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  const std::uint64_t from_a = x == a.end() ? kNever : x->clock.value;
  const std::uint64_t from_b = y == b.end() ? kNever : y->clock.value;
  return std::min(from_a, from_b);
}

}  // namespace

// A switch at clock c happens at a checkpoint before event c or later; the questions of clock c
// have been asked by then.
std::uint64_t common_until(const Schedule& a, const Schedule& b) {
  const std::uint64_t choices = first_difference(a.choices, b.choices);
  const std::uint64_t switches = first_difference(a.switches, b.switches);
  return std::min(switches, choices == kNever ? kNever : choices - 1);
}

// The program dies with the thread that started it, so it has one of its own.
struct PrefixLane::State {
  LaunchPlan plan;
  ServeOptions options;
  OpenInput open_input;

  // Of the lane's thread.
  std::optional<ServedProgram> program;
  Schedule base;                      // of the run that the checkpoints belong to
  std::vector<std::uint64_t> stands;  // the events they stand before, ascending

  std::atomic<std::uint64_t> checkpoints{0};
  std::atomic<bool> stop{false};

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex.
  const Task* task = nullptr;
  std::optional<Result<LaneRun>> result;
  bool quitting = false;
  ServedProgram::FileUse file_use;
  std::jthread thread;

  void work();
  Result<LaneRun> run(const Task& task);
  Result<void> start();
  Result<void> go_back(const Task& task);
  Result<ServedJob> run_one(const JobPlan& job);
};

Result<void> PrefixLane::State::start() {
  CLEW_TRY(auto input, open_input());
  CLEW_TRY(auto started, ServedProgram::start(plan, input.get(), options));
  program.emplace(std::move(started));
  stands.clear();
  return {};
}

// To the last checkpoint that is of use.
Result<void> PrefixLane::State::go_back(const Task& next) {
  const std::uint64_t common = std::min(common_until(base, next.schedule), next.from);
  stands.resize(std::min(stands.size(), program->depth()));
  while (!stands.empty() && (stands.back() > common || program->depth() > stands.size())) {
    if (auto left = program->leave_checkpoint(); !left) return left;
    stands.pop_back();
    stands.resize(std::min(stands.size(), program->depth()));
  }
  return {};
}

Result<ServedJob> PrefixLane::State::run_one(const JobPlan& job) {
  CLEW_TRY(auto ran, program->run({&job, 1}, {}, 0, &stop));
  if (ran.empty()) return fail(ErrorCode::kSystem, "the run was given up");
  return std::move(ran.front());
}

Result<LaneRun> PrefixLane::State::run(const Task& wanted) {
  CLEW_CHECK_OK(program ? go_back(wanted) : start());
  base = wanted.schedule;
  LaneRun run;
  run.began = stands.empty() ? 0 : stands.back() - 1;
  std::vector<std::uint64_t> stops = wanted.stops;
  if (wanted.horizon != 0) stops.push_back(wanted.horizon);
  for (const std::uint64_t stop_at : stops) {
    const bool last = stop_at == wanted.horizon;
    if (!stands.empty() && stop_at <= stands.back()) continue;
    if (!last && stands.size() >= kMostCheckpoints) continue;
    JobPlan job = wanted.job;
    job.flags |= abi::kJobCheckpoint;
    job.stop_at = stop_at;
    CLEW_TRY(auto ran, run_one(job));
    run.job.job = std::move(ran);
    if (run.job.job.result.end != abi::JobEnd::kCheckpoint) break;
    ++checkpoints;
    stands.push_back(stop_at);
    run.cut = last;
  }
  const bool ended = run.job.job.result.end != abi::JobEnd::kCheckpoint &&
                     run.job.job.result.end != abi::JobEnd::kNotRun;
  if (!run.cut && !ended) {
    CLEW_TRY(auto ran, run_one(wanted.job));
    run.job.job = std::move(ran);
  }
  run.job.done = true;
  if (options.capture) {
    run.job.output = program->output();
    run.job.errors = program->errors();
  }
  return run;
}

void PrefixLane::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return quitting || (task != nullptr && !result); });
    if (quitting) break;
    const Task& mine = *task;
    lock.unlock();
    auto ran = run(mine);
    // The processes that hold checkpoints are the program's: one more chance from the start.
    if (!ran && !stop && !TimeLimit::is_over()) {
      program.reset();
      ran = run(mine);
    }
    if (!ran) program.reset();
    lock.lock();
    if (program) file_use = program->file_use();
    result.emplace(std::move(ran));
    changed.notify_all();
  }
  lock.unlock();
  program.reset();
}

PrefixLane::PrefixLane(LaunchPlan plan, ServeOptions options, OpenInput open_input)
    : state_(std::make_unique<State>()) {
  state_->plan = std::move(plan);
  state_->options = options;
  // What stands at a checkpoint is forked anyway.
  state_->options.in_place = false;
  state_->open_input = std::move(open_input);
  state_->thread = std::jthread([s = state_.get()] { s->work(); });
}

PrefixLane::~PrefixLane() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->quitting = true;
  }
  state_->stop = true;
  state_->changed.notify_all();
}

Result<std::optional<LaneRun>> PrefixLane::run(const Task& task,
                                               const std::function<bool()>& pulse) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.stop = false;
  s.result.reset();
  s.task = &task;
  s.changed.notify_all();
  while (!s.changed.wait_for(lock, kPulse, [&] { return s.result.has_value(); })) {
    lock.unlock();
    if (!pulse()) s.stop = true;
    lock.lock();
  }
  s.task = nullptr;
  Result<LaneRun> result = std::move(*s.result);
  s.result.reset();
  if (s.stop || (!result && TimeLimit::is_over())) return std::nullopt;
  CLEW_CHECK_OK(result);
  return std::move(*result);
}

std::uint64_t PrefixLane::checkpoints() const { return state_->checkpoints; }

ServedProgram::FileUse PrefixLane::file_use() const {
  const std::lock_guard lock(state_->mutex);
  return state_->file_use;
}

}  // namespace clew
