#include "host/explain/descriptors.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace clew {
namespace {

constexpr int kRdi = 7;

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 15> kPuts{
    "write",   "pwrite",   "pwrite64", "writev", "pwritev",  "pwritev2", "send",     "sendto",
    "sendmsg", "sendmmsg", "sendfile", "splice", "vmsplice", "dprintf",  "ftruncate"};
constexpr std::array<std::string_view, 38> kUses{"read",
                                                 "pread",
                                                 "pread64",
                                                 "readv",
                                                 "preadv",
                                                 "preadv2",
                                                 "recv",
                                                 "recvfrom",
                                                 "recvmsg",
                                                 "recvmmsg",
                                                 "lseek",
                                                 "lseek64",
                                                 "fsync",
                                                 "fdatasync",
                                                 "fstat",
                                                 "fstat64",
                                                 "fcntl",
                                                 "fcntl64",
                                                 "ioctl",
                                                 "accept",
                                                 "accept4",
                                                 "connect",
                                                 "bind",
                                                 "listen",
                                                 "shutdown",
                                                 "getsockopt",
                                                 "setsockopt",
                                                 "getsockname",
                                                 "getpeername",
                                                 "epoll_ctl",
                                                 "epoll_wait",
                                                 "epoll_pwait",
                                                 "flock",
                                                 "dup",
                                                 "fdopen",
                                                 "fchmod",
                                                 "timerfd_settime",
                                                 "eventfd_write"};
// Those whose result is the number.
constexpr std::array<std::string_view, 24> kOpens{
    "open",    "open64",         "openat",       "openat64",     "creat",         "creat64",
    "socket",  "accept",         "accept4",      "dup",          "epoll_create",  "epoll_create1",
    "eventfd", "timerfd_create", "signalfd",     "inotify_init", "inotify_init1", "memfd_create",
    "mkstemp", "mkostemp",       "posix_openpt", "mkstemp64",    "openat2",       "pidfd_open"};

// A call that opens, closes or uses descriptors, be it of the runtime or of a library that is seen inside.
struct Call {
  StepIndex step = kNoStep;
  StepIndex done =
      kNoStep;  // when it has returned, or at the end: what it does may come long after it was called
  std::string_view name;
  CallRegisters registers;
  std::int32_t result = 0;
};

bool is_of_descriptors(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOthers{"close", "close_range", "dup2",  "dup3",
                                                    "pipe",  "pipe2",       "fcntl", "socketpair"};
  return is_one_of(name, kPuts) || is_one_of(name, kUses) || is_one_of(name, kOpens) ||
         is_one_of(name, kOthers);
}

// What a number stands for.
struct Meaning {
  const Call* opened = nullptr;
  const Call* closed = nullptr;  // the last that closed it before
  [[nodiscard]] bool is_open() const {
    return opened != nullptr && (closed == nullptr || closed->done < opened->done);
  }
};

class Calls {
 public:
  Calls(const RunTrace& run, CodeMap& code) : run_(run) {
    std::unordered_map<std::uint64_t, std::string_view> names;
    for (StepIndex step = 0; step < run.steps().size(); ++step) {
      const BlockStep& info = run.steps()[step];
      const Instruction& last = run.code(step).back();
      if (info.hidden || !last.is_call() || info.executed < run.code(step).size()) continue;
      const auto [name, added] = names.try_emplace(last.address);
      if (added) name->second = code.called(last);
      if (!is_of_descriptors(name->second)) continue;
      Call call{step, returned(step), name->second, {}, -1};
      if (const auto registers = run.call_registers(step)) call.registers = *registers;
      if (const auto result = run.call_result(step))
        call.result = static_cast<std::int32_t>(*result);
      calls_.push_back(call);
    }
  }

  [[nodiscard]] const std::vector<Call>& all() const { return calls_; }
  [[nodiscard]] const Call* at(StepIndex step) const {
    const auto found = std::ranges::find(calls_, step, &Call::step);
    return found == calls_.end() ? nullptr : &*found;
  }
  [[nodiscard]] static std::optional<std::int32_t> used_number(const Call& call) {
    if (!is_one_of(call.name, kPuts) && !is_one_of(call.name, kUses)) return std::nullopt;
    return static_cast<std::int32_t>(call.registers.arguments[0]);
  }
  // When the call does what it does.
  [[nodiscard]] Meaning meaning(std::int32_t number, const Call& user) const {
    Meaning result;
    const auto later = [](const Call* known, const Call& one) {
      return known == nullptr || known->done < one.done;
    };
    for (const Call& call : calls_) {
      if (call.done >= user.done || &call == &user) continue;
      if (closes(call, number) && later(result.closed, call)) result.closed = &call;
      if (opens(call, number) && later(result.opened, call)) result.opened = &call;
    }
    return result;
  }
  // The two numbers that a call has opened at once, and of which this is one: the other. Nothing: it has opened one only, or it is not known.
  [[nodiscard]] std::optional<std::int32_t> other_end(const Call& opened,
                                                      std::int32_t number) const {
    constexpr std::int32_t kMostApart = 64;
    if (!opened.name.starts_with("pipe") && opened.name != "socketpair") return std::nullopt;
    for (std::int32_t i = std::max(0, number - kMostApart); i < number + kMostApart; ++i)
      if (i != number && opens(opened, i)) return i;
    return std::nullopt;
  }
  // The first that closes it behind a call that opens it. REQUIRES: there is one.
  [[nodiscard]] const Call* first_close(std::int32_t number, const Call& opened) const {
    const Call* first = nullptr;
    for (const Call& call : calls_)
      if (closes(call, number) && opened.done <= call.done &&
          (first == nullptr || call.done < first->done))
        first = &call;
    return first;
  }
  [[nodiscard]] Instance instance(const Call& call) const {
    return {call.step, run_.steps()[call.step].executed - 1u};
  }

