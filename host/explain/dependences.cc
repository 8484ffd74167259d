#include "host/explain/dependences.h"

#include <algorithm>
#include <utility>

namespace clew {
namespace {

bool creates_thread(std::string_view name) {
  return name == "pthread_create" || name == "thrd_create";
}

// How many numbers decide what a call of it does.
int arguments_of(std::string_view name) {
  if (name == "calloc" || name == "realloc") return 2;
  // Which object it is about.
  for (const std::string_view prefix :
       {"pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_spin_", "pthread_barrier_",
        "sem_", "mtx_", "cnd_"})
    if (name.starts_with(prefix)) return 1;
  const bool one = name == "malloc" || name == "free" || name == "exit" || name == "_exit" ||
                   name.starts_with("_Znw") || name.starts_with("_Zna") ||
                   name.starts_with("_Zdl") || name.starts_with("_Zda");
  return one ? 1 : 0;
}

// The code of a yield point: it gives all registers back.
bool is_point(std::string_view name) { return name.starts_with("__clew_"); }

}  // namespace

Dependences::Dependences(const RunTrace& run, std::vector<std::string> threads, FlowGraphs& graphs)
    : run_(run), threads_(std::move(threads)), graphs_(graphs) {
  for (StepIndex at = 0; at < run.steps().size(); ++at) {
    const std::uint32_t block = run.steps()[at].block;
    if (block >= writes_.size()) writes_.resize(block + 1u);
    if (writes_[block] != 0) continue;
    for (const Instruction& one : run.code(at)) writes_[block] |= one.writes;
  }
  creations_.resize(threads_.size());
  std::vector<const OutsideCall*> creations;
  std::unordered_map<std::string, unsigned> children;
  for (const OutsideCall& call : run.outside_calls()) {
    if (!creates_thread(call.name) || (call.back != kNoStep && (call.result & UINT32_MAX) != 0) ||
        run.steps()[call.step].thread >= threads_.size())
      continue;
    creations.push_back(&call);
    ++children[threads_[run.steps()[call.step].thread]];
  }
  // Those that were created before the trace begins have the first numbers.
  for (auto& [id, count] : children) {
    const auto is_child = [&](const std::string& one) {
      return one.starts_with(id + ".") && one.find('.', id.size() + 1) == std::string::npos;
    };
    const auto all = static_cast<unsigned>(std::ranges::count_if(threads_, is_child));
    count = run.begins_at() > 0 && all > count ? all - count : 0;
  }
  for (const OutsideCall* made : creations) {
    const OutsideCall& call = *made;
    const std::string& id = threads_[run.steps()[call.step].thread];
    const std::string child = id + "." + std::to_string(++children[id]);
    const auto found = std::ranges::find(threads_, child);
    if (found != threads_.end())
      creations_[found - threads_.begin()] = {call.step, run.steps()[call.step].executed - 1u};
  }
}

Instance Dependences::creation(std::uint16_t thread) const {
  return thread < creations_.size() ? creations_[thread] : Instance{};
}

Instance Dependences::definition(Instance at, int reg) const {
  const RegisterSet wanted = bit_of(reg);
  const bool preserved = (kPreserved & wanted) != 0;
  const auto& list = run_.thread(run_.steps()[at.step].thread);
  std::size_t position = run_.position(at.step);
  FrameIndex frame = run_.steps()[at.step].frame;
  std::uint32_t end = at.instruction;  // of the step: the instructions before it
  while (true) {
    const StepIndex step = list[position];
    const BlockStep& info = run_.steps()[step];
    if ((writes_[info.block] & wanted) != 0) {
      const auto& code = run_.code(step);
      for (std::uint32_t i = end; i-- > 0;)
        if ((code[i].writes & wanted) != 0) return {step, i};
    }
    if (position == 0) break;
    --position;
    StepIndex before = list[position];
    if (run_.steps()[before].frame > frame && preserved) {
      // A function that was called gives it back as it was.
      FrameIndex called = run_.steps()[before].frame;
      while (called != kNoFrame && run_.frames()[called].parent != frame)
        called = run_.frames()[called].parent;
      if (called == kNoFrame || run_.frames()[called].call == kNoStep) break;
      before = run_.frames()[called].call;
      position = run_.position(before);
    }
    if (!preserved || run_.steps()[before].frame < frame) frame = run_.steps()[before].frame;
    end = run_.steps()[before].executed;
    if (preserved) continue;
    const OutsideCall* call = run_.outside_call(before);
    if (call != nullptr && !is_point(call->name)) return {before, end - 1};
  }
  const Instance creation = this->creation(run_.steps()[at.step].thread);
  return creation.valid() ? creation : Instance{RunTrace::kFromOutside, 0};
}

Instance Dependences::source(StepIndex step, std::uint32_t access) const {
  const StepIndex from = run_.source(step, access);
  const StepIndex seen = run_.visible(from);
  if (seen == RunTrace::kFromStart || seen == RunTrace::kFromOutside) return {seen, 0};
  if (seen != from) return {seen, run_.steps()[seen].executed - 1u};
  const RecordedAccess& what = run_.access(step, access);
  return run_.writer(from, run_.access_address(step, access), std::max(what.size, 1u));
}

Instance Dependences::control(Instance at) const {
  const BlockStep& info = run_.steps()[at.step];
  const std::uint64_t address = run_.instruction(at).address;
  const FlowGraph* graph = graphs_.at(address);
  const std::uint32_t block = graph == nullptr ? FlowGraph::kNone : graph->block_of(address);
  const std::uint64_t key = std::uint64_t{at.step} << 32 | block;
  const auto [known, added] = controls_.try_emplace(key);
  if (!added) return known->second;
  const auto& list = run_.thread(info.thread);
  const bool dependent = block != FlowGraph::kNone && !graph->blocks()[block].controllers.empty();
  std::size_t position = run_.position(at.step);
  while (dependent && position > 0) {
    --position;
    StepIndex before = list[position];
    FrameIndex frame = run_.steps()[before].frame;
    if (frame < info.frame) break;
    if (frame != info.frame) {
      while (frame != kNoFrame && run_.frames()[frame].parent != info.frame)
        frame = run_.frames()[frame].parent;
      if (frame == kNoFrame || run_.frames()[frame].call == kNoStep) break;
      before = run_.frames()[frame].call;
      position = run_.position(before);
    }
    const std::uint32_t last = run_.steps()[before].executed - 1u;
    if (graph->depends(address, run_.code(before)[last].address))
      return controls_[key] = {before, last};
  }
  const TraceFrame& frame = run_.frames()[info.frame];
  if (frame.call == kNoStep) return controls_[key] = creation(info.thread);
  return controls_[key] = {frame.call, run_.steps()[frame.call].executed - 1u};
}

std::vector<Dependence> Dependences::of(Instance at) const {
  std::vector<Dependence> result;
  const Instruction& code = run_.instruction(at);
  // What is not seen inside depends on what it is given.
  if (const OutsideCall* call = code.is_call() ? run_.outside_call(at.step) : nullptr) {
    constexpr std::uint32_t kArguments[] = {7, 6};  // rdi, rsi
    for (int i = 0; i < arguments_of(call->name); ++i)
      result.push_back({DependenceKind::kRegister, kArguments[i],
                        definition(at, static_cast<int>(kArguments[i]))});
  }
  const auto add_registers = [&](RegisterSet set, DependenceKind kind) {
    for (int reg = 0; reg < kRegisterSetSize; ++reg)
      if ((set & bit_of(reg)) != 0)
        result.push_back({kind, static_cast<std::uint32_t>(reg), definition(at, reg)});
  };
  add_registers(code.reads, DependenceKind::kRegister);
  const auto [first, end] = run_.accesses(at);
  bool of_points = false;
  for (std::uint32_t i = first; i < end; ++i) {
    of_points |= run_.is_of_points(run_.access_address(at.step, i));
    if (run_.access(at.step, i).kind != AccessKind::kWrite && !of_points)
      result.push_back({DependenceKind::kMemory, 100 + i - first, source(at.step, i)});
  }
  if (!of_points) add_registers(code.address_reads, DependenceKind::kAddress);
  if (const Instance by = control(at); by.valid())
    result.push_back({DependenceKind::kControl, 0, by});
  return result;
}

}  // namespace clew
