#include "host/enumerate/must_order.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/enumerate/resumptions.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr std::uint32_t kEnabledBits = 64;  // TraceStep::enabled

bool covers(std::uint8_t a, std::uint8_t b) { return (a & b) == b; }

}  // namespace

MustOrder::MustOrder(std::span<const TraceStep> trace) : trace_(trace) {
  std::vector<std::uint32_t> counts;
  std::vector<StepNumber> last;
  for (StepNumber i = 0; i < trace.size(); ++i) {
    width_ = std::max(width_, trace[i].index + 1u);
    counts.resize(width_);
    last.resize(width_, kInitialValue);
    number_.push_back(++counts[trace[i].index]);
    same_thread_before_.push_back(std::exchange(last[trace[i].index], i));
  }
  final_ = last;
  find_lives();
  find_sections();
  barrier_ = released_by_barrier();
  for (const Edges level : {kCreation, kJoins, kBarriers}) find_clocks(level);
}

void MustOrder::find_lives() {
  std::unordered_map<std::uint64_t, std::uint32_t> created;  // by the object of the creation
  std::uint32_t creations = 0;
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    const TraceStep& step = trace_[i];
    if (step.kind == StepKind::kCreate) {
      const std::uint32_t child = ++creations;
      created[step.object] = child;
      if (child < width_) children_[i] = child;
    } else if (step.kind == StepKind::kJoin) {
      if (const auto found = created.find(step.object); found != created.end())
        joined_[i] = found->second;
      else if (step.object < width_)
        joined_[i] = static_cast<std::uint32_t>(step.object);
    }
  }
}

// A section ends with the unlock, or with a wait: what comes after a wait is another one.
void MustOrder::find_sections() {
  std::vector<std::vector<Section>> now(width_);
  std::vector<std::uint32_t> list(width_);
  held_lists_.emplace_back();
  const auto changed = [&](std::uint32_t thread) {
    list[thread] = static_cast<std::uint32_t>(held_lists_.size());
    held_lists_.push_back(now[thread]);
  };
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    const TraceStep& step = trace_[i];
    std::vector<Section>& held = now[step.index];
    held_.push_back(list[step.index]);
    if (step.kind == StepKind::kLock) {
      held.push_back({step.object, i});
      changed(step.index);
    } else if (step.kind == StepKind::kUnlock && !held.empty()) {
      const auto found = std::ranges::find(held.rbegin(), held.rend(), step.object, &Section::lock);
      if (found != held.rend()) held.erase(std::next(found).base());
      changed(step.index);
    } else if (step.kind == StepKind::kWait && !held.empty()) {
      held.clear();
      changed(step.index);
    }
  }
}

// For each wait at a barrier the wait that came last of those that were released together;
// otherwise kInitialValue. A barrier is what is waited for and never signalled; it orders if the
// same threads pass it each time, all of those that pass it at all.
std::vector<StepNumber> MustOrder::released_by_barrier() const {
  std::map<std::uint64_t, std::vector<StepNumber>> waits;
  std::map<std::uint64_t, bool> signalled;
  const std::vector<bool> resumes = resumptions(trace_);
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    if (trace_[i].kind == StepKind::kWait && !resumes[i]) waits[trace_[i].object].push_back(i);
    if (trace_[i].kind == StepKind::kSignal) signalled[trace_[i].object] = true;
  }
  std::vector<StepNumber> result(trace_.size(), kInitialValue);
  for (const auto& [object, steps] : waits) {
    if (signalled.contains(object)) continue;
    std::map<std::uint32_t, std::vector<StepNumber>> by_thread;
    for (const StepNumber step : steps) by_thread[trace_[step].index].push_back(step);
    if (by_thread.size() < 2) continue;
    const std::size_t rounds = by_thread.begin()->second.size();
    if (std::ranges::any_of(by_thread, [&](const auto& t) { return t.second.size() != rounds; }))
      continue;
    for (std::size_t round = 0; round < rounds; ++round) {
      StepNumber latest = 0;
      for (const auto& [thread, of_thread] : by_thread) latest = std::max(latest, of_thread[round]);
      // All of this round come before any of the next: otherwise fewer threads pass it together.
      const bool together = std::ranges::all_of(by_thread, [&](const auto& t) {
        return round + 1 == rounds || t.second[round + 1] > latest;
      });
      // Nobody continues before the last one came: they are blocked.
      const bool waited = std::ranges::all_of(by_thread, [&](const auto& t) {
        if (t.second[round] != latest && t.first < 64 &&
            (trace_[latest].enabled >> t.first & 1) != 0)
          return false;
        for (StepNumber i = t.second[round] + 1; i < latest; ++i)
          if (trace_[i].index == t.first) return false;
        return true;
      });
      if (!together || !waited) break;
      for (const auto& [thread, of_thread] : by_thread) result[of_thread[round]] = latest;
    }
  }
  return result;
}

