// A tiny multithreaded program for tests of searches: threads are lists of operations on a few
// variables, locks and semaphores. It follows a prefix as the runtime does and reports with a
// trace; brute force enumerates what its schedules can end in.
#ifndef CLEW_HOST_SEARCH_SIMULATED_PROGRAM_H_
#define CLEW_HOST_SEARCH_SIMULATED_PROGRAM_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/search/search.h"

namespace clew::simulated {

enum class Op : std::uint8_t {
  kOther,
  kRead,
  kReadSkip,    // and skips the next operation if what it has read so far is odd
  kReadAssert,  // and fails if what it has read so far ends in 00
  kWrite,
  kUpdate,
  kFree,  // all variables from this one on
  kLock,
  kTryLock,  // skips the next operation if the lock is held
  kUnlock,
  kWait,  // of a semaphore
  kSignal,
  kCreate,  // what: the thread's place in Program::threads
  kJoin,
};
struct Operation {
  Op op;
  std::uint32_t what = 0;
};
using Code = std::vector<Operation>;

struct Program {
  std::vector<Code> threads;  // the first is main; when it is done, the program exits
  // Variations of the runtime that a search must not depend on.
  bool join_is_picked_when_done = false;  // otherwise kJoin is executed and then blocks
  bool tries_held_locks = false;          // if there is nothing else to do
};

// Main creates the threads and joins them.
inline Program forked(std::vector<Code> children) {
  Program program;
  Code main;
  for (std::uint32_t i = 1; i <= children.size(); ++i) main.push_back({Op::kCreate, i});
  for (std::uint32_t i = 1; i <= children.size(); ++i) main.push_back({Op::kJoin, i});
  main.push_back({Op::kOther, 0});  // exit
  program.threads.push_back(main);
  for (Code& child : children) program.threads.push_back(std::move(child));
  return program;
}

enum class End : std::uint8_t { kRuns, kExit, kAssert, kDeadlock };

// A state of the program. What threads read, and the order in which they took locks and semaphores,
// goes into their registers: runs that end in the same state are equivalent.
class Machine {
 public:
  explicit Machine(const Program& program) : program_(&program) {
    threads_.resize(program.threads.size());
    create(0);
    threads_[0].started = true;
  }

  End end() const { return end_; }
  std::uint32_t running() const { return running_; }  // index; kNobody: nobody
  static constexpr std::uint32_t kNobody = ~0u;

  // By index, i.e. order of creation.
  std::uint64_t enabled() const {
    std::uint64_t mask = 0;
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
      if (can_run(threads_[order_[i]])) mask |= std::uint64_t{1} << i;
    }
    if (mask == 0 && program_->tries_held_locks) {
      for (std::uint32_t i = 0; i < order_.size(); ++i) {
        if (ready(threads_[order_[i]])) mask |= std::uint64_t{1} << i;
      }
    }
    return mask;
  }

  std::uint32_t default_choice() const {
    const std::uint64_t mask = enabled();
    if (running_ != kNobody && (mask >> running_ & 1) != 0) return running_;
    for (const std::uint32_t i : queue_) {
      if ((mask >> i & 1) != 0) return i;
    }
    return kNobody;
  }

  bool preempts(std::uint32_t index) const {
    return running_ != kNobody && index != running_ && (enabled() >> running_ & 1) != 0;
  }

  // REQUIRES: index is enabled.
  TraceStep step(std::uint32_t index) {
    TraceStep event{};
    event.enabled = enabled();
    event.index = static_cast<std::uint16_t>(index);
    event.thread = order_[index] + 1;
    event.place = 2 * (1000 * event.thread + threads_[order_[index]].at + 1);
    if (running_ != kNobody && running_ != index) event.flags |= abi::kTraceSwitched;
    if (preempts(index)) event.flags |= abi::kTracePreempted;
    if (running_ != index) {
      std::erase(queue_, index);
      if (running_ != kNobody && alive(threads_[order_[running_]])) queue_.push_back(running_);
    }
    running_ = index;
    execute(threads_[order_[index]], event);
    if (end_ == End::kRuns && enabled() == 0) end_ = End::kDeadlock;
    return event;
  }

  // Equal: the same future, and the same past up to equivalence.
  std::string state() const {
    std::string text = outcome() + " " + std::to_string(running_);
    for (const Thread& t : threads_) {
      text += " " + std::to_string(t.at) + "," +
              std::to_string(t.started + 2 * t.blocked + 4 * t.created) + "," +
              std::to_string(t.index);
    }
    for (const Lock& lock : locks_) text += " " + std::to_string(lock.holder);
    for (const Semaphore& s : semaphores_) {
      text += " s" + std::to_string(s.count);
      for (const std::uint32_t w : s.waiters) text += "," + std::to_string(w);
    }
    return text;
  }
  std::string outcome() const {
    std::string text = std::to_string(static_cast<int>(end_));
    for (const std::uint64_t v : variables_) text += " " + std::to_string(v);
    for (const Thread& t : threads_) text += " " + std::to_string(t.value);
    return text;
  }

