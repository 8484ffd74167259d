#include "host/explain/value_reach.h"

#include <algorithm>

namespace clew {

ValueReach::ValueReach(TwoRuns& runs, const SliceHalf& failing) : runs_(runs), half_(failing) {}

const ValueReach::Behind& ValueReach::behind(std::uint32_t node) {
  if (behind_.empty()) behind_.resize(half_.nodes.size());
  std::vector<std::uint32_t> path{node};
  while (!path.empty()) {
    const std::uint32_t at = path.back();
    std::uint32_t missing = kUnknown;
    if (behind_[at].first == kUnknown)
      for (const IndexedEdge& edge : half_.edges_of(at))
        if (edge.to < at && behind_[edge.to].first == kUnknown &&
            difference(edge.to) == Difference::kFlow)
          missing = edge.to;
    if (missing != kUnknown) {
      path.push_back(missing);
      continue;
    }
    path.pop_back();
    if (behind_[at].first == kUnknown) find_behind(at);
  }
  return behind_[node];
}

// REQUIRES: that of every flow difference among its dependences that comes before it is known.
void ValueReach::find_behind(std::uint32_t node) {
  std::vector<std::uint32_t> found;
  Behind result{static_cast<std::uint32_t>(values_.size()), 0};
  for (const IndexedEdge& edge : half_.edges_of(node)) {
    const Difference kind = difference(edge.to);
    if (kind == Difference::kNone || edge.to == node) continue;
    if (edge.to > node) {
      result.count = kMany;
    } else if (kind == Difference::kValue) {
      found.push_back(edge.to);
    } else if (const Behind& of = behind_[edge.to]; of.count == kMany) {
      result.count = kMany;
    } else if (of.first != kUnknown) {
      const auto more = values(of);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > kMostKept) result.count = kMany;
  if (result.count != kMany) {
    result.count = static_cast<std::uint32_t>(found.size());
    // Along a chain it is the same again and again.
    for (const IndexedEdge& edge : half_.edges_of(node)) {
      const Behind& of = behind_[edge.to];
      if (of.first == kUnknown || of.count != result.count ||
          difference(edge.to) != Difference::kFlow || !std::ranges::equal(values(of), found))
        continue;
      behind_[node] = of;
      return;
    }
    values_.insert(values_.end(), found.begin(), found.end());
  }
  behind_[node] = result;
}

// Whether the value difference is among those behind `from`, or behind one of those, and so on.
bool ValueReach::reaches(std::uint32_t from, std::uint32_t value) {
  const auto key = [&](std::uint32_t node) { return std::uint64_t{node} << 32 | value; };
  struct At {
    std::uint32_t node;
    std::uint32_t next;
  };
  std::vector<At> path{{from, 0}};
  while (!path.empty()) {
    At& at = path.back();
    const Behind& of = behind(at.node);
    bool found = false;
    bool deeper = false;
    if (of.count != kMany)
      while (!found && !deeper && at.next < of.count) {  // once it went deeper, `at` has moved
        const std::uint32_t next = values(of)[at.next++];
        found = next == value;
        if (next <= value) continue;
        const auto known = answers_.find(key(next));
        if (known == answers_.end()) {
          path.push_back({next, 0});
          deeper = true;
        } else {
          found = known->second;
        }
      }
    if (deeper) continue;
    if (found) {
      for (const At& one : path) answers_[key(one.node)] = true;
      return true;
    }
    answers_[key(path.back().node)] = false;
    path.pop_back();
  }
  return false;
}

bool ValueReach::reaches_more(std::uint32_t node, std::uint32_t on) {
  std::vector<std::uint32_t> wanted{on};
  if (difference(on) == Difference::kFlow) {
    const Behind& of = behind(on);
    if (of.count == kMany) return true;
    wanted.assign(values(of).begin(), values(of).end());
  }
  if (wanted.empty()) return false;
  std::uint32_t control = kUnknown;
  for (const IndexedEdge& edge : half_.edges_of(node))
    if (edge.control != 0 && difference(edge.to) != Difference::kNone) control = edge.to;
  if (control == kUnknown || answers_.size() > kMostAnswers) return true;
  return !std::ranges::all_of(wanted, [&](std::uint32_t value) {
    return value == control || (value < control && reaches(control, value));
  });
}

}  // namespace clew
