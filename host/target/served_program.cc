#include "host/target/served_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "clew_abi/findings.h"
#include "host/schedule/stream.h"
#include "host/seconds.h"
#include "host/target/trace_file.h"
#include "host/target/watchdog.h"
#include "host/time_limit.h"
#include "host/trace/trace_decoder.h"

namespace clew {
namespace {

constexpr double kStartSeconds = 30;
constexpr long kRoundMilliseconds = 50;
constexpr double kQuitSeconds = 2;
constexpr double kQuitSecondsWhenLate = 0.2;  // when the command should have ended
constexpr std::size_t kMostOutput = std::size_t{64} << 20;

long futex(std::atomic<abi::ServerState>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

Result<FileDescriptor> output_file(bool capture) {
  FileDescriptor fd(capture ? memfd_create("clew output", MFD_CLOEXEC)
                            : open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot create a file: {}", std::strerror(errno)));
  return fd;
}

std::string content_of(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostOutput), '\0');
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

// The part of a schedule after a checkpoint: what comes before event `first` has happened. A guide
// that is not a schedule is left for the runtime to refuse.
std::vector<std::uint8_t> schedule_from(const std::vector<std::uint8_t>& guide,
                                        std::uint64_t first) {
  StreamDecoder decoder;
  decoder.push(guide);
  StreamEncoder encoder;
  for (;;) {
    const auto item = decoder.next();
    if (!item) return guide;
    if (!*item) break;
    const auto* entry = std::get_if<Entry>(&**item);
    if (entry != nullptr && entry->clock.value >= first) encoder.append(*entry);
  }
  return decoder.finish() ? encoder.take() : guide;
}

std::size_t data_size(const JobPlan& job) {
  std::size_t size = job.guide.size() + 16;
  for (const std::string& name : job.names) size += name.size() + 1;
  return size;
}

}  // namespace

struct ServedProgram::State {
  State(ServeOptions o, FileDescriptor out, FileDescriptor err, ControlMemory m, Child c)
      : options(o),
        output(std::move(out)),
        errors(std::move(err)),
        memory(std::move(m)),
        child(std::move(c)) {}

  ServeOptions options;
  FileDescriptor output;
  FileDescriptor errors;
  ControlMemory memory;
  TraceFile trace_file;
  Child child;
  bool gone = false;
  std::size_t sharing_known = 0;  // bytes laid out last
  std::vector<std::string> listeners;
  // The event that each checkpoint stands before, as far as this side knows.
  std::vector<std::uint64_t> checkpoints;

  abi::Control& control() { return memory.control(); }
  abi::ServerState state() { return control().state.load(std::memory_order_acquire); }