void MustOrder::observe(std::span<const Sight> sights) {
  for (const Sight& sight : sights)
    if (sight.write != kInitialValue && trace_[sight.write].index != trace_[sight.read].index)
      saw_[sight.read].push_back(sight.write);
  find_signals();
  find_clocks(kSeen);
}

// A wait that did not block may owe that to any signal before it: which one is not told apart. One
// that blocked owes it to the signal after which the thread could run.
void MustOrder::find_signals() {
  std::unordered_map<std::uint64_t, std::vector<StepNumber>> signals;
  for (StepNumber i = 0; i < trace_.size(); ++i)
    if (trace_[i].kind == StepKind::kSignal) signals[trace_[i].object].push_back(i);
  if (signals.empty()) return;
  std::vector<StepNumber> waiting(width_, kInitialValue);
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    const TraceStep& step = trace_[i];
    const StepNumber wait = std::exchange(waiting[step.index], kInitialValue);
    if (step.kind == StepKind::kWait && signals.contains(step.object)) waiting[step.index] = i;
    if (wait == kInitialValue || step.index >= kEnabledBits) continue;
    const std::uint64_t bit = std::uint64_t{1} << step.index;
    bool blocked = false;
    StepNumber woken = wait + 1;
    for (; woken <= i; ++woken) {
      const bool enabled = (trace_[woken].enabled & bit) != 0 || woken == i;
      if (blocked && enabled) break;
      blocked |= !enabled;
    }
    std::vector<StepNumber>& by = signalled_by_[wait];
    const std::vector<StepNumber>& all = signals.at(trace_[wait].object);
    if (!blocked) {
      for (const StepNumber signal : all)
        if (signal < wait) by.push_back(signal);
    } else if (woken <= i && std::ranges::binary_search(all, woken - 1)) {
      by.push_back(woken - 1);
    }
  }
}

