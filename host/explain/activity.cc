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

// What the call `frame`, which it is in, does itself at that time; not valid: not known.
Instance instance_in(const RunTrace& run, Instance at, FrameIndex frame) {
  for (FrameIndex f = run.steps()[at.step].frame; f != frame; f = run.frames()[f].parent) {
    const StepIndex call = run.frames()[f].call;
    if (call == kNoStep) return {};
    at = {call, run.steps()[call].executed - 1u};
  }
  return at;
}

}  // namespace

std::uint64_t site_in(const RunTrace& run, Instance at, FrameIndex frame) {
  const Instance there = instance_in(run, at, frame);
  return there.valid() ? run.instruction(there).address : 0;
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

bool in_one_round(TracedPair& pair, Instance earlier, Instance later, WhichRun side) {
  const RunTrace& run = pair.trace(side);
  const FrameIndex frame = shared_frame(run, earlier, later);
  if (frame == kNoFrame || !same_activity(pair, earlier, later, side)) return false;
  const Instance first = instance_in(run, earlier, frame);
  const Instance last = instance_in(run, later, frame);
  if (!first.valid() || !last.valid()) return false;
  const FlowGraph* graph = pair.graphs().at(run.instruction(first).address);
  if (graph == nullptr) return true;
  const FlowLoops& loops = pair.graphs().loops(*graph);
  const std::uint32_t from = graph->block_of(run.instruction(first).address);
  const std::uint32_t to = graph->block_of(run.instruction(last).address);
  if (from == FlowGraph::kNone || to == FlowGraph::kNone) return true;
  const auto& steps = run.thread(run.steps()[first.step].thread);
  const std::size_t end = run.position(last.step);
  for (std::size_t i = run.position(first.step) + 1; i <= end; ++i) {
    if (run.steps()[steps[i]].frame != frame) continue;
    const std::uint32_t at = graph->block_of(run.address(steps[i]));
    if (at != FlowGraph::kNone && graph->blocks()[at].begin == run.address(steps[i]) &&
        loops.begins_round(at, from, to))
      return false;
  }
  return true;
}

bool in_loop_without(TracedPair& pair, Instance at, Instance other) {
  const RunTrace& run = pair.trace(kFailing);
  const FrameIndex shared = shared_frame(run, at, other);
  for (FrameIndex f = run.steps()[at.step].frame; f != kNoFrame; f = run.frames()[f].parent) {
    const Instance here = instance_in(run, at, f);
    if (!here.valid()) return false;
    const FlowGraph* graph = pair.graphs().at(run.instruction(here).address);
    const std::uint32_t block =
        graph == nullptr ? FlowGraph::kNone : graph->block_of(run.instruction(here).address);
    const std::uint64_t site = f == shared ? site_in(run, other, f) : 0;
    if (block != FlowGraph::kNone &&
        pair.graphs().loops(*graph).has_without(
            block, site == 0 ? FlowGraph::kNone : graph->block_of(site)))
      return true;
    if (f == shared) return false;
  }
  return false;
}

bool is_of_earlier_round(const RunTrace& run, Instance before, Instance write, Instance later) {
  const FrameIndex frame = shared_frame(run, write, later);
  if (frame == kNoFrame || shared_frame(run, before, write) != frame) return true;
  return site_in(run, before, frame) > site_in(run, write, frame);
}

}  // namespace clew
