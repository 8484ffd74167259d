#include "host/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "host/explain/cause_event.h"
#include "host/explain/criterion.h"
#include "host/explain/dual_slice.h"
#include "host/explain/experiments.h"
#include "host/explain/line_graph.h"
#include "host/explain/lock_cycle.h"
#include "host/explain/naming.h"
#include "host/explain/other_order.h"
#include "host/explain/output_point.h"
#include "host/explain/question.h"
#include "host/explain/root_cause.h"
#include "host/explain/story.h"
#include "host/explain/traced_pair.h"
#include "host/explain/waiting.h"
#include "host/seconds.h"

namespace clew {
namespace {

// Instances of a slice in each run: about 60 bytes for each.
constexpr std::size_t kMostNodes = 12'000'000;
constexpr std::size_t kMostSteps = 10;

// What is drawn or listed at most. Chosen, not measured.
constexpr std::size_t kMostLines = 5'000;

void measure_dynamic(TracedPair& pair, Naming& naming, const PathNode& failure, SliceShown shown,
                     Explanation& result) {
  if (failure.side != kFailing) return;
  DualSlice dynamic;
  const SliceEdges edges = shown == SliceShown::kDynamic ? SliceEdges::kKept : SliceEdges::kLeftOut;
  dynamic.half[kFailing] = dynamic_slice(pair.comparison(), failure.node, kMostNodes, edges);
  const LineGraph lines(pair, dynamic);
  result.slice.dynamic = lines.size();
  result.slice.complete &= dynamic.half[kFailing].nodes.size() < kMostNodes;
  if (shown == SliceShown::kDynamic)
    result.lines = lines.told(naming, lines.line_of(failure.side, failure.node), kMostLines);
}

void measure_dual(TracedPair& pair, Naming& naming, const PathNode& failure, const DualSlice& dual,
                  SliceShown shown, Explanation& result) {
  const LineGraph lines(pair, dual);
  result.slice.dual = lines.size();
  result.slice.complete &= dual.complete;
  if (shown == SliceShown::kDual)
    result.lines = lines.told(naming, lines.line_of(failure.side, failure.node), kMostLines);
}

void measure_pruned(TracedPair& pair, Naming& naming, const PathNode& failure,
                    const DualSlice& pruned, const std::optional<Root>& root, SliceShown shown,
                    Explanation& result) {
  Comparison& runs = pair.comparison();
  const LineGraph lines(pair, pruned);
  SliceSizes& sizes = result.slice;
  sizes.pruned = lines.size();
  std::set<std::size_t> different;  // lines that make another value
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : pruned.half[side].nodes) {
      if (is_unseen(node)) continue;
      const Difference difference = runs.difference(side, node);
      if (difference == Difference::kValue && side == kFailing) {
        different.insert(lines.line_of(kFailing, node));
        ++result.value_differences;
      }
      result.flow_differences += difference == Difference::kFlow;
    }
  different.erase(LineGraph::kNoLine);
  sizes.breakdown = {lines.count(kPassing), lines.count(kFailing), different.size()};
  sizes.functions = lines.functions();
  const std::size_t end = lines.line_of(failure.side, failure.node);
  if (root) {
    std::size_t cause = lines.line_of(kFailing, root->use_failing);
    if (cause == LineGraph::kNoLine) cause = lines.line_of(kPassing, root->use_passing);
    sizes.bfs = lines.distance(end, cause);
  }
  if (shown == SliceShown::kPruned) result.lines = lines.told(naming, end, kMostLines);
}

int worth_of(const Cause& cause) {
  if (cause.timed_out) return 3;
  // What has ended is used: nothing that comes before explains more.
  if (cause.cleared || cause.ending) return 4;
  switch (cause.pattern) {
    case CausePattern::kUseAfterFree:
      return 4;
    case CausePattern::kBetween:
      return 3;
    case CausePattern::kTooEarly:
    case CausePattern::kOverwritten:
      return 2;
    case CausePattern::kResult:
      return 1;
    default:
      return 0;
  }
}

void add_root(std::vector<Location>& root, const std::optional<CauseEvent>& event) {
  if (!event) return;
  for (const Location& at : {event->called_at, event->at}) {
    if (at.line == 0) continue;
    if (std::ranges::none_of(root, [&](const Location& known) {
          return known.file == at.file && known.line == at.line;
        }))
      root.push_back(at);
  }
}

void add_roots(std::vector<Location>& root, const Cause& cause) {
  if (cause.pattern == CausePattern::kNone) return;
  add_root(root, cause.timed_out);
  add_root(root, cause.let_go);
  add_root(root, cause.beside);
  add_root(root, cause.beside_read);
  add_root(root, cause.slept);
  add_root(root, cause.got);
  add_root(root, cause.earlier);
  add_root(root, cause.released);
  add_root(root, cause.remote);
  add_root(root, cause.later);
  add_root(root, cause.use);
  if (cause.pattern == CausePattern::kTooEarly) add_root(root, cause.passing_source);
  if (cause.pattern == CausePattern::kOverwritten || cause.pattern == CausePattern::kUseAfterFree)
    add_root(root, cause.failing_source);
  if (cause.check) {
    add_root(root, cause.check->read);
    add_root(root, cause.check->write);
  }
}

struct ToldCause {
  Cause cause;
  Root root;
  std::vector<ToldStep> steps;
  std::vector<std::pair<Cause, Root>> others;  // that lead to the failure, too
};

ToldCause tell_cause(TracedPair& pair, Naming& naming, const PathNode& failure, SliceShown shown,
                     Explanation& result) {
  ToldCause told;
  std::optional<Root> chosen;
  result.slice = {};
  DualSlice slice;
  {
    const DualSlice dual = dual_slice(pair.comparison(), failure.node, kMostNodes, failure.side);
    slice = pruned_slice(pair.comparison(), dual, failure.node, failure.side);
    measure_dual(pair, naming, failure, dual, shown, result);
  }
  const StoryPaths paths(pair, slice, failure);
  // Of several, the one that says most about what should not have happened; then the first.
  constexpr std::size_t kMostRoots = 40;
  int best = 0;
  std::vector<std::pair<Cause, Root>> others;
  auto roots = find_roots(pair, naming, slice, failure.side == kFailing ? failure.node : kNoNode);
  for (Root& root : std::views::take(roots, kMostRoots)) {
    auto path = paths.to(root);
    if (path.empty() && root.use_passing == kNoNode) path = {{kFailing, root.use_failing}, failure};
    if (path.empty()) continue;
    Cause cause = classify(pair, naming, slice, root);
    const int worth = worth_of(cause) == 0 ? 0 : 2 * worth_of(cause) + root.last;
    if (worth <= best) {
      others.emplace_back(std::move(cause), root);
      continue;
    }
    if (chosen) others.emplace_back(std::move(told.cause), told.root);
    best = worth;
    told = {std::move(cause), root, tell(pair, naming, shortened(pair, std::move(path))), {}};
    chosen = root;
  }
  told.others = std::move(others);
  measure_pruned(pair, naming, failure, slice, chosen, shown, result);
  measure_dynamic(pair, naming, failure, shown, result);
  fold(told.steps, kMostSteps);
  return told;
}

// Whether the story is all in the function that comes, or does not come, to the end of it.
bool stays_in_function(const ToldCause& told) {
  const StoryStep& last = told.steps.back().step;
  return std::ranges::all_of(told.steps, [&](const ToldStep& one) {
    return one.step.thread == last.thread && one.step.at.function == last.at.function;
  });
}

// Of threads that wait for ever, first what the waits themselves show: a cycle is the whole story. Who
// waits for a signal has often read something too early; and who should have given it did not come there,
// for a reason that has a kind of its own.
void tell_waiting(TracedPair& pair, Naming& naming, SliceShown shown, Explanation& result) {
  Waiting waiting = find_waiting(pair, naming);
  const bool alone = result.failing == result.passing;
  const bool locks = std::ranges::any_of(
      waiting.cause.waits, [](const WaitFact& fact) { return fact.taken.has_value(); });
  bool leads = false;  // what is behind the waiting is the kind of it
  if (!waiting.cause.cycle && !locks && !alone)
    for (const PathNode& start : waiting.starts) {
      Explanation read;
      ToldCause told = tell_cause(pair, naming, start, shown, read);
      if (told.steps.empty() || told.cause.pattern == CausePattern::kResult ||
          told.cause.pattern == CausePattern::kNone)
        continue;
      result.slice = read.slice;
      result.lines = std::move(read.lines);
      leads = waiting.cause.kind == CauseKind::kLostWakeup
                  ? start.side == kPassing && !stays_in_function(told)
                  : !waiting.stops_others;
      add_roots(result.root, told.cause);
      result.behind = std::move(told.cause);
      for (ToldStep& one : told.steps) waiting.story.push_back(std::move(one.step));
      std::ranges::sort(waiting.story, {}, &StoryStep::clock);
      break;
    }
  if (waiting.cause.kind == CauseKind::kLostWakeup && !leads)
    for (const PathNode& start : waiting.starts) {
      if (start.side != kFailing) continue;
      const auto stale = stale_reads(pair, instance_of(start.node), kNoStep, StaleReach::kBranch);
      if (stale.empty()) continue;
      waiting.cause.check = check_of(pair, naming, stale.front());
      break;
    }
  for (const WaitFact& fact : waiting.cause.waits) {
    add_root(result.root, fact.taken);
    add_root(result.root, fact.signal);
    add_root(result.root, fact.wait);
  }
  result.cause = std::move(waiting.cause);
  add_roots(result.root, result.cause);
  if (leads) {
    result.behind->waits = std::move(result.cause.waits);
    result.cause = *std::move(result.behind);
    result.behind.reset();
  }
  result.story = std::move(waiting.story);
}

// Whether the thread is one of those whose accesses are the cause.
bool is_party(const Cause& cause, const std::string& thread) {
  for (const auto* event : {&cause.failing_source, &cause.passing_source, &cause.earlier,
                            &cause.remote, &cause.later, &cause.freed})
    if (*event && (*event)->thread == thread) return true;
  return cause.use.thread == thread;
}

// Whether one of those whose accesses are the cause has written another value since.
bool may_matter(TracedPair& pair, const StaleRead& stale, const Cause& cause) {
  const RunTrace& run = pair.trace(kFailing);
  return run.access_value(stale.write.step, stale.write_access) !=
             run.access_value(stale.read.step, stale.access) &&
         is_party(cause, party_name(pair, kFailing, stale.write.step));
}

// Whether the run passes if the thread reads what another has written since.
bool matters(Laboratory& laboratory, const StaleRead& stale) {
  const RunTrace& run = laboratory.pair().trace(kFailing);
  return passes_with(laboratory, stale.read, stale.access,
                     run.access_value(stale.write.step, stale.write_access));
}

// What has led to where it goes wrong, and was changed by another in between: with the new value put in, the run
// must pass. Who goes wrong may have gone by it, or else who has written what that one reads. A check that its
// thread acts upon by writing the same variable is the cause itself; other checks are told beside it.
void find_check(Laboratory& laboratory, Naming& naming, const Root& root, Explanation& result) {
  constexpr std::size_t kMostTests = 10;
  TracedPair& pair = laboratory.pair();
  // Whose wait has timed out did not go by what it read.
  if (root.use_failing == kNoNode || root.address == 0 || result.cause.timed_out) return;
  const RunTrace& run = pair.trace(kFailing);
  const Instance use = instance_of(root.use_failing);
  std::vector<Instance> misled{use};
  if (!is_unseen(root.from_failing)) {
    const Instance write = instance_of(root.from_failing);
    if (run.steps()[write.step].thread != run.steps()[use.step].thread) misled.push_back(write);
  }
  std::vector<StaleRead> others;
  std::size_t tests = 0;
  for (const Instance at : misled)
    for (const StaleRead& stale : stale_reads(pair, at, at.step, StaleReach::kAll)) {
      if (!may_matter(pair, stale, result.cause)) continue;
      auto deeper = check_then_act(pair, naming, stale, at.step);
      if (!deeper) {
        if (at == use && run.access_address(stale.read.step, stale.access) != root.address)
          others.push_back(stale);
        continue;
      }
      if (tests++ == kMostTests) return;
      if (!matters(laboratory, stale)) continue;
      deeper->check->tested = true;
      result.leads_to = std::exchange(result.cause, *std::move(deeper));
      return;
    }
  for (const StaleRead& stale : others) {
    if (tests++ == kMostTests) return;
    if (!matters(laboratory, stale)) continue;
    result.cause.check = check_of(pair, naming, stale);
    result.cause.check->tested = true;
    return;
  }
}

// If the failing run still fails with the cause put right, there is another one that suffices, too: those that
// are needed, all put right, for it to pass. Returns where they are put right.
std::vector<Lever> find_joint(Laboratory& laboratory, const ToldCause& told, Explanation& result) {
  constexpr std::size_t kMostCauses = 6;
  const RunsView runs = view_of(laboratory.pair());
  std::vector<Lever> levers;
  std::vector<const Cause*> causes;
  const auto add = [&](const Cause& cause, const Root& root) {
    if (root.address == 0 || root.use_failing == kNoNode || root.use_passing == kNoNode) return;
    const auto lever = lever_of_read(runs, instance_of(root.use_failing),
                                     instance_of(root.use_passing), root.address);
    if (!lever || levers.size() == kMostCauses) return;
    levers.push_back(*lever);
    causes.push_back(&cause);
  };
  add(told.cause, told.root);
  if (levers.empty()) return {};
  for (const auto& [cause, root] : told.others) add(cause, root);
  if (levers.size() < 2) return {};
  const auto needed = joint_causes(laboratory, levers);
  // What is told must be one of them, if not by this read then by another of the same variable.
  const auto of_told = [&](std::size_t i) { return causes[i]->variable == told.cause.variable; };
  if (needed.size() < 2 || std::ranges::none_of(needed, of_told)) return {};
  std::vector<Lever> others;
  for (const std::size_t i : needed) {
    if (of_told(i)) continue;
    others.push_back(levers[i]);
    const Cause* best = causes[i];
    for (const auto& [cause, root] : told.others)
      if (cause.variable == best->variable && worth_of(cause) > worth_of(*best)) best = &cause;
    if (worth_of(*best) > 0 &&
        std::ranges::find(result.also, best->variable, &Cause::variable) == result.also.end())
      result.also.push_back(*best);
  }
  return others;
}

// What comes between two accesses, and may come neither before both of them: then it comes too early, or too late.
void test_between(Laboratory& laboratory, const Replay& failing, const Root& root, Cause& cause) {
  if (cause.pattern != CausePattern::kBetween || cause.kind != CauseKind::kAtomicityViolation ||
      !root.remote.valid() || cause.freed || cause.remote->what != CauseEvent::What::kReads)
    return;
  const auto before = verdict_with_later_first(laboratory, failing, root.earlier, root.remote);
  const auto behind = verdict_with_later_first(laboratory, failing, root.remote, root.later);
  cause.tested_outside = before == Verdict::kPass && behind == Verdict::kPass;
  const bool too_early = before == Verdict::kFail && behind == Verdict::kPass;
  const bool too_late = before == Verdict::kPass && behind == Verdict::kFail;
  if (!too_early && !too_late) return;
  // Of the other's thread: the use is the remote access, or what has made that too early or too late.
  const bool remote_uses = cause.use.thread == cause.remote->thread;
  const std::string& other = remote_uses ? cause.earlier->thread : cause.remote->thread;
  const bool missed = too_early == remote_uses;
  const auto& source = missed ? cause.passing_source : cause.failing_source;
  if (!source || source->thread != other) return;
  cause.pattern = missed ? CausePattern::kTooEarly : CausePattern::kOverwritten;
  cause.kind = CauseKind::kOrderViolation;
  cause.earlier.reset();
  cause.remote.reset();
  cause.later.reset();
  cause.released.reset();
}

void experiment(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, ToldCause& told, Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  const bool enough = test_steps(laboratory, told.steps);
  std::vector<Lever> others;
  if (!enough && laboratory.may_go_on()) others = find_joint(laboratory, told, result);
  test_jointly(laboratory, others, told.steps);
  const auto first =
      std::ranges::find_if(told.steps, [](const ToldStep& one) { return one.step.main; });
  if (first != told.steps.end() && passes_in_other_order(laboratory, failing, told.root))
    first->step.confirmed = Confirmed::kByOrder;
  test_between(laboratory, failing, told.root, result.cause);
  find_check(laboratory, naming, told.root, result);
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
}

// Locks that are taken in a circle: with one taken later, does it pass?
void test_locks(TracedPair& pair, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  if (const auto clock = passes_if_taken_in_turn(laboratory, failing))
    for (StoryStep& step : result.story)
      if (step.sync == SyncEvent::kTaken && step.clock == *clock)
        step.confirmed = Confirmed::kByOrder;
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
}

bool is_of_output(FailureKind kind) {
  return kind == FailureKind::kOutput || kind == FailureKind::kJudge;
}

// The failure that is to be explained, if the two belong together.
Result<Failure> failure_of(const Recording& failing, const Recording& passing) {
  const Meta& meta = failing.meta;
  if (!meta.summary.failure && !meta.judged)
    return fail(ErrorCode::kBadInput, fmt::format("recording {} has not failed", failing.number),
                "clew explain FAILING PASSING");
  // A deadlock shows by itself who waits for what.
  const bool alone = failing.number == passing.number && meta.summary.failure &&
                     meta.summary.failure->kind == FailureKind::kDeadlock;
  if (!alone && (passing.meta.summary.failure || passing.meta.judged))
    return fail(ErrorCode::kBadInput, fmt::format("recording {} has failed, too", passing.number),
                "clew explain FAILING PASSING");
  if (meta.program != passing.meta.program || meta.identity != passing.meta.identity)
    return fail(
        ErrorCode::kBadInput,
        fmt::format("recordings {} and {} are of two programs", failing.number, passing.number),
        "clew isolate finds a passing run of the same program");
  if (meta.arguments != passing.meta.arguments)
    return fail(ErrorCode::kBadInput,
                fmt::format("recordings {} and {} are of runs with other arguments", failing.number,
                            passing.number),
                "clew isolate finds a passing run of the same program with the same arguments");
  if (meta.summary.failure) return *meta.summary.failure;
  return Failure{meta.judged->kind, meta.judged->detail, "", std::nullopt};
}

}  // namespace

