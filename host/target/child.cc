#include "host/target/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "host/recording/start_file.h"
#include "host/target/orphans.h"
#include "host/target/standard_descriptors.h"
#include "host/toolchain/installation.h"

namespace clew {
namespace {

enum class Stage : std::int32_t { kRandomisation, kStackLimit, kFolder, kWiring, kExec };

// What the child reports to the parent before its exec, through a pipe that the exec closes.
struct Notice {
  Stage stage;
  std::int32_t error;
};

void tell(int pipe, Stage stage) {
  const Notice notice{stage, errno};
  [[maybe_unused]] const ssize_t written = write(pipe, &notice, sizeof notice);
}

[[noreturn]] void give_up(int pipe, Stage stage) {
  tell(pipe, stage);
  _exit(127);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool set_stack_limit(const LaunchPlan& plan) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return false;
  const rlim_t soft = plan.stack_limit == UINT64_MAX ? RLIM_INFINITY : plan.stack_limit;
  const bool possible = limit.rlim_max == RLIM_INFINITY || soft <= limit.rlim_max;
  limit.rlim_cur = possible ? soft : limit.rlim_max;
  if ((plan.flags & abi::kFlagLoadAgain) != 0)  // the runtime sets it
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, abi::kMostStackAtStart);
  return setrlimit(RLIMIT_STACK, &limit) == 0 && possible;
}

void fix_addresses(int pipe) {
  const int persona = personality(0xffffffff);
  if (persona < 0 || personality(static_cast<unsigned>(persona) | ADDR_NO_RANDOMIZE) < 0)
    tell(pipe, Stage::kRandomisation);
}

// Descriptors that clew inherited would change the numbers that the program gets from open(), so
// they are closed, except those that a shell passes by name (process substitution).
void close_inherited(const LaunchPlan& plan, int control) {
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  fcntl(control, F_SETFD, 0);
  for (const std::string_view argument : plan.arguments) {
    for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
      if (!argument.starts_with(prefix)) continue;
      int number = -1;
      std::from_chars(argument.data() + prefix.size(), argument.data() + argument.size(), number);
      if (number > 2) fcntl(number, F_SETFD, 0);
    }
  }
}

bool wire(const Child::Wiring& wiring, const LaunchPlan& plan) {
  // A replay gets the recorded results of its calls, whatever is closed here.
  const bool replays = (plan.flags & abi::kFlagReplay) != 0;
  // The sources are moved out of the way first: one may have a number that is about to be
  // overwritten.
  std::array<int, 3> from{wiring.input, wiring.output, wiring.errors};
  for (int& fd : from)
    if ((fd = fcntl(fd, F_DUPFD_CLOEXEC, 10)) < 0) return false;
  for (int number = 0; number < 3; ++number) {
    if (!replays && was_closed(number))
      close(number);
    else if (dup2(from[static_cast<std::size_t>(number)], number) < 0)
      return false;
  }
  return true;
}

// What is given to exec().
struct Executed {
  std::string file;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;
  FileDescriptor start;  // the start file, if clew-start starts the program
};

[[noreturn]] void run_child(const LaunchPlan& plan, const Child::Wiring& wiring, pid_t parent,
                            int pipe, const Executed& executed, char* const* arguments,
                            char* const* environment) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // clew ended before the line above
  if ((plan.flags & abi::kFlagWaitDebugger) != 0) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  reset_signals();
  // Ctrl-C is for clew, which ends the program itself: a run that is cut short is not a failure.
  // With a debugger it is for that.
  if ((plan.flags & (abi::kFlagServe | abi::kFlagWaitDebugger)) != 0) setpgid(0, 0);
  if ((plan.flags & abi::kFlagLoadAgain) == 0) fix_addresses(pipe);
  if (!set_stack_limit(plan)) tell(pipe, Stage::kStackLimit);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (chdir(plan.working_folder.c_str()) != 0) give_up(pipe, Stage::kFolder);
  if (!wire(wiring, plan)) give_up(pipe, Stage::kWiring);
  close_inherited(plan, wiring.control);
  if (executed.start.valid()) fcntl(executed.start.get(), F_SETFD, 0);
  execve(executed.file.c_str(), arguments, environment);
  give_up(pipe, Stage::kExec);
}

