#include "host/cases/matching.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace clew {
namespace {

// The search must end: so many steps for each event, those of the beginning and of the end; and so
// many tries. Chosen, not measured.
constexpr std::size_t kMostInstances = 256;
constexpr std::uint64_t kMostTries = 400'000;

enum class Mode : std::uint8_t { kOrder, kAnyOrder };

bool writes(abi::StepKind kind) {
  using enum abi::StepKind;
  return kind == kWrite || kind == kUpdate || abi::ends_life(kind);
}

class Matcher {
 public:
  Matcher(const Case& one, const EventSites& sites, const TracedRun& run, Mode mode,
          const std::function<bool(const Match&)>& visit)
      : case_(one), run_(run), mode_(mode), visit_(visit), match_(one.events.size()) {
    needed_.resize(one.events.size());
    may_lack_.resize(one.events.size());
    for (const CaseOrder& order : one.orders) {
      for (const std::size_t event : order.events) needed_[event] = true;
      if (run.failed && order.kind != CaseOrder::Kind::kSees &&
          order.kind != CaseOrder::Kind::kHolds)
        may_lack_[order.events.back()] = true;
    }
    // What is also first in some order must have happened.
    for (const CaseOrder& order : one.orders) {
      const std::size_t last = order.events.size() - 1;
      for (std::size_t i = 0; i < last; ++i) may_lack_[order.events[i]] = false;
      if (order.kind == CaseOrder::Kind::kSees || order.kind == CaseOrder::Kind::kHolds)
        may_lack_[order.events[last]] = false;
    }
    collect(sites);
  }

  Choices run() {
    if (case_.orders.empty()) {
      visit_(match_);
      return Choices::kAll;
    }
    assign(0);
    return cut_ ? Choices::kSome : Choices::kAll;
  }

 private:
  void collect(const EventSites& sites) {
    instances_.resize(case_.events.size());
    for (std::size_t e = 0; e < case_.events.size(); ++e) {
      if (!needed_[e]) continue;
      std::vector<std::size_t>& found = instances_[e];
      found = instances_of(case_.events[e], sites[e], run_);
      cut_ |= found.size() > kMostInstances;
      if (found.size() > kMostInstances)
        found.erase(found.begin() + kMostInstances / 2, found.end() - kMostInstances / 2);
    }
  }

  // False: enough.
  bool assign(std::size_t e) {
    while (e < case_.events.size() && !needed_[e]) ++e;
    if (e == case_.events.size()) return visit_(match_);
    for (const std::size_t i : instances_[e]) {
      if (++tries_ > kMostTries) {
        cut_ = true;
        return false;
      }
      if (!take_thread(case_.events[e].thread, run_.steps[i].thread)) continue;
      match_[e] = i;
      const bool more = !holds(e) || assign(e + 1);
      match_[e].reset();
      leave_thread(case_.events[e].thread);
      if (!more) return false;
    }
    if (!may_lack_[e] || came(e)) return true;
    match_[e].reset();
    return assign(e + 1);
  }

  // Whether the thread of the event, if it is known, has come to it. Then it does not lack.
  [[nodiscard]] bool came(std::size_t e) const {
    const Role& role = roles_[case_.events[e].thread];
    return std::ranges::any_of(instances_[e], [&](std::size_t i) {
      return role.uses > 0 && run_.steps[i].thread == role.thread &&
             (case_.events[e].time != 0 || comes_late(e, i));
    });
  }
  // In the order that the case asks for.
  [[nodiscard]] bool comes_late(std::size_t e, std::size_t i) const {
    for (const CaseOrder& order : case_.orders) {
      if (order.events.back() != e || order.events.size() < 2) continue;
      const auto& before = match_[order.events[order.events.size() - 2]];
      if (before && i < *before) return false;
    }
    return true;
  }

  struct Role {
    abi::ThreadKey thread = 0;
    unsigned uses = 0;
  };
  bool take_thread(std::uint32_t number, abi::ThreadKey thread) {
    Role& role = roles_[number];
    if (role.uses > 0 && role.thread != thread) return false;
    if (role.uses == 0)
      for (const Role& other : roles_)
        if (other.uses > 0 && other.thread == thread) return false;
    role.thread = thread;
    ++role.uses;
    return true;
  }
  void leave_thread(std::uint32_t number) { --roles_[number].uses; }

  // Those orders of which all is known with this event.
  [[nodiscard]] bool holds(std::size_t newest) const {
    for (const CaseOrder& order : case_.orders) {
      if (std::ranges::find(order.events, newest) == order.events.end()) continue;
      if (!holds(order)) return false;
    }
    return true;
  }

