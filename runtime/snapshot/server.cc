#include "runtime/snapshot/server.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clew_abi/late_start.h"
#include "runtime/event/sharing.h"
#include "runtime/event/watch.h"
#include "runtime/keep.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/outside/descriptors.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/record/trace.h"
#include "runtime/sched/scheduler.h"
#include "runtime/snapshot/checkpoint.h"
#include "runtime/snapshot/created_files.h"
#include "runtime/snapshot/fork.h"
#include "runtime/snapshot/prelude.h"
#include "runtime/snapshot/reset.h"
#include "runtime/thread/thread_block.h"
#include "runtime/translate/translate.h"

namespace clew::rt {

namespace {

// Jobs after which the process does not go back.
constexpr std::uint32_t kStandsStill = abi::kJobCheckpoint | abi::kJobLeave;

// Standard output or error, with kFlagCapture.
struct Output {
  FileIdentity file;
  long size = 0;

  static Output at(int fd, long size) {
    struct stat status{};
    raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status));
    return {{status.st_dev, status.st_ino}, size};
  }
  bool is_at(int fd) const {
    const Output now = at(fd, 0);
    return now.file.device == file.device && now.file.inode == file.inode;
  }
};

constinit Output g_output[3] = {};
std::uint32_t g_depth = 0;       // checkpoints up to and with this process's own
std::uint32_t g_first_file = 0;  // created by the job of this process
bool g_prepared = false;
bool g_begun = false;
bool g_can_go_back = false;  // this process is put back after its job

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

template <class T>
T* part(std::uint64_t offset) {
  return reinterpret_cast<T*>(abi::kControlAddress + offset);
}

const abi::Job& job_at(std::uint32_t i) { return part<abi::Job>(control().jobs_offset)[i]; }
abi::JobResult& result_at(std::uint32_t i) {
  return part<abi::JobResult>(control().results_offset)[i];
}

long futex_of_state() { return reinterpret_cast<long>(&control().state); }

// Does nothing if the host wants no more.
void tell_ready() {
  abi::ServerState state = control().state.load(std::memory_order_relaxed);
  while (state != abi::ServerState::kQuit &&
         !control().state.compare_exchange_weak(state, abi::ServerState::kReady,
                                                std::memory_order_acq_rel)) {
  }
  raw_syscall(SYS_futex, futex_of_state(), FUTEX_WAKE, 1 << 30);
}

// Waits until there is a job to run. Ends the process when the host wants no more.
void wait_for_jobs() {
  for (;;) {
    const abi::ServerState state = control().state.load(std::memory_order_acquire);
    if (state == abi::ServerState::kQuit) raw_syscall(SYS_exit_group, kOrderlyEnd);
    if (state == abi::ServerState::kRun) return;
    raw_syscall(SYS_futex, futex_of_state(), FUTEX_WAIT, static_cast<long>(state), 0);
  }
}

void publish_result() {
  ++kept().results;
  const std::uint32_t done = control().jobs_done.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (done >= control().jobs_count.load(std::memory_order_relaxed)) tell_ready();
}

// What a job has found to be shared is marked while it runs; one that dies leaves the marks.
void forget_found_points() {
  for (std::uint64_t i = 0; i < control().sharing.size; ++i) kept().found_points[i] = 0;
}

// What the job did to other processes, and to its own in ways that last.
void tell_children(abi::JobResult& result) {
  result.lasting = kept().lasting;
  result.threaded_children = kept().threaded_children;
  result.failed_children = kept().failed_children;
}

// The process has ended without a result of its own.
void write_result_of_death(int wait_status) {
  const std::uint32_t i = control().jobs_done.load(std::memory_order_acquire);
  abi::JobResult& result = result_at(i);
  result = {};
  result.number = job_at(i).number;
  result.trace.incomplete = (job_at(i).flags & abi::kJobTrace) != 0 ? 1 : 0;
  result.clock = control().live_clock.load(std::memory_order_relaxed);
  tell_children(result);
  if (WIFSIGNALED(wait_status)) {
    result.end = abi::JobEnd::kSignalled;
    result.status = WTERMSIG(wait_status);
    result.failure = abi::FailureKind::kSignal;
    result.failure_key = static_cast<std::uint64_t>(result.status);
  } else {
    result.end = abi::JobEnd::kExited;
    result.status = WEXITSTATUS(wait_status);
  }
  publish_result();
}

