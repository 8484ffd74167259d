#include "host/calls/inlined_starts.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "host/model/flow_graph.h"
#include "host/model/function_table.h"

namespace clew {
namespace {

// The flow graphs of a file's functions, made when they are asked for.
class Graphs {
 public:
  explicit Graphs(const ElfFile& file) : file_(file), functions_(function_table(file)) {}

  // Null: there is no function that is known.
  const FlowGraph* at(std::uint64_t address) {
    const CodeRange* range = range_with(functions_, address);
    if (range == nullptr) return nullptr;
    const auto known = graphs_.find(range->begin);
    if (known != graphs_.end()) return &known->second;
    const auto bytes = file_.bytes_at_address(range->begin);
    const std::span code(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return &graphs_.try_emplace(range->begin, *range, code, std::vector<FlowGraph::Edge>())
                .first->second;
  }

 private:
  const ElfFile& file_;
  std::vector<CodeRange> functions_;
  std::map<std::uint64_t, FlowGraph> graphs_;
};

using Calls = std::span<const ModuleCode::InlinedCall>;

// Whether every way from the beginning of the function to block `to` leads through one of the others.
bool leads_through(const FlowGraph& graph, std::uint32_t to,
                   const std::set<std::uint32_t>& others) {
  if (others.contains(to)) return true;
  std::vector<bool> seen(graph.blocks().size());
  std::vector<std::uint32_t> todo;
  const auto reach = [&](std::uint32_t block) {
    if (seen[block] || others.contains(block)) return;
    seen[block] = true;
    todo.push_back(block);
  };
  const std::uint32_t begin = graph.block_of(graph.range().begin);
  if (begin == FlowGraph::kNone) return false;
  reach(begin);
  while (!todo.empty()) {
    const std::uint32_t block = todo.back();
    todo.pop_back();
    for (const std::uint32_t next : graph.blocks()[block].successors) reach(next);
  }
  return !seen[to];
}

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// Whether a way leads from one block to the other within these ranges.
bool leads_within(const FlowGraph& graph, std::uint32_t from, std::uint32_t to,
                  const Ranges& ranges) {
  const auto is_within = [&](std::uint32_t block) {
    const std::uint64_t begin = graph.blocks()[block].begin;
    return std::ranges::any_of(
        ranges, [&](const auto& range) { return begin >= range.first && begin < range.second; });
  };
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> todo{from};
  while (!todo.empty()) {
    const std::uint32_t block = todo.back();
    todo.pop_back();
    for (const std::uint32_t next : graph.blocks()[block].successors) {
      if (next == to) return true;
      if (is_within(next) && seen.insert(next).second) todo.push_back(next);
    }
  }
  return false;
}

// `starts`: all of the same call, whose code is `ranges`.
bool continues(const ModuleCode::InlinedCall& one, Calls starts, const Ranges& ranges,
               Graphs& graphs) {
  if (one.entry == one.first) return false;
  const FlowGraph* graph = graphs.at(one.entry);
  if (graph == nullptr) return false;
  const std::uint32_t here = graph->block_of(one.entry), first = graph->block_of(one.first);
  // What is reached by an exception alone is in no graph.
  if (here == FlowGraph::kNone || first == FlowGraph::kNone) return false;
  std::set<std::uint32_t> others;
  for (const ModuleCode::InlinedCall& other : starts)
    if (const std::uint32_t block = graph->block_of(other.entry);
        other.entry != one.entry && block != FlowGraph::kNone)
      others.insert(block);
  return leads_through(*graph, here, others) || leads_within(*graph, here, first, ranges);
}

}  // namespace

void leave_out_continuations(ModuleCode& code, const ElfFile& file) {
  Graphs graphs(file);
  std::vector<ModuleCode::InlinedCall> kept;
  const Calls all = code.inlined;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    while (end < all.size() && all[end].number == all[begin].number) ++end;
    const Calls starts = all.subspan(begin, end - begin);
    const auto ranges = code.inlined_code.find(starts.front().number);
    for (const ModuleCode::InlinedCall& one : starts)
      if (ranges == code.inlined_code.end() || !continues(one, starts, ranges->second, graphs))
        kept.push_back(one);
    begin = end;
  }
  code.inlined = std::move(kept);
}

}  // namespace clew
