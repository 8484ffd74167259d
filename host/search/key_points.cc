#include "host/search/key_points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "host/search/sampling.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::ThreadKey;

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

// Who holds what, as far as taking, releasing and waiting tell. A wait releases all.
class Locks {
 public:
  explicit Locks(std::size_t objects) : holders_(objects, kNobody) {}

  [[nodiscard]] bool available(const KeyPoint& point, std::uint32_t thread) const {
    const std::uint32_t holder = holders_[point.objects.front()];
    return point.kind != StepKind::kLock || holder == kNobody || holder == thread;
  }
  void pass(const KeyPoint& point, std::uint32_t thread) {
    if (point.kind == StepKind::kLock) holders_[point.objects.front()] = thread;
    if (point.kind == StepKind::kUnlock) holders_[point.objects.front()] = kNobody;
    if (point.kind == StepKind::kWait) std::ranges::replace(holders_, thread, kNobody);
  }

 private:
  std::vector<std::uint32_t> holders_;
};

// Plays turns on the model.
class Player {
 public:
  explicit Player(const KeyPoints& model)
      : model_(model),
        objects_(model.objects),
        locks_(model.objects),
        next_(model.threads.size()) {}

  // Whether it got on.
  bool run(std::uint32_t thread, std::uint32_t end) {
    const std::vector<KeyPoint>& points = model_.threads[thread].points;
    const std::uint32_t begin = next_[thread];
    for (std::uint32_t& at = next_[thread]; at < end; ++at) {
      if (model_.exclusive[points[at].objects.front()] && !locks_.available(points[at], thread))
        break;
      locks_.pass(points[at], thread);
      pass(points[at], mix(model_.threads[thread].key, at));
    }
    return next_[thread] > begin;
  }

  std::uint64_t finish() {
    for (bool on = true; on;) {
      on = false;
      for (std::uint32_t thread = 0; thread < model_.threads.size(); ++thread)
        on |= run(thread, static_cast<std::uint32_t>(model_.threads[thread].points.size()));
    }
    return sum_;
  }

 private:
  struct Object {
    std::uint64_t last_write = 0;
    std::uint64_t reads = 0;  // since, in any order
  };

  void pass(const KeyPoint& point, std::uint64_t id) {
    std::uint64_t hash = id;
    for (const std::uint32_t number : point.objects) {
      Object& object = objects_[number];
      hash = mix(hash, object.last_write);
      if (point.kind == StepKind::kRead) {
        object.reads += id;
      } else {
        hash = mix(hash, object.reads);
        object = {id, 0};
      }
    }
    sum_ += hash;
  }

  const KeyPoints& model_;
  std::vector<Object> objects_;
  Locks locks_;
  std::vector<std::uint32_t> next_;
  std::uint64_t sum_ = 0;
};

class ModelBuilder {
 public:
  explicit ModelBuilder(std::span<const TraceStep> trace) : trace_(trace) {}

  KeyPoints build() {
    const std::vector<bool> key = contended(trace_);
    for (std::size_t i = 0; i < trace_.size(); ++i) add(trace_[i], key[i]);
    find_exclusive(key);
    std::erase_if(model_.threads, [](const KeyThread& thread) { return thread.points.empty(); });
    return std::move(model_);
  }

 private:
  void add(const TraceStep& event, bool key) {
    const auto [place, is_new] = numbers_.try_emplace(event.thread, model_.threads.size());
    if (is_new && model_.threads.size() < KeyPoints::kMostThreads)
      model_.threads.push_back({event.thread, 0, {}});
    if (place->second >= model_.threads.size()) return;
    KeyThread& thread = model_.threads[place->second];
    if (key) thread.points.push_back(point_of(event, thread.steps));
    ++thread.steps;
    if (event.kind == StepKind::kCreate && event.thread == abi::kMainThreadKey &&
        thread.points.empty())
      model_.prelude = thread.steps;
  }

  KeyPoint point_of(const TraceStep& event, std::uint64_t step) {
    KeyPoint point{step, event.place, event.kind, {}};
    for_each_granule(event, [&](std::uint64_t granule, std::uint8_t) {
      const auto [object, is_new] = objects_.try_emplace(granule, model_.objects);
      if (is_new) ++model_.objects;
      point.objects.push_back(object->second);
    });
    return point;
  }

  // A lock that was taken while another thread had it is for readers, or not what it seems.
  void find_exclusive(const std::vector<bool>& key) {
    model_.exclusive.assign(model_.objects, true);
    Locks locks(model_.objects);
    std::vector<std::size_t> next(model_.threads.size());
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const std::size_t thread = numbers_.at(trace_[i].thread);
      if (!key[i] || thread >= model_.threads.size()) continue;
      const KeyPoint& point = model_.threads[thread].points[next[thread]++];
      const auto number = static_cast<std::uint32_t>(thread);
      if (!locks.available(point, number)) model_.exclusive[point.objects.front()] = false;
      locks.pass(point, number);
    }
  }

  std::span<const TraceStep> trace_;
  KeyPoints model_;
  std::unordered_map<ThreadKey, std::size_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> objects_;
};

}  // namespace

KeyPoints key_points(std::span<const TraceStep> trace) { return ModelBuilder(trace).build(); }