// A job that is not for a process like this one: it leaves, and its parent sees to the job.
bool is_for_parent(const abi::Job& job) {
  return g_can_go_back && (job.depth != g_depth || (job.flags & kStandsStill) != 0);
}

// Captured output starts empty for each job, or continues from where it was at the checkpoint.
void empty_output() {
  if (!(control().flags & abi::kFlagCapture)) return;
  for (int fd = 1; fd <= 2; ++fd) {
    // The program may have put something else there before the checkpoint.
    if (!g_output[fd].is_at(fd)) continue;
    raw_syscall(SYS_ftruncate, fd, g_output[fd].size);
    raw_syscall(SYS_lseek, fd, g_output[fd].size, SEEK_SET);
  }
}

void take_job() {
  wait_for_jobs();
  const std::uint32_t i = control().jobs_done.load(std::memory_order_acquire);
  const abi::Job& job = job_at(i);
  if (is_for_parent(job)) raw_syscall(SYS_exit_group, kOrderlyEnd);
  begin_job_report();
  kept().in_job = true;
  kept().lasting = 0;
  kept().threaded_children = kept().failed_children = 0;
  g_sched.checkpoint_at = job.flags & abi::kJobCheckpoint ? job.stop_at : kNever;
  control().live_clock.store(0, std::memory_order_relaxed);
  empty_output();
  g_sched.begin_job(job);
}

// A job that needs no process: one that leaves a checkpoint, or whose checkpoint is not there.
void answer_at_once(const abi::Job& job, std::uint32_t i) {
  const bool leaves = job.depth == g_depth && (job.flags & abi::kJobLeave) != 0 && g_depth > 0;
  result_at(i) = {};
  result_at(i).number = job.number;
  if (leaves) {
    remove_created(g_first_file);
    control().depth.store(g_depth - 1, std::memory_order_relaxed);
  }
  publish_result();
  if (leaves) raw_syscall(SYS_exit_group, kOrderlyEnd);
}

// Forks for each job, or for each series of jobs; returns in the process that runs one.
void serve_here() {
  const std::uint32_t first_file = created_count();
  for (int idle_deaths = 0;;) {
    wait_for_jobs();
    const std::uint32_t before = control().jobs_done.load(std::memory_order_acquire);
    const abi::Job& job = job_at(before);
    if (job.depth != g_depth || (job.flags & abi::kJobLeave) != 0) {
      answer_at_once(job, before);
      continue;
    }
    control().forks.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t results_before = kept().results;
    int status = 0;
    if (fork_and_wait(&status)) {
      g_first_file = first_file;
      return;
    }
    // Clean up after a process that could not, and drop the checkpoints that died with it.
    remove_created(first_file);
    control().depth.store(g_depth, std::memory_order_relaxed);
    // The process may have run many jobs, and died in one or between two. If two in a row die
    // before their first job, the job is given up.
    idle_deaths = kept().results == results_before ? idle_deaths + 1 : 0;
    if (kept().in_job) forget_found_points();
    if (kept().in_job || idle_deaths > 1) write_result_of_death(status);
    kept().in_job = false;
  }
}

// Without catching system calls nobody knows what a run leaves behind.
bool goes_back() {
  return (control().flags & abi::kFlagInPlace) != 0 && !kept().never_back && user_dispatch_is_on();
}

// REQUIRES: this process has been forked for a job. Returns for each that it runs.
void run_jobs() {
  continue_translating(control());
  const abi::Job& job = job_at(control().jobs_done.load(std::memory_order_acquire));
  // A process that stops at a checkpoint is not put back.
  if (goes_back() && !(job.flags & kStandsStill)) {
    kept().next = kept().mark;
    g_can_go_back = remember_here();
  }
  take_job();
}

void serve() {
  Sharing::reserve(control());
  created_files_init();
  for (int fd = 1; fd <= 2; ++fd)
    g_output[fd] = Output::at(fd, raw_syscall(SYS_lseek, fd, 0, SEEK_CUR));
  look_for_uncovered_code();
  // From here on, each process that runs jobs has the memory to itself.
  kept().mark = kept().next;
  tell_ready();
  serve_here();
  run_jobs();
}

