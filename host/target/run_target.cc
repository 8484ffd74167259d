#include "host/target/run_target.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "host/recording/start_file.h"
#include "host/seconds.h"
#include "host/target/child.h"
#include "host/target/control_memory.h"
#include "host/target/forward_output.h"
#include "host/target/intake.h"
#include "host/target/interrupts.h"
#include "host/target/outcome_of.h"
#include "host/target/output_sink.h"
#include "host/target/slurp.h"
#include "host/target/syscall_names.h"
#include "host/target/watchdog.h"
#include "host/time_limit.h"

namespace clew {
namespace {

constexpr int kRoundMilliseconds = 20;
// While the program reads so much that it might have to wait for clew.
constexpr int kShortRoundMilliseconds = 1;
constexpr std::uint64_t kManyInputs = kInputsRingSize / 8;
constexpr double kPulseSeconds = 0.2;

// Where the program's output goes.
struct Outlets {
  OutputSink output;
  OutputSink errors;
};

Result<Outlets> open_outlets(const LaunchPlan& plan, const Draft* draft) {
  const bool pass = plan.output == OutputMode::kPassThrough;
  const auto sink = [&](int pass_to, auto open_store) -> Result<OutputSink> {
    if (draft == nullptr) return OutputSink::create(pass ? pass_to : -1, std::nullopt);
    CLEW_TRY(auto store, open_store());
    return OutputSink::create(pass ? pass_to : -1, std::move(store));
  };
  CLEW_TRY(auto output, sink(STDOUT_FILENO, [&] { return draft->open_stdout(kMaxStoredOutput); }));
  CLEW_TRY(auto errors, sink(STDERR_FILENO, [&] { return draft->open_stderr(kMaxStoredOutput); }));
  output.skip(plan.shown_before[0]);
  errors.skip(plan.shown_before[1]);
  return Outlets{std::move(output), std::move(errors)};
}

// The runtime names modules as the dynamic linker does: the program by its first argument, and those
// of an imported recording by paths of another machine.
void find_modules(const LaunchPlan& plan, Reports& reports) {
  StartFile start;
  if (is_start_file(plan.started_as))
    if (auto read = read_start_file(plan.started_as)) start = std::move(*read);
  for (ModuleInfo& module : reports.modules) {
    const auto file = std::ranges::find(start.files, module.path, &BundledFile::path);
    if (file != start.files.end())
      module.path = file->file.string();
    else if (!plan.arguments.empty() && module.path == plan.arguments.front())
      module.path = plan.program;
  }
}

class Run {
 public:
  Run(const LaunchPlan& plan, InputFeed input, RunObserver& observer, Descendants* descendants,
      Intake intake, Outlets outlets, Child child)
      : plan_(plan),
        input_(std::move(input)),
        observer_(observer),
        descendants_(descendants),
        intake_(std::move(intake)),
        outlets_(std::move(outlets)),
        child_(std::move(child)),
        started_(seconds_now()),
        last_pulse_(started_) {}

  Result<RunResult> to_the_end();

 private:
  void poll_descriptors();
  void watch();
  void blocked();
  void take_reports();
  void stop(FailureKind kind, std::string detail);
  void fail_with(Error error);
  void check(const Result<void>& result) {
    if (!result) fail_with(result.error());
  }
  void pass(OutputSink& sink);
  Result<RunResult> conclude();