// A variable that was set, even to the empty string, keeps its place and gets a ':'.
void add_preload(const std::string& runtime, std::vector<std::string>& variables) {
  constexpr std::string_view kName = "LD_PRELOAD=";
  const auto set = std::ranges::find_if(
      variables, [&](const std::string& text) { return text.starts_with(kName); });
  if (set == variables.end())
    variables.push_back(fmt::format("{}{}", kName, runtime));
  else
    set->insert(kName.size(), runtime + ":");
  variables.push_back(fmt::format("{}=1", abi::kPreloadVariable));
}

std::vector<std::string> variables_of(const LaunchPlan& plan, int control) {
  std::vector<std::string> variables = plan.environment;
  if (!plan.preload.empty()) add_preload(plan.preload, variables);
  // A child process had one already, in its place.
  const std::string prefix = fmt::format("{}=", abi::kControlVariable);
  const auto set = std::ranges::find_if(
      variables, [&](const std::string& text) { return text.starts_with(prefix); });
  std::string& own = set != variables.end() ? *set : variables.emplace_back();
  own = fmt::format("{}{:0{}}", prefix, control, abi::kControlDigits);
  return variables;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

constexpr int kLowestStart = 200;  // no number that matters to the program: clew-start closes it

Result<Executed> what_to_execute(const LaunchPlan& plan, int control) {
  Executed executed{plan.started_as.empty() ? plan.program : plan.started_as,
                    plan.arguments,
                    variables_of(plan, control),
                    {}};
  if (!is_start_file(executed.file)) return executed;
  CLEW_TRY(const auto file, open_regular(executed.file, Whose::kOwn));
  executed.start = FileDescriptor(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, kLowestStart));
  if (!executed.start.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot open a file: {}", std::strerror(errno)));
  CLEW_TRY(const auto installation, toolchain::own_installation());
  executed.file = installation.starter.string();
  executed.arguments.insert(executed.arguments.begin(),
                            {executed.file, std::to_string(executed.start.get())});
  return executed;
}

std::unexpected<Error> start_error(const LaunchPlan& plan, const Notice& notice) {
  const char* reason = std::strerror(notice.error);
  if (notice.stage == Stage::kFolder && plan.working_folder.empty())
    return fail(ErrorCode::kBadInput, "the working folder no longer exists",
                "cd to one that exists");
  if (notice.stage == Stage::kFolder)
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot enter {}: {}", plan.working_folder, reason));
  return fail(notice.stage == Stage::kExec ? ErrorCode::kBadInput : ErrorCode::kSystem,
              fmt::format("cannot run {}: {}", plan.shown, reason));
}

}  // namespace

Result<Child> Child::start(const LaunchPlan& plan, const Wiring& wiring) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::kSystem, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);

  CLEW_TRY(const auto executed, what_to_execute(plan, wiring.control));
  const std::vector<char*> arguments = pointers(executed.arguments);
  const std::vector<char*> environment = pointers(executed.variables);
  const pid_t parent = getpid();
  const pid_t pid = fork_own_child();
  if (pid == 0)
    run_child(plan, wiring, parent, writing.get(), executed, arguments.data(), environment.data());
  if (pid < 0)
    return fail(ErrorCode::kSystem, fmt::format("cannot start a process: {}", std::strerror(errno)),
                errno == EAGAIN ? "raise the limit on processes (ulimit -u)" : "");
  writing = FileDescriptor();
  Child child(pid, FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  if (!child.pidfd_.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot watch a process: {}", std::strerror(errno)),
                "clew needs Linux 5.9 or newer");

  if (plan.loaded_elsewhere)
    child.notes_.emplace_back(
        "it was recorded where the kernel fixes addresses, which is refused here (a container?): a "
        "program that depends on them departs");
  for (Notice notice{};;) {
    const ssize_t size = read(reading.get(), &notice, sizeof notice);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof notice) return child;  // closed by the exec
    if (notice.stage == Stage::kRandomisation)
      child.notes_.emplace_back("address randomisation could not be switched off");
    else if (notice.stage == Stage::kStackLimit)
      child.notes_.emplace_back("the stack limit could not be set as planned");
    else
      return start_error(plan, notice);
  }
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      notes_(std::move(other.notes_)) {}

Child::~Child() {
  if (pid_ < 0) return;
  kill_now();
  wait();
}

void Child::kill_now() const {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

int Child::wait() {
  int status = 0;
  rusage used{};
  while (wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  forget_own_child(pid_);
  reap_orphans();
  const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec / 1e6; };
  cpu_seconds_ = seconds(used.ru_utime) + seconds(used.ru_stime);
  pid_ = -1;
  return status;
}

}  // namespace clew
