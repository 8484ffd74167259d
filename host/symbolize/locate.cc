#include "host/symbolize/locate.h"

#include <algorithm>

#include "host/target/replay.h"

namespace clew {

void locate_failure(RunResult& run, Symbolizer& symbols) {
  if (!run.summary.failure || run.summary.failure->at || !run.reports.failure) return;
  if (run.reports.failure->kind == abi::FailureKind::kInfeasible)
    return;  // no place of the program's
  const FailureReport& report = *run.reports.failure;
  const auto frames = symbols.frames(report.frames);
  if (const SourceFrame* frame = Symbolizer::user_frame(frames))
    run.summary.failure->at = location_of(*frame);
}

void locate_holds(const std::string& recording, RunResult& run, RunObserver& observer) {
  if (run.reports.holds.empty()) return;
  auto replay = prepare_replay(recording);
  if (!replay) return;
  replay->plan.output = OutputMode::kCaptureOnly;
  for (const HoldReport& hold : run.reports.holds)
    if (hold.clock > 0) replay->plan.queries.push_back(hold.clock);
  std::ranges::sort(replay->plan.queries);
  const auto repeated = std::ranges::unique(replay->plan.queries);
  replay->plan.queries.erase(repeated.begin(), repeated.end());

  const auto again = run_replay(*replay, observer);
  if (!again || !differences(replay->recording.meta, *again).empty()) return;
  Symbolizer symbols(again->reports);
  for (HoldReport& hold : run.reports.holds) {
    const auto stack = std::ranges::find_if(again->reports.stacks, [&](const StackReport& s) {
      return s.clock == hold.clock && s.thread == hold.thread;
    });
    if (stack == again->reports.stacks.end()) continue;
    const auto frames = symbols.frames(stack->frames);
    if (const SourceFrame* user = Symbolizer::user_frame(frames))
      hold.taken_at = location_of(*user);
  }
}

}  // namespace clew