// What does not depend on how the job ended.
void fill_result(abi::JobResult& result, std::uint32_t i, Clock clock) {
  g_sharing.end();
  result = {};
  result.number = job_at(i).number;
  result.threads = g_sched.threads.count();
  result.clock = clock;
  result.hash = g_hash.value();
  result.interleaving = g_sched.at_every_point() ? g_sharing.interleaving() : g_hash.value();
  result.scheduling_points = g_sched.counts.points;
  result.questions = g_sched.questions();
  result.uncovered = static_cast<std::uint8_t>(g_sched.uncovered | uncovered_code() |
                                               g_sched.strategy().uncovered());
  result.loops = g_sched.strategy().loops();
  result.switches = g_sched.counts.switches;
  result.preemptions = g_sched.counts.preemptions;
  result.company = g_sched.last_company();
  result.watched = g_watch.count();
  tell_children(result);
  result.time = g_sched.now();
  result.busy_time = result.time - g_sched.idle();
  result.trace = g_trace.end();
  result.sharing_count = g_sharing.found();
  control().new_sharing_count += result.sharing_count;
}

// The pool and the stack: at main, whenever jobs begin, so that addresses do not depend on that.
void prepare() {
  if (g_prepared) return;
  g_prepared = true;
  if (!(control().flags & abi::kFlagFromMain)) return;
  // At least one: what is learned about libc's threads must be learned before the first fork.
  fill_pool(control().pool > 0 ? control().pool : 1);
  if (control().flags & abi::kFlagServe) grow_main_stack();
}

void begin_here() {
  if (g_begun) return;
  g_begun = true;
  prepare();
  if (!(control().flags & abi::kFlagFromMain)) return;
  if (control().flags & abi::kFlagServe) return serve();
  if (control().flags & abi::kFlagTellCreated) created_files_init();
  g_sched.begin_job(job_at(0));
}

}  // namespace

void reach_main() {
  prepare();
  if (!(control().flags & abi::kFlagLateStart)) begin_here();
}

// The creation is a scheduling point, so that strategies know its thread.
void reach_first_thread() {
  begin_here();
  g_sched.look_at_next();
}

void reach_choice() {
  if (CLEW_UNLIKELY(g_prepared && !g_begun)) begin_here();
}

void reach_call(const Call& call) {
  if (CLEW_UNLIKELY(g_prepared && !g_begun) && !is_of_prelude(call)) begin_here();
}

void leave_job() {
  end_job_report();
  created_files_leave();
}

void end_job(abi::JobEnd end, int status, Clock clock) {
  const std::uint32_t i = control().jobs_done.load(std::memory_order_acquire);
  abi::JobResult& result = result_at(i);
  fill_result(result, i, clock);
  const JobFailure& failure = job_failure();
  result.end = end == abi::JobEnd::kExited && failure.failed ? abi::JobEnd::kFailed : end;
  result.status = status;
  if (failure.failed) result.failure = failure.kind;
  result.failure_key = failure.failed ? failure.key : static_cast<std::uint64_t>(status);
  remove_created(g_first_file);
  // After a crash by a signal other than abort's the memory is not to be trusted.
  const bool trusted = end != abi::JobEnd::kSignalled || status == SIGABRT;
  const bool takes_next = g_can_go_back && trusted && result.lasting == 0;
  kept().in_job = false;
  publish_result();
  if (takes_next) go_back();
  raw_syscall(SYS_exit_group, kOrderlyEnd);
  __builtin_unreachable();
}

void stop_at_checkpoint() {
  g_sched.checkpoint_at = kNever;
  if (streams_were_made()) note_changed("pipes or sockets");
  const std::uint32_t i = control().jobs_done.load(std::memory_order_acquire);
  abi::JobResult& result = result_at(i);
  fill_result(result, i, g_sched.clock());
  result.end = abi::JobEnd::kCheckpoint;
  for (int fd = 1; fd <= 2; ++fd)
    if (g_output[fd].is_at(fd)) g_output[fd].size = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  ++g_depth;
  control().depth.store(g_depth, std::memory_order_relaxed);
  kept().in_job = false;
  publish_result();
  serve_here();
  run_jobs();
}

}  // namespace clew::rt