 private:
  static constexpr std::uint64_t kVariable = 0x10000, kLock = 0x2000, kSemaphore = 0x3000;
  static constexpr std::uint32_t kFreed = 8192;  // bytes: a wide step of TraceOrder
  struct Thread {
    std::uint32_t at = 0;
    std::uint32_t index = kNobody;
    std::uint64_t value = 0;  // its register
    bool created = false, started = false, blocked = false;
  };
  struct Lock {
    std::uint32_t holder = kNobody;
    std::uint64_t value = 0;
  };
  struct Semaphore {
    std::uint32_t count = 0;
    std::uint64_t value = 0;
    std::vector<std::uint32_t> waiters;
  };

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a * 31 + b + 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    return z ^ (z >> 27);
  }
  const Code& code(const Thread& t) const { return program_->threads[id(t)]; }
  std::uint32_t id(const Thread& t) const {
    return static_cast<std::uint32_t>(&t - threads_.data());
  }
  bool done(const Thread& t) const { return t.started && !t.blocked && t.at >= code(t).size(); }
  bool alive(const Thread& t) const { return t.created && !t.blocked && !done(t); }
  bool ready(const Thread& t) const {
    if (!alive(t)) return false;
    if (!t.started) return true;
    const Operation next = code(t)[t.at];
    return next.op != Op::kJoin || !program_->join_is_picked_when_done || done(threads_[next.what]);
  }
  bool can_run(const Thread& t) const {
    if (!ready(t)) return false;
    if (!t.started) return true;
    const Operation next = code(t)[t.at];
    return next.op != Op::kLock || locks_[next.what].holder == kNobody;
  }

  void create(std::uint32_t thread) {
    Thread& t = threads_[thread];
    t.created = true;
    t.index = static_cast<std::uint32_t>(order_.size());
    t.value = thread + 1;
    order_.push_back(thread);
    queue_.push_back(t.index);
  }

  void execute(Thread& t, TraceStep& event) {
    using abi::StepKind;
    if (!t.started) {
      t.started = true;
      finish(t);
      return;
    }
    const Operation now = code(t)[t.at++];
    const auto is = [&](StepKind kind, std::uint64_t object, std::uint32_t size) {
      event.kind = kind;
      event.object = object;
      event.size = size;
    };
    const std::uint32_t what = now.what;
    switch (now.op) {
      case Op::kOther:
        break;
      case Op::kRead:
      case Op::kReadSkip:
      case Op::kReadAssert:
        is(StepKind::kRead, kVariable + 4 * what, 4);
        t.value = mix(t.value, variables_[what]);
        if (now.op == Op::kReadSkip && (t.value & 1) != 0) skip(t);
        if (now.op == Op::kReadAssert && (t.value & 3) == 0) end_ = End::kAssert;
        break;
      case Op::kWrite:
        is(StepKind::kWrite, kVariable + 4 * what, 4);
        variables_[what] = mix(t.value, t.at);
        break;
      case Op::kUpdate:
        is(StepKind::kUpdate, kVariable + 4 * what, 4);
        variables_[what] = t.value = mix(t.value, variables_[what]);
        break;
      case Op::kFree:
        is(StepKind::kFree, kVariable + 4 * what, kFreed - 4 * what);
        for (std::size_t i = what; i < variables_.size(); ++i) variables_[i] = mix(t.value, t.at);
        break;
      case Op::kLock:
        is(StepKind::kLock, kLock + 64 * what, 0);
        if (locks_[what].holder != kNobody) {
          t.blocked = true;  // for ever: it is tried only when nobody else can run
          --t.at;
          break;
        }
        locks_[what].holder = id(t);
        locks_[what].value = t.value = mix(t.value, locks_[what].value);
        break;
      case Op::kTryLock:
        is(StepKind::kUpdate, kLock + 64 * what, 0);
        t.value = mix(t.value, locks_[what].value + (locks_[what].holder != kNobody));
        locks_[what].value = t.value;
        if (locks_[what].holder != kNobody) {
          skip(t);
        } else {
          locks_[what].holder = id(t);
        }
        break;
      case Op::kUnlock:
        if (locks_[what].holder != id(t)) break;  // after a try-lock that failed
        is(StepKind::kUnlock, kLock + 64 * what, 0);
        locks_[what].holder = kNobody;
        break;
      case Op::kWait: {
        is(StepKind::kWait, kSemaphore + 64 * what, 0);
        Semaphore& s = semaphores_[what];
        s.value = t.value = mix(t.value, s.value);
        if (s.count > 0) {
          --s.count;
        } else {
          s.waiters.push_back(id(t));
          t.blocked = true;
          return;
        }
        break;
      }
      case Op::kSignal: {
        is(StepKind::kSignal, kSemaphore + 64 * what, 0);
        Semaphore& s = semaphores_[what];
        s.value = t.value = mix(t.value, s.value);
        if (s.waiters.empty()) {
          ++s.count;
        } else {
          const std::uint32_t first = s.waiters.front();
          s.waiters.erase(s.waiters.begin());
          wake(threads_[first]);
        }
        break;
      }
      case Op::kCreate:
        create(what);
        is(StepKind::kCreate, 0x9000 + 64 * what, 0);
        break;
      case Op::kJoin:
        is(StepKind::kJoin, 0x9000 + 64 * what, 0);
        if (!done(threads_[what])) {
          t.blocked = true;
          joiners_[what] = id(t);
          return;
        }
        break;
    }
    finish(t);
  }

  void skip(Thread& t) {
    if (t.at < code(t).size()) ++t.at;
  }
  void wake(Thread& t) {
    t.blocked = false;
    if (!done(t)) queue_.push_back(t.index);
    finish(t);
  }
  void finish(Thread& t) {
    if (!done(t)) return;
    if (id(t) == 0 && end_ == End::kRuns) end_ = End::kExit;
    if (const auto joiner = joiners_.find(id(t)); joiner != joiners_.end()) {
      const std::uint32_t who = joiner->second;
      joiners_.erase(joiner);
      wake(threads_[who]);
    }
  }

  const Program* program_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> order_;  // thread by index
  std::vector<std::uint32_t> queue_;  // indices, the longest ready first
  std::uint32_t running_ = kNobody;
  std::array<std::uint64_t, 16> variables_{};
  std::array<Lock, 4> locks_{};
  std::array<Semaphore, 4> semaphores_{};
  std::map<std::uint32_t, std::uint32_t> joiners_;  // by the thread joined
  End end_ = End::kRuns;
};

