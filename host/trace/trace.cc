#include "host/trace/trace.h"

#include <algorithm>
#include <ranges>

namespace clew {

const TraceDecision* decision_at(const Trace& trace, std::uint64_t clock, abi::ScriptKind kind) {
  const auto found = std::ranges::find_if(std::views::reverse(trace.decisions),
                                          [&](const TraceDecision& decision) {
                                            return decision.clock == clock && decision.kind == kind;
                                          });
  return found != trace.decisions.rend() ? &*found : nullptr;
}

std::vector<abi::ScriptItem> script_of(const Trace& trace) {
  std::vector<abi::ScriptItem> items;
  for (const TraceDecision& decision : trace.decisions)
    items.push_back({decision.thread, decision.own, decision.kind, decision.ordinal, decision.to});
  return items;
}

}  // namespace clew
