#include "host/isolate/narrowing.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

namespace clew {
namespace {

// Switches from which on it pays to look for a later one with the same effect. Chosen, not
// measured, as are the numbers below.
constexpr std::size_t kManySwitches = 64;
// Switches that are tried between the last two of the threads concerned.
constexpr std::size_t kMostBetween = 8;
// The part of the switches that are exchanged first, in long runs.
constexpr std::size_t kSmallestEnd = 64;
// Tests that are written down, and switches that they may have.
constexpr std::size_t kLongestLog = 1000;
constexpr std::size_t kMostInLog = 64;

DeltaCount difference_of(const Counts& passing, const Counts& failing) {
  DeltaCount sum = 0;
  for (std::size_t i = 0; i < passing.size(); ++i) sum += failing[i] - passing[i];
  return sum;
}

// Choi and Zeller 2002, definition 14: differences are tested by running the program.
class ScheduleOracle final : public DdOracle {
 public:
  ScheduleOracle(Experiment& experiment, const ScheduleDifference& difference)
      : x_(experiment),
        difference_(difference),
        passing_(difference.sizes().size(), 0),
        failing_(difference.sizes()) {}

  Verdict test(const Counts& applied) override {
    x_.left = difference_of(passing_, failing_);
    const Schedule schedule = *difference_.apply(applied);
    const auto run = x_.trials.run_one(schedule, next_);
    if (!run) error_ = run.error();
    if (!run || !*run) return Verdict::kUnresolved;
    if (schedule.switches.size() <= kMostInLog && x_.result.log.size() < kLongestLog)
      x_.result.log.push_back({format_schedule(schedule), (*run)->verdict});
    if ((*run)->verdict == Verdict::kPass &&
        std::ranges::equal(passing_, applied, std::less_equal()))
      passing_ = applied;
    if ((*run)->verdict == Verdict::kFail &&
        std::ranges::equal(failing_, applied, std::greater_equal()))
      failing_ = applied;
    return (*run)->verdict;
  }

  std::optional<Verdict> known(const Counts& applied) override {
    if (difference_.apply(applied)) return std::nullopt;
    return Verdict::kUnresolved;
  }

  void expect(const Counts&, std::span<const Counts> if_pass,
              std::span<const Counts> if_fail) override {
    next_.clear();
    for (const auto& list : {if_pass, if_fail})
      for (const Counts& counts : list)
        if (auto schedule = difference_.apply(counts)) next_.push_back(std::move(*schedule));
  }

  bool go_on() override { return !error_ && !x_.trials.stopped(); }

  const std::optional<Error>& error() const { return error_; }

 private:
  Experiment& x_;
  const ScheduleDifference& difference_;
  std::vector<Schedule> next_;
  Counts passing_;
  Counts failing_;
  std::optional<Error> error_;
};

class Narrower {
 public:
  Narrower(Experiment& experiment, const Side& passing, const Side& failing)
      : x_(experiment), narrowed_{passing, failing, {}, {}} {}

  Result<Narrowed> narrow();

 private:
  Result<void> narrow_once(const ScheduleDifference& difference);
  Result<void> make_late();

  // A switch of the failing schedule, moved by one event.
  struct Shift {
    std::size_t index = 0;
    int by = 0;
    std::uint64_t clock = 0;  // before it was moved
  };
  enum class Concerned : std::uint8_t { kBoth, kEither };
  [[nodiscard]] Schedule shifted(const Shift& shift) const;
  [[nodiscard]] std::vector<Shift> shifts(const Trace& trace, const TraceDecision& parting,
                                          int direction, std::uint64_t after, std::uint64_t before,
                                          Concerned concerned) const;
  Result<std::optional<bool>> passes_with(const Shift& shift, std::span<const Schedule> next);

