#include "host/trace/trace_order.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace clew {
namespace {

using abi::StepKind;

constexpr std::uint64_t bit(std::uint32_t thread) { return std::uint64_t{1} << thread; }

std::uint64_t end_of(const TraceStep& step) {
  const std::uint64_t end = step.object + std::max(step.size, 1u);
  return end > step.object ? end : ~std::uint64_t{0};
}

bool dependent(const TraceStep& a, const TraceStep& b) {
  if (a.object == 0 || b.object == 0) return false;
  if (a.kind == StepKind::kOther || b.kind == StepKind::kOther) return false;
  if (a.kind == StepKind::kRead && b.kind == StepKind::kRead) return false;
  return a.object < end_of(b) && b.object < end_of(a);
}

// Of dependent steps: whether there can be a state at which both could be next.
bool may_be_coenabled(const TraceStep& a, const TraceStep& b) {
  return !(a.kind == StepKind::kLock && b.kind == StepKind::kUnlock) &&
         !(a.kind == StepKind::kUnlock && b.kind == StepKind::kLock);
}

}  // namespace

TraceOrder::TraceOrder(std::span<const TraceStep> trace) : trace_(trace) {
  for (const TraceStep& step : trace) {
    width_ = std::max(
        {width_, step.index + 1u, static_cast<std::uint32_t>(std::bit_width(step.enabled))});
  }
  final_.assign(width_, kNone);
  for (std::size_t k = 0; k < trace.size(); ++k) final_[trace[k].index] = k;
  threads_.resize(width_);
  wide_.resize(width_);
  for (Thread& thread : threads_) thread.known.resize(width_);
  clocks_.reserve(trace.size());
  number_.reserve(trace.size());
}

void TraceOrder::each_race(std::size_t from, const Race& race) {
  for (std::size_t k = 0; k < trace_.size(); ++k) {
    step(k, k >= from ? &race : nullptr);
    see_waking(k);
  }
  cut_off(race);
}

void TraceOrder::step(std::size_t k, const Race* race) {
  const TraceStep& now = trace_[k];
  Thread& thread = threads_[now.index];
  if (thread.last != kNone && trace_[thread.last].kind == StepKind::kJoin) {
    const std::uint32_t child = joined_by(trace_[thread.last]);
    if (child < width_ && final_[child] < k) {
      merge(thread.known, clocks_[final_[child]]);
      joined_ |= bit(child);
    }
  }
  if (race != nullptr) races_of(k, now, now.index, *race);
  if (k + 1 == trace_.size()) {
    known_at_end_ = thread.known;
    since_at_end_ = thread.last;
  }

  Clock clock = thread.known;
  if (now.kind == StepKind::kLock) merge(clock, thread.released);
  each_touched(now, [&](const ByThread& steps) {
    for (std::uint32_t v = 0; v < width_; ++v) {
      if (v == now.index) continue;
      for (auto i = steps[v].rbegin(); i != steps[v].rend() && number_[*i] > clock[v]; ++i) {
        if (!dependent(trace_[*i], now)) continue;
        merge(clock, clocks_[*i]);
        break;
      }
    }
  });
  number_.push_back(++clock[now.index]);
  thread.last = k;
  thread.known = clock;
  thread.released.clear();
  thread.waits = now.kind == StepKind::kWait;
  clocks_.push_back(std::move(clock));
  touch(k);
}

// At every state since u's last step `next` was to come: of each other thread all conflicting steps
// since then, and the last one before.
void TraceOrder::races_of(std::size_t k, const TraceStep& next, std::uint32_t u,
                          const Race& race) const {
  const Thread& thread = threads_[u];
  each_touched(next, [&](const ByThread& steps) {
    for (std::uint32_t v = 0; v < width_; ++v) {
      if (v == u) continue;
      for (auto i = steps[v].rbegin(); i != steps[v].rend(); ++i) {
        if (number_[*i] <= thread.known[v]) break;
        if (!dependent(trace_[*i], next)) continue;
        const bool pending = thread.last == kNone || *i > thread.last;
        if (may_be_coenabled(trace_[*i], next)) {
          race(*i, u);
          if (!pending) break;
        } else if (could_run(*i, u)) {
          race(*i, u);
        }
      }
    }
  });
  if (next.kind != StepKind::kJoin || !may_split(k, u)) return;
  const std::uint32_t child = joined_by(next);
  for (std::uint32_t v = 0; v < width_; ++v) {
    if (v == u || (child != kMostThreads && child != v) || final_[v] >= k) continue;
    if (number_[final_[v]] > thread.known[v] && could_run(final_[v], u)) race(final_[v], u);
  }
}

bool TraceOrder::could_run(std::size_t i, std::uint32_t u) const {
  const std::size_t last = threads_[u].last;
  return (last != kNone && i < last) || (trace_[i].enabled & bit(u)) != 0;
}

// Had u come to step k earlier, it would have had to wait there: a switch that is no preemption, in
// the midst of what is now one block of steps of u. Whether that block begins with steps that
// others can notice; otherwise nothing is gained.
bool TraceOrder::may_split(std::size_t k, std::uint32_t u) const {
  while (k-- > 0 && trace_[k].index == u) {
    if (trace_[k].kind != StepKind::kJoin && trace_[k].kind != StepKind::kOther) return true;
  }
  return false;
}

