#include "host/explain/control_dependences.h"

#include <algorithm>

namespace clew {

ControlDependences::ControlDependences(const RunTrace& run, FlowGraphs& graphs) : run_(run) {
  found_.resize(run.steps().size(), kNoStep);
  std::vector<Latest> threads(run.thread_count());
  for (StepIndex at = 0; at < run.steps().size(); ++at) {
    const BlockStep& step = run.steps()[at];
    if (step.hidden) continue;
    if (step.block >= blocks_.size()) blocks_.resize(step.block + 1u);
    BlockFlow& flow = blocks_[step.block];
    if (!flow.known) find(run, at, graphs, flow);
    Latest& known = threads[step.thread];
    if (flow.parts.size() == 1) {
      found_[at] = latest(known, flow.parts.front(), step.frame);
    } else if (!flow.parts.empty()) {
      found_[at] = static_cast<std::uint32_t>(more_.size());
      for (const Part& part : flow.parts) more_.push_back(latest(known, part, step.frame));
    }
    if (flow.branch == kNone || step.executed != run.code(at).size()) continue;
    if (flow.branch >= known.size()) known.resize(flow.branch + 1u);
    auto& calls = known[flow.branch];
    // Frames have ascending numbers: later ones have been left.
    while (!calls.empty() && calls.back().frame > step.frame) calls.pop_back();
    if (!calls.empty() && calls.back().frame == step.frame)
      calls.back().step = at;
    else
      calls.push_back({step.frame, at});
  }
}

std::uint32_t ControlDependences::number_of(std::uint64_t branch) {
  return numbers_.try_emplace(branch, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

void ControlDependences::find(const RunTrace& run, StepIndex at, FlowGraphs& graphs,
                              BlockFlow& flow) {
  flow.known = true;
  const auto& code = run.code(at);
  std::uint32_t last = FlowGraph::kNone;
  const FlowGraph* last_graph = nullptr;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const FlowGraph* graph = graphs.at(code[i].address);
    const std::uint32_t block =
        graph == nullptr ? FlowGraph::kNone : graph->block_of(code[i].address);
    if (i > 0 && block == last && graph == last_graph) continue;
    last = block;
    last_graph = graph;
    Part part{i, {}};
    if (block != FlowGraph::kNone)
      for (const std::uint32_t by : graph->blocks()[block].controllers)
        part.controllers.push_back(number_of(graph->blocks()[by].last));
    flow.parts.push_back(std::move(part));
  }
  if (std::ranges::all_of(flow.parts, [](const Part& part) { return part.controllers.empty(); }))
    flow.parts.clear();
  if (last == FlowGraph::kNone) return;
  const FlowGraph::Block& end = last_graph->blocks()[last];
  if (end.last == code.back().address && end.successors.size() + (end.leaves ? 1 : 0) > 1)
    flow.branch = number_of(end.last);
}

StepIndex ControlDependences::latest(Latest& latest, const Part& part, FrameIndex frame) const {
  StepIndex found = kNoStep;
  for (const std::uint32_t by : part.controllers) {
    if (by >= latest.size()) continue;
    auto& calls = latest[by];
    while (!calls.empty() && calls.back().frame > frame) calls.pop_back();
    if (calls.empty() || calls.back().frame != frame) continue;
    if (found == kNoStep || calls.back().step > found) found = calls.back().step;
  }
  return found;
}

StepIndex ControlDependences::branch(Instance at) const {
  const BlockFlow& flow = blocks_[run_.steps()[at.step].block];
  if (flow.parts.empty()) return kNoStep;
  if (flow.parts.size() == 1) return found_[at.step];
  std::uint32_t part = 0;
  while (part + 1u < flow.parts.size() && flow.parts[part + 1].begin <= at.instruction) ++part;
  return more_[found_[at.step] + part];
}

}  // namespace clew