  [[nodiscard]] bool holds(const CaseOrder& order) const {
    std::array<std::optional<std::size_t>, 3> at;
    for (std::size_t i = 0; i < order.events.size(); ++i) at[i] = match_[order.events[i]];
    if (order.same_data)
      for (std::size_t i = 1; i < order.events.size(); ++i)
        if (at[0] && at[i] && !same_data(run_.steps[*at[0]], run_.steps[*at[i]])) return false;
    if (order.kind == CaseOrder::Kind::kBetween && at[0] && at[2] &&
        (*at[0] >= *at[2] || comes_between(order, *at[0], *at[2])))
      return false;
    if (order.kind == CaseOrder::Kind::kHolds)
      return !at[0] || !at[1] || still_holds(*at[1], *at[0]);
    if (mode_ == Mode::kAnyOrder) return true;
    if (order.kind == CaseOrder::Kind::kSees) {
      if (!at[0] || !at[1]) return true;
      return last_write(*at[0]) == at[1];
    }
    for (std::size_t i = 1; i < order.events.size(); ++i)
      if (at[i - 1] && at[i] && *at[i - 1] >= *at[i]) return false;
    // Nothing third yet: no earlier one may have come either.
    if (order.kind == CaseOrder::Kind::kBetween && at[0] && at[1] && !at[2])
      return !comes_between(order, *at[0], *at[1]);
    return true;
  }

  // The thread of the first event does the third between these steps.
  [[nodiscard]] bool comes_between(const CaseOrder& order, std::size_t from, std::size_t to) const {
    const TraceStep& first = run_.steps[from];
    return std::ranges::any_of(instances_[order.events[2]], [&](std::size_t i) {
      return i > from && i < to && run_.steps[i].thread == first.thread &&
             (!order.same_data || same_data(first, run_.steps[i]));
    });
  }

  // The lock that is taken at step `lock` is not given back before step `at`, of the same thread.
  [[nodiscard]] bool still_holds(std::size_t lock, std::size_t at) const {
    if (lock >= at) return false;
    for (std::size_t i = lock + 1; i < at; ++i) {
      const TraceStep& step = run_.steps[i];
      if (step.thread != run_.steps[lock].thread) continue;
      const bool gives_back =
          step.kind == abi::StepKind::kUnlock && step.object == run_.steps[lock].object;
      if (gives_back || step.kind == abi::StepKind::kWait) return false;
    }
    return true;
  }

  [[nodiscard]] std::optional<std::size_t> last_write(std::size_t read) const {
    for (std::size_t i = read; i-- > 0;)
      if (writes(run_.steps[i].kind) && same_data(run_.steps[i], run_.steps[read])) return i;
    return std::nullopt;
  }

  const Case& case_;
  const TracedRun& run_;
  Mode mode_;
  const std::function<bool(const Match&)>& visit_;
  std::vector<bool> needed_;
  std::vector<bool> may_lack_;
  std::vector<std::vector<std::size_t>> instances_;
  std::array<Role, kMostCaseThreads + 1> roles_;
  Match match_;
  std::uint64_t tries_ = 0;
  bool cut_ = false;
};

}  // namespace

// A statement may have several sites: each of its accesses, and of each copy that the compiler has
// made of it. The n-th time at one of them is as good as the n-th time at any.
std::vector<std::size_t> instances_of(const CaseEvent& event, const std::vector<SiteId>& sites,
                                      const TracedRun& run) {
  std::map<abi::ThreadKey, std::uint64_t> counts;
  std::map<std::pair<abi::ThreadKey, SiteId>, std::uint64_t> at_site;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (run.sites[i] == kNoSite || !std::ranges::binary_search(sites, run.sites[i])) continue;
    const std::uint64_t count = ++counts[run.steps[i].thread];
    const std::uint64_t here = ++at_site[{run.steps[i].thread, run.sites[i]}];
    if (event.time == 0 || event.time == count || event.time == here) found.push_back(i);
  }
  return found;
}

bool same_data(const TraceStep& a, const TraceStep& b) {
  if (a.object == 0 || b.object == 0) return false;
  const std::uint64_t a_end = a.object + std::max<std::uint64_t>(a.size, 1);
  const std::uint64_t b_end = b.object + std::max<std::uint64_t>(b.size, 1);
  return a.object < b_end && b.object < a_end;
}

std::optional<Match> find_match(const Case& one, const EventSites& sites, const TracedRun& run) {
  std::optional<Match> found;
  const std::function<bool(const Match&)> take = [&](const Match& match) {
    found = match;
    return false;
  };
  Matcher(one, sites, run, Mode::kOrder, take).run();
  return found;
}

Choices each_choice(const Case& one, const EventSites& sites, const TracedRun& run,
                    const std::function<bool(const Match&)>& visit) {
  return Matcher(one, sites, run, Mode::kAnyOrder, visit).run();
}

}  // namespace clew
