#include "host/explain/line_graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace clew {

LineGraph::LineGraph(TracedPair& pair, const DualSlice& slice) : pair_(pair), slice_(slice) {
  add(kFailing);
  add(kPassing);
  connect();
}

// Of an instance of the passing run: the line that the failing run has there.
std::uint32_t LineGraph::line_in_failing(NodeId passing, const CodePlace& place) const {
  const NodeId there = pair_.comparison().counterpart(kPassing, passing);
  if (there == kNoNode) return kNone;
  const std::uint32_t index = slice_.half[kFailing].nodes.index_of(there);
  if (index == SliceNodes::kNone) return kNone;
  const std::uint32_t line = of_node_[kFailing][index];
  return line != kNone && *lines_[line].place == place ? line : kNone;
}

void LineGraph::add(WhichRun side) {
  struct Current {
    const CodePlace* place = nullptr;
    std::vector<std::uint64_t> addresses;  // one that comes again is the line once more
    Instance last;
    std::uint32_t index = kNone;
  };
  std::unordered_map<FrameIndex, Current> last;  // of each call
  const RunTrace& run = pair_.trace(side);
  const SliceNodes& nodes = slice_.half[side].nodes;
  of_node_[side].assign(nodes.size(), kNone);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const NodeId node = nodes[i];
    if (is_unseen(node)) continue;
    const Instance user = pair_.user_instance(side, instance_of(node));
    if (!user.valid()) continue;
    const std::uint64_t address = run.instruction(user).address;
    const CodePlace& place = pair_.place_of_code(address);
    if (place.line == 0) continue;
    Current& current = last[run.steps()[user.step].frame];
    bool same = current.place != nullptr && current.place->line == place.line &&
                current.place->file == place.file;
    if (same && current.last != user) {
      same = std::ranges::find(current.addresses, address) == current.addresses.end();
      if (same) current.addresses.push_back(address);
    }
    current.last = user;
    if (!same) {
      current.addresses.assign(1, address);
      current.place = &place;
      current.index = side == kPassing ? line_in_failing(node, place) : kNone;
      if (current.index == kNone) {
        current.index = static_cast<std::uint32_t>(lines_.size());
        lines_.push_back({&place, {}});
      }
    }
    Line& line = lines_[current.index];
    if (!line.first[side].valid()) line.first[side] = user;
    of_node_[side][i] = current.index;
  }
}

void LineGraph::connect() {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (const WhichRun side : {kFailing, kPassing})
    for (std::uint32_t i = 0; i < of_node_[side].size(); ++i)
      for (const IndexedEdge& edge : slice_.half[side].edges_of(i)) {
        const std::uint32_t from = of_node_[side][i];
        const std::uint32_t to = of_node_[side][edge.to];
        if (from == kNone || to == kNone || from == to) continue;
        const bool control = edge.control != 0;
        const std::uint64_t key = std::uint64_t{from} << 33 | std::uint64_t{to} << 1 | control;
        const auto [at, added] = known.try_emplace(key, static_cast<std::uint32_t>(arrows_.size()));
        if (added) arrows_.push_back({from, to, control, false, {}});
        arrows_[at->second].in[side] = true;
        arrows_[at->second].def_use |= edge.def_use != 0;
      }
  first_need_.assign(lines_.size() + 1, 0);
  for (const Arrow& arrow : arrows_) ++first_need_[arrow.from + 1];
  std::partial_sum(first_need_.begin(), first_need_.end(), first_need_.begin());
  needs_.resize(arrows_.size());
  std::vector<std::uint32_t> next(first_need_.begin(), first_need_.end() - 1);
  for (std::uint32_t i = 0; i < arrows_.size(); ++i) needs_[next[arrows_[i].from]++] = i;
}

std::uint64_t LineGraph::count(WhichRun side) const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(lines_, [&](const Line& line) { return line.first[side].valid(); }));
}

std::uint64_t LineGraph::functions() const {
  std::set<std::pair<std::string, std::string>> found;
  const CodePlace* last = nullptr;  // one line comes often in a row
  for (const Line& line : lines_) {
    if (line.place != last) found.emplace(line.place->file, line.place->function);
    last = line.place;
  }
  return found.size();
}

std::size_t LineGraph::line_of(WhichRun side, NodeId node) const {
  const std::uint32_t index = slice_.half[side].nodes.index_of(node);
  if (index == SliceNodes::kNone || of_node_[side][index] == kNone) return kNoLine;
  return of_node_[side][index];
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
    for (const std::uint32_t arrow : needs(at)) {
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
    if (next == needs(line).size()) {
      sorted.push_back(line);
      path.pop_back();
      continue;
    }
    const std::size_t to = arrows_[needs(line)[next++]].to;
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
    one.at = {line.place->file, line.place->line, line.place->function};
    one.text = naming.text(*line.place);
    one.instance = ++times[{one.thread, line.place->file, line.place->line}];
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
