#include "host/explain/line_graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace clew {

LineGraph::LineGraph(TracedPair& pair, const DualSlice& slice) : pair_(pair) {
  add(kFailing, slice.half[kFailing].nodes);
  add(kPassing, slice.half[kPassing].nodes);
  for (const WhichRun side : {kFailing, kPassing}) connect(side, slice.half[side].edges);
  needs_.resize(lines_.size());
  for (std::size_t i = 0; i < arrows_.size(); ++i) needs_[arrows_[i].from].push_back(i);
}

void LineGraph::add(WhichRun side, const std::set<NodeId>& nodes) {
  struct Current {
    std::string file;
    std::uint32_t line = 0;
    std::set<std::uint64_t> addresses;  // one that comes again is the line once more
    Instance last;
    std::size_t index = kNoLine;
  };
  std::map<FrameIndex, Current> last;  // of each call
  const RunTrace& run = pair_.trace(side);
  for (const NodeId node : nodes) {
    if (is_unseen(node)) continue;
    const Instance user = pair_.user_instance(side, instance_of(node));
    if (!user.valid()) continue;
    const std::uint64_t address = run.instruction(user).address;
    const CodePlace& place = pair_.place_of_code(address);
    if (place.line == 0) continue;
    Current& current = last[run.steps()[user.step].frame];
    const bool same = current.line == place.line && current.file == place.file &&
                      (current.last == user || current.addresses.insert(address).second);
    current.last = user;
    if (!same) {
      current.addresses = {address};
      current.line = place.line;
      current.file = place.file;
      current.index = kNoLine;
      if (side == kPassing) {
        const NodeId there = pair_.comparison().counterpart(side, node);
        const auto known = of_node_[kFailing].find(there);
        if (there != kNoNode && known != of_node_[kFailing].end() &&
            lines_[known->second].place == place)
          current.index = known->second;
      }
      if (current.index == kNoLine) {
        current.index = lines_.size();
        lines_.push_back({place, {}});
      }
    }
    Line& line = lines_[current.index];
    if (!line.first[side].valid()) line.first[side] = user;
    of_node_[side][node] = current.index;
  }
}

void LineGraph::connect(WhichRun side, const std::set<SliceEdge>& edges) {
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> known;
  for (std::size_t i = 0; i < arrows_.size(); ++i)
    known[{arrows_[i].from, arrows_[i].to, arrows_[i].control}] = i;
  for (const SliceEdge& edge : edges) {
    const std::size_t from = line_of(side, edge.from);
    const std::size_t to = line_of(side, edge.to);
    if (from == kNoLine || to == kNoLine || from == to) continue;
    const auto [at, added] = known.try_emplace({from, to, edge.control}, arrows_.size());
    if (added) arrows_.push_back({from, to, edge.control, false, {}});
    arrows_[at->second].in[side] = true;
    arrows_[at->second].def_use |= edge.def_use;
  }
}

std::uint64_t LineGraph::count(WhichRun side) const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(lines_, [&](const Line& line) { return line.first[side].valid(); }));
}

std::uint64_t LineGraph::functions() const {
  std::set<std::pair<std::string, std::string>> found;
  for (const Line& line : lines_) found.emplace(line.place.file, line.place.function);
  return found.size();
}

std::size_t LineGraph::line_of(WhichRun side, NodeId node) const {
  const auto found = of_node_[side].find(node);
  return found == of_node_[side].end() ? kNoLine : found->second;
}

std::uint64_t LineGraph::distance(std::size_t from, std::size_t to) const {
  if (from == kNoLine) return 0;
  std::vector<bool> seen(lines_.size());
  std::deque<std::size_t> todo{from};
  seen[from] = true;
  std::uint64_t looked_at = 0;
  while (!todo.empty()) {
    const std::size_t at = todo.front();
    todo.pop_front();
    if (at == to) break;
    ++looked_at;
    for (const std::size_t arrow : needs_[at]) {
      const std::size_t next = arrows_[arrow].to;
      if (seen[next]) continue;
      seen[next] = true;
      todo.push_back(next);
    }
  }
  return looked_at;
}

void LineGraph::order(std::size_t at, std::vector<bool>& seen,
                      std::vector<std::size_t>& sorted) const {
  // Depth first with a list of its own: a slice can be as deep as it is long.
  std::vector<std::pair<std::size_t, std::size_t>> path{{at, 0}};
  seen[at] = true;
  while (!path.empty()) {
    auto& [line, next] = path.back();
    if (next == needs_[line].size()) {
      sorted.push_back(line);
      path.pop_back();
      continue;
    }
    const std::size_t to = arrows_[needs_[line][next++]].to;
    if (seen[to]) continue;
    seen[to] = true;
    path.emplace_back(to, 0);
  }
}

SliceGraph LineGraph::told(Naming& naming, std::size_t end, std::size_t most) const {
  SliceGraph graph;
  std::vector<bool> seen(lines_.size());
  std::vector<std::size_t> sorted;
  if (end != kNoLine) order(end, seen, sorted);
  // Those that the failure does not depend on by way of lines come before all others.
  std::vector<std::size_t> apart;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (!seen[i]) order(i, seen, apart);
  sorted.insert(sorted.begin(), apart.begin(), apart.end());
  if (sorted.size() > most) {
    graph.complete = false;
    sorted.erase(sorted.begin(), sorted.end() - static_cast<std::ptrdiff_t>(most));
  }
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint64_t> times;
  std::vector<std::size_t> position(lines_.size(), kNoLine);
  for (const std::size_t i : sorted) {
    const Line& line = lines_[i];
    const WhichRun side = line.first[kFailing].valid() ? kFailing : kPassing;
    const RunTrace& run = pair_.trace(side);
    const Instance at = line.first[side];
    SliceLine one;
    one.thread = pair_.run(side).threads()[run.steps()[at.step].thread];
    one.at = {line.place.file, line.place.line, line.place.function};
    one.text = naming.text(line.place);
    one.instance = ++times[{one.thread, line.place.file, line.place.line}];
    one.clock = run.clock(at.step);
    const bool both = pair_.alignment().counterpart(side, at).valid();
    one.failing = both || line.first[kFailing].valid();
    one.passing = both || line.first[kPassing].valid();
    position[i] = graph.lines.size();
    graph.lines.push_back(std::move(one));
  }
  for (const Arrow& arrow : arrows_) {
    if (position[arrow.from] == kNoLine || position[arrow.to] == kNoLine) continue;
    graph.arrows.push_back({position[arrow.from], position[arrow.to], arrow.control, arrow.def_use,
                            arrow.in[kFailing], arrow.in[kPassing]});
  }
  return graph;
}

}  // namespace clew
