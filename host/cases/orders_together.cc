#include "host/cases/orders_together.h"

#include <algorithm>
#include <cstddef>

namespace clew {
namespace {

struct Section {
  Held lock;
  std::size_t begin = 0;  // numbers of nodes
  std::size_t end = 0;
};

// What has to come before what: events, and the ends of the critical sections that they are in.
class Precedence {
 public:
  explicit Precedence(const LabRun& run) : run_(run) {}

  std::size_t node(std::size_t step) {
    const auto known = std::ranges::find(steps_, step);
    if (known != steps_.end()) return static_cast<std::size_t>(known - steps_.begin());
    steps_.push_back(step);
    return steps_.size() - 1;
  }
  void add_sections(const std::vector<Held>& held) {
    for (const Held& lock : held) {
      const auto end = released_at(run_, lock);
      const bool known = std::ranges::any_of(
          sections_, [&](const Section& one) { return one.lock.since == lock.since; });
      if (end && !known) sections_.push_back({lock, node(lock.since), node(*end)});
    }
  }
  void wants(std::size_t first, std::size_t second) { wanted_.emplace_back(first, second); }

  // The sections that an order of sections was concluded from last, if there is a circle then and
  // not before.
  std::optional<std::pair<Held, Held>> circle(const MustOrder& order) {
    before_.assign(steps_.size(), std::vector<char>(steps_.size(), 0));
    for (std::size_t a = 0; a < steps_.size(); ++a)
      for (std::size_t b = 0; b < steps_.size(); ++b)
        if (a != b && order.precedes(static_cast<StepNumber>(steps_[a]),
                                     static_cast<StepNumber>(steps_[b]), MustOrder::Order::kAlways))
          add(a, b);
    for (const auto& [first, second] : wanted_) add(node(first), node(second));
    if (is_circular()) return std::nullopt;  // no matter of locks
    for (bool news = true; news;) {
      news = false;
      for (const Section& one : sections_) {
        for (const Section& other : sections_) {
          if (!are_exclusive(one, other) || before_[one.begin][other.end] == 0 ||
              before_[one.end][other.begin] != 0)
            continue;
          add(one.end, other.begin);
          news = true;
          if (is_circular()) return std::pair(one.lock, other.lock);
        }
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool are_exclusive(const Section& one, const Section& other) const {
    return one.lock.object == other.lock.object &&
           run_.steps[one.lock.since].thread != run_.steps[other.lock.since].thread;
  }
  // With all that follows from it.
  void add(std::size_t a, std::size_t b) {
    for (std::size_t from = 0; from < steps_.size(); ++from) {
      if (from != a && before_[from][a] == 0) continue;
      before_[from][b] = 1;
      for (std::size_t to = 0; to < steps_.size(); ++to) before_[from][to] |= before_[b][to];
    }
  }
  [[nodiscard]] bool is_circular() const {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (before_[i][i] != 0) return true;
    return false;
  }

  const LabRun& run_;
  std::vector<std::size_t> steps_;
  std::vector<Section> sections_;
  std::vector<std::pair<std::size_t, std::size_t>> wanted_;  // steps
  std::vector<std::vector<char>> before_;                    // by node
};

}  // namespace

std::optional<std::pair<Held, Held>> exclude_each_other(const Case& one, const Match& match,
                                                        const LabRun& run,
                                                        const std::vector<std::vector<Held>>& held,
                                                        const MustOrder& order) {
  Precedence precedence(run);
  for (const CaseOrder& each : one.orders) {
    for (const std::size_t event : each.events) {
      if (!match[event]) return std::nullopt;
      precedence.node(*match[event]);
      precedence.add_sections(held[*match[event]]);
    }
    const auto at = [&](std::size_t i) { return *match[each.events[i]]; };
    switch (each.kind) {
      case CaseOrder::Kind::kBefore:
        precedence.wants(at(0), at(1));
        break;
      case CaseOrder::Kind::kSees:
        precedence.wants(at(1), at(0));
        break;
      case CaseOrder::Kind::kBetween:
        precedence.wants(at(0), at(1));
        precedence.wants(at(1), at(2));
        break;
      case CaseOrder::Kind::kHolds:
        break;
    }
  }
  return precedence.circle(order);
}

}  // namespace clew
