#include <algorithm>
#include <utility>

#include "host/explain/hand_over.h"
#include "host/explain/told_cause.h"
#include "host/explain/waiting.h"

namespace clew {
namespace {

// Steps that tell nothing, in a line that the step before tells about.
void drop_repeated(std::vector<StoryStep>& story) {
  const auto repeats = [](const StoryStep& before, const StoryStep& one) {
    return before.thread == one.thread && before.at.line == one.at.line &&
           before.at.file == one.at.file && !one.branch && one.sync == SyncEvent::kNone &&
           one.variable.empty();
  };
  story.erase(std::ranges::unique(story, repeats).begin(), story.end());
}

// Behind those that come no later.
void insert(std::vector<StoryStep>& story, StoryStep step) {
  const auto later =
      std::ranges::find_if(story, [&](const StoryStep& one) { return one.clock > step.clock; });
  story.insert(later, std::move(step));
}

// Whether the story is all in the function that comes, or does not come, to the end of it.
bool stays_in_function(const ToldCause& told) {
  const StoryStep& last = told.steps.back().step;
  return std::ranges::all_of(told.steps, [&](const ToldStep& one) {
    return one.step.thread == last.thread && one.step.at.function == last.at.function;
  });
}

// Whether one who should wake the waiting thread goes by what that thread says of itself, before it has said it: between the look by which that
// has decided to wait and its saying so.
bool misses_the_waiting(const Cause& behind, const std::vector<WaitFact>& waits) {
  const auto waits_for_ever = [&](const std::string& thread) {
    return std::ranges::any_of(waits,
                               [&](const WaitFact& fact) { return fact.wait.thread == thread; });
  };
  if (behind.pattern == CausePattern::kBetween && !behind.later_variable.empty() &&
      behind.later_variable != behind.variable &&
      behind.earlier->what == CauseEvent::What::kReads &&
      behind.later->what != CauseEvent::What::kReads)
    return waits_for_ever(behind.earlier->thread) && !waits_for_ever(behind.remote->thread);
  return behind.passing_source && behind.passing_source->thread != behind.use.thread &&
         waits_for_ever(behind.passing_source->thread);
}

// Whether the story tells of a thread that does not wait: it does not come to what it does in the passing run.
bool leaves_others_waiting(const ToldCause& told, const std::vector<WaitFact>& waits) {
  return std::ranges::any_of(told.steps, [&](const ToldStep& one) {
    return one.step.only_passing && std::ranges::none_of(waits, [&](const WaitFact& fact) {
             return fact.wait.thread == one.step.thread;
           });
  });
}

}  // namespace

void tell_waiting(TracedPair& pair, Naming& naming, SliceShown shown, Explanation& result) {
  Waiting waiting = find_waiting(pair, naming);
  const bool alone = result.failing == result.passing;
  const bool locks = std::ranges::any_of(
      waiting.cause.waits, [](const WaitFact& fact) { return fact.taken.has_value(); });
  bool leads = false;  // what is behind the waiting is the kind of it
  const bool for_ever = waiting.cause.pattern == CausePattern::kWaitsForever;
  if (for_ever && !waiting.cause.cycle && !locks && !alone)
    for (const PathNode& start : waiting.starts) {
      Explanation read;
      ToldCause told = tell_cause(pair, naming, start, shown, read);
      if (told.steps.empty() || told.cause.pattern == CausePattern::kResult ||
          told.cause.pattern == CausePattern::kNone)
        continue;
      // Why the failing run does not come to what the thread waits for says more than that.
      bool omitted = false;
      if (told.cause.pattern == CausePattern::kTooEarly && told.cause.omitted) {
        ToldCause before =
            tell_cause(pair, naming, {kPassing, told.root.from_passing}, shown, read);
        omitted = !before.steps.empty() && worth_of(before.cause) > 1;
        if (omitted) told = std::move(before);
      }
      result.slice = read.slice;
      result.lines = std::move(read.lines);
      leads = waiting.cause.kind == CauseKind::kLostWakeup
                  ? ((omitted || start.side == kPassing) && !stays_in_function(told)) ||
                        leaves_others_waiting(told, waiting.cause.waits)
                  : !waiting.stops_others;
      add_roots(result.root, told.cause);
      result.behind = std::move(told.cause);
      for (ToldStep& one : told.steps) insert(waiting.story, std::move(one.step));
      drop_repeated(waiting.story);
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
    add_root(result.root, fact.renewed);
    add_root(result.root, fact.signal);
    add_root(result.root, fact.wait);
  }
  result.cause = std::move(waiting.cause);
  add_roots(result.root, result.cause);
  if (leads) {
    if (result.cause.kind == CauseKind::kLostWakeup &&
        result.behind->kind != CauseKind::kDataRace &&
        misses_the_waiting(*result.behind, result.cause.waits))
      result.behind->kind = CauseKind::kLostWakeup;
    result.behind->waits = std::move(result.cause.waits);
    result.cause = *std::move(result.behind);
    result.behind.reset();
  }
  result.story = std::move(waiting.story);
}

}  // namespace clew