  bool has_ended() {
    pollfd ended{child.pidfd(), POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
  }

  // Waits a moment for the state to change from `from`.
  void doze(abi::ServerState from) {
    const timespec timeout{0, kRoundMilliseconds * 1'000'000};
    futex(control().state, FUTEX_WAIT, static_cast<std::uint32_t>(from), &timeout);
  }

  // The process that runs a job; 0: none. The program can write anything there: only a process of
  // its own group counts.
  pid_t runner() {
    const pid_t pid = control().runner.load(std::memory_order_acquire);
    return pid > 0 && getpgid(pid) == child.pid() ? pid : 0;
  }

  // REQUIRES: no batch is under way.
  std::size_t depth() {
    return std::min<std::size_t>(checkpoints.size(),
                                 control().depth.load(std::memory_order_relaxed));
  }

  // Every process exits in an orderly way: its parent waits for it, and what jobs left behind is
  // cleaned up. A process that does not exit is killed, and its descendants die with it
  // (PR_SET_PDEATHSIG).
  void quit();

  void lay_out(std::span<const JobPlan> jobs, std::span<const std::uint8_t> sharing,
               std::uint32_t choices);
  Trace read_trace(const abi::TraceExtent& extent);
  ServedJob collect(std::uint32_t index, std::uint64_t& shared_at);
  void collect_findings(std::span<ServedJob> jobs);
  void count_checkpoints(const JobPlan& plan, const abi::JobResult& result) {
    if (result.end == abi::JobEnd::kCheckpoint)
      checkpoints.push_back(result.clock + 1);
    else if ((plan.flags & abi::kJobLeave) && !checkpoints.empty())
      checkpoints.pop_back();
  }
};

ServedProgram::ServedProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServedProgram::ServedProgram(ServedProgram&&) noexcept = default;

ServedProgram::~ServedProgram() {
  if (state_) state_->quit();
}

void ServedProgram::State::quit() {
  if (gone) return;
  gone = true;
  const bool started = state() != abi::ServerState::kStarting;
  control().state.store(abi::ServerState::kQuit, std::memory_order_release);
  futex(control().state, FUTEX_WAKE, 1 << 30, nullptr);
  const double until =
      seconds_now() + std::clamp(TimeLimit::seconds_left(), kQuitSecondsWhenLate, kQuitSeconds);
  while (started && seconds_now() < until) {
    pollfd ended{child.pidfd(), POLLIN, 0};
    if (poll(&ended, 1, 1) > 0) return;
    // A job that is under way does not look at the state.
    if (const pid_t running = runner(); running > 0) kill(running, SIGKILL);
  }
  child.kill_now();
}

Result<ServedProgram> ServedProgram::start(const LaunchPlan& wanted, int input,
                                           const ServeOptions& options) {
  LaunchPlan plan = wanted;
  plan.flags |= abi::kFlagFromMain | abi::kFlagServe;
  if (options.in_place) plan.flags |= abi::kFlagInPlace;
  if (options.capture) plan.flags |= abi::kFlagCapture;
  CLEW_TRY(auto memory, ControlMemory::create(plan, {.jobs = options.jobs,
                                                     .data = options.data,
                                                     .sharing = options.sharing,
                                                     .trace = options.trace}));
  CLEW_TRY(auto output, output_file(options.capture));
  CLEW_TRY(auto errors, output_file(options.capture));
  CLEW_TRY(auto child,
           Child::start(plan, {input, output.get(), errors.get(), memory.descriptor()}));
  ServedProgram program(std::make_unique<State>(options, std::move(output), std::move(errors),
                                                std::move(memory), std::move(child)));
  State& state = *program.state_;
  state.listeners = plan.listeners;
  const double until = seconds_now() + kStartSeconds;
  while (state.state() == abi::ServerState::kStarting) {
    if (state.has_ended()) {
      state.gone = true;
      return fail(ErrorCode::kBadInput, fmt::format("{} ended before it reached main", plan.shown));
    }
    if (seconds_now() > until)
      return fail(ErrorCode::kBadInput, fmt::format("{} did not reach main within {} seconds",
                                                    plan.shown, kStartSeconds));
    if (TimeLimit::is_over())
      return fail(
          ErrorCode::kBadInput,
          fmt::format("the time was up before {} came to where its runs begin", plan.shown));
    state.doze(abi::ServerState::kStarting);
  }
  return program;
}

std::vector<std::string> ServedProgram::lacks() const {
  std::vector<std::string> sentences;
  const std::uint32_t lacks = state_->control().lacks.load(std::memory_order_relaxed);
  if ((lacks & abi::kLacksFixedAddresses) != 0)
    sentences.emplace_back(
        "addresses differ from run to run: what depends on them may not happen again (clew run "
        "says why)");
  if ((lacks & abi::kLacksDispatch) != 0)
    sentences.emplace_back(
        "this kernel cannot catch system calls: those that libraries make are not controlled");
  if ((lacks & abi::kLacksFunctions) != 0)
    sentences.emplace_back(
        "a listener asks for functions, which are told by clew run and clew replay alone");
  for (const std::string& note : state_->child.notes()) sentences.push_back(note);
  return sentences;
}

std::size_t ServedProgram::fitting(std::span<const JobPlan> jobs) const {
  std::size_t size = 0;
  std::size_t count = 0;
  const bool single = state_->options.capture || state_->options.watch;
  const std::size_t most = single ? 1 : state_->options.jobs;
  for (const JobPlan& job : jobs) {
    size += data_size(job);
    if (count == most || size > state_->memory.layout().data_size) break;
    ++count;
  }
  return count;
}

void ServedProgram::State::lay_out(std::span<const JobPlan> jobs,
                                   std::span<const std::uint8_t> sharing, std::uint32_t choices) {
  const ControlMemory::Layout& layout = memory.layout();
  std::uint64_t at = layout.data;
  const auto put = [&](const void* from, std::size_t size) {
    const std::uint64_t offset = at;
    if (size > 0) std::memcpy(memory.at(offset), from, size);
    at += size;
    return abi::Part{offset, size};
  };
  // As it will be if every checkpoint of the batch is reached.
  std::vector<std::uint64_t> standing = checkpoints;
  auto* out = reinterpret_cast<abi::Job*>(memory.at(layout.jobs));
  auto* results = reinterpret_cast<abi::JobResult*>(memory.at(layout.results));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobPlan& plan = jobs[i];
    abi::Job job{};
    job.number = i;
    job.strategy = plan.strategy;
    job.flags = plan.flags;
    job.choices = choices;
    job.seed = plan.seed;
    std::ranges::copy(plan.parameters, job.parameters);
    job.window = plan.window;
    job.stop_at = plan.stop_at;
    job.watch = plan.watch;
    job.depth = static_cast<std::uint32_t>(standing.size());
    const bool cut = plan.strategy == abi::StrategyKind::kSchedule && !standing.empty();
    const std::vector<std::uint8_t> guide =
        cut ? schedule_from(plan.guide, standing.back()) : plan.guide;
    job.guide = put(guide.data(), guide.size());
    std::string names;
    for (const std::string& name : plan.names) names.append(name.c_str(), name.size() + 1);
    job.names = put(names.data(), names.size());
    job.names_count = static_cast<std::uint32_t>(plan.names.size());
    at = (at + 15) / 16 * 16;
    out[i] = job;
    results[i] = {};
    if (plan.flags & abi::kJobCheckpoint)
      standing.push_back(std::max(plan.stop_at, standing.empty() ? 0 : standing.back()));
    else if ((plan.flags & abi::kJobLeave) && !standing.empty())
      standing.pop_back();
  }
  const std::size_t known = std::min<std::size_t>(sharing.size(), layout.sharing.size);
  if (known > 0) std::memcpy(memory.at(layout.sharing.offset), sharing.data(), known);
  if (known < sharing_known)
    std::memset(memory.at(layout.sharing.offset + known), 0, sharing_known - known);
  sharing_known = known;
  control().new_sharing_count = 0;
  control().head.store(0, std::memory_order_relaxed);
  control().trace_used = control().trace_file_used = 0;
  const bool to_file = std::ranges::any_of(
      jobs, [](const JobPlan& job) { return (job.flags & abi::kJobTraceFile) != 0; });
  if (to_file) control().trace_file = trace_file.begin();
  control().jobs_done.store(0, std::memory_order_relaxed);
  control().jobs_count.store(static_cast<std::uint32_t>(jobs.size()), std::memory_order_relaxed);
}

Trace ServedProgram::State::read_trace(const abi::TraceExtent& extent) {
  const abi::Part& part = memory.layout().trace;
  TraceDecoder decoder;
  const bool there = trace_file.read(extent.file_offset, extent.file_size, decoder) &&
                     extent.offset <= part.size && extent.size <= part.size - extent.offset;
  if (there)
    decoder.push({reinterpret_cast<const std::uint8_t*>(memory.at(part.offset + extent.offset)),
                  extent.size});
  Trace trace = decoder.finish();
  trace.complete &= there && extent.incomplete == 0;
  return trace;
}

// The program can write anywhere in this memory: values that would lead outside it are rejected.
ServedJob ServedProgram::State::collect(std::uint32_t index, std::uint64_t& shared_at) {
  const ControlMemory::Layout& layout = memory.layout();
  ServedJob job;
  std::memcpy(&job.result, memory.at(layout.results + index * sizeof(abi::JobResult)),
              sizeof job.result);
  job.result.number = index;
  if (job.result.failure >= abi::FailureKind::kCount)
    job.result.failure = abi::FailureKind::kSignal;
  job.trace = read_trace(job.result.trace);
  const std::uint64_t shared_room = layout.new_sharing.size / sizeof(std::uint32_t);
  const std::uint64_t count =
      shared_at < shared_room ? std::min(job.result.sharing_count, shared_room - shared_at) : 0;
  job.shared_points.resize(count);
  if (count > 0)
    std::memcpy(job.shared_points.data(),
                memory.at(layout.new_sharing.offset + shared_at * sizeof(std::uint32_t)),
                count * sizeof(std::uint32_t));
  shared_at += count;
  std::erase_if(job.shared_points,
                [&](std::uint32_t point) { return point >= layout.sharing.size * 8; });
  return job;
}

void ServedProgram::State::collect_findings(std::span<ServedJob> jobs) {
  const std::span<const std::uint8_t> room = memory.ring();
  const std::uint64_t count = std::min<std::uint64_t>(
      control().head.load(std::memory_order_acquire), room.size() / sizeof(abi::FindingNote));
  for (std::uint64_t i = 0; i < count; ++i) {
    abi::FindingNote note{};
    std::memcpy(&note, room.data() + i * sizeof note, sizeof note);
    if (note.job >= jobs.size()) continue;
    std::vector<std::uint64_t>& keys = jobs[note.job].findings;
    if (keys.size() < abi::kMaxFindings && std::ranges::find(keys, note.key) == keys.end())
      keys.push_back(note.key);
  }
}

Result<std::vector<ServedJob>> ServedProgram::run(std::span<const JobPlan> jobs,
                                                  std::span<const std::uint8_t> sharing,
                                                  std::uint32_t choices,
                                                  const std::atomic<bool>* stop) {
  State& s = *state_;
  if (s.gone) return fail(ErrorCode::kSystem, "the program is no longer served");
  if (jobs.empty()) return std::vector<ServedJob>{};
  s.checkpoints.resize(s.depth());
  s.lay_out(jobs, sharing, choices);
  s.control().state.store(abi::ServerState::kRun, std::memory_order_release);
  futex(s.control().state, FUTEX_WAKE, 1 << 30, nullptr);

  std::vector<std::pair<std::uint32_t, Stopped>> ended;
  StallCounter stall;
  StuckChildren stuck_children;
  std::uint32_t done_before = 0;
  double since = seconds_now();
  double last_look = since;
  std::uint32_t done_when_told_to_stop = UINT32_MAX;
  while (s.state() == abi::ServerState::kRun) {
    s.doze(abi::ServerState::kRun);
    if (TimeLimit::is_over() || (stop != nullptr && stop->load(std::memory_order_relaxed))) {
      done_when_told_to_stop = s.control().jobs_done.load(std::memory_order_acquire);
      s.quit();  // kills what runs
      break;
    }
    if (s.has_ended()) {
      s.gone = true;
      break;
    }
    const std::uint32_t done = s.control().jobs_done.load(std::memory_order_acquire);
    const double now = seconds_now();
    if (done != done_before) {
      done_before = done;
      since = now;
      stall.reset();
    }
    if (now - last_look < 0.2) continue;
    const pid_t runner = s.runner();
    auto pulse = runner > 0 ? pulse_of(runner) : std::nullopt;
    double stalled = 0;
    if (pulse) {
      pulse->clock = s.control().live_clock.load(std::memory_order_relaxed);
      stalled = stall.look(*pulse, now - last_look);
    }
    last_look = now;
    const auto stuck = runner > 0
                           ? stuck_children.look(s.memory.waits_for_children_only(), runner, now)
                           : std::nullopt;
    const bool too_long = now - since > s.options.stuck_seconds;
    if (runner > 0 && (stuck || stalled >= kBlockedSeconds || too_long)) {
      if (stuck)
        ended.emplace_back(done, Stopped{FailureKind::kHang, "it waits for " + *stuck});
      else if (too_long)
        ended.emplace_back(
            done, Stopped{FailureKind::kHang, fmt::format("it did not end within {} seconds",
                                                          s.options.stuck_seconds)});
      else if (s.memory.is_in_listener())
        ended.emplace_back(done,
                           Stopped{FailureKind::kUnsupported, describe_listener(s.listeners)});
      else
        ended.emplace_back(
            done, Stopped{FailureKind::kBlocked, describe_block(runner, system_call_of(runner))});
      kill(runner, SIGKILL);
      since = now;
      stall.reset();
    } else if (too_long) {  // no process is at work, or none that can be found
      s.child.kill_now();
    }
  }
  const std::uint32_t count =
      std::min<std::uint32_t>(s.control().jobs_done.load(std::memory_order_acquire),
                              static_cast<std::uint32_t>(jobs.size()));
  std::vector<ServedJob> results;
  std::uint64_t shared_at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    results.push_back(s.collect(i, shared_at));
    // It may have ended by itself just before.
    const bool killed = results.back().result.end == abi::JobEnd::kSignalled &&
                        results.back().result.status == SIGKILL;
    if (killed && i >= done_when_told_to_stop) {  // by quit(), and not by the program
      results.pop_back();
      break;
    }
    for (auto& [index, why] : ended)
      if (index == i && killed) results.back().stopped = std::move(why);
    s.count_checkpoints(jobs[i], results.back().result);
  }
  s.collect_findings(results);
  s.checkpoints.resize(s.depth());
  const bool stopped_early =
      TimeLimit::is_over() || (stop != nullptr && stop->load(std::memory_order_relaxed));
  // What was done before is told now, and that the program is gone by the next call.
  if (s.gone && !stopped_early && results.empty())
    return fail(ErrorCode::kSystem, "the process that serves the program's runs has died");
  return results;
}

std::size_t ServedProgram::depth() const { return state_->gone ? 0 : state_->depth(); }

Result<void> ServedProgram::leave_checkpoint() {
  if (depth() == 0) return {};
  JobPlan leave;
  leave.flags = abi::kJobLeave;
  CLEW_CHECK_OK(run({&leave, 1}, {}, 0, nullptr));
  return {};
}

ServedProgram::FileUse ServedProgram::file_use() const {
  const abi::Control& control = state_->control();
  FileUse use;
  use.created = control.claimed.load(std::memory_order_relaxed);
  use.changed = control.changed_files.load(std::memory_order_acquire);
  if (use.changed > 0)
    use.changed_first.emplace(control.changed_file,
                              strnlen(control.changed_file, abi::kMaxChangedPath));
  return use;
}

std::string ServedProgram::output() const { return content_of(state_->output.get()); }
std::string ServedProgram::errors() const { return content_of(state_->errors.get()); }

std::uint64_t ServedProgram::forks() const {
  return state_->control().forks.load(std::memory_order_relaxed);
}

}  // namespace clew