std::size_t periods(const Turns& turns) {
  std::size_t count = 1;
  std::set<std::uint32_t> had_a_turn;
  for (const Turn& turn : turns) {
    if (had_a_turn.insert(turn.thread).second) continue;
    ++count;
    had_a_turn = {turn.thread};
  }
  return count;
}

std::uint64_t play(const KeyPoints& model, const Turns& turns) {
  Player player(model);
  for (const Turn& turn : turns) player.run(turn.thread, turn.end);
  return player.finish();
}

std::optional<std::uint64_t> played(const KeyPoints& model, std::span<const TraceStep> trace) {
  struct Progress {
    std::uint32_t thread = kNobody;
    std::uint64_t steps = 0;
    std::uint32_t points = 0;
  };
  std::unordered_map<ThreadKey, Progress> progress;
  for (std::uint32_t i = 0; i < model.threads.size(); ++i)
    progress[model.threads[i].key].thread = i;
  Player player(model);
  std::size_t passed = 0;
  for (const TraceStep& event : trace) {
    Progress& at = progress[event.thread];
    if (at.thread == kNobody) continue;
    const std::vector<KeyPoint>& points = model.threads[at.thread].points;
    if (at.points < points.size() && points[at.points].step == at.steps) {
      if (points[at.points].place != event.place || !player.run(at.thread, at.points + 1))
        return std::nullopt;
      ++at.points;
      ++passed;
    }
    ++at.steps;
  }
  const auto all = std::accumulate(
      model.threads.begin(), model.threads.end(), std::size_t{0},
      [](std::size_t sum, const KeyThread& thread) { return sum + thread.points.size(); });
  if (passed != all) return std::nullopt;
  return player.finish();
}

std::vector<PlanDirective> directives(const KeyPoints& model, const Turns& turns) {
  std::vector<PlanDirective> list;
  const auto add = [&list](ThreadKey thread, std::uint64_t steps, unsigned flags) {
    if (steps > 0)
      list.push_back({thread, PlanStop::kSteps, 0, steps, static_cast<std::uint8_t>(flags)});
  };
  add(abi::kMainThreadKey, model.prelude, kPlanInsist);
  std::vector<std::uint64_t> done(model.threads.size());
  for (std::size_t i = 0; i < model.threads.size(); ++i)
    if (model.threads[i].key == abi::kMainThreadKey) done[i] = model.prelude;
  for (const Turn& turn : turns) {
    const KeyThread& thread = model.threads[turn.thread];
    const bool last = turn.end == thread.points.size();
    // Some more than it took in the trace, in case that another course is longer.
    const std::uint64_t to =
        last ? thread.steps + thread.steps / 2 + 64 : thread.points[turn.end].step;
    const unsigned hold = last ? 0 : +kPlanHold;
    std::uint64_t steps = to - std::min(done[turn.thread], to);
    // The first step waits until the thread exists. The others do not insist: where the thread is
    // blocked its turn is over.
    if (done[turn.thread] == 0) {
      add(thread.key, 1, kPlanInsist | (steps == 1 ? hold : 0));
      --steps;
    }
    add(thread.key, steps, hold);
    done[turn.thread] = to;
  }
  return list;
}

// --- words

double Words::count_from(const State& state) {
  const std::size_t kinds = state.size() - 1;
  if (std::all_of(state.begin(), state.end() - 1,
                  [](std::uint32_t threads) { return threads == 0; }))
    return 1;
  if (const auto known = counts_.find(state); known != counts_.end()) return known->second;
  double count = 0;
  for (std::uint32_t left = 1; left <= kinds; ++left) {
    const std::uint32_t threads = state[left - 1] - (state.back() == left ? 1 : 0);
    if (threads == 0) continue;
    State then = state;
    --then[left - 1];
    if (left > 1) ++then[left - 2];
    then.back() = left - 1;
    count += threads * count_from(then);
  }
  return counts_[state] = count;
}

double Words::count(const std::vector<std::uint32_t>& turns) {
  State state(std::ranges::max(turns) + 1);
  for (const std::uint32_t count : turns)
    if (count > 0) ++state[count - 1];
  return count_from(state);
}

std::vector<std::uint32_t> Words::word(std::vector<std::uint32_t> turns, double rank) {
  State state(std::ranges::max(turns) + 1);
  for (const std::uint32_t count : turns)
    if (count > 0) ++state[count - 1];
  std::vector<std::uint32_t> word;
  for (std::uint32_t total = std::reduce(turns.begin(), turns.end()); total > 0; --total) {
    std::uint32_t chosen = kNobody;
    State chosen_state;
    for (std::uint32_t thread = 0; thread < turns.size(); ++thread) {
      if (turns[thread] == 0 || (!word.empty() && word.back() == thread)) continue;
      State then = state;
      --then[turns[thread] - 1];
      if (turns[thread] > 1) ++then[turns[thread] - 2];
      then.back() = turns[thread] - 1;
      const double count = count_from(then);
      if (count == 0) continue;
      chosen = thread;  // the last possible one, should rounding lead beyond it
      chosen_state = std::move(then);
      if (rank < count) break;
      rank -= count;
    }
    word.push_back(chosen);
    state = std::move(chosen_state);
    --turns[chosen];
  }
  return word;
}

}  // namespace clew
