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

}  // namespace

Dependences::Dependences(const RunTrace& run, std::vector<std::string> threads, FlowGraphs& graphs)
    : run_(run), threads_(std::move(threads)), graphs_(graphs) {
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
  if (definitions_ == nullptr) definitions_ = std::make_unique<RegisterDefinitions>(run_);
  if (const Instance made = definitions_->before(at, reg); made.valid()) return made;
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
  if (controls_ == nullptr) controls_ = std::make_unique<ControlDependences>(run_, graphs_);
  const BlockStep& info = run_.steps()[at.step];
  StepIndex by = controls_->branch(at);
  if (by == kNoStep) by = run_.frames()[info.frame].call;
  if (by == kNoStep) return creation(info.thread);
  return {by, run_.steps()[by].executed - 1u};
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
    if (const StepIndex on = releases_memory(call->name) ? run_.released_before(*call) : kNoStep;
        on != kNoStep)
      result.push_back(
          {DependenceKind::kMemory, kReleasedSlot, {on, run_.steps()[on].executed - 1u}});
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
