#include "host/cases/impossible.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "host/cases/held_locks.h"
#include "host/cases/matching.h"
#include "host/cases/orders_together.h"
#include "host/cases/other_names.h"
#include "host/enumerate/must_order.h"
#include "host/enumerate/reads_from.h"
#include "host/search/exhaustive.h"

namespace clew {
namespace {

constexpr std::size_t kLongestRun = 50'000;  // steps; of longer ones nothing is said

NotPossible::Why why_of(OrderReason::Kind kind) {
  using Kind = OrderReason::Kind;
  using Why = NotPossible::Why;
  switch (kind) {
    case Kind::kCreate:
      return Why::kCreated;
    case Kind::kJoin:
      return Why::kJoined;
    case Kind::kBarrier:
      return Why::kBarrier;
    case Kind::kSawFirst:
      return Why::kSawFirst;
    case Kind::kWaitedFirst:
      return Why::kWaitedFirst;
    default:
      return Why::kSameThread;
  }
}

// What orders the steps of one run.
class RunOrder {
 public:
  RunOrder(const Survey& survey, const LabRun& run)
      : survey_(survey), run_(run), traced_(survey.traced(run)), held_(locks_held(run)) {}

  [[nodiscard]] const TracedRun& traced() const { return traced_; }

  // Why the events of an order, if they are these steps, cannot come in it. kNone: they can.
  [[nodiscard]] NotPossible ruled_out(const CaseOrder& order, const Match& match) {
    const auto at = [&](std::size_t i) { return match[order.events[i]]; };
    for (std::size_t i = 0; i < order.events.size(); ++i)
      if (!at(i)) return {};
    switch (order.kind) {
      case CaseOrder::Kind::kBefore:
        return against(*at(0), *at(1));
      case CaseOrder::Kind::kBetween: {
        if (const auto lock = common_lock(held_, *at(0), *at(2), *at(1)))
          return {NotPossible::Why::kMutex, 0, place(lock->first.since), place(lock->second.since)};
        const NotPossible first = against(*at(0), *at(1));
        return first.why != NotPossible::Why::kNone ? first : against(*at(1), *at(2));
      }
      case CaseOrder::Kind::kSees:
        return unseen(*at(1), *at(0));
      case CaseOrder::Kind::kHolds:
        break;
    }
    return {};
  }
  // Why the events of all orders, if they are these steps, cannot come in all of them in one run.
  [[nodiscard]] NotPossible ruled_out_together(const Case& one, const Match& match) {
    const auto locks = exclude_each_other(one, match, run_, held_, order());
    if (!locks) return {};
    NotPossible reason;
    reason.why = NotPossible::Why::kMutexTogether;
    reason.at = place(locks->first.since);
    reason.source = place(locks->second.since);
    return reason;
  }

 private:
  [[nodiscard]] Location place(std::size_t step) const {
    const Site& site = survey_.sites()[traced_.sites[step]];
    return {site.file, site.line, site.function};
  }

  const MustOrder& order() {
    if (!order_) {
      order_.emplace(run_.steps);
      reads_ = reads_from(run_.steps, Memory::kShared);
      order_->observe(reads_.sights);
    }
    return *order_;
  }

  // Why `wanted_first` does not come before the other.
  NotPossible against(std::size_t wanted_first, std::size_t wanted_second) {
    const auto link =
        order().link(static_cast<StepNumber>(wanted_second), static_cast<StepNumber>(wanted_first),
                     MustOrder::Order::kObserved);
    if (!link) return {};
    NotPossible reason;
    reason.why = why_of(link->kind);
    if (link->at != kInitialValue) reason.at = place(link->at);
    if (link->source != kInitialValue) reason.source = place(link->source);
    return reason;
  }

  NotPossible unseen(std::size_t write, std::size_t read) {
    const NotPossible later = against(write, read);
    if (later.why != NotPossible::Why::kNone) return later;
    const auto bytes = reads_.shared.find(run_.steps[read].object >> 3);
    if (bytes == reads_.shared.end()) return {};
    const auto hidden =
        order().hidden(static_cast<StepNumber>(write), static_cast<StepNumber>(read),
                       bytes->second.accesses, MustOrder::Order::kObserved);
    if (!hidden) return {};
    NotPossible reason;
    reason.why = NotPossible::Why::kOverwritten;
    const abi::Place by = hidden->overwritten != 0 ? hidden->overwritten : hidden->place;
    for (std::size_t i = 0; i < run_.steps.size(); ++i)
      if (run_.steps[i].place == by) reason.at = place(i);
    return reason;
  }

