#include "host/enumerate/must_order.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/enumerate/resumptions.h"

namespace clew {
namespace {

using abi::StepKind;

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
  find_sections();
  barrier_ = released_by_barrier();
  for (const Edges level : {kCreation, kJoins, kBarriers}) find_clocks(level);
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

void MustOrder::find_clocks(Edges level) {
  std::vector<Clock>& clocks = clocks_[level];
  std::vector<std::uint32_t>& clock_of = clock_of_[level];
  const std::vector<StepNumber>& barrier = barrier_;
  std::vector<Clock> now(width_, Clock(width_));
  std::vector<bool> is_new(width_, true);
  std::vector<std::uint32_t> current(width_);
  std::vector<StepNumber> final(width_, kInitialValue);
  for (StepNumber i = 0; i < trace_.size(); ++i) final[trace_[i].index] = i;
  std::unordered_map<std::uint64_t, std::uint32_t> created;
  std::uint32_t creations = 0;
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
  for (StepNumber i = 0; i < trace_.size(); ++i) {
    const TraceStep& step = trace_[i];
    const std::uint32_t t = step.index;
    const StepNumber before = same_thread_before_[i];
    if (before != kInitialValue && level >= kJoins && trace_[before].kind == StepKind::kJoin) {
      std::uint32_t child = width_;
      if (const auto found = created.find(trace_[before].object); found != created.end())
        child = found->second;
      else if (trace_[before].object < width_)
        child = static_cast<std::uint32_t>(trace_[before].object);
      if (child < width_ && final[child] != kInitialValue && final[child] < i)
        merge(t, clock_at(final[child]));
    }
    if (before != kInitialValue && level >= kBarriers && barrier[before] != kInitialValue)
      if (const auto all = gathered.find(barrier[before]); all != gathered.end())
        merge(t, all->second);
    if (is_new[t]) {
      is_new[t] = false;
      current[t] = static_cast<std::uint32_t>(clocks.size());
      clocks.push_back(now[t]);
    }
    clock_of.push_back(current[t]);
    if (step.kind == StepKind::kCreate) {
      const std::uint32_t child = ++creations;
      created[step.object] = child;
      if (child < width_) merge(child, clock_at(i));
    }
    if (level >= kBarriers && barrier[i] != kInitialValue) {
      Clock& all = gathered.try_emplace(barrier[i], Clock(width_)).first->second;
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

StepNumber MustOrder::last_before(StepNumber step, StepKind kind) const {
  for (step = same_thread_before_[step]; step != kInitialValue; step = same_thread_before_[step])
    if (trace_[step].kind == kind && (kind != StepKind::kWait || barrier_[step] != kInitialValue))
      return step;
  return kInitialValue;
}

std::optional<OrderReason> MustOrder::before(StepNumber a, StepNumber b) const {
  using Kind = OrderReason::Kind;
  OrderReason reason;
  if (trace_[a].index == trace_[b].index) {
    if (number_[a] >= number_[b]) return std::nullopt;
    reason.kind = Kind::kSameThread;
    return reason;
  }
  if (!ordered(a, b, kBarriers)) return std::nullopt;
  if (ordered(a, b, kCreation)) {
    reason.kind = Kind::kCreate;
    return reason;
  }
  const bool by_join = ordered(a, b, kJoins);
  reason.kind = by_join ? Kind::kJoin : Kind::kBarrier;
  // Of those that the later one's thread has passed, the last: it may be an earlier one that orders
  // them, but they are ordered by then.
  const StepNumber at = last_before(b, by_join ? StepKind::kJoin : StepKind::kWait);
  if (at != kInitialValue) {
    reason.place = trace_[at].place;
    reason.object = trace_[at].object;
  }
  return reason;
}

std::optional<OrderReason> MustOrder::hidden(StepNumber write, StepNumber read,
                                             std::span<const SharedBytes::Access> accesses) const {
  using Kind = OrderReason::Kind;
  const bool initial = write == kInitialValue;
  if (!initial)
    if (auto later = before(read, write)) return later;
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
    if (!initial && !before(write, other.step)) continue;
    if (auto reason = before(other.step, read)) {
      // Which of the two orders it takes more for.
      if (!initial)
        if (const auto first = before(write, other.step); first->kind > reason->kind)
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
