#include "host/explain/experiments.h"

#include <algorithm>
#include <optional>

#include "clew_abi/control.h"
#include "host/observe/traced_replay.h"
#include "host/seconds.h"

namespace clew {
namespace {

// What a run with another value may take, beyond what the recorded one took.
constexpr double kMostSeconds = 5;
constexpr std::uint64_t kMoreClock = 1'000'000;

class Quiet final : public RunObserver {
 public:
  bool time_is_up() override { return seconds_now() - started_ > kMostSeconds; }

 private:
  double started_ = seconds_now();
};

class Ignore final : public CodeTraceListener {
 public:
  void block(const BlockRun&) override {}
  void cut(std::uint64_t) override {}
  void returned(const abi::ReturnMark&) override {}
};

// An access of a step that has a value in both runs, and another one in each.
struct Swap {
  std::array<Instance, 2> at;
  std::array<std::uint32_t, 2> access;  // of the block
};

class Tester {
 public:
  Tester(TracedPair& pair, const Replay& failing, const Replay& passing,
         const ExperimentLimits& limits)
      : pair_(pair), replays_{&failing, &passing}, limits_(limits) {}

  void test(ToldStep& told) {
    const auto swap = find_swap(told);
    if (!swap) {
      told.step.confirmed = Confirmed::kNotTestable;
      return;
    }
    const auto cured = run(kFailing, *swap);
    const auto broken = cured == Verdict::kPass ? std::nullopt : run(kPassing, *swap);
    if (cured == Verdict::kPass || broken == Verdict::kFail) {
      told.step.confirmed = Confirmed::kByValue;
    } else if (cured == Verdict::kFail && broken == Verdict::kPass) {
      told.step.confirmed = Confirmed::kRefuted;
    }
  }
  [[nodiscard]] bool may_go_on() const {
    return !interrupted_ && tests_ < limits_.tests && seconds_now() - started_ < limits_.seconds;
  }
  [[nodiscard]] std::uint64_t tests() const { return tests_; }

 private:
  std::optional<Swap> find_swap(const ToldStep& told) {
    for (std::size_t i = told.nodes.size(); i-- > 0;) {
      const PathNode& node = told.nodes[i];
      Swap swap;
      swap.at[node.side] = instance_of(node.node);
      swap.at[other(node.side)] = pair_.alignment().counterpart(node.side, instance_of(node.node));
      if (!swap.at[kFailing].valid() || !swap.at[kPassing].valid()) continue;
      const auto [first, end] = pair_.trace(kFailing).accesses(swap.at[kFailing]);
      const auto [there, end_there] = pair_.trace(kPassing).accesses(swap.at[kPassing]);
      for (std::uint32_t k = first; k < end && there + (k - first) < end_there; ++k) {
        swap.access = {k, there + (k - first)};
        const RecordedAccess& access = pair_.trace(kFailing).access(swap.at[kFailing].step, k);
        if (access.has_value && access.size <= 8 && value(kFailing, swap) != value(kPassing, swap))
          return swap;
      }
    }
    return std::nullopt;
  }

  std::uint64_t value(WhichRun side, const Swap& swap) const {
    return pair_.trace(side).access_value(swap.at[side].step, swap.access[side]);
  }

  // The value of the other run as it would be in this one; nothing: what it points to is not there.
  std::optional<std::uint64_t> translated(WhichRun to, const Swap& swap, std::uint32_t size) const {
    const WhichRun from = other(to);
    const std::uint64_t raw = value(from, swap);
    if (size < 8) return raw;
    const Allocation* theirs = pair_.trace(from).allocation(raw, swap.at[from].step);
    if (theirs == nullptr) return raw;
    const Instance made{theirs->made, pair_.trace(from).steps()[theirs->made].executed - 1u};
    const Instance here = pair_.alignment().counterpart(from, made);
    if (!here.valid()) return std::nullopt;
    const Allocation* mine = pair_.trace(to).allocation_made(here.step);
    if (mine == nullptr) return std::nullopt;
    return mine->address + (raw - theirs->address);
  }

