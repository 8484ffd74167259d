#include "host/isolate/script.h"

#include <algorithm>

namespace clew {

bool is_preemption(const ScriptItem& item) { return item.kind == abi::kScriptPreemption; }

std::size_t preemptions_of(const ThreadScript& script) {
  return static_cast<std::size_t>(std::ranges::count_if(script, is_preemption));
}

JobPlan job_of(const ThreadScript& script, std::uint32_t flags) {
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kScript;
  plan.flags = flags;
  plan.guide = script_guide(script);
  return plan;
}

}  // namespace clew