void TraceOrder::touch(std::size_t k) {
  const TraceStep& now = trace_[k];
  if (now.object == 0 || now.kind == StepKind::kOther) return;
  if (((end_of(now) - 1) >> kGranule) - (now.object >> kGranule) >= kWide)
    return wide_[now.index].push_back(k);
  for (std::uint64_t g = now.object >> kGranule; g <= (end_of(now) - 1) >> kGranule; ++g) {
    ByThread& steps = touched_[g];
    steps.resize(width_);
    steps[now.index].push_back(k);
  }
}

template <class F>
void TraceOrder::each_touched(const TraceStep& step, const F& f) const {
  if (step.object == 0 || step.kind == StepKind::kOther) return;
  f(wide_);
  const std::uint64_t first = step.object >> kGranule;
  const std::uint64_t last = (end_of(step) - 1) >> kGranule;
  if (last - first >= touched_.size()) {
    for (const auto& [g, steps] : touched_)
      if (g >= first && g <= last) f(steps);
    return;
  }
  for (std::uint64_t g = first; g <= last; ++g) {
    if (const auto steps = touched_.find(g); steps != touched_.end()) f(steps->second);
  }
}

// Step j is done: what other threads could not go on without it?
void TraceOrder::see_waking(std::size_t j) {
  const TraceStep& now = trace_[j];
  if (now.kind == StepKind::kCreate) {
    const std::uint32_t child = ++creations_;
    created_[now.object] = child;
    if (child < width_) merge(threads_[child].known, clocks_[j]);
  }
  // A waiting thread needs at least the first signal after its wait (or, at a barrier, the next
  // arrival); if a later one wakes it, the first happened before that.
  if (now.kind == StepKind::kSignal || now.kind == StepKind::kWait) {
    for (std::uint32_t u = 0; u < width_; ++u) {
      Thread& thread = threads_[u];
      if (u == now.index || !thread.waits) continue;
      if ((now.enabled & bit(u)) != 0) {
        thread.waits = false;
      } else if (dependent(trace_[thread.last], now)) {
        merge(thread.known, clocks_[j]);
        thread.waits = false;
      }
    }
  }
  if (j + 1 == trace_.size()) return;
  std::uint64_t woken = trace_[j + 1].enabled & ~now.enabled & ~bit(now.index);
  for (; woken != 0; woken &= woken - 1) {
    const auto u = static_cast<std::uint32_t>(std::countr_zero(woken));
    Thread& thread = threads_[u];
    if (thread.last == kNone) continue;
    if (trace_[thread.last].kind == StepKind::kJoin && final_[now.index] == j) {
      merge(thread.known, clocks_[j]);
    } else if (now.kind == StepKind::kUnlock || now.kind == StepKind::kWait) {
      merge(thread.released, clocks_[j]);
    }
  }
}

// The run is over, but perhaps not all threads were: its last step, which ended it, conflicts with
// all that others did or would have done. If they had ended, in an order, there are no such races.
void TraceOrder::cut_off(const Race& race) const {
  if (trace_.empty()) return;
  const std::size_t end = trace_.size() - 1;
  const TraceStep& last = trace_[end];
  // Nobody knows what those will do next that could have gone on.
  for (std::uint64_t left = last.enabled & ~bit(last.index); left != 0; left &= left - 1) {
    const auto u = static_cast<std::uint32_t>(std::countr_zero(left));
    race(end, u);
    for (std::size_t i = end; i-- > 0;) {
      const TraceStep& step = trace_[i];
      if (step.index == u || step.kind == StepKind::kOther) continue;
      if (number_[i] > threads_[u].known[step.index]) race(i, u);
    }
  }
  std::uint64_t found = 0;  // threads of which the last such step before `since` is found
  for (std::size_t i = end; i-- > 0;) {
    const TraceStep& step = trace_[i];
    if (step.index == last.index || step.kind == StepKind::kOther) continue;
    if ((found & bit(step.index)) != 0 || number_[i] <= known_at_end_[step.index]) continue;
    race(i, last.index);
    if (since_at_end_ != kNone && i < since_at_end_) found |= bit(step.index);
  }
  // Somebody may wait for a lock that is still held (if by a try-lock, it was an update).
  std::map<std::uint64_t, const TraceStep*> held;
  for (const TraceStep& step : trace_) {
    if (step.kind == StepKind::kLock || step.kind == StepKind::kUpdate) held[step.object] = &step;
    if (step.kind == StepKind::kUnlock) held.erase(step.object);
  }
  for (const auto& [object, step] : held) {
    for (std::uint32_t u = 0; u < width_; ++u) {
      // The last one to run may wait for it as well: then nobody could run any more.
      if (((joined_ | (last.enabled & ~bit(last.index))) & bit(u)) != 0) continue;
      TraceStep next = *step;
      next.kind = StepKind::kLock;
      races_of(trace_.size(), next, u, race);
    }
  }
}

std::uint32_t TraceOrder::joined_by(const TraceStep& step) const {
  if (const auto child = created_.find(step.object); child != created_.end()) return child->second;
  return step.object < kMostThreads ? static_cast<std::uint32_t>(step.object) : kMostThreads;
}

void TraceOrder::merge(Clock& into, const Clock& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t v = 0; v < from.size(); ++v) into[v] = std::max(into[v], from[v]);
}

}  // namespace clew