void MustOrder::find_clocks(Edges level) {
  std::vector<Clock>& clocks = clocks_[level];
  std::vector<std::uint32_t>& clock_of = clock_of_[level];
  std::vector<Clock> now(width_, Clock(width_));
  std::vector<bool> is_new(width_, true);
  std::vector<std::uint32_t> current(width_);
  std::unordered_map<StepNumber, Clock> gathered;  // by the last wait of a round
  const auto merge = [&](std::uint32_t thread, const Clock& from) {
    for (std::size_t v = 0; v < width_; ++v) now[thread][v] = std::max(now[thread][v], from[v]);
    is_new[thread] = true;
  };
  const auto clock_at = [&](StepNumber step) {
    Clock clock = clocks[clock_of[step]];
    clock[trace_[step].index] = number_[step];
    return clock;
  };
  // Of updates: what they have read is known to who reads what they write.
  std::unordered_map<StepNumber, Clock> updates;
  const auto merge_all = [&](std::uint32_t thread, StepNumber step, const auto& sources) {
    const auto found = sources.find(step);
    if (found == sources.end()) return;
    for (const StepNumber source : found->second) {
      if (now[thread][trace_[source].index] >= number_[source]) continue;
      const auto updated = updates.find(source);
      merge(thread, updated == updates.end() ? clock_at(source) : updated->second);
    }
  };
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    const TraceStep& step = trace_[i];
    const std::uint32_t t = step.index;
    // A thread has joined, waited and read when it comes to its next step.
    const StepNumber before = same_thread_before_[i];
    if (before != kInitialValue && level >= kJoins)
      if (const auto child = joined_.find(before);
          child != joined_.end() && child->second < width_ &&
          final_[child->second] != kInitialValue && final_[child->second] < i)
        merge(t, clock_at(final_[child->second]));
    if (before != kInitialValue && level >= kBarriers && barrier_[before] != kInitialValue)
      if (const auto all = gathered.find(barrier_[before]); all != gathered.end())
        merge(t, all->second);
    if (before != kInitialValue && level >= kSeen) {
      merge_all(t, before, saw_);
      merge_all(t, before, signalled_by_);
    }
    if (is_new[t]) {
      is_new[t] = false;
      current[t] = static_cast<std::uint32_t>(clocks.size());
      clocks.push_back(now[t]);
    }
    clock_of.push_back(current[t]);
    if (level >= kSeen && step.kind == StepKind::kUpdate && saw_.contains(i)) {
      Clock before_it = now[t];
      merge_all(t, i, saw_);
      updates[i] = std::exchange(now[t], std::move(before_it));
      updates[i][t] = number_[i];
      is_new[t] = false;  // it is told to the thread at its next step
    }
    if (const auto child = children_.find(i); child != children_.end())
      merge(child->second, clock_at(i));
    if (level >= kBarriers && barrier_[i] != kInitialValue) {
      Clock& all = gathered.try_emplace(barrier_[i], Clock(width_)).first->second;
      const Clock mine = clock_at(i);
      for (std::size_t v = 0; v < width_; ++v) all[v] = std::max(all[v], mine[v]);
    }
  }
}

bool MustOrder::ordered(StepNumber a, StepNumber b, Edges level) const {
  const std::uint32_t thread = trace_[a].index;
  if (thread == trace_[b].index) return number_[a] < number_[b];
  return clocks_[level][clock_of_[level][b]][thread] >= number_[a];
}

bool MustOrder::precedes(StepNumber a, StepNumber b, Order order) const {
  return ordered(a, b, order == Order::kAlways ? kBarriers : kSeen);
}

StepNumber MustOrder::last_before(StepNumber step, StepKind kind) const {
  for (step = same_thread_before_[step]; step != kInitialValue; step = same_thread_before_[step])
    if (trace_[step].kind == kind && (kind != StepKind::kWait || barrier_[step] != kInitialValue))
      return step;
  return kInitialValue;
}

// The chain is followed back from b: the last step of the thread that does not know of a yet has
// brought it.
MustOrder::Link MustOrder::observed_link(StepNumber a, StepNumber b) const {
  using Kind = OrderReason::Kind;
  for (std::size_t hops = 0; hops <= width_; ++hops) {
    StepNumber before = same_thread_before_[b];
    while (before != kInitialValue && ordered(a, before, kSeen))
      before = same_thread_before_[before];
    // What the thread knew when it was created, its creator has told it.
    if (before == kInitialValue) {
      const auto creation = std::ranges::find(children_, trace_[b].index,
                                              [](const auto& child) { return child.second; });
      if (creation == children_.end()) break;
      b = creation->first;
      if (trace_[a].index == trace_[b].index) return {Kind::kCreate, b};
      continue;
    }
    if (const auto child = joined_.find(before); child != joined_.end()) {
      b = final_[child->second];
      if (trace_[a].index == trace_[b].index) return {Kind::kJoin, before};
      continue;
    }
    if (barrier_[before] != kInitialValue) return {Kind::kBarrier, before};
    // Of several, the one that knows of a; an update may know it by what it has read itself.
    const auto told_by = [&](const auto& sources) {
      const auto found = sources.find(before);
      if (found == sources.end() || found->second.empty()) return kInitialValue;
      for (const StepNumber source : found->second)
        if (source == a || ordered(a, source, kSeen)) return source;
      return found->second.front();
    };
    if (const StepNumber write = told_by(saw_); write != kInitialValue)
      return {Kind::kSawFirst, before, write};
    return {Kind::kWaitedFirst, before, told_by(signalled_by_)};
  }
  return {Kind::kCreate};
}

