#include "host/explain/split_region.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "host/explain/activity.h"
#include "host/explain/hand_over.h"
#include "host/explain/memory_history.h"

namespace clew {
namespace {

// How far the accesses that belong together are looked for, in steps of the thread, before and behind. Chosen, not measured.
constexpr std::size_t kReach = 600;

struct Near {
  SplitRegion::Access access;
  bool writes = false;
  std::size_t distance = 0;  // in steps of the thread
};

class Finder {
 public:
  Finder(TracedPair& pair, std::uint64_t address, std::uint32_t size)
      : pair_(pair), run_(pair.trace(kFailing)), address_(address), size_(std::max(size, 1u)) {}

  std::optional<SplitRegion> find(Instance early, Instance late) {
    const auto mine = around(early);
    std::unordered_multimap<std::uint64_t, const Near*> by_address;
    for (const Near& one : mine) by_address.emplace(one.access.address, &one);
    std::optional<SplitRegion> best;
    std::size_t nearest = 0;
    for (const Near& theirs : around(late)) {
      const auto [first, end] = by_address.equal_range(theirs.access.address);
      for (auto found = first; found != end; ++found) {
        const Near& own = *found->second;
        const std::size_t distance = own.distance + theirs.distance;
        if ((best && distance >= nearest) || !conflict(theirs, own)) continue;
        const SplitRegion region = regions(early, late, own, theirs);
        if (!belongs(region)) continue;
        best = region;
        nearest = distance;
      }
    }
    return best;
  }

 private:
  // What else the thread accesses in the same call, be it in calls of that.
  std::vector<Near> around(Instance at) {
    std::vector<Near> result;
    const auto& list = run_.thread(run_.steps()[at.step].thread);
    const PartyId party = pair_.parties(kFailing).of(at.step);
    const std::size_t here = run_.position(at.step);
    const std::size_t from = here > kReach ? here - kReach : 0;
    for (std::size_t i = from; i < std::min(list.size(), here + kReach); ++i) {
      if (pair_.parties(kFailing).of(list[i]) != party) continue;
      const auto& accesses = run_.block_of(list[i]).accesses;
      for (std::uint32_t k = 0; k < accesses.size(); ++k) {
        const RecordedAccess& one = accesses[k];
        if (one.instruction >= run_.steps()[list[i]].executed || one.kind == AccessKind::kString)
          continue;
        const std::uint64_t there = run_.access_address(list[i], k);
        if (run_.is_of_points(there) || (there < address_ + size_ && there + one.size > address_) ||
            stack_of(run_, there) == run_.steps()[at.step].thread)
          continue;
        result.push_back({{{list[i], one.instruction}, there, one.size},
                          one.kind != AccessKind::kRead,
                          i > here ? i - here : here - i});
      }
    }
    return result;
  }

  // The other's access comes first, and one of the two writes.
  bool conflict(const Near& theirs, const Near& own) const {
    return theirs.access.at.step < own.access.at.step && (theirs.writes || own.writes) &&
           run_.allocation(theirs.access.address, theirs.access.at.step) ==
               run_.allocation(own.access.address, own.access.at.step);
  }

  // `own` belongs to the thread of `early`, `theirs` to that of `late`.
  SplitRegion regions(Instance early, Instance late, const Near& own, const Near& theirs) const {
    const SplitRegion::Access a{early, address_, size_};
    const SplitRegion::Access b{late, address_, size_};
    const bool encloses = theirs.access.at < early && own.access.at < late;
    if (own.access.at < early || encloses) return {theirs.access, b, own.access, a};
    return {a, own.access, b, theirs.access};
  }

  // A handler comes where it will.
  bool of_one_thread(Instance a, Instance b) const {
    return run_.steps()[a.step].thread == run_.steps()[b.step].thread;
  }

  bool is_ordered(Instance first, Instance second) {
    return !of_one_thread(first, second) && pair_.order(kFailing).before(first.step, second.step);
  }

  // By something else than the two themselves, be they atomic, or because the thread of `last` waits in a loop for the other's.
  bool is_waited_for(Instance before_last, Instance last, Instance first) {
    if (of_one_thread(before_last, last)) return false;
    const SyncOrder& order = pair_.order(kFailing);
    const StepIndex known = order.last_before(last.step, run_.steps()[before_last.step].thread);
    if (known == kNoStep || known < before_last.step) return false;
    return order.release_of(known) != before_last || in_loop_without(pair_, last, first);
  }

  bool belongs(const SplitRegion& region) {
    // Another's access must lie between.
    const Instance one = region.behind_first.at;
    const Instance two = region.before_last.at;
    const Instance first = region.first.at;
    const Instance last = region.last.at;
    if (!(one < last) && !(first < two)) return false;
    // Who waits for the other, or hands over to it, lets it come between.
    if (is_ordered(first, one) || is_waited_for(two, last, first)) return false;
    const auto [early, late] = std::minmax(one, two);
    if (!in_one_round(pair_, first, last) || !is_one_step(early, late)) return false;
    // Who goes by what it has read, and so comes to the other access, was sent there.
    return !(one < two && depends_on(pair_, two, one));
  }

  // The other's two accesses: in one critical section, or at least in one round.
  bool is_one_step(Instance early, Instance late) {
    if (in_one_section(run_, early.step, late.step)) return true;
    return in_one_round(pair_, early, late);
  }

  TracedPair& pair_;
  const RunTrace& run_;
  std::uint64_t address_;
  std::uint32_t size_;
};

}  // namespace

bool in_one_section(const RunTrace& run, StepIndex early, StepIndex late) {
  const auto held = locks_at(run, early);
  const auto later = locks_at(run, late);
  const auto is_released = [&](std::uint64_t lock) {
    return std::ranges::any_of(run.outside_calls(), [&](const OutsideCall& call) {
      return call.step > early && call.step < late &&
             run.steps()[call.step].thread == run.steps()[early].thread &&
             call.name.contains("unlock") && call.registers.arguments[0] == lock;
    });
  };
  return std::ranges::any_of(
      held, [&](const auto& one) { return later.contains(one.first) && !is_released(one.first); });
}

std::optional<SplitRegion> find_split(TracedPair& pair, Instance early, Instance late,
                                      std::uint64_t address, std::uint32_t size) {
  return Finder(pair, address, size).find(early, late);
}

}  // namespace clew
