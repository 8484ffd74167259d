#include "host/noise/orders.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "host/noise/design.h"

namespace clew {
namespace {

// Chosen: enough that an order in all failing and no passing runs is told from one by chance among
// thousands, and few enough that nobody waits for them.
constexpr std::uint32_t kRunsAlone = 64;
constexpr std::size_t kHalves = 64;  // of one run each
constexpr double kLevel = 0.01;
// Of each kind: below it the normal approximation says nothing.
constexpr std::uint64_t kLeastRuns = 10;
constexpr std::uint64_t kWidest = 4'096;     // bytes of a step that are looked at
constexpr std::size_t kMostSteps = 200'000;  // of a trace that is looked at

bool synchronises(abi::StepKind kind) {
  return kind == abi::StepKind::kLock || kind == abi::StepKind::kUnlock ||
         kind == abi::StepKind::kWait || kind == abi::StepKind::kSignal;
}

bool is_usable(const Trace& trace) {
  return trace.complete && !trace.steps.empty() && trace.steps.size() <= kMostSteps;
}

struct Touch {
  abi::ThreadKey thread = 0;
  std::uint32_t point = 0;
};
// What was done last to some memory, or to an object.
struct Last {
  std::vector<Touch> changed;  // none or one
  std::vector<Touch> read;     // since then, one for each thread
};

}  // namespace

OrderCounter::OrderCounter(std::span<const NoisePoint> points) : points_(points) {
  for (std::uint32_t i = 0; i < points.size(); ++i) position_[points[i].place] = i;
}

// The orders of a run, with the number of the step at which each was first seen.
std::map<OrderCounter::Order, std::size_t> OrderCounter::orders_of(const Trace& trace) const {
  std::map<Order, std::size_t> orders;
  std::unordered_map<std::uint64_t, Last> memory, objects;  // by byte, by address
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    const bool access = abi::is_access(step.kind);
    const auto found = position_.find(step.place);
    if (step.object == 0 || (!access && !synchronises(step.kind)) || found == position_.end())
      continue;
    const Touch touch{step.thread, found->second};
    const auto follows = [&](const std::vector<Touch>& earlier) {
      for (const Touch& one : earlier)
        if (one.thread != touch.thread) orders.try_emplace({one.point, touch.point}, i);
    };
    const std::uint64_t bytes = access ? std::clamp<std::uint64_t>(step.size, 1, kWidest) : 1;
    for (std::uint64_t byte = 0; byte < bytes; ++byte) {
      Last& there = (access ? memory : objects)[step.object + byte];
      if (step.kind == abi::StepKind::kRead) {
        follows(there.changed);
        const auto own = std::ranges::find(there.read, touch.thread, &Touch::thread);
        if (own != there.read.end()) {
          *own = touch;
        } else {
          there.read.push_back(touch);
        }
        continue;
      }
      follows(there.read.empty() ? there.changed : there.read);
      there.read.clear();
      there.changed.assign(1, touch);
    }
  }
  return orders;
}

void OrderCounter::learn(const Trace& trace, Outcome outcome) {
  if (!is_usable(trace)) return;
  const bool fails = outcome == Outcome::kFails;
  ++(fails ? failing_ : passing_);
  for (const auto& [order, step] : orders_of(trace)) {
    Seen& seen = seen_[order];
    ++(fails ? seen.failing : seen.passing);
    if (fails) seen.position += static_cast<double>(step) / static_cast<double>(trace.steps.size());
  }
}

void OrderCounter::learn_stuck(const Trace& trace) {
  if (!is_usable(trace)) return;
  std::unordered_map<abi::ThreadKey, const TraceStep*> last;
  for (const TraceStep& step : trace.steps) last[step.thread] = &step;
  std::set<std::pair<std::uint32_t, std::optional<std::uint32_t>>> here;
  for (const auto& [thread, step] : last) {
    const auto at = position_.find(step->place);
    const bool waits = step->kind == abi::StepKind::kLock || step->kind == abi::StepKind::kWait;
    if (!waits || step->object == 0 || at == position_.end()) continue;
    std::optional<std::uint32_t> before;
    for (const TraceStep& other : trace.steps) {
      const auto there = position_.find(other.place);
      if (other.thread != thread && other.object == step->object && synchronises(other.kind) &&
          there != position_.end())
        before = there->second;
    }
    here.emplace(at->second, before);
  }
  for (const auto& one : here) ++stuck_[one];
}

OrderEvidence OrderCounter::telling() const {
  OrderEvidence result{failing_, passing_, {}, {}};
  for (const auto& [where, count] : stuck_)
    result.stuck.push_back({where.first, where.second, count});
  std::ranges::sort(result.stuck, [](const StuckAt& a, const StuckAt& b) {
    return std::tuple(b.failing, a.point, a.last) < std::tuple(a.failing, b.point, b.last);
  });
  if (failing_ < kLeastRuns || passing_ < kLeastRuns) return result;
  const auto n = static_cast<double>(failing_), m = static_cast<double>(passing_);
  const double enough =
      normal_quantile(kLevel / static_cast<double>(std::max<std::size_t>(seen_.size(), 1)));
  std::vector<std::tuple<double, double, Order>> ranked;
  for (const auto& [order, seen] : seen_) {
    const auto a = static_cast<double>(seen.failing), b = static_cast<double>(seen.passing);
    const double all = (a + b) / (n + m);
    const double deviation = std::sqrt(all * (1 - all) * (1 / n + 1 / m));
    const double z = deviation > 0 ? (a / n - b / m) / deviation : 0;
    if (z >= enough) ranked.emplace_back(-z, seen.position / std::max(a, 1.0), order);
  }
  std::ranges::sort(ranked);
  std::set<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>> told;
  for (const auto& [z, position, order] : ranked) {
    const Location &first = points_[order.first].at, &then = points_[order.second].at;
    if (!told.emplace(first.file, first.line, then.file, then.line).second) continue;
    const Seen& seen = seen_.at(order);
    result.orders.push_back({order.first, order.second, seen.failing, seen.passing});
  }
  return result;
}

bool watch_orders(Laboratory& laboratory, std::span<const NoisePoint> points,
                  const std::function<bool(std::uint32_t)>& is_deadlock, NoiseCause& cause) {
  std::vector<Sample> batch{
      {Subset(laboratory.points(), cause.points), kRunsAlone, SamplePurpose::kTraced}};
  for (Subset& half :
       random_design(laboratory.points(), kHalves, mix(laboratory.seed(), cause.points.front())))
    batch.push_back({std::move(half), 1, SamplePurpose::kTraced});
  OrderCounter counter(points);
  const auto on_run = [&](const Trace& trace, std::optional<std::uint32_t> failure) {
    if (!failure) {
      counter.learn(trace, OrderCounter::Outcome::kPasses);
    } else if (!cause.failure || *failure == *cause.failure) {
      counter.learn(trace, OrderCounter::Outcome::kFails);
      if (is_deadlock(*failure)) counter.learn_stuck(trace);
    }
  };
  if (laboratory.run_traced(std::move(batch), on_run).empty()) return false;
  cause.orders = counter.telling();
  return true;
}

}  // namespace clew