  Experiment& x_;
  Narrowed narrowed_;
};

// Where tests go on from checkpoints, those that part late cost little: before the middle is tried,
// ever longer ends of the schedules are exchanged. Gives the number of tests.
std::uint64_t approach_from_the_end(ScheduleOracle& oracle, Counts& passing, Counts& failing) {
  const Counts sizes = failing;
  std::uint64_t tests = 0;
  for (std::size_t part = kSmallestEnd; part >= 2 && oracle.go_on(); part /= 2) {
    const std::size_t kept = sizes.size() - sizes.size() / part;
    if (kept == sizes.size()) continue;
    Counts counts = sizes;
    std::fill(counts.begin() + static_cast<std::ptrdiff_t>(kept), counts.end(), 0);
    if (oracle.known(counts)) continue;
    oracle.expect(counts, {}, {});
    const Verdict outcome = oracle.test(counts);
    ++tests;
    if (outcome == Verdict::kFail) {
      failing = std::move(counts);
    } else if (outcome == Verdict::kPass) {
      passing = std::move(counts);
      break;
    }
  }
  return tests;
}

Result<void> Narrower::narrow_once(const ScheduleDifference& difference) {
  ScheduleOracle oracle(x_, difference);
  const Counts sizes = difference.sizes();
  Counts passing(sizes.size(), 0);
  Counts failing = sizes;
  if (x_.trials.has_checkpoints())
    x_.result.tests += approach_from_the_end(oracle, passing, failing);
  narrowed_.isolated = dd(oracle, std::move(passing), std::move(failing),
                          x_.options.tests != 0 ? x_.options.tests : UINT64_MAX);
  x_.left.reset();
  x_.result.tests += narrowed_.isolated.tests;
  if (oracle.error()) return std::unexpected(*oracle.error());
  narrowed_.failing.schedule = *difference.apply(narrowed_.isolated.failing);
  narrowed_.passing.schedule = *difference.apply(narrowed_.isolated.passing);
  x_.result.minimal = narrowed_.isolated.minimal;
  x_.result.deltas_left = difference_of(narrowed_.isolated.passing, narrowed_.isolated.failing);
  return {};
}

// The failing schedule with the switch moved.
Schedule Narrower::shifted(const Shift& shift) const {
  Schedule schedule = narrowed_.failing.schedule;
  schedule.switches[shift.index].clock.value += static_cast<std::uint64_t>(shift.by);
  return schedule;
}

// The switches behind event `after` that shift the two threads of `parting` against each other as
// it does, moved by one event: those between the two, or with Concerned::kEither all to or from one
// of them, since one may be all that matters.
std::vector<Narrower::Shift> Narrower::shifts(const Trace& trace, const TraceDecision& parting,
                                              int direction, std::uint64_t after,
                                              std::uint64_t before, Concerned concerned) const {
  const std::vector<Switch>& switches = narrowed_.failing.schedule.switches;
  std::vector<Shift> found;
  for (const TraceDecision& decision : trace.decisions) {
    if (decision.kind != abi::kScriptPreemption || decision.clock <= after ||
        decision.clock >= before)
      continue;
    // The first thread gets one event more, the second one less (or the other way round).
    const bool from_first = decision.thread == parting.thread;
    const bool to_first = decision.to == parting.thread;
    const bool from_second = decision.thread == parting.to;
    const bool to_second = decision.to == parting.to;
    const bool both = (from_first && to_second) || (from_second && to_first);
    if (concerned == Concerned::kBoth && !both) continue;
    const int by = from_second || to_first ? -direction : from_first || to_second ? direction : 0;
    const auto at = std::ranges::lower_bound(switches, Clock{decision.clock}, {}, &Switch::clock);
    if (by == 0 || at == switches.end() || at->clock.value != decision.clock) continue;
    // Moved past its neighbour it would be invalid (definition 4).
    const bool blocked = by > 0 ? at + 1 != switches.end() && (at + 1)->clock == at->clock
                                : at != switches.begin() && (at - 1)->clock == at->clock;
    if (!blocked)
      found.push_back({static_cast<std::size_t>(at - switches.begin()), by, decision.clock});
  }
  return found;
}

// In a schedule by the clock, a switch that comes one event later shifts the course of its two
// threads against each other for the rest of the run, and what fails may be far behind it. The same
// shift can be made at any later switch between the two. This takes the last that still decides,
// and then the last between that and the next that does not, of those that concern either thread:
// the one next to the cause. (Not in the paper, whose passing and failing side are the answer.)
Result<void> Narrower::make_late() {
  const auto remaining =
      std::ranges::mismatch(narrowed_.isolated.passing, narrowed_.isolated.failing).in1 -
      narrowed_.isolated.passing.begin();
  const ScheduleDifference::Group& group = narrowed_.groups[static_cast<std::size_t>(remaining)];
  if (x_.result.deltas_left != 1 || group.kind != ScheduleDifference::Kind::kMove ||
      narrowed_.failing.schedule.switches.size() < kManySwitches || x_.trials.stopped())
    return {};
  const Clock fails = narrowed_.failing.schedule.switches[group.index].clock;
  const Clock passes = narrowed_.passing.schedule.switches[group.index].clock;
  const int direction = passes > fails ? 1 : -1;
  CLEW_TRY(const auto traced, x_.trials.run_traced(narrowed_.failing.schedule, fails.value, 0));
  if (!traced || !traced->trace.complete) return {};
  const Trace& trace = traced->trace;
  const TraceDecision* parting = decision_at(trace, fails.value, abi::kScriptPreemption);
  if (parting == nullptr) return {};
  x_.stage = IsolateStage::kFollowing;
  std::vector<Shift> candidates{{group.index, direction, fails.value}};
  std::ranges::copy(shifts(trace, *parting, direction, fails.value, UINT64_MAX, Concerned::kBoth),
                    std::back_inserter(candidates));
  std::size_t passing = 0;
  std::size_t failing = candidates.size();
  while (failing - passing > 1) {
    const std::size_t middle = std::midpoint(passing, failing);
    const Schedule next[] = {shifted(candidates[std::midpoint(passing, middle)]),
                             shifted(candidates[std::midpoint(middle, failing)])};
    CLEW_TRY(const auto passed, passes_with(candidates[middle], next));
    if (!passed) return {};
    (*passed ? passing : failing) = middle;
  }
  Shift last = candidates[passing];
  const std::uint64_t before = failing < candidates.size() ? candidates[failing].clock : UINT64_MAX;
  const std::vector<Shift> between =
      shifts(trace, *parting, direction, last.clock, before, Concerned::kEither);
  for (std::size_t i = between.size(), tried = 0; i-- > 0 && tried < kMostBetween; ++tried) {
    CLEW_TRY(const auto passed, passes_with(between[i], {}));
    if (!passed) break;
    if (!*passed) continue;
    last = between[i];
    break;
  }
  if (last.index == group.index) return {};
  narrowed_.passing.schedule = shifted(last);
  const ScheduleDifference difference(narrowed_.passing.schedule, narrowed_.passing.end,
                                      narrowed_.failing.schedule, narrowed_.failing.end);
  narrowed_.groups = difference.groups();
  narrowed_.isolated.passing.assign(narrowed_.groups.size(), 0);
  narrowed_.isolated.failing = difference.sizes();
  return {};
}

// Nothing: stopped.
Result<std::optional<bool>> Narrower::passes_with(const Shift& shift,
                                                  std::span<const Schedule> next) {
  CLEW_TRY(const auto run, x_.trials.run_one(shifted(shift), next));
  if (!run) return std::nullopt;
  ++x_.result.tests;
  return run->verdict == Verdict::kPass;
}

Result<Narrowed> Narrower::narrow() {
  x_.stage = IsolateStage::kIsolating;
  const ScheduleDifference difference(narrowed_.passing.schedule, narrowed_.passing.end,
                                      narrowed_.failing.schedule, narrowed_.failing.end);
  x_.result.deltas = difference.total();
  narrowed_.groups = difference.groups();
  if (narrowed_.groups.empty())
    return fail(ErrorCode::kBadInput, "the failing and the passing schedule are the same",
                "the program does not do the same each time it is run");
  CLEW_CHECK_OK(narrow_once(difference));
  CLEW_CHECK_OK(make_late());
  return std::move(narrowed_);
}

}  // namespace

Result<Narrowed> narrow(Experiment& experiment, const Side& passing, const Side& failing) {
  return Narrower(experiment, passing, failing).narrow();
}

}  // namespace clew