struct Run {
  JobReport report;
  std::string outcome;
  End end = End::kRuns;
  std::vector<std::uint32_t> schedule;
};

inline std::vector<std::uint32_t> decode_prefix(std::span<const std::uint8_t> guide) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; at < guide.size(); shift += 7) {
      value |= std::uint64_t{guide[at] & 0x7fu} << shift;
      if ((guide[at++] & 0x80) == 0) break;
    }
    return value;
  };
  std::vector<std::uint32_t> prefix(varint());
  for (std::uint32_t& thread : prefix) thread = static_cast<std::uint32_t>(varint());
  return prefix;
}

// As the runtime does: where the prefix cannot be followed, the default is taken.
inline Run run(const Program& program, std::span<const std::uint32_t> prefix) {
  Run run;
  Machine machine(program);
  while (machine.end() == End::kRuns) {
    const std::size_t k = run.schedule.size();
    std::uint32_t choice = machine.default_choice();
    if (k < prefix.size() && prefix[k] < 64 && (machine.enabled() >> prefix[k] & 1) != 0)
      choice = prefix[k];
    run.report.result.preemptions += machine.preempts(choice);
    run.report.trace.steps.push_back(machine.step(choice));
    run.report.trace.steps.back().clock = k + 1;
    run.schedule.push_back(choice);
  }
  run.outcome = machine.outcome();
  run.end = machine.end();
  run.report.result.threads = static_cast<std::uint32_t>(program.threads.size());
  run.report.result.scheduling_points = run.report.trace.steps.size();
  run.report.result.end = run.end == End::kExit ? abi::JobEnd::kExited : abi::JobEnd::kFailed;
  run.report.result.failure =
      run.end == End::kDeadlock ? abi::FailureKind::kDeadlock : abi::FailureKind::kAssert;
  run.report.verdict = run.end == End::kExit ? Verdict::kPass : Verdict::kFail;
  return run;
}

// What all schedules with at most `bound` preemptions end in.
inline std::set<std::string> brute_force(const Program& program, std::uint32_t bound) {
  std::set<std::string> outcomes;
  std::map<std::string, std::uint32_t> seen;  // state: fewest preemptions
  const auto explore = [&](const auto& self, const Machine& at, std::uint32_t preemptions) -> void {
    if (at.end() != End::kRuns) {
      outcomes.insert(at.outcome());
      return;
    }
    const auto [entry, fresh] = seen.try_emplace(at.state(), preemptions);
    if (!fresh && entry->second <= preemptions) return;
    entry->second = preemptions;
    for (std::uint32_t i = 0; i < 64; ++i) {
      if ((at.enabled() >> i & 1) == 0) continue;
      const std::uint32_t cost = preemptions + at.preempts(i);
      if (cost > bound) continue;
      Machine after = at;
      after.step(i);
      self(self, after, cost);
    }
  };
  explore(explore, Machine(program), 0);
  return outcomes;
}

// How many schedules there are with at most `bound` preemptions; `most` if there are more.
inline std::uint64_t count_schedules(const Program& program, std::uint32_t bound,
                                     std::uint64_t most) {
  std::uint64_t count = 0;
  const auto explore = [&](const auto& self, const Machine& at, std::uint32_t preemptions) -> void {
    if (count >= most) return;
    if (at.end() != End::kRuns) {
      ++count;
      return;
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      if ((at.enabled() >> i & 1) == 0 || preemptions + at.preempts(i) > bound) continue;
      Machine after = at;
      const std::uint32_t cost = preemptions + at.preempts(i);
      after.step(i);
      self(self, after, cost);
    }
  };
  explore(explore, Machine(program), 0);
  return count;
}

}  // namespace clew::simulated

#endif  // CLEW_HOST_SEARCH_SIMULATED_PROGRAM_H_