 private:
  [[nodiscard]] StepIndex returned(StepIndex step) const {
    const auto& list = run_.thread(run_.steps()[step].thread);
    for (std::size_t i = run_.position(step) + 1u; i < list.size(); ++i)
      if (run_.steps()[list[i]].frame <= run_.steps()[step].frame) return list[i];
    return kNoStep;
  }
  static bool is_to_other(const Call& call) { return call.name == "dup2" || call.name == "dup3"; }
  static bool closes(const Call& call, std::int32_t number) {
    const auto& given = call.registers.arguments;
    if (call.name == "close") return static_cast<std::int32_t>(given[0]) == number;
    if (is_to_other(call)) return static_cast<std::int32_t>(given[1]) == number;
    return call.name == "close_range" && number >= static_cast<std::int32_t>(given[0]) &&
           static_cast<std::uint32_t>(number) <= static_cast<std::uint32_t>(given[1]);
  }
  bool opens(const Call& call, std::int32_t number) const {
    if (call.name == "pipe" || call.name == "pipe2")
      return is_filled_in(call, call.registers.arguments[0], number);
    if (call.name == "socketpair") return is_filled_in(call, call.registers.arguments[3], number);
    const auto command = static_cast<std::int32_t>(call.registers.arguments[1]);
    const bool copies = call.name.starts_with("fcntl") && (command == 0 || command == 1030);
    return (copies || is_to_other(call) || is_one_of(call.name, kOpens)) && call.result == number;
  }
  // The two numbers are in memory: what the thread first reads there is what the call left.
  bool is_filled_in(const Call& call, std::uint64_t address, std::int32_t number) const {
    constexpr std::size_t kMostSteps = 2'000;
    if (call.result != 0) return false;
    const auto& list = run_.thread(run_.steps()[call.step].thread);
    const std::size_t from = run_.position(call.step);
    std::array<bool, 2> known{};
    for (std::size_t i = from + 1; i < std::min(list.size(), from + kMostSteps); ++i) {
      const auto& accesses = run_.block_of(list[i]).accesses;
      for (std::uint32_t k = 0; k < accesses.size(); ++k) {
        const RecordedAccess& one = accesses[k];
        if (one.instruction >= run_.steps()[list[i]].executed || !one.has_value ||
            one.kind != AccessKind::kRead)
          continue;
        const std::uint64_t there = run_.access_address(list[i], k);
        const std::uint64_t value = run_.access_value(list[i], k);
        for (const std::size_t end : {0u, 1u}) {
          const std::uint64_t wanted = address + 4 * end;
          if (known[end] || there > wanted || there + one.size < wanted + 4) continue;
          known[end] = true;
          if (static_cast<std::int32_t>(value >> (8 * (wanted - there))) == number) return true;
        }
      }
      if (known[0] && known[1]) return false;
    }
    return false;
  }

  const RunTrace& run_;
  std::vector<Call> calls_;  // by their steps
};

// Where the thread has got the number from, if that is not its stack.
void find_got(TracedPair& pair, UseAfterClose& found) {
  constexpr std::size_t kMostNodes = 2'000;
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[found.use.step].thread;
  Comparison& runs = pair.comparison();
  std::set<NodeId> seen;
  std::deque<NodeId> todo{node_of(pair.run(kFailing).definition(found.use, kRdi))};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const NodeId node = todo.front();
    todo.pop_front();
    if (is_unseen(node) || !seen.insert(node).second) continue;
    const Instance at = instance_of(node);
    if (run.steps()[at.step].thread != thread) continue;
    const auto [first, end] = run.accesses(at);
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint64_t address = run.access_address(at.step, i);
      if (run.access(at.step, i).kind != AccessKind::kRead || !run.access(at.step, i).has_value ||
          static_cast<std::int32_t>(run.access_value(at.step, i)) != found.number ||
          stack_of(run, address) == thread)
        continue;
      found.got = at;
      found.got_address = address;
      return;
    }
    for (const NodeDependence& one : runs.dependences(kFailing, node)) {
      const DependenceKind kind = Comparison::kind_of(one.use);
      if (!one.control && kind != DependenceKind::kAddress) todo.push_back(one.on);
    }
  }
}

