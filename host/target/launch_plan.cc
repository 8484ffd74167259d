#include "host/target/launch_plan.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "clew_abi/epoch.h"
#include "clew_abi/watch.h"
#include "host/target/addresses.h"

namespace clew {
namespace {

std::uint64_t soft_stack_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// Variables that change what libraries do under clew, unless the user has set them.
constexpr std::string_view kRequests[] = {
    // The processor's random numbers are not recorded; without them Qt and OpenSSL use the
    // kernel's.
    "QT_NO_CPU_FEATURE=rdrnd rdseed",
    "OPENSSL_ia32cap=~0x4000000000000000:~0x40000",
    // LLVM's OpenMP: threads that wait at a barrier block at once. Otherwise they spin for 200 ms,
    // and a hunt whose strategy decides at every point spends its time on that.
    "KMP_BLOCKTIME=0",
    // A thread that waits for a lock that OpenMP's interface for tools does not report waits in the
    // kernel.
    "KMP_LOCK_KIND=futex",
    // It would ask each processor for its number (cpuid), assuming that it runs there: the answer
    // depends on where the process happens to run. The file is recorded.
    "KMP_TOPOLOGY_METHOD=cpuinfo",
};

// Of AddressSanitizer, whose variable is a list of options, of which the last counts. Its allocator
// would give memory back to the kernel every five seconds, counted from a time that it has read by a
// system call before the runtime is in control.
constexpr std::string_view kSanitizerVariable = "ASAN_OPTIONS";
constexpr std::string_view kSanitizerOption = "allocator_release_to_os_interval_ms";

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

void request_of_sanitizer(std::vector<std::string>& environment) {
  const std::string request = std::string(kSanitizerOption) + "=-1";
  const auto found = std::ranges::find(environment, kSanitizerVariable, name_of);
  if (found == environment.end())
    environment.push_back(std::string(kSanitizerVariable) + "=" + request);
  else if (found->find(kSanitizerOption) == std::string::npos)
    *found += (found->ends_with('=') ? "" : ":") + request;
}

bool ends_by_finding(FailureKind kind) {
  return kind == FailureKind::kRace || kind == FailureKind::kLockOrder ||
         kind == FailureKind::kMemory || kind == FailureKind::kListener;
}

bool is_own_variable(std::string_view entry) {
  const std::string_view name = name_of(entry);
  return name == abi::kControlVariable || name == abi::kPreloadVariable ||
         name == kLoadAgainVariable;
}

}  // namespace

LaunchPlan plan_here(std::string program, std::vector<std::string> arguments) {
  LaunchPlan plan;
  plan.program = std::move(program);
  plan.shown = arguments.empty() ? plan.program : arguments.front();
  plan.arguments = std::move(arguments);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_own_variable(*entry)) plan.environment.emplace_back(*entry);
  for (const std::string_view request : kRequests)
    if (std::ranges::find(plan.environment, name_of(request), name_of) == plan.environment.end())
      plan.environment.emplace_back(request);
  request_of_sanitizer(plan.environment);
  std::error_code ignored;
  plan.working_folder = std::filesystem::current_path(ignored).string();
  plan.stack_limit = soft_stack_limit();
  plan.epoch_ns = abi::kEpochNs;
  if (isatty(STDOUT_FILENO) != 0) plan.flags |= abi::kFlagLineBuffered;
  if (!kernel_fixes_addresses()) plan.flags |= abi::kFlagLoadAgain;
  return plan;
}

LaunchPlan plan_of(const Recording& recording, Stream schedule) {
  const Meta& meta = recording.meta;
  LaunchPlan plan;
  plan.program = meta.program;
  plan.started_as = meta.started_as;
  plan.shown = meta.arguments.empty() ? meta.program : meta.arguments.front();
  plan.arguments = meta.arguments;
  plan.environment = meta.environment;
  plan.working_folder = meta.working_folder;
  plan.stack_limit = meta.stack_limit;
  plan.blocked_signals = meta.blocked_signals;
  plan.ignored_signals = meta.ignored_signals;
  plan.strategy = abi::StrategyKind::kSchedule;
  plan.seed = meta.seed;
  plan.budget = meta.budget;
  plan.fair_slice = meta.fair_slice;
  plan.epoch_ns = meta.epoch_ns;
  plan.clock_speed = meta.clock_speed;
  plan.flags = abi::kFlagReplay | abi::kFlagReplayInputs |
               (meta.line_buffered ? abi::kFlagLineBuffered : 0u) |
               (meta.from_main ? abi::kFlagFromMain : 0u) | (meta.child ? abi::kFlagChild : 0u);
  plan.loaded_elsewhere = !meta.loaded_again && !kernel_fixes_addresses();
  if (meta.loaded_again || plan.loaded_elsewhere) plan.flags |= abi::kFlagLoadAgain;
  // A finding that ended the run is part of it.
  if (meta.summary.failure && ends_by_finding(meta.summary.failure->kind)) {
    plan.flags |= meta.watch;
    plan.listeners = meta.listeners;
  }
  plan.generation = meta.generation;
  plan.enter_child = meta.enter_child;
  plan.pool = meta.pool;
  plan.follow = std::move(schedule);
  if (meta.inputs) plan.inputs = RecordedInputs{recording.inputs_file(), *meta.inputs};
  return plan;
}

Meta meta_of(const LaunchPlan& plan) {
  Meta meta;
  meta.program = plan.program;
  meta.started_as = plan.started_as.empty() ? plan.program : plan.started_as;
  meta.arguments = plan.arguments;
  meta.environment = plan.environment;
  meta.working_folder = plan.working_folder;
  meta.stack_limit = plan.stack_limit;
  meta.blocked_signals = plan.blocked_signals;
  meta.ignored_signals = plan.ignored_signals;
  meta.strategy = plan.strategy;
  meta.seed = plan.seed;
  meta.budget = plan.budget;
  meta.fair_slice = plan.fair_slice;
  meta.epoch_ns = plan.epoch_ns;
  meta.clock_speed = plan.clock_speed;
  meta.line_buffered = (plan.flags & abi::kFlagLineBuffered) != 0;
  meta.from_main = (plan.flags & abi::kFlagFromMain) != 0;
  meta.pool = plan.pool;
  meta.child = (plan.flags & abi::kFlagChild) != 0;
  meta.loaded_again = (plan.flags & abi::kFlagLoadAgain) != 0;
  meta.watch = plan.flags & abi::kAllWatchFlags;
  meta.listeners = plan.listeners;
  meta.generation = plan.generation;
  meta.enter_child = plan.enter_child;
  return meta;
}

Meta meta_of_run(const LaunchPlan& plan, const RunResult& run, StdinKind input) {
  Meta meta = meta_of(plan);
  meta.created_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  meta.wall_seconds = run.seconds;
  meta.summary = run.summary;
  meta.stdin_kind = input;
  meta.stdin_data = run.input;
  meta.stdout_data = run.output;
  meta.stderr_data = run.errors;
  meta.inputs = run.inputs;
  return meta;
}

}  // namespace clew