Result<Explanation> explain(const Replay& failing, const Replay& passing,
                            const ExplainOptions& options, RunObserver& observer) {
  Explanation result;
  const double started = seconds_now();
  result.failing = failing.recording.number;
  result.passing = passing.recording.number;
  CLEW_TRY(result.failure, failure_of(failing.recording, passing.recording));
  CLEW_TRY(const auto pair, TracedPair::trace(failing, passing, observer));
  for (const WhichRun side : {kFailing, kPassing}) {
    if (pair->result(side).interrupted_by != 0) {
      result.interrupted_by = pair->result(side).interrupted_by;
      return result;
    }
    result.trace_bytes += pair->trace(side).bytes();
    result.instructions += pair->trace(side).instructions();
  }
  if (const std::uint64_t from = pair->trace(kFailing).begins_at(); from != 0)
    result.doubts.push_back(
        fmt::format("The runs are too long to be traced as a whole: \"the start\" is clock {} "
                    "here, up to which "
                    "both are the same.",
                    from));
  for (std::size_t i = 0; i < pair->trace(kFailing).thread_count(); ++i) {
    const std::string& id = pair->run(kFailing).threads()[i];
    const auto& there = pair->run(kPassing).threads();
    const auto same = static_cast<std::size_t>(std::ranges::find(there, id) - there.begin());
    const auto percent = [](const Alignment::Share& share) {
      return share.all == 0
                 ? 0
                 : 100.0 * static_cast<double>(share.aligned) / static_cast<double>(share.all);
    };
    ThreadAlignment one{id, percent(pair->alignment().share(kFailing, i)), 0};
    if (same < pair->trace(kPassing).thread_count())
      one.passing = percent(pair->alignment().share(kPassing, static_cast<std::uint16_t>(same)));
    result.alignment.push_back(one);
  }
  Naming naming(*pair);
  bool cut = false;  // a slice was
  if (result.failure.kind == FailureKind::kDeadlock && !options.question) {
    tell_waiting(*pair, naming, options.shown, result);
    if (result.cause.cycle && check_runs_live(failing.recording))
      test_locks(*pair, failing, passing, options.limits, result);
  } else {
    std::vector<PathNode> points;
    if (options.question) {
      auto found = find_points(*pair, naming, *options.question);
      result.asked = std::move(found.asked);
      for (const NodeId point : found.points) points.push_back({kFailing, point});
    } else {
      if (is_of_output(result.failure.kind)) points = output_points(*pair, failing, passing);
      for (const NodeId point : failure_points(*pair, result.failure))
        points.push_back({kFailing, point});
    }
    for (const PathNode& point : points) {
      ToldCause told = tell_cause(*pair, naming, point, options.shown, result);
      cut |= !result.slice.complete;
      if (told.steps.empty()) continue;
      result.cause = told.cause;
      // The tests judge the failure, not the line that was asked about.
      if (!options.question && check_runs_live(failing.recording) &&
          check_runs_live(passing.recording))
        experiment(*pair, naming, failing, passing, options.limits, told, result);
      add_roots(result.root, result.cause);
      for (const Cause& also : result.also) add_roots(result.root, also);
      for (ToldStep& one : told.steps) {
        // What makes no difference either way is no part of the chain.
        if (one.step.confirmed == Confirmed::kRefuted && &one != &told.steps.front())
          one.step.main = false;
        result.story.push_back(std::move(one.step));
      }
      break;
    }
  }
  if (cut || !result.slice.complete)
    result.doubts.push_back(
        fmt::format("The slice was ended after {} instructions: what lies further back was not "
                    "reached.",
                    kMostNodes));
  result.seconds = seconds_now() - started;
  return result;
}

}  // namespace clew
