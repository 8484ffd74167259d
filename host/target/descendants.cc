#include "host/target/descendants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "clew_abi/adoption.h"
#include "clew_abi/watch.h"
#include "host/recording/content_hash.h"
#include "host/seconds.h"
#include "host/target/intake.h"
#include "host/target/outcome_of.h"
#include "host/target/process_facts.h"

namespace clew {
namespace {

constexpr int kBacklog = 64;
// A script may start a thousand programs; their recordings must not fill the disk.
constexpr std::uint64_t kMostRecorded = 100;
constexpr double kGraceSeconds = 2;
constexpr int kRoundMilliseconds = 20;
constexpr int kAnswerMilliseconds = 1000;

bool is_readable(int descriptor, int milliseconds) {
  pollfd ready{descriptor, POLLIN, 0};
  return poll(&ready, 1, milliseconds) > 0;
}

// The process at the other end, if it belongs to the same user.
std::optional<pid_t> peer_of(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid != geteuid() || peer.pid <= 0) return std::nullopt;
  return peer.pid;
}

std::optional<abi::Petition> read_petition(int connection) {
  abi::Petition petition;
  if (!is_readable(connection, kAnswerMilliseconds)) return std::nullopt;
  if (recv(connection, &petition, sizeof petition, MSG_DONTWAIT) != sizeof petition)
    return std::nullopt;
  if (petition.magic != abi::kPetitionMagic || petition.version != abi::kVersion ||
      petition.size > sizeof petition.started_as ||
      strnlen(petition.started_as, petition.size) != petition.size)
    return std::nullopt;
  return petition;
}

void send_memory(int connection, int memory) {
  char answer = 'y';
  iovec part{&answer, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof memory);
  std::memcpy(CMSG_DATA(rights), &memory, sizeof memory);
  sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The first of the names that is free: others may have taken some.
bool bind_to_name(int socket) {
  for (int i = 0; i < abi::kAdoptionNames; ++i) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name =
        fmt::format("{}{}{}", abi::kAdoptionPrefix, getpid(), i == 0 ? "" : fmt::format(".{}", i));
    std::ranges::copy(name, address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

Result<FileDescriptor> open_socket() {
  FileDescriptor descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.valid() || !bind_to_name(descriptor.get()) ||
      ::listen(descriptor.get(), kBacklog) != 0)
    return fail(
        ErrorCode::kSystem,
        fmt::format("cannot listen to the program's child processes: {}", std::strerror(errno)));
  return descriptor;
}

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

class Descendants::Descendant {
 public:
  Descendant(pid_t pid, FileDescriptor pidfd, LaunchPlan plan, ProgramIdentity identity,
             Draft draft, Intake intake)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        plan_(std::move(plan)),
        identity_(std::move(identity)),
        draft_(std::move(draft)),
        intake_(std::move(intake)),
        started_(seconds_now()) {}

  pid_t pid() const { return pid_; }
  std::uint64_t recording() const { return draft_.number(); }
  const LaunchPlan& plan() const { return plan_; }
  Intake& intake() { return intake_; }
  std::string command() const { return fmt::format("{}", fmt::join(plan_.arguments, " ")); }
  int control() const { return intake_.memory().descriptor(); }
  bool has_ended() const { return is_readable(pidfd_.get(), 0); }
  void take() { intake_.take(); }
  void kill_now() const { syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0); }
  void let_go() {
    let_go_ = true;
    intake_.memory().let_go();
  }

  // The recording begins with that of the process of which it is a copy.
  Result<void> begin_with(const std::filesystem::path& folder, const Reports& reports,
                          const abi::Branch& branch) {
    threads_before_ = branch.threads;
    return intake_.begin_with(folder, reports, branch);
  }

  // Empty: the runtime never took control of the process, or it is a copy without threads and
  // without a failure.
  Result<std::optional<RecordedChild>> conclude(std::uint64_t parent);

 private:
  EndFacts facts(std::uint64_t live_clock) {
    EndFacts facts;
    facts.live_clock = live_clock;
    const Reports& reports = intake_.reports();
    facts.wait_status = reports.status.value_or(0);
    if (intake_.overwritten())
      facts.stopped = Stopped{FailureKind::kOverwritten, *intake_.overwritten()};
    else if (reports.becomes)  // whatever the other program does
      return facts;
    else if (let_go_)
      facts.stopped = Stopped{FailureKind::kInterrupted,
                              "it was still running when the program that started it had ended"};
    else if (!reports.status)
      facts.stopped = Stopped{FailureKind::kInterrupted, "it was killed from outside"};
    return facts;
  }

  pid_t pid_;
  FileDescriptor pidfd_;
  LaunchPlan plan_;
  ProgramIdentity identity_;
  Draft draft_;
  Intake intake_;
  double started_;
  std::uint64_t threads_before_ = 0;  // of a copy
  bool let_go_ = false;
};

Result<std::optional<RecordedChild>> Descendants::Descendant::conclude(std::uint64_t parent) {
  // This is read before the inputs are taken, which must reach as far: a process that is let go
  // still runs.
  const std::uint64_t live_clock = intake_.memory().live_clock();
  intake_.take();
  if (!intake_.memory().attached()) return std::nullopt;
  RecordedChild child{pid_, command(), draft_.number(), {}};
  RunResult& run = child.run;
  const EndFacts how = facts(live_clock);
  run.seconds = seconds_now() - started_;
  CLEW_TRY(auto inputs, intake_.finish());
  run.inputs = inputs;
  run.reports = std::move(intake_.reports());
  run.summary = summarize(how, run.reports);
  if (run.reports.threads.size() == threads_before_ && run.summary.outcome == Outcome::kPass)
    return std::nullopt;

  Meta meta = meta_of(plan_);
  meta.identity = identity_;
  meta.created_ns = nanoseconds_now();
  meta.wall_seconds = run.seconds;
  meta.summary = run.summary;
  meta.inputs = run.inputs;
  meta.parent = parent;
  meta.origin = Origin::process(
      pid_, parent, plan_.generation > 0 ? Origin::Start::kForked : Origin::Start::kStarted);
  for (const auto& open : {&Draft::open_stdout, &Draft::open_stderr}) {
    CLEW_TRY(auto empty, (draft_.*open)(0));
    CLEW_CHECK_OK(empty.finish());
  }
  CLEW_CHECK_OK(draft_.commit(std::move(meta)));
  return child;
}

Descendants::Descendants(LaunchPlan plan, std::uint64_t recording, RecordingStore& store,
                         FileDescriptor socket)
    : plan_(std::move(plan)), recording_(recording), store_(store), socket_(std::move(socket)) {}
Descendants::Descendants(Descendants&&) noexcept = default;
Descendants::~Descendants() = default;

Result<Descendants> Descendants::listen(const LaunchPlan& plan, std::uint64_t recording,
                                        RecordingStore& store) {
  auto socket = open_socket();
  Descendants descendants(plan, recording, store, socket ? std::move(*socket) : FileDescriptor());
  if (!socket)
    descendants.notes_.push_back(
        fmt::format("child processes are not recorded: {}", socket.error().message));
  return descendants;
}

// It is the same for the same command of the same program, as far as the order of its processes is
// the same.
std::uint64_t Descendants::seed_for(const std::vector<std::string>& arguments) {
  const std::string command = fmt::format("{}", fmt::join(arguments, "\n"));
  const std::string text = fmt::format("{} {} {}", plan_.seed, started_[command]++, command);
  const std::uint64_t hash =
      content_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return hash % 999'999'999 + 1;  // short enough to be typed
}

Result<std::unique_ptr<Descendants::Descendant>> Descendants::make_program(LaunchPlan plan,
                                                                           pid_t pid) {
  plan.seed = seed_for(plan.arguments);
  plan.schedule_seed = plan.seed;
  plan.budget = plan_.budget;
  plan.fair_slice = plan_.fair_slice;
  plan.epoch_ns = plan_.epoch_ns;
  return make(std::move(plan), pid);
}

// Everything that determines how the program runs up to the fork is as it was there.
Result<std::unique_ptr<Descendants::Descendant>> Descendants::make_copy(pid_t pid,
                                                                        const abi::Branch& branch,
                                                                        Intake& program) {
  CLEW_TRY(auto origin, origin_of(branch, program));
  origin.plan.schedule_seed = seed_for(origin.plan.arguments);
  origin.plan.follow = {};
  origin.plan.generation = branch.generation;
  auto made = make(std::move(origin.plan), pid);
  if (!made) return made;
  const auto folder = store_.path() / std::to_string(branch.recording);
  CLEW_CHECK_OK((*made)->begin_with(folder, origin.reports, branch));
  return made;
}

Result<Descendants::CopiedProcess> Descendants::origin_of(const abi::Branch& branch,
                                                          Intake& program) {
  if (const auto found = ended_.find(branch.recording); found != ended_.end()) return found->second;
  const LaunchPlan* plan = branch.recording == recording_ ? &plan_ : nullptr;
  Intake* intake = &program;
  for (const auto& descendant : alive_) {
    if (descendant->recording() != branch.recording) continue;
    plan = &descendant->plan();
    intake = &descendant->intake();
  }
  if (plan == nullptr)
    return fail(ErrorCode::kBadInput, "the process of which it is a copy is not recorded");
  intake->take();
  CLEW_CHECK_OK(intake->flush());
  CopiedProcess origin{*plan, {}};
  origin.reports.threads = intake->reports().threads;
  origin.reports.modules = intake->reports().modules;
  return origin;
}

Result<std::unique_ptr<Descendants::Descendant>> Descendants::make(LaunchPlan plan, pid_t pid) {
  plan.strategy = plan_.strategy == abi::StrategyKind::kNone ? abi::StrategyKind::kNone
                                                             : abi::StrategyKind::kTimer;
  CLEW_TRY(auto identity, identify_program(plan.program));
  FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot watch it: {}", std::strerror(errno)));
  CLEW_TRY(auto draft, store_.create());
  plan.recording = draft.number();
  CLEW_TRY(auto memory, ControlMemory::create(plan, {.record_inputs = true}));
  CLEW_TRY(auto intake, Intake::create(std::move(memory), &draft));
  return std::make_unique<Descendant>(pid, std::move(pidfd), std::move(plan), std::move(identity),
                                      std::move(draft), std::move(intake));
}

void Descendants::answer(Intake& program) {
  for (;;) {
    const FileDescriptor connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return;
    hear(connection.get(), program);
  }
}

void Descendants::hear(int connection, Intake& program) {
  const auto pid = peer_of(connection);
  const auto petition = pid ? read_petition(connection) : std::nullopt;
  if (!petition) return;
  if (petition->purpose == abi::PetitionFor::kControl)
    adopt(connection, *pid, std::string(petition->started_as, petition->size));
  else if (petition->purpose == abi::PetitionFor::kCopy)
    adopt_copy(connection, *pid, petition->branch, program);
}

bool Descendants::may_adopt_another() {
  if (adopted_ < kMostRecorded) return true;
  if (++declined_ == 1)
    notes_.push_back(
        fmt::format("more than {} child processes: the others ran without clew", kMostRecorded));
  return false;
}

void Descendants::adopt(int connection, pid_t pid, const std::string& started_as) {
  auto plan = plan_of_process(
      pid, started_as,
      abi::kFlagChild | (plan_.flags & (abi::kFlagLoadAgain | abi::kAllWatchFlags)));
  if (!plan || !may_adopt_another()) return;
  conclude_image_of(pid);
  const std::string shown = plan->shown;
  answer_with(connection, make_program(std::move(*plan), pid), pid, shown);
}

void Descendants::adopt_copy(int connection, pid_t pid, const abi::Branch& branch,
                             Intake& program) {
  if (may_adopt_another())
    answer_with(connection, make_copy(pid, branch, program), pid, "a copy made by fork()");
}

void Descendants::answer_with(int connection, Result<std::unique_ptr<Descendant>> made, pid_t pid,
                              const std::string& shown) {
  if (!made) {
    notes_.push_back(
        fmt::format("process {} ({}) could not be recorded: {}", pid, shown, made.error().message));
    return;
  }
  ++adopted_;
  send_memory(connection, (*made)->control());
  alive_.push_back(std::move(*made));
}

// The program that the process ran before it became the one that asks now: nobody would see its
// end.
void Descendants::conclude_image_of(pid_t pid) {
  for (auto& descendant : alive_) {
    if (descendant->pid() != pid) continue;
    conclude(*descendant);
    descendant.reset();
  }
  std::erase(alive_, nullptr);
}

void Descendants::look_after() {
  for (auto& descendant : alive_) {
    const bool ended = descendant->has_ended();
    descendant->take();
    if (!ended) continue;
    conclude(*descendant);
    descendant.reset();
  }
  std::erase(alive_, nullptr);
}

void Descendants::conclude(Descendant& descendant) {
  CopiedProcess origin{descendant.plan(), {}};
  auto child = descendant.conclude(recording_);
  if (!child)
    notes_.push_back(fmt::format("process {} ({}) could not be recorded: {}", descendant.pid(),
                                 descendant.command(), child.error().message));
  if (!child || !*child) return;
  origin.reports.threads = (*child)->run.reports.threads;
  origin.reports.modules = (*child)->run.reports.modules;
  ended_.emplace((*child)->recording, std::move(origin));
  children_.push_back(std::move(**child));
}

void Descendants::parent_ended(Intake& program, bool by_clew) {
  if (by_clew)
    for (const auto& descendant : alive_) descendant->kill_now();
  const double until = seconds_now() + kGraceSeconds;
  const auto round = [&] {
    answer(program);
    look_after();
  };
  for (round(); !alive_.empty() && seconds_now() < until; round())
    is_readable(socket_.get(), kRoundMilliseconds);
  socket_ = FileDescriptor();
  for (const auto& descendant : alive_) {
    descendant->let_go();
    conclude(*descendant);
  }
  alive_.clear();
}

}  // namespace clew
