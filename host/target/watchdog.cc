#include "host/target/watchdog.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <vector>

#include "host/target/outcome_of.h"
#include "host/target/slurp.h"
#include "host/target/syscall_names.h"

namespace clew {
namespace {

constexpr std::size_t kMostNamed = 4;

// Removes the next word from `text` and returns it.
std::string_view word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view result = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(result.size());
  return result;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string link_of(pid_t pid, std::uint64_t descriptor) {
  std::array<char, 256> target{};
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, descriptor);
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : "";
}

// "in read of descriptor 5"; empty if the thread waits for something within the program.
std::string outside_text(const WaitReport& wait) {
  if (wait.kind == abi::WaitKind::kSignal) return "for a signal";
  const std::string call = waiting_call(wait.kind, wait.object);
  return call.empty() ? "" : "in " + call;
}

std::vector<pid_t> numbers_in(std::string_view text) {
  std::vector<pid_t> numbers;
  for (std::string_view next = word(text); !next.empty(); next = word(text))
    if (const auto pid = number<pid_t>(next, 10)) numbers.push_back(*pid);
  return numbers;
}

std::vector<pid_t> children_of(pid_t pid) {
  return numbers_in(slurp(fmt::format("/proc/{0}/task/{0}/children", pid)));
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored))
    if (const auto thread = number<pid_t>(entry.path().filename().native(), 10))
      threads.push_back(*thread);
  return threads;
}

bool polls(long call) {
  constexpr long kPolls[] = {SYS_poll,       SYS_ppoll,       SYS_select,      SYS_pselect6,
                             SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2};
  return std::ranges::find(kPolls, call) != std::end(kPolls);
}

}  // namespace

double StallCounter::look(const Pulse& pulse, double seconds) {
  const bool asleep = pulse.state == 'S' || pulse.state == 'D';
  const bool still = pulse.cpu_ticks == last_.cpu_ticks && pulse.clock == last_.clock &&
                     pulse.reported == last_.reported;
  stalled_ = asleep && still ? stalled_ + std::min(seconds, 0.25) : 0;
  last_ = pulse;
  return stalled_;
}

std::optional<Pulse> parse_proc_stat(std::string_view text) {
  // The second field is the program's name in parentheses; it may contain anything.
  const std::size_t end = text.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(end + 1);
  const std::string_view state = word(text);
  if (state.size() != 1) return std::nullopt;
  for (int field = 4; field < 14; ++field) word(text);
  const auto user = number<std::uint64_t>(word(text), 10);
  const auto system = number<std::uint64_t>(word(text), 10);
  if (!user || !system) return std::nullopt;
  return Pulse{state[0], *user + *system, 0, 0};
}

std::optional<SystemCall> parse_proc_syscall(std::string_view text) {
  const auto call = number<long>(word(text), 10);
  if (!call || *call < 0) return std::nullopt;
  SystemCall result{*call, {}};
  for (std::uint64_t& argument : result.arguments) {
    std::string_view digits = word(text);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    argument = number<std::uint64_t>(digits, 16).value_or(0);
  }
  return result;
}

std::optional<Pulse> pulse_of(pid_t pid) {
  return parse_proc_stat(slurp(fmt::format("/proc/{}/stat", pid)));
}

bool has_children(pid_t pid) { return !children_of(pid).empty(); }

bool waits_within_process(const SystemCall& call) {
  if (call.number != SYS_futex) return false;
  const std::uint64_t operation = call.arguments[1];
  constexpr std::uint64_t kOptions = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;
  const bool waits =
      (operation & ~kOptions) == FUTEX_WAIT || (operation & ~kOptions) == FUTEX_WAIT_BITSET;
  const bool has_limit = call.arguments[3] != 0;
  return waits && (operation & FUTEX_PRIVATE_FLAG) != 0 && !has_limit;
}

std::optional<std::string> stuck_descendant(pid_t pid) {
  std::optional<std::string> stuck;
  for (const pid_t child : children_of(pid)) {
    const auto pulse = pulse_of(child);
    if (!pulse || pulse->state == 'Z') continue;
    bool waits_for_child = false;
    bool all_within = true;
    for (const pid_t thread : threads_of(child)) {
      const auto call =
          parse_proc_syscall(slurp(fmt::format("/proc/{}/task/{}/syscall", child, thread)));
      if (call && (call->number == SYS_wait4 || call->number == SYS_waitid))
        waits_for_child = true;
      else if (!call || !waits_within_process(*call))
        all_within = false;
    }
    if (!all_within) return std::nullopt;
    auto below = stuck_descendant(child);
    if (!below && has_children(child)) return std::nullopt;
    if (!below && waits_for_child) return std::nullopt;
    if (!stuck)
      stuck = below ? below : fmt::format("process {}, whose threads wait for each other", child);
  }
  return stuck;
}

std::optional<std::string> StuckChildren::look(bool waits_for_children_only, pid_t pid,
                                               double now) {
  constexpr double kBetweenLooks = 1;
  if (!waits_for_children_only) since_ = 0;
  if (!waits_for_children_only || now - last_ < kBetweenLooks) return std::nullopt;
  last_ = now;
  auto stuck = stuck_descendant(pid);
  if (!stuck)
    since_ = 0;
  else if (since_ == 0)
    since_ = now;
  else if (now - since_ >= kBlockedSeconds)
    return stuck;
  return std::nullopt;
}

std::optional<SystemCall> system_call_of(pid_t pid) {
  return parse_proc_syscall(slurp(fmt::format("/proc/{}/syscall", pid)));
}

bool waits_for_input(pid_t pid, const SystemCall& call) {
  if (polls(call.number)) return true;
  if (call.number != SYS_read && call.number != SYS_readv) return false;
  return call.arguments[0] == 0 || link_of(pid, call.arguments[0]) == link_of(pid, 0);
}

std::string describe_block(pid_t pid, const std::optional<SystemCall>& call) {
  if (!call) return "the program sleeps in the kernel and does not return";
  std::string what = syscall_name(call->number);
  if (syscall_takes_descriptor(call->number)) {
    const std::string link = link_of(pid, call->arguments[0]);
    what += fmt::format(" of descriptor {}{}", static_cast<std::int32_t>(call->arguments[0]),
                        link.empty() ? "" : " (" + link + ")");
  }
  return fmt::format("the program is blocked in {}, and all of its threads with it", what);
}

std::string describe_listener(const std::vector<std::string>& listeners) {
  if (listeners.size() != 1) return "a listener sleeps in the kernel and does not return";
  return fmt::format("the listener {} sleeps in the kernel and does not return",
                     listeners.front().substr(0, listeners.front().find(':')));
}

std::string describe_outside(const Reports& reports) {
  std::string text = "every thread is blocked, and what they wait for has not come from outside";
  std::size_t named = 0;
  for (const WaitReport& wait : reports.waits) {
    const std::string where = outside_text(wait);
    if (where.empty()) continue;
    if (named == kMostNamed) return text + ", …";
    text +=
        fmt::format("{} {} {}", named++ == 0 ? ":" : ",", thread_name(reports, wait.thread), where);
  }
  return text;
}

}  // namespace clew
