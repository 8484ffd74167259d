#include "host/model/flow_graph.h"

#include <algorithm>
#include <set>

namespace clew {
namespace {

bool contains(const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

}  // namespace

FlowGraph::FlowGraph(const CodeRange& range, std::span<const std::uint8_t> code,
                     const std::vector<Edge>& seen)
    : range_(range) {
  find_blocks(code.first(std::min<std::size_t>(code.size(), range.end - range.begin)), seen);
  find_post_dominators();
  find_controllers();
}

void FlowGraph::find_blocks(std::span<const std::uint8_t> code, const std::vector<Edge>& seen) {
  std::map<std::uint64_t, Instruction> instructions;
  std::multimap<std::uint64_t, std::uint64_t> edges(seen.begin(), seen.end());
  std::set<std::uint64_t> leaders{range_.begin};
  std::vector<std::uint64_t> todo{range_.begin};
  for (const auto& [from, to] : seen) {
    todo.push_back(to);
    leaders.insert(to);
  }
  while (!todo.empty()) {
    std::uint64_t at = todo.back();
    todo.pop_back();
    while (range_.has(at) && !instructions.contains(at)) {
      Instruction one;
      if (at - range_.begin >= code.size() || !decode(at, code.subspan(at - range_.begin), one))
        break;
      instructions[at] = one;
      if (one.flow == Flow::kBranch || one.flow == Flow::kJump) {
        todo.push_back(one.target);
        leaders.insert(one.target);
      }
      if (one.flow != Flow::kNext) leaders.insert(one.next());
      if (one.flow == Flow::kJump || one.flow == Flow::kIndirectJump || one.flow == Flow::kReturn ||
          one.flow == Flow::kStop)
        break;
      at = one.next();
    }
  }
  for (const auto& [address, one] : instructions) {
    const bool begins =
        blocks_.empty() || leaders.contains(address) || blocks_.back().end != address;
    if (begins) {
      blocks_.emplace_back();
      blocks_.back().begin = address;
    }
    blocks_.back().last = address;
    blocks_.back().end = one.next();
  }
  for (Block& block : blocks_) {
    const Instruction& last = instructions[block.last];
    const auto lead = [&](std::uint64_t to) {
      const std::uint32_t found = range_.has(to) ? block_of(to) : kNone;
      if (found == kNone || blocks_[found].begin != to) {
        block.leaves = true;
      } else if (!contains(block.successors, found)) {
        block.successors.push_back(found);
      }
    };
    switch (last.flow) {
      case Flow::kBranch:
        lead(last.target);
        lead(last.next());
        break;
      case Flow::kJump:
        lead(last.target);
        break;
      case Flow::kReturn:
      case Flow::kStop:
        block.leaves = true;
        break;
      case Flow::kIndirectJump:
        break;
      default:
        lead(last.next());
    }
    const auto [first, end] = edges.equal_range(block.last);
    for (auto edge = first; edge != end; ++edge) lead(edge->second);
    if (block.successors.empty()) block.leaves = true;
  }
}

std::uint32_t FlowGraph::block_of(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(blocks_, address, {}, &Block::begin);
  if (after == blocks_.begin()) return kNone;
  --after;
  return address < after->end ? static_cast<std::uint32_t>(after - blocks_.begin()) : kNone;
}

// Cooper, Harvey and Kennedy 2001, on the reversed graph. The end is number blocks_.size().
void FlowGraph::find_post_dominators() {
  const auto count = static_cast<std::uint32_t>(blocks_.size());
  std::vector<std::vector<std::uint32_t>> before(count + 1);  // who leads to it
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t to : blocks_[i].successors) before[to].push_back(i);
    if (blocks_[i].leaves) before[count].push_back(i);
  }
  std::vector<std::uint32_t> order;  // postorder from the end
  std::vector<std::uint32_t> number(count + 1, kNone);
  const auto visit = [&](std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::size_t>> path{{root, 0}};
    number[root] = 0;
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next < before[at].size()) {
        const std::uint32_t to = before[at][next++];
        if (number[to] != kNone) continue;
        number[to] = 0;
        path.emplace_back(to, 0);
      } else {
        order.push_back(at);
        path.pop_back();
      }
    }
  };
  visit(count);
  // Loops that never end have no way to the end: it is as if each could.
  for (std::uint32_t i = count; i-- > 0;) {
    if (number[i] != kNone) continue;
    blocks_[i].leaves = true;
    before[count].push_back(i);
    order.clear();
    std::ranges::fill(number, kNone);
    visit(count);
  }
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  std::vector<std::uint32_t> dominator(count + 1, kNone);
  dominator[count] = count;
  const auto common = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t at = order[i];
      if (at == count) continue;
      std::uint32_t found = blocks_[at].leaves ? count : kNone;
      for (const std::uint32_t to : blocks_[at].successors)
        if (dominator[to] != kNone) found = found == kNone ? to : common(found, to);
      if (found != dominator[at]) {
        dominator[at] = found;
        changed = true;
      }
    }
  }
  for (std::uint32_t i = 0; i < count; ++i)
    blocks_[i].post_dominator = dominator[i] == count ? kNone : dominator[i];
}

void FlowGraph::find_controllers() {
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].successors.size() + (blocks_[i].leaves ? 1 : 0) < 2) continue;
    for (std::uint32_t to : blocks_[i].successors)
      for (; to != kNone && to != blocks_[i].post_dominator; to = blocks_[to].post_dominator)
        if (!contains(blocks_[to].controllers, i)) blocks_[to].controllers.push_back(i);
  }
}

std::uint64_t FlowGraph::meets_at(std::uint64_t address) const {
  const std::uint32_t block = block_of(address);
  if (block == kNone || blocks_[block].post_dominator == kNone) return 0;
  return blocks_[blocks_[block].post_dominator].begin;
}

bool FlowGraph::depends(std::uint64_t address, std::uint64_t branch) const {
  const std::uint32_t block = block_of(address);
  const std::uint32_t from = block_of(branch);
  return block != kNone && from != kNone && blocks_[from].last == branch &&
         contains(blocks_[block].controllers, from);
}

}  // namespace clew
