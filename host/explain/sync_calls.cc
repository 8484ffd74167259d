#include "host/explain/sync_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace clew {
namespace {

constexpr std::uint64_t kFutexCall = 202;
constexpr std::uint64_t kFutexCommand = 0x7f;

constexpr std::uint64_t kSignals = 1;
constexpr std::array<std::string_view, 5> kSignalWaits = {"pause", "sigsuspend", "sigwait",
                                                          "sigwaitinfo", "sigtimedwait"};
constexpr std::array<std::string_view, 4> kSignalSends = {"kill", "pthread_kill", "sigqueue",
                                                          "pthread_sigqueue"};

bool is_wait_on_futex(std::uint64_t operation) {
  const std::uint64_t command = operation & kFutexCommand;
  return command == 0 || command == 9;  // FUTEX_WAIT, FUTEX_WAIT_BITSET
}

// What the caller finds in errno: the first number of its size that it reads behind the call. 0: it does not look at once.
std::uint64_t errno_behind(const RunTrace& run, const OutsideCall& call) {
  constexpr std::size_t kMostSteps = 8;  // the call of __errno_location among them
  const auto& list = run.thread(run.steps()[call.step].thread);
  const std::size_t from = run.position(call.back);
  for (std::size_t i = from; i < std::min(list.size(), from + kMostSteps); ++i) {
    const auto& accesses = run.block_of(list[i]).accesses;
    for (std::uint32_t k = 0; k < accesses.size(); ++k)
      if (accesses[k].kind == AccessKind::kRead && accesses[k].size == sizeof errno &&
          accesses[k].has_value && accesses[k].instruction < run.steps()[list[i]].executed)
        return run.access_value(list[i], k);
  }
  return 0;
}

}  // namespace

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

SyncCall sync_call(const OutsideCall& call) {
  const std::string_view name = call.name;
  const auto& arguments = call.registers.arguments;
  const bool failed = call.back != kNoStep && (call.result & UINT32_MAX) != 0;
  for (const std::string_view prefix :
       {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "mtx_"})
    if (name.starts_with(prefix)) {
      const std::string_view what = name.substr(prefix.size());
      if (what == "unlock") return {SyncKind::kLock, SyncStep::kReleases, arguments[0]};
      if (what.ends_with("lock") && !failed)
        return {SyncKind::kLock, SyncStep::kTakes, arguments[0]};
    }
  for (const std::string_view prefix : {"pthread_cond_", "cnd_"})
    if (name.starts_with(prefix)) {
      const std::string_view what = name.substr(prefix.size());
      if (what.ends_with("wait")) return {SyncKind::kCondition, SyncStep::kWaits, arguments[0]};
      if (what == "signal" || what == "broadcast")
        return {SyncKind::kCondition, SyncStep::kWakes, arguments[0]};
    }
  if (name == "sem_wait" || name == "sem_timedwait" || name == "sem_clockwait")
    return {SyncKind::kSemaphore, SyncStep::kWaits, arguments[0]};
  if (name == "sem_post") return {SyncKind::kSemaphore, SyncStep::kWakes, arguments[0]};
  if (name == "pthread_barrier_wait") return {SyncKind::kBarrier, SyncStep::kWaits, arguments[0]};
  if (name.starts_with("pthread_") && name.contains("join"))
    return {SyncKind::kJoin, SyncStep::kWaits, arguments[0]};
  if (name == "thrd_join") return {SyncKind::kJoin, SyncStep::kWaits, arguments[0]};
  if (is_one_of(kSignalWaits, name)) return {SyncKind::kSignal, SyncStep::kWaits, kSignals};
  if (is_one_of(kSignalSends, name) && !failed)
    return {SyncKind::kSignal, SyncStep::kWakes, kSignals};
  if (name == "syscall" && arguments[0] == kFutexCall)
    return {SyncKind::kFutex, is_wait_on_futex(arguments[2]) ? SyncStep::kWaits : SyncStep::kWakes,
            arguments[1]};
  return {};
}

bool is_sleep(const OutsideCall& call) {
  return call.name == "sleep" || call.name == "usleep" || call.name == "nanosleep" ||
         call.name == "clock_nanosleep" || call.name == "thrd_sleep";
}

bool timed_out(const OutsideCall& call) {
  if (call.back == kNoStep) return false;
  const bool limited = call.name.contains("timed") || call.name.contains("clockwait") ||
                       call.name.contains("clocklock");
  // Semaphores return -1 and leave the reason in errno.
  const auto result = static_cast<std::uint32_t>(call.result);
  return limited && (result == ETIMEDOUT || (call.name.starts_with("sem_") && result != 0));
}

bool timed_out(const RunTrace& run, const OutsideCall& call) {
  if (timed_out(call)) return true;
  if (!may_have_timed_out(call)) return false;
  const auto& arguments = call.registers.arguments;
  const auto milliseconds = [](std::uint64_t argument) {
    return static_cast<std::int32_t>(argument);
  };
  // Without a limit of its own the call has only looked. What select() points to is not known.
  if (call.name == "poll") return milliseconds(arguments[2]) > 0;
  if (call.name.starts_with("epoll")) return milliseconds(arguments[3]) > 0;
  return call.name == "syscall" && errno_behind(run, call) == ETIMEDOUT;
}

bool may_have_timed_out(const OutsideCall& call) {
  constexpr std::array<std::string_view, 6> kPolls = {"poll",    "ppoll",      "select",
                                                      "pselect", "epoll_wait", "epoll_pwait"};
  const auto& arguments = call.registers.arguments;
  if (is_one_of(kPolls, call.name)) return call.back != kNoStep && (call.result & UINT32_MAX) == 0;
  return call.name == "syscall" && arguments[0] == kFutexCall && is_wait_on_futex(arguments[2]) &&
         arguments[4] != 0 && call.back != kNoStep && static_cast<std::int64_t>(call.result) == -1;
}

abi::PointKind point_kind(CodeMap& code, const OutsideCall& call) {
  if (!call.name.starts_with("__clew_yield_")) return abi::PointKind::kCount;
  const auto bytes = code.code(call.registers.arguments[0]);
  if (bytes.size() < sizeof(abi::Point)) return abi::PointKind::kCount;
  abi::Point point;
  std::memcpy(&point, bytes.data(), sizeof point);
  return point.kind;
}

bool is_atomic(abi::PointKind kind) {
  return kind == abi::PointKind::kAtomicLoad || kind == abi::PointKind::kAtomicStore ||
         kind == abi::PointKind::kAtomicRmw || kind == abi::PointKind::kAtomicCas;
}

}  // namespace clew