// The call's own descriptor.
std::optional<UseAfterClose> own(TracedPair& pair, const Calls& here, const Calls& theirs,
                                 const Call& call) {
  UseAfterClose found;
  found.use = here.instance(call);
  const auto number = Calls::used_number(call);
  const Instance there = pair.alignment().counterpart(kFailing, found.use);
  if (!number || !there.valid()) return std::nullopt;
  found.number = *number;
  const Call* same = theirs.at(there.step);
  const auto other_number = same != nullptr ? Calls::used_number(*same) : std::nullopt;
  if (!other_number) return std::nullopt;
  const Meaning passing = theirs.meaning(*other_number, *same);
  if (!passing.is_open()) return std::nullopt;
  // What the passing run uses, and who has closed it here. If the number is closed here, it does not matter that the passing run has opened
  // it anew in time.
  const Meaning now = here.meaning(*number, call);
  const Instance opened = pair.alignment().counterpart(kPassing, theirs.instance(*passing.opened));
  const Call* meant = opened.valid() ? here.at(opened.step) : nullptr;
  if (meant != nullptr && (meant->result != passing.opened->result || meant->done >= call.done))
    meant = nullptr;
  if (meant == nullptr && !now.is_open()) meant = now.opened;
  if (meant == nullptr || (now.opened == meant && now.is_open()) || now.closed == nullptr ||
      now.closed->done < meant->done)
    return std::nullopt;
  found.closed = here.instance(*here.first_close(*number, *meant));
  if (now.is_open()) {
    found.reopened = here.instance(*now.opened);
    found.reopened_by = now.opened->name;
  }
  const Parties& parties = pair.parties(kFailing);
  if (parties.of(found.closed.step) == parties.of(call.step)) return std::nullopt;
  find_got(pair, found);
  return found;
}

// The other end of the pipe that the call puts data into: whoever writes then is told so by a signal.
std::optional<UseAfterClose> far_end(TracedPair& pair, const Calls& here, const Calls& theirs,
                                     const Call& call) {
  UseAfterClose found;
  found.use = here.instance(call);
  found.other_end = true;
  const auto number = Calls::used_number(call);
  const Instance there = pair.alignment().counterpart(kFailing, found.use);
  const Call* same = there.valid() ? theirs.at(there.step) : nullptr;
  const auto other_number = same != nullptr ? Calls::used_number(*same) : std::nullopt;
  if (!number || !other_number || !is_one_of(call.name, kPuts)) return std::nullopt;
  found.number = *number;
  const Meaning now = here.meaning(*number, call);
  const Meaning passing = theirs.meaning(*other_number, *same);
  if (!now.is_open() || !passing.is_open()) return std::nullopt;
  const auto end = here.other_end(*now.opened, *number);
  const auto end_there = theirs.other_end(*passing.opened, *other_number);
  if (!end || !end_there || !theirs.meaning(*end_there, *same).is_open()) return std::nullopt;
  const Meaning far = here.meaning(*end, call);
  if (far.closed == nullptr || far.closed->done < now.opened->done) return std::nullopt;
  found.closed = here.instance(*here.first_close(*end, *now.opened));
  const Parties& parties = pair.parties(kFailing);
  if (parties.of(found.closed.step) == parties.of(call.step)) return std::nullopt;
  find_got(pair, found);
  return found;
}

}  // namespace

std::optional<UseAfterClose> use_after_close(TracedPair& pair, Instance at) {
  const Calls here(pair.trace(kFailing), pair.code());
  const Calls theirs(pair.trace(kPassing), pair.code());
  const Call* call = here.at(at.step);
  if (call == nullptr) return std::nullopt;
  if (const auto found = own(pair, here, theirs, *call)) return found;
  if (const auto found = far_end(pair, here, theirs, *call)) return found;
  // Both ends of a pipe are opened by one call.
  const auto number = Calls::used_number(*call);
  if (!number) return std::nullopt;
  const Meaning reads = here.meaning(*number, *call);
  if (!reads.is_open() ||
      (!reads.opened->name.starts_with("pipe") && reads.opened->name != "socketpair"))
    return std::nullopt;
  for (const Call& one : here.all()) {
    if (one.done >= call->done || !is_one_of(one.name, kPuts)) continue;
    const Meaning into = here.meaning(static_cast<std::int32_t>(one.registers.arguments[0]), one);
    if (!into.is_open() || into.opened != reads.opened) continue;
    if (const auto found = own(pair, here, theirs, one)) return found;
  }
  return std::nullopt;
}

}  // namespace clew
