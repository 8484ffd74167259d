#include "host/trace/trace_sharing.h"

#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

namespace clew {
namespace {

using abi::StepKind;
using abi::ThreadKey;

// When each thread exists, as positions in the trace.
struct Lifetime {
  std::size_t created = std::numeric_limits<std::size_t>::max();
  std::size_t joined = std::numeric_limits<std::size_t>::max();
  std::size_t last_step = 0;
};

// A join names its thread by the object of its creation, or by its index. A join that does neither
// is passed over: the thread then exists until the end.
std::unordered_map<ThreadKey, Lifetime> lifetimes_of(std::span<const TraceStep> trace) {
  std::unordered_map<ThreadKey, Lifetime> lives;
  std::unordered_map<std::uint64_t, ThreadKey> names;
  std::unordered_map<ThreadKey, std::uint32_t> children;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceStep& event = trace[i];
    Lifetime& life = lives[event.thread];
    life.created = std::min(life.created, i);
    life.last_step = i;
    if (event.index != 0) names.try_emplace(event.index, event.thread);
    if (event.kind != StepKind::kCreate) continue;
    const ThreadKey child = abi::child_key(event.thread, ++children[event.thread]);
    lives[child].created = i;
    if (event.object != 0) names[event.object] = child;
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind != StepKind::kJoin) continue;
    const auto child = names.find(trace[i].object);
    if (child == names.end() || child->second == trace[i].thread) continue;
    Lifetime& life = lives[child->second];
    life.joined = std::max(i, life.last_step);  // the join may have been noted when it began
  }
  return lives;
}

// For each position whether one thread alone exists there.
std::vector<bool> alone(std::span<const TraceStep> trace) {
  std::vector<int> change(trace.size() + 1);
  for (const auto& [key, life] : lifetimes_of(trace)) {
    ++change[std::min(life.created, trace.size())];
    if (life.joined < trace.size()) --change[life.joined];
  }
  std::vector<bool> result(trace.size());
  int existing = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) result[i] = (existing += change[i]) <= 1;
  return result;
}

struct Toucher {
  ThreadKey thread;
  std::uint8_t read = 0;
  std::uint8_t written = 0;
};
using Touchers = std::unordered_map<std::uint64_t, std::vector<Toucher>>;  // by granule

void touch(std::vector<Toucher>& list, const TraceStep& event, std::uint8_t mask) {
  auto at = std::ranges::find(list, event.thread, &Toucher::thread);
  if (at == list.end()) at = list.insert(at, Toucher{event.thread});
  (event.kind == StepKind::kRead ? at->read : at->written) |= mask;
}

bool conflicts(const std::vector<Toucher>& list, const TraceStep& event, std::uint8_t mask) {
  return std::ranges::any_of(list, [&](const Toucher& other) {
    const std::uint8_t theirs =
        event.kind == StepKind::kRead ? other.written : other.written | other.read;
    return other.thread != event.thread && (theirs & mask) != 0;
  });
}

}  // namespace

std::vector<bool> contended(std::span<const TraceStep> trace) {
  const std::vector<bool> solo = alone(trace);
  Touchers touchers;
  touchers.reserve(trace.size() / 4);
  const auto counts = [&](std::size_t i) { return touches(trace[i]) && !solo[i]; };
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (counts(i))
      for_each_granule(trace[i], [&](std::uint64_t granule, std::uint8_t mask) {
        touch(touchers[granule], trace[i], mask);
      });
  std::vector<bool> result(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (counts(i))
      for_each_granule(trace[i], [&](std::uint64_t granule, std::uint8_t mask) {
        if (!result[i]) result[i] = conflicts(touchers[granule], trace[i], mask);
      });
  return result;
}

std::vector<bool> in_loops(std::span<const TraceStep> trace) {
  // As runtime/strategy/patient.h sees it, but for the values, which a trace does not have.
  constexpr std::size_t kLongestLoop = 8;
  constexpr std::size_t kLoopFrom = 10;
  struct Thread {
    std::array<std::pair<std::uint64_t, abi::Place>, kLongestLoop> steps{};
    std::size_t next = 0;
    std::size_t repeated = 0;
  };
  std::unordered_map<ThreadKey, Thread> threads;
  std::vector<bool> result(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    Thread& thread = threads[trace[i].thread];
    const std::pair step(trace[i].object, trace[i].place);
    const bool changes = trace[i].kind == StepKind::kWrite || trace[i].kind == StepKind::kUpdate;
    const bool is_new = std::ranges::find(thread.steps, step) == thread.steps.end();
    if (is_new) thread.steps[thread.next++ % kLongestLoop] = step;
    if (is_new || changes) {
      thread.repeated = 0;
    } else {
      result[i] = ++thread.repeated > kLoopFrom;
    }
  }
  return result;
}

}  // namespace clew
