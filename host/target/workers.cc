#include "host/target/workers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "host/time_limit.h"

namespace clew {
namespace {

// How long a signal to clew may go unnoticed: chosen, a twentieth of a second is not felt.
constexpr auto kPulse = std::chrono::milliseconds(50);
// A program whose server dies is started again this often in a row.
constexpr int kMostRestarts = 3;

}  // namespace

struct Workers::State {
  LaunchPlan plan;
  ServeOptions options;
  unsigned count;
  OpenInput open_input;

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex. A round is under way while `generation` is ahead of a worker's own.
  std::uint64_t generation = 0;
  bool quitting = false;
  std::uint32_t pool = 0;
  std::uint64_t starts = 0;  // programs from before the newest are not used any more
  unsigned busy = 0;
  ServedProgram::FileUse file_use;
  std::optional<Error> error;

  // The round: constant while workers are busy.
  std::span<const JobPlan> jobs;
  std::span<const std::uint8_t> sharing;
  std::uint32_t choices = 0;
  std::vector<RanJob>* results = nullptr;

  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;

  // `seen`: the rounds that were over when the thread was made.
  // A program and who looks at it.
  struct Watched {
    std::unique_ptr<JobWatcher> watcher;
    std::optional<ServedProgram> program;

    void reset() {
      program.reset();
      watcher.reset();
    }
  };
  void work(std::uint64_t seen);
  Result<void> start(Watched& worker);
  Result<void> work_on_round(Watched& worker);
  void note_files(const ServedProgram::FileUse& before, const ServedProgram::FileUse& now) {
    if (now.created == before.created && now.changed == before.changed) return;
    const std::lock_guard lock(mutex);
    file_use.created += now.created - before.created;
    file_use.changed += now.changed - before.changed;
    if (!file_use.changed_first) file_use.changed_first = now.changed_first;
  }
  bool is_to_stop() const { return stop || TimeLimit::is_over(); }
  void note_error(Error e) {
    const std::lock_guard lock(mutex);
    if (!error) error = std::move(e);
    stop = true;
  }
  // Hands out the jobs in pieces that get smaller towards the end.
  std::span<const JobPlan> take(std::size_t& first) {
    std::size_t at = next.load();
    for (;;) {
      const std::size_t left = jobs.size() - std::min(at, jobs.size());
      if (left == 0) return {};
      const std::size_t piece = std::clamp<std::size_t>(left / (2 * count), 1, options.jobs);
      if (next.compare_exchange_weak(at, at + piece)) {
        first = at;
        return jobs.subspan(at, piece);
      }
    }
  }
};

Result<void> Workers::State::start(Watched& worker) {
  CLEW_TRY(auto input, open_input());
  LaunchPlan with_pool = plan;
  with_pool.pool = pool;
  worker.reset();
  if (options.watch) {
    CLEW_TRY(worker.watcher, options.watch(with_pool));
  }
  CLEW_TRY(auto started, ServedProgram::start(with_pool, input.get(), options));
  worker.program.emplace(std::move(started));
  return {};
}

Result<void> Workers::State::work_on_round(Watched& worker) {
  std::optional<ServedProgram>& program = worker.program;
  std::size_t first = 0;
  for (auto piece = take(first); !piece.empty(); piece = take(first)) {
    int restarts = 0;
    for (std::size_t at = 0; at < piece.size() && !is_to_stop();) {
      if (!program) {
        const auto started = start(worker);
        if (!started && is_to_stop()) return {};
        CLEW_CHECK_OK(started);
      }
      const std::size_t fitting = program->fitting(piece.subspan(at));
      if (fitting == 0) return fail(ErrorCode::kInternal, "a schedule is too large to be run");
      const ServedProgram::FileUse files_before = program->file_use();
      if (worker.watcher) worker.watcher->before_job();
      auto ran = program->run(piece.subspan(at, fitting), sharing, choices, &stop);
      note_files(files_before, program->file_use());
      if (!ran) {
        worker.reset();
        if (++restarts > kMostRestarts) return std::unexpected(ran.error());
        continue;
      }
      if (!ran->empty()) restarts = 0;
      for (ServedJob& job : *ran) {
        RanJob& result = (*results)[first + at++];
        if (worker.watcher) worker.watcher->after_job(job.result);
        result.job = std::move(job);
        result.done = true;
        if (options.capture) {
          result.output = program->output();
          result.errors = program->errors();
        }
      }
      done += ran->size();
      if (is_to_stop()) worker.reset();
    }
  }
  return {};
}

void Workers::State::work(std::uint64_t seen) {
  Watched worker;
  std::uint64_t own_start = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return quitting || generation != seen; });
    if (quitting) return;
    seen = generation;
    if (own_start != starts) worker.reset();
    own_start = starts;
    lock.unlock();
    if (auto worked = work_on_round(worker); !worked) {
      worker.reset();
      note_error(worked.error());
    }
    lock.lock();
    --busy;
    changed.notify_all();
  }
}

Workers::Workers(LaunchPlan plan, ServeOptions options, unsigned count, OpenInput open_input)
    : state_(std::make_unique<State>()) {
  state_->plan = std::move(plan);
  state_->options = options;
  state_->count = count;
  state_->open_input = std::move(open_input);
}

Workers::~Workers() { end_threads(); }

void Workers::end_threads() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->quitting = true;
  }
  state_->changed.notify_all();
  state_->threads.clear();
  state_->quitting = false;
}

Result<void> Workers::start(std::uint32_t pool) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.pool = pool;
  ++s.starts;
  while (s.threads.size() < s.count)
    s.threads.emplace_back([&s, seen = s.generation] { s.work(seen); });
  return {};
}

void Workers::stop_running_in_place() {
  const std::lock_guard lock(state_->mutex);
  state_->options.in_place = false;
}

void Workers::set_budget(std::uint64_t budget) {
  const std::lock_guard lock(state_->mutex);
  state_->plan.budget = budget;
}

bool Workers::leave_files_to_one() {
  const ServedProgram::FileUse files = file_use();
  if (state_->count == 1 || (files.changed == 0 && files.created == 0)) return false;
  end_threads();
  state_->count = 1;
  return true;
}

Result<void> Workers::run(std::span<const JobPlan> jobs, std::span<const std::uint8_t> sharing,
                          std::uint32_t choices, const Pulse& pulse, std::vector<RanJob>& results) {
  State& s = *state_;
  results.clear();
  results.resize(jobs.size());
  std::unique_lock lock(s.mutex);
  s.jobs = jobs;
  s.sharing = sharing;
  s.choices = choices;
  s.results = &results;
  s.next = 0;
  s.done = 0;
  s.stop = false;
  s.error.reset();
  s.busy = static_cast<unsigned>(s.threads.size());
  ++s.generation;
  s.changed.notify_all();
  while (!s.changed.wait_for(lock, kPulse, [&] { return s.busy == 0; })) {
    lock.unlock();
    if (!pulse(s.done)) s.stop = true;
    lock.lock();
  }
  if (s.error) return std::unexpected(*s.error);
  return {};
}

unsigned Workers::width() const { return state_->count; }

ServedProgram::FileUse Workers::file_use() const {
  const std::lock_guard lock(state_->mutex);
  return state_->file_use;
}

}  // namespace clew