std::optional<MustOrder::Link> MustOrder::link(StepNumber a, StepNumber b, Order order) const {
  using Kind = OrderReason::Kind;
  if (!precedes(a, b, order)) return std::nullopt;
  if (trace_[a].index == trace_[b].index) return Link{Kind::kSameThread};
  if (!ordered(a, b, kBarriers)) return observed_link(a, b);
  if (ordered(a, b, kCreation)) return Link{Kind::kCreate};
  const bool by_join = ordered(a, b, kJoins);
  // Of those that the later one's thread has passed, the last: it may be an earlier one that orders
  // them, but they are ordered by then.
  return Link{by_join ? Kind::kJoin : Kind::kBarrier,
              last_before(b, by_join ? StepKind::kJoin : StepKind::kWait)};
}

std::optional<OrderReason> MustOrder::before(StepNumber a, StepNumber b, Order order) const {
  const std::optional<Link> found = link(a, b, order);
  if (!found) return std::nullopt;
  OrderReason reason;
  reason.kind = found->kind;
  if (found->at != kInitialValue) {
    reason.place = trace_[found->at].place;
    if (order == Order::kAlways) reason.object = trace_[found->at].object;
  }
  if (found->source != kInitialValue) reason.source = trace_[found->source].place;
  return reason;
}

std::optional<OrderReason> MustOrder::hidden(StepNumber write, StepNumber read,
                                             std::span<const SharedBytes::Access> accesses,
                                             Order order) const {
  using Kind = OrderReason::Kind;
  const bool initial = write == kInitialValue;
  if (!initial)
    if (auto later = before(read, write, order)) return later;
  std::uint8_t wanted = 0;
  std::uint8_t written = 0xff;
  for (const SharedBytes::Access& access : accesses) {
    if (access.step == read) wanted = access.mask;
    if (access.step == write) written = access.mask;
  }
  const std::uint8_t bytes = wanted & written;
  for (const SharedBytes::Access& other : accesses) {
    if (!other.writes || other.step == write || other.step == read || !covers(other.mask, bytes))
      continue;
    if ((!initial && !precedes(write, other.step, order)) || !precedes(other.step, read, order))
      continue;
    if (auto reason = before(other.step, read, order)) {
      // Which of the two orders it takes more for.
      if (!initial)
        if (const auto first = before(write, other.step, order); first->kind > reason->kind)
          reason = first;
      reason->overwritten = trace_[other.step].place;
      return reason;
    }
  }
  if (initial) return std::nullopt;
  for (const Section& mine : sections(read)) {
    for (const Section& theirs : sections(write)) {
      if (mine.lock != theirs.lock || mine.taken == theirs.taken) continue;
      for (const SharedBytes::Access& other : accesses) {
        if (!other.writes || other.step == write || !covers(other.mask, bytes)) continue;
        const std::vector<Section>& held = sections(other.step);
        const abi::Place lock = trace_[mine.taken].place;
        const abi::Place at = trace_[other.step].place;
        if (other.step > write && std::ranges::find(held, theirs) != held.end())
          return OrderReason{Kind::kSection, at, 0, lock, mine.lock};
        if (other.step < read && std::ranges::find(held, mine) != held.end())
          return OrderReason{Kind::kOwnWrite, at, 0, lock, mine.lock};
      }
    }
  }
  return std::nullopt;
}

}  // namespace clew
