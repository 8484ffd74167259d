#include "host/explain/activity.h"

#include <set>

namespace clew {
namespace {

std::set<FrameIndex> frames_of(const RunTrace& run, Instance at) {
  std::set<FrameIndex> frames;
  for (FrameIndex f = run.steps()[at.step].frame; f != kNoFrame; f = run.frames()[f].parent)
    frames.insert(f);
  return frames;
}

}  // namespace

std::uint64_t site_in(const RunTrace& run, Instance at, FrameIndex frame) {
  for (FrameIndex f = run.steps()[at.step].frame; f != frame; f = run.frames()[f].parent) {
    const StepIndex call = run.frames()[f].call;
    if (call == kNoStep) return 0;
    at = {call, run.steps()[call].executed - 1u};
  }
  return run.instruction(at).address;
}

FrameIndex shared_frame(const RunTrace& run, Instance a, Instance b) {
  const std::set<FrameIndex> callers = frames_of(run, a);
  FrameIndex shared = run.steps()[b.step].frame;
  while (shared != kNoFrame && !callers.contains(shared)) shared = run.frames()[shared].parent;
  return shared;
}

bool same_activity(TracedPair& pair, Instance a, Instance b, WhichRun side) {
  const RunTrace& run = pair.trace(side);
  const std::set<FrameIndex> callers = frames_of(run, a);
  Instance at = b;  // where the frame is at that time
  for (FrameIndex f = run.steps()[b.step].frame; f != kNoFrame; f = run.frames()[f].parent) {
    if (callers.contains(f) && pair.place_of_code(run.instruction(at).address).user) return true;
    const StepIndex call = run.frames()[f].call;
    if (call == kNoStep) return false;
    at = {call, run.steps()[call].executed - 1u};
  }
  return false;
}

bool is_of_earlier_round(const RunTrace& run, Instance before, Instance write, Instance later) {
  const FrameIndex frame = shared_frame(run, write, later);
  if (frame == kNoFrame || shared_frame(run, before, write) != frame) return true;
  return site_in(run, before, frame) > site_in(run, write, frame);
}

}  // namespace clew