  const Survey& survey_;
  const LabRun& run_;
  TracedRun traced_;
  std::vector<std::vector<Held>> held_;
  ReadsFrom reads_;
  std::optional<MustOrder> order_;
};

// Whether the locks of all runs are taken in orders that have no cycle among them: then threads that
// take them so do not wait for each other in a circle.
bool without_lock_cycle(std::span<const LabRun* const> runs) {
  std::map<std::uint64_t, std::set<std::uint64_t>> behind;  // taken while the key is held
  for (const LabRun* run : runs) {
    const auto held = locks_held(*run);
    for (std::size_t i = 0; i < run->steps.size(); ++i)
      if (run->steps[i].kind == abi::StepKind::kLock)
        for (const Held& before : held[i])
          if (before.object != run->steps[i].object)
            behind[before.object].insert(run->steps[i].object);
  }
  // Locks behind which none is taken any more are removed, until nothing is left or a cycle is.
  for (bool removed = true; removed;) {
    removed = false;
    for (auto lock = behind.begin(); lock != behind.end();) {
      std::erase_if(lock->second, [&](std::uint64_t next) { return !behind.contains(next); });
      removed |= lock->second.empty();
      lock = lock->second.empty() ? behind.erase(lock) : std::next(lock);
    }
  }
  return behind.empty();
}

bool is_lock_deadlock(const Case& one) {
  return one.failure == FailureKind::kDeadlock && !one.orders.empty() &&
         std::ranges::all_of(one.orders, [&](const CaseOrder& order) {
           return std::ranges::all_of(order.events, [&](std::size_t event) {
             return one.events[event].at.kind == abi::StepKind::kLock;
           });
         });
}

// Whether a statement is about what two anchors have in common, which have no variable: it has all of
// the members that both name (the `refs` of `it->refs`), or all names if there are no members.
bool is_about_both(const Statement& statement, const Anchor& one, const Anchor& other) {
  const auto members = [](const std::vector<std::string>& tokens) {
    std::set<std::string> names;
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i)
      if ((tokens[i - 1] == "." || tokens[i - 1] == "->") && tokens[i + 1] != "(")
        names.insert(tokens[i]);
    return names;
  };
  std::set<std::string> common;
  std::ranges::set_intersection(members(one.text), members(other.text),
                                std::inserter(common, common.end()));
  if (common.empty())
    std::ranges::set_intersection(data_names(one.text), data_names(other.text),
                                  std::inserter(common, common.end()));
  return !common.empty() && std::ranges::all_of(common, [&](const std::string& name) {
    return std::ranges::find(statement.tokens, name) != statement.tokens.end();
  });
}

// Whether the first and the third event of an order, an access to a variable each, are one atomic
// update of that variable now.
NotPossible one_step(const Case& one, std::size_t number, const EventSites& sites,
                     const Survey& survey) {
  const CaseOrder& order = one.orders[number];
  NotPossible reason;
  if (order.kind != CaseOrder::Kind::kBetween) return reason;
  const std::vector<SiteId>& first = sites[order.events[0]];
  const Anchor& before = one.events[order.events[0]].at;
  const Anchor& after = one.events[order.events[2]].at;
  const auto is_update = [&](SiteId id) {
    const Site& site = survey.sites()[id];
    if (site.kind != abi::StepKind::kUpdate || !site.executed) return false;
    if (!before.variable.empty()) return site.variable == before.variable;
    return site.statement != nullptr && is_about_both(*site.statement, before, after);
  };
  const bool is_one = !first.empty() && first == sites[order.events[2]] && before != after &&
                      std::ranges::all_of(first, is_update);
  if (!is_one) return reason;
  const Site& site = survey.sites()[first.front()];
  reason.why = NotPossible::Why::kOneStep;
  reason.order = number;
  reason.at = {site.file, site.line, site.function};
  return reason;
}

// Whether the run comes to each event that the orders need.
bool executes_all(const Case& one, const EventSites& sites, const TracedRun& run) {
  std::vector<bool> came(one.events.size(), true);
  for (const CaseOrder& order : one.orders)
    for (const std::size_t event : order.events) came[event] = false;
  for (const SiteId site : run.sites)
    for (std::size_t e = 0; e < came.size(); ++e)
      if (!came[e] && std::ranges::binary_search(sites[e], site)) came[e] = true;
  return std::ranges::all_of(came, [](bool one_came) { return one_came; });
}

// A lock that every run holds from the first to the third event of an order, and at each second one.
// It is one lock for all data, or lies at one distance from the data, as a member of the same class
// does. So the order is ruled out although no run may have all of its events for the same data.
NotPossible guarded(const Case& one, std::size_t number, const EventSites& sites,
                    const Survey& survey, std::span<const LabRun* const> runs) {
  const CaseOrder& order = one.orders[number];
  if (order.kind != CaseOrder::Kind::kBetween || !order.same_data) return {};
  struct Key {
    bool is_relative = false;
    std::uint64_t value = 0;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Location> around;  // locks of all pairs of a first and a third event so far
  std::map<Key, Location> within;  // of all second events
  std::uint64_t with_pair = 0;
  std::uint64_t seconds = 0;
  for (const LabRun* run : runs) {
    const TracedRun traced = survey.traced(*run);
    const auto held = locks_held(*run);
    const auto place = [&](std::size_t step) {
      const Site& site = survey.sites()[traced.sites[step]];
      return Location{site.file, site.line, site.function};
    };
    const auto keep = [&](std::map<Key, Location>& kept, bool is_first, std::size_t at,
                          std::size_t until) {
      std::map<Key, Location> now;
      for (const Held& lock : held[at]) {
        const bool still = std::ranges::any_of(held[until], [&](const Held& later) {
          return later.object == lock.object && later.since == lock.since;
        });
        if (!still) continue;
        now[{false, lock.object}] = place(lock.since);
        now[{true, lock.object - run->steps[at].object}] = place(lock.since);
      }
      if (is_first)
        kept = std::move(now);
      else
        std::erase_if(kept, [&](const auto& known) { return !now.contains(known.first); });
    };
    const auto firsts = instances_of(one.events[order.events[0]], sites[order.events[0]], traced);
    const auto thirds = instances_of(one.events[order.events[2]], sites[order.events[2]], traced);
    bool has_pair = false;
    for (const std::size_t first : firsts) {
      const auto third = std::ranges::find_if(thirds, [&](std::size_t at) {
        return at > first && run->steps[at].thread == run->steps[first].thread &&
               same_data(run->steps[at], run->steps[first]);
      });
      if (third == thirds.end()) continue;
      keep(around, with_pair == 0 && !has_pair, first, *third);
      has_pair = true;
    }
    with_pair += has_pair ? 1 : 0;
    for (const std::size_t at :
         instances_of(one.events[order.events[1]], sites[order.events[1]], traced))
      keep(within, seconds++ == 0, at, at);
  }
  if (with_pair < kEnoughRuns || seconds == 0) return {};
  for (const auto& [key, at] : around) {
    const auto same = within.find(key);
    if (same == within.end()) continue;
    NotPossible reason;
    reason.why = NotPossible::Why::kGuarded;
    reason.order = number;
    reason.at = at;
    reason.source = same->second;
    reason.schedules = with_pair;
    return reason;
  }
  return {};
}

// Whether in each run every choice of steps for these orders is ruled out by one of them.
NotPossible ruled_out_in_all(const Case& one, const EventSites& sites, const Survey& survey,
                             std::span<const LabRun* const> runs, Placing placing) {
  NotPossible reason;
  std::uint64_t with_events = 0;
  std::uint64_t executed = 0;
  bool proven = true;  // by more than what was read and waited for
  for (const LabRun* run : runs) {
    RunOrder order(survey, *run);
    executed += executes_all(one, sites, order.traced()) ? 1 : 0;
    bool free = false;
    bool any = false;
    const Choices visited = each_choice(one, sites, order.traced(), [&](const Match& match) {
      NotPossible found;
      for (std::size_t i = 0; i < one.orders.size() && found.why == NotPossible::Why::kNone; ++i) {
        found = order.ruled_out(one.orders[i], match);
        found.order = i;
      }
      if (found.why == NotPossible::Why::kNone && one.orders.size() > 1)
        found = order.ruled_out_together(one, match);
      if (found.why == NotPossible::Why::kNone) return !(free = true);
      any = true;
      proven &= found.why < NotPossible::Why::kSawFirst;
      if (reason.why == NotPossible::Why::kNone) {
        reason = found;
      } else {
        reason.one_reason &= reason.why == found.why && reason.order == found.order &&
                             reason.at == found.at && reason.source == found.source;
      }
      return true;
    });
    if (free || visited == Choices::kSome) return {};
    with_events += any ? 1 : 0;
  }
  if (with_events == 0 && executed >= kEnoughRuns && placing == Placing::kSure) {
    reason.why = NotPossible::Why::kNotTogether;
    with_events = executed;
  } else if (!proven && with_events < kEnoughRuns) {
    return {};
  }
  reason.schedules = with_events;
  return reason;
}

// Tells whether all of it was executed.
class Whole final : public Search {
 public:
  // Schedules of small programs have far fewer preemptions.
  static constexpr std::uint32_t kNoBound = 10'000;
  explicit Whole(bool& all_pass) : all_pass_(all_pass), search_(kNoBound) {}
  std::vector<JobPlan> next(std::size_t most) override {
    auto plans = search_.next(most);
    all_pass_ = plans.empty() && search_.all_pass();
    return plans;
  }
  void learn(const JobPlan& plan, const JobReport& report) override { search_.learn(plan, report); }
  std::string using_now() const override { return search_.using_now(); }

 private:
  bool& all_pass_;
  ExhaustiveSearch search_;
};

}  // namespace

NotPossible reason_in_code(const Case& one, const EventSites& sites, const Survey& survey) {
  for (std::size_t i = 0; i < one.orders.size(); ++i)
    if (const NotPossible step = one_step(one, i, sites, survey);
        step.why != NotPossible::Why::kNone)
      return step;
  return {};
}

NotPossible reason_in_names(const Case& one, const std::vector<Placed>& placed,
                            const Survey& survey) {
  for (std::size_t i = 0; i < one.orders.size(); ++i) {
    const CaseOrder& order = one.orders[i];
    const std::string& variable = one.events[order.events.front()].at.variable;
    const bool about_it = order.same_data && !variable.empty() &&
                          std::ranges::all_of(order.events, [&](std::size_t e) {
                            return one.events[e].at.variable == variable &&
                                   placed[e].fit != Fit::kExact && placed[e].fit != Fit::kRenamed &&
                                   placed[e].fit != Fit::kMoved;
                          });
    const bool lacks = std::ranges::any_of(
        order.events, [&](std::size_t e) { return placed[e].fit == Fit::kNone; });
    const std::string name = first_name(variable);
    if (!about_it || !lacks || survey.sites().mentions(name)) continue;
    // In a program that has none of the functions either, nothing can be said of the order.
    if (std::ranges::none_of(order.events, [&](std::size_t e) {
          return survey.sites().has_function(one.events[e].at.function);
        }))
      continue;
    if (may_have_other_name(one, name, survey.sites()) ||
        may_be_nameless(one, order, survey.sites()))
      continue;
    NotPossible reason;
    reason.why = NotPossible::Why::kGone;
    reason.order = i;
    reason.variable = name;
    return reason;
  }
  return {};
}

NotPossible reason_in_runs(const Case& one, const EventSites& sites, const Survey& survey,
                           std::span<const LabRun> others, Placing placing) {
  std::vector<const LabRun*> runs;
  for (const LabRun& run : survey.runs()) runs.push_back(&run);
  for (const LabRun& run : others) runs.push_back(&run);
  for (const LabRun* run : runs)
    if (!run->complete || run->steps.size() > kLongestRun) return {};
  // One order alone that cannot be is the better reason.
  for (std::size_t i = 0; i < one.orders.size(); ++i) {
    const NotPossible locked = guarded(one, i, sites, survey, runs);
    if (locked.why != NotPossible::Why::kNone) return locked;
    Case alone = one;
    alone.orders = {one.orders[i]};
    NotPossible reason = ruled_out_in_all(alone, sites, survey, runs, placing);
    reason.order = i;
    if (reason.why != NotPossible::Why::kNone) return reason;
  }
  NotPossible reason;
  if (is_lock_deadlock(one) && runs.size() >= kEnoughRuns && without_lock_cycle(runs)) {
    reason.why = NotPossible::Why::kLockOrder;
    reason.schedules = runs.size();
  } else if (one.orders.size() > 1) {
    reason = ruled_out_in_all(one, sites, survey, runs, placing);
  }
  return reason;
}

Result<NotPossible> reason_by_exhaustion(const Case& one, const EventSites& sites, Survey& survey,
                                         std::uint64_t most, Tally& tally) {
  bool all_pass = false;
  bool seen = false;
  std::uint64_t runs = 0;
  CLEW_CHECK_OK(survey.lab().run(std::make_unique<Whole>(all_pass), most, [&](LabRun&& run) {
    ++runs;
    ++tally.runs;
    const bool failed = run.verdict == Verdict::kFail;
    if (find_match(one, sites, survey.traced(run))) {
      seen = true;
      ++tally.with_order;
      tally.failed += failed;
      auto& kept = failed ? tally.failing : tally.passing;
      if (!kept) kept = std::move(run);
    } else if (failed) {
      ++tally.failed_otherwise;
      if (!tally.failing_otherwise) tally.failing_otherwise = std::move(run);
    }
    return !failed && !seen && !survey.lab().time_is_up();
  }));
  NotPossible reason;
  if (!all_pass || seen) return reason;
  reason.why = NotPossible::Why::kExhausted;
  reason.schedules = runs;
  return reason;
}

}  // namespace clew