  // With the other run's value; nothing: it could not be put in.
  std::optional<Verdict> run(WhichRun side, const Swap& swap) {
    const RunTrace& trace = pair_.trace(side);
    const auto put =
        translated(side, swap, trace.access(swap.at[side].step, swap.access[side]).size);
    return put ? run(side, swap.at[side], swap.access[side], *put) : std::nullopt;
  }

 public:
  // With this value.
  std::optional<Verdict> run(WhichRun side, Instance at, std::uint32_t index, std::uint64_t put) {
    const RunTrace& trace = pair_.trace(side);
    const RecordedAccess& access = trace.access(at.step, index);
    const std::uint64_t address = trace.access_address(at.step, index);
    if (at.step + 1 >= trace.steps().size()) return std::nullopt;
    const auto bytes = [&](std::uint64_t number) {
      std::vector<std::uint8_t> result;
      for (std::uint32_t i = 0; i < access.size; ++i)
        result.push_back(static_cast<std::uint8_t>(number >> 8 * i));
      return result;
    };
    std::vector<MemoryChange> changes;
    const std::uint64_t behind = trace.stream_offset(at.step + 1);
    if (access.kind != AccessKind::kRead) {
      changes.push_back({behind, address, bytes(put)});
    } else {
      // For this read alone: memory is as it was when the block has ended.
      bool written = false;
      for (std::uint32_t i = 0; i < trace.block_of(at.step).accesses.size(); ++i) {
        const RecordedAccess& one = trace.access(at.step, i);
        const std::uint64_t there = trace.access_address(at.step, i);
        if (one.kind == AccessKind::kRead || there >= address + access.size ||
            there + std::max(one.size, 1u) <= address)
          continue;
        if (i < index) return std::nullopt;
        written = true;
      }
      changes.push_back({trace.stream_offset(at.step), address, bytes(put)});
      if (!written) changes.push_back({behind, address, bytes(trace.access_value(at.step, index))});
    }
    Replay changed = *replays_[side];
    changed.plan.flags |= abi::kFlagEveryPoint;
    changed.recording.meta.budget = std::min(changed.recording.meta.budget,
                                             2 * changed.recording.meta.summary.clock + kMoreClock);
    changed.plan.queries = {changed.recording.meta.summary.clock};
    Quiet quiet;
    Ignore ignore;
    ++tests_;
    const auto result = run_changed(changed, TraceDetail::kCalls, changes, quiet, ignore);
    if (result && result->interrupted_by != 0) interrupted_ = true;
    if (!result || interrupted_) return std::nullopt;
    return judge(*result);
  }

 private:
  Verdict judge(const RunResult& run) const {
    if (run.summary.outcome == Outcome::kPass) return Verdict::kPass;
    const auto& wanted = replays_[kFailing]->recording.meta.summary.failure;
    const auto& found = run.summary.failure;
    if (!found || !wanted || found->kind != wanted->kind) return Verdict::kUnresolved;
    const bool same_place = found->at.has_value() == wanted->at.has_value() &&
                            (!found->at || (found->at->line == wanted->at->line &&
                                            found->at->file == wanted->at->file));
    return same_place ? Verdict::kFail : Verdict::kUnresolved;
  }

  TracedPair& pair_;
  std::array<const Replay*, 2> replays_;
  ExperimentLimits limits_;
  std::uint64_t tests_ = 0;
  bool interrupted_ = false;
  double started_ = seconds_now();
};

}  // namespace

std::uint64_t test_steps(TracedPair& pair, const Replay& failing, const Replay& passing,
                         const ExperimentLimits& limits, std::vector<ToldStep>& steps) {
  Tester tester(pair, failing, passing, limits);
  for (ToldStep& told : steps)
    if (told.step.main && tester.may_go_on()) tester.test(told);
  return tester.tests();
}

bool passes_with(TracedPair& pair, const Replay& failing, const Replay& passing, Instance at,
                 std::uint32_t access, std::uint64_t value) {
  return Tester(pair, failing, passing, {}).run(kFailing, at, access, value) == Verdict::kPass;
}

}  // namespace clew