  const LaunchPlan& plan_;
  InputFeed input_;
  RunObserver& observer_;
  Descendants* descendants_;  // null: its child processes are not recorded
  Intake intake_;
  Outlets outlets_;
  Child child_;
  Interrupts interrupts_;
  StallCounter stall_;
  StuckChildren stuck_;
  double started_;
  double last_pulse_;
  bool ended_ = false;
  bool announced_attached_ = false;
  int round_milliseconds_ = kRoundMilliseconds;
  int partner_ = -1;  // what a debugger ends the run by
  std::optional<Stopped> stopped_;
  std::string maps_;  // of /proc, when it was stopped
  std::optional<Error> error_;
  RunResult result_;
};

void Run::stop(FailureKind kind, std::string detail) {
  if (!stopped_) stopped_ = Stopped{kind, std::move(detail)};
  // It will not get to report where its code is loaded.
  if (maps_.empty()) maps_ = slurp(fmt::format("/proc/{}/maps", child_.pid()));
  child_.kill_now();
}

void Run::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
  child_.kill_now();
}

void Run::take_reports() {
  intake_.take();
  if (intake_.overwritten()) stop(FailureKind::kOverwritten, *intake_.overwritten());
  if (intake_.error()) fail_with(*intake_.error());
  round_milliseconds_ =
      intake_.inputs_taken() > kManyInputs ? kShortRoundMilliseconds : kRoundMilliseconds;
}

void Run::pass(OutputSink& sink) {
  observer_.before_output();
  sink.pass();
}

void Run::poll_descriptors() {
  const short in = POLLIN;
  const short out = POLLOUT;
  std::vector<pollfd> ready{
      {child_.pidfd(), in, 0},
      {interrupts_.descriptor(), in, 0},
      {outlets_.output.readable(), in, 0},
      {outlets_.errors.readable(), in, 0},
      {outlets_.output.writable(), out, 0},
      {outlets_.errors.writable(), out, 0},
      {input_.readable(), in, 0},
      {input_.writable(), out, 0},
      {partner_, in, 0},
      {descendants_ != nullptr ? descendants_->descriptor() : -1, in, 0},
  };
  if (poll(ready.data(), ready.size(), round_milliseconds_) <= 0) return;
  if (ready[2].revents != 0) check(outlets_.output.pump());
  if (ready[3].revents != 0) check(outlets_.errors.pump());
  if (ready[4].revents != 0) pass(outlets_.output);
  if (ready[5].revents != 0) pass(outlets_.errors);
  if (ready[6].revents != 0) input_.on_readable();
  if (ready[7].revents != 0) input_.on_writable();
  if (ready[8].revents != 0) stop(FailureKind::kDebugger, "the debugger has ended it");
  if (ready[9].revents != 0) descendants_->answer(intake_);
  if (ready[0].revents != 0) ended_ = true;
  if (const int number = interrupts_.take(); number != 0 && !(partner_ >= 0 && number == SIGINT)) {
    result_.interrupted_by = number;
    stop(FailureKind::kInterrupted, fmt::format("interrupted by {}", signal_name(number)));
  }
}

void Run::blocked() {
  if (intake_.memory().is_in_listener())
    return stop(FailureKind::kUnsupported, describe_listener(plan_.listeners));
  const bool outside = intake_.memory().waits_outside();
  const auto call = system_call_of(child_.pid());
  const bool may_be_input = outside || (call && waits_for_input(child_.pid(), *call));
  if (input_.is_open() && may_be_input) return stall_.reset();
  stop(FailureKind::kBlocked,
       outside ? describe_outside(intake_.reports()) : describe_block(child_.pid(), call));
}

void Run::watch() {
  const double now = seconds_now();
  if (!announced_attached_ && intake_.memory().attached()) {
    announced_attached_ = true;
    auto partner = observer_.attached(child_.pid());
    if (!partner) return fail_with(partner.error());
    partner_ = *partner;
  }
  if (!stopped_ && (observer_.time_is_up() || TimeLimit::is_over()))
    stop(FailureKind::kInterrupted, "the time limit was reached");
  if (now - last_pulse_ < kPulseSeconds) return;
  observer_.progress(intake_.memory().live_clock(), now - started_);
  auto pulse = pulse_of(child_.pid());
  const bool waits_for_clew = outlets_.output.congested() || outlets_.errors.congested();
  // Another program runs there now (exec), which may wait as long as it likes.
  const bool became = intake_.reports().becomes.has_value();
  if (!pulse || waits_for_clew || partner_ >= 0 || became) {
    stall_.reset();
  } else {
    pulse->clock = intake_.memory().live_clock();
    pulse->reported = intake_.memory().bytes_drained();
    const double patience = intake_.memory().waits_outside() ? kOutsideSeconds : kBlockedSeconds;
    const double stalled = stall_.look(*pulse, now - last_pulse_);
    if (stalled >= patience && (stalled >= kChildrenSeconds || !has_children(child_.pid())))
      blocked();
    if (const auto who = stuck_.look(intake_.memory().waits_for_children_only(), child_.pid(), now))
      stop(FailureKind::kHang, "it waits for " + *who);
  }
  last_pulse_ = now;
}

Result<RunResult> Run::to_the_end() {
  outlets_.output.close_child_end();
  outlets_.errors.close_child_end();
  input_.close_child_end();
  while (!ended_) {
    // Somebody waits for it.
    if ((plan_.flags & abi::kFlagWaitDebugger) != 0 && !announced_attached_)
      round_milliseconds_ = kShortRoundMilliseconds;
    poll_descriptors();
    take_reports();
    if (descendants_ != nullptr) descendants_->look_after();
    watch();
  }
  return conclude();
}

Result<RunResult> Run::conclude() {
  EndFacts facts;
  facts.wait_status = child_.wait();
  // Ctrl-C reaches the program as well, and its end may be seen first.
  if (const int number = interrupts_.take(); number != 0 && !stopped_ && partner_ < 0) {
    result_.interrupted_by = number;
    stopped_ =
        Stopped{FailureKind::kInterrupted, fmt::format("interrupted by {}", signal_name(number))};
  }
  take_reports();
  if (descendants_ != nullptr) descendants_->parent_ended(intake_, stopped_.has_value());
  for (OutputSink* sink : {&outlets_.output, &outlets_.errors}) {
    check(sink->pump());
    while (sink->congested() && !error_) {
      observer_.before_output();
      sink->pass_all();
      check(sink->pump());
    }
    if (sink->has_pending()) observer_.before_output();
    sink->pass_all();
  }
  // If the program ran as it would by itself, its other processes may continue; nothing of it is
  // recorded.
  if (descendants_ != nullptr && plan_.output == OutputMode::kPassThrough && !stopped_ && !error_)
    forward_output(outlets_.output.readable(), outlets_.errors.readable());
  if (error_) return std::unexpected(*error_);
  if (!intake_.memory().attached() && !stopped_)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} ended ({}) before clew's runtime took control", plan_.shown,
                            shell_status(facts.wait_status)),
                plan_.preload.empty()
                    ? "rebuild it with this clew, as it may have been built with another version"
                    : "does it run without clew? otherwise build it with clew c++");

  facts.live_clock = intake_.memory().live_clock();
  facts.stopped = stopped_;
  CLEW_TRY(auto inputs, intake_.finish());
  result_.inputs = inputs;
  result_.reports = std::move(intake_.reports());
  if (result_.reports.maps.empty()) result_.reports.maps = std::move(maps_);
  find_modules(plan_, result_.reports);
  result_.summary = summarize(facts, result_.reports);
  // A long wait is told while it lasts, and may have ended since.
  const auto& failure = result_.summary.failure;
  if (!stopped_ && !(failure && failure->kind == FailureKind::kDeadlock)) {
    result_.reports.waits.clear();
    result_.reports.holds.clear();
  }
  result_.seconds = seconds_now() - started_;
  result_.cpu_seconds = child_.cpu_seconds();
  auto& notes = result_.summary.notes;
  for (const std::string& note : child_.notes()) notes.push_back({Note::Kind::kOther, note});
  for (const std::string& note : input_.notes()) notes.push_back({Note::Kind::kOther, note});

  auto output = outlets_.output.finish();
  auto errors = outlets_.errors.finish();
  auto input = input_.finish();
  if (!output) fail_with(output.error());
  if (!errors) fail_with(errors.error());
  if (!input) fail_with(input.error());
  if (error_) return std::unexpected(*error_);
  result_.output = *output;
  const int output_error = outlets_.output.pass_error();
  result_.output_error = output_error != 0 ? output_error : outlets_.errors.pass_error();
  result_.errors = *errors;
  result_.input = *input;
  return std::move(result_);
}

}  // namespace

void RunObserver::progress(std::uint64_t, double) {}
bool RunObserver::time_is_up() { return false; }
void RunObserver::before_output() {}
Result<int> RunObserver::attached(pid_t) { return -1; }

Result<RunResult> run_target(const LaunchPlan& plan, InputFeed input, const Draft* draft,
                             RunObserver& observer, Descendants* descendants) {
  CLEW_TRY(auto memory, ControlMemory::create(plan, {.record_inputs = draft != nullptr}));
  if (plan.inputs) CLEW_CHECK_OK(read_inputs_file(*plan.inputs, memory.inputs()));
  const int control = memory.descriptor();
  CLEW_TRY(auto intake, Intake::create(std::move(memory), draft));
  CLEW_TRY(auto outlets, open_outlets(plan, draft));
  CLEW_TRY(auto child, Child::start(plan, {input.child_end(), outlets.output.child_end(),
                                           outlets.errors.child_end(), control}));
  return Run(plan, std::move(input), observer, descendants, std::move(intake), std::move(outlets),
             std::move(child))
      .to_the_end();
}

}  // namespace clew
