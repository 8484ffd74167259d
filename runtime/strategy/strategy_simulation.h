// A simulated program, to test strategies without one: threads are lists of steps, and a run drives
// a strategy as strategy.h says the scheduler does. Tests only.
#ifndef CLEW_RUNTIME_STRATEGY_STRATEGY_SIMULATION_H_
#define CLEW_RUNTIME_STRATEGY_STRATEGY_SIMULATION_H_

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/strategy/none.h"
#include "runtime/strategy/prefix.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt::simulation {

struct SimulatedStep {
  Step step;
  int creates = -1;                    // thread of the program that the step creates
  std::uintptr_t waits_for_write = 0;  // the step repeats until this object has been written to
};

struct SimulatedThread {
  std::vector<SimulatedStep> steps;
  bool from_start = true;  // otherwise another thread creates it
};

using Program = std::vector<SimulatedThread>;

// The key of the program's thread number `number`, however it came to be.
inline abi::ThreadKey key_of(int number) { return 1000 + static_cast<abi::ThreadKey>(number); }

inline SimulatedStep read(std::uintptr_t object, abi::Place place) {
  return {{object, place, 4, abi::StepKind::kRead}};
}
inline SimulatedStep write(std::uintptr_t object, abi::Place place) {
  return {{object, place, 4, abi::StepKind::kWrite}};
}
inline SimulatedStep lock(std::uintptr_t object, abi::Place place = 900) {
  return {{object, place, 0, abi::StepKind::kLock}};
}
inline SimulatedStep unlock(std::uintptr_t object, abi::Place place = 901) {
  return {{object, place, 0, abi::StepKind::kUnlock}};
}
inline SimulatedStep create(int thread, abi::Place place = 902) {
  return {{0, place, 0, abi::StepKind::kCreate}, thread};
}
inline SimulatedStep spin_until_written(std::uintptr_t object, abi::Place place) {
  return {{object, place, 4, abi::StepKind::kRead}, -1, object};
}
// `count` steps that conflict with nothing.
inline SimulatedThread private_steps(int thread, int count) {
  SimulatedThread result;
  for (int i = 0; i < count; ++i)
    result.steps.push_back(
        write(0x10000u * (static_cast<unsigned>(thread) + 1) + 16u * static_cast<unsigned>(i),
              static_cast<abi::Place>(100 * (thread + 1) + i)));
  return result;
}

struct Outcome {
  std::string order;        // a letter for each step executed: 'a' is the program's thread 0
  std::vector<Step> steps;  // likewise
  bool deadlock = false;
  bool too_long = false;
  std::uint32_t preemptions = 0;
};

class Simulation {
 public:
  Simulation(const Program& program, Strategy& strategy, std::size_t most_steps = 200'000)
      : program_(program), strategy_(strategy), most_steps_(most_steps) {}

  Outcome run() {
    for (std::size_t i = 0; i < program_.size(); ++i)
      if (program_[i].from_start) begin(static_cast<int>(i), 0);
    tell_switch();
    next_decision_ = strategy_.next_decision(clock_);
    while (step_once()) {
    }
    return std::move(run_);
  }

 private:
  struct Live {
    int number;
    std::uint32_t index;
    std::size_t at = 0;
    bool queued = false;
  };

  const std::vector<SimulatedStep>& steps_of(const Live& t) const {
    return program_[static_cast<std::size_t>(t.number)].steps;
  }
  Candidate candidate(const Live& t) const {
    const bool over = t.at == steps_of(t).size();
    return {key_of(t.number), t.index, over ? Step{} : steps_of(t)[t.at].step};
  }
  bool can_run(const Live& t) const {
    if (t.at == steps_of(t).size()) return false;
    const Step& step = steps_of(t)[t.at].step;
    return step.kind != abi::StepKind::kLock || !holders_.contains(step.object);
  }

  void begin(int number, abi::ThreadKey parent) {
    live_.push_back({number, static_cast<std::uint32_t>(live_.size())});
    strategy_.learn({Occurrence::Kind::kCreated, candidate(live_.back()), parent});
    if (steps_of(live_.back()).empty())
      strategy_.learn({Occurrence::Kind::kFinished, candidate(live_.back())});
    enqueue_ready();
  }

  // Threads that have become ready go to the end of the queue; those that no longer are leave it.
  void enqueue_ready() {
    std::deque<std::uint32_t> kept;
    for (const std::uint32_t i : queue_) {
      live_[i].queued = can_run(live_[i]);
      if (live_[i].queued) kept.push_back(i);
    }
    queue_ = kept;
    for (Live& t : live_) {
      if (t.queued || static_cast<int>(t.index) == current_ || !can_run(t)) continue;
      t.queued = true;
      queue_.push_back(t.index);
    }
  }

  void tell_switch() {
    const Candidate running =
        current_ >= 0 ? candidate(live_[static_cast<std::size_t>(current_)]) : Candidate{};
    strategy_.learn({Occurrence::Kind::kSwitched, running, 0, clock_ + 1});
  }

  void switch_to(std::uint32_t index) {
    const int before = current_;
    current_ = static_cast<int>(index);
    std::erase(queue_, index);
    live_[index].queued = false;
    if (before >= 0 && can_run(live_[static_cast<std::size_t>(before)])) {
      ++run_.preemptions;
      live_[static_cast<std::size_t>(before)].queued = true;
      queue_.push_back(static_cast<std::uint32_t>(before));
    }
    enqueue_ready();
    tell_switch();
    next_decision_ = strategy_.next_decision(clock_);
  }

  bool current_can_run() const {
    return current_ >= 0 && can_run(live_[static_cast<std::size_t>(current_)]);
  }

  void decide_by_the_clock() {
    if (clock_ + 1 < next_decision_) return;
    for (int asked = 0; asked < 1000; ++asked) {
      if (strategy_.preempt(clock_ + 1).kind == Decision::Kind::kStay) break;
      if (!queue_.empty()) switch_to(queue_.front());
    }
    next_decision_ = strategy_.next_decision(clock_ + 1);
  }

  bool step_once() {
    enqueue_ready();
    if (run_.order.size() == most_steps_) return !(run_.too_long = true);
    const bool running = current_can_run();
    if (!running && queue_.empty()) {
      for (const Live& t : live_) run_.deadlock |= t.at != steps_of(t).size();
      return false;
    }
    if (strategy_.manner.at_every_point || !running) {
      if (const std::uint32_t next = ask(running); static_cast<int>(next) != current_)
        switch_to(next);
    }
    if (!strategy_.manner.at_every_point) decide_by_the_clock();
    execute(live_[static_cast<std::size_t>(current_)]);
    return true;
  }

  std::uint32_t ask(bool running) {
    std::vector<Candidate> list;
    if (running) list.push_back(candidate(live_[static_cast<std::size_t>(current_)]));
    for (const std::uint32_t i : queue_) list.push_back(candidate(live_[i]));
    const bool asked =
        list.size() > 1 && (strategy_.manner.at_every_point || strategy_.manner.picks);
    const std::uint32_t answer =
        asked ? strategy_.pick({list.data(), static_cast<std::uint32_t>(list.size()), running}) : 0;
    return list.at(answer).index;
  }

  void execute(Live& t) {
    const SimulatedStep& step = steps_of(t)[t.at];
    const Candidate as_asked = candidate(t);
    const std::uint32_t index = t.index;
    if (strategy_.manner.at_every_point) strategy_.learn({Occurrence::Kind::kExecuted, as_asked});
    ++clock_;
    run_.order += static_cast<char>('a' + t.number);
    run_.steps.push_back(step.step);
    if (step.step.kind == abi::StepKind::kLock) holders_[step.step.object] = index;
    if (step.step.kind == abi::StepKind::kUnlock) holders_.erase(step.step.object);
    if (step.step.kind == abi::StepKind::kWrite) written_[step.step.object] = true;
    if (step.waits_for_write == 0 || written_.contains(step.waits_for_write)) ++t.at;
    const bool over = t.at == steps_of(t).size();
    const int creates = step.creates;
    const abi::ThreadKey key = as_asked.key;
    if (creates >= 0) begin(creates, key);
    if (over) strategy_.learn({Occurrence::Kind::kFinished, candidate(live_[index])});
  }

  const Program& program_;
  Strategy& strategy_;
  std::size_t most_steps_;
  std::deque<Live> live_;
  std::deque<std::uint32_t> queue_;
  std::map<std::uintptr_t, std::uint32_t> holders_;
  std::map<std::uintptr_t, bool> written_;
  int current_ = -1;
  Clock clock_ = 0;
  Clock next_decision_ = kNever;
  Outcome run_;
};

// --- jobs and memory, defined in strategy_simulation_test.cc

// Gives back all that strategies have allocated.
void forget_arena();
// A job with that guide, which must outlive it.
abi::Job make_job(std::uint64_t seed, const std::vector<std::uint8_t>* guide = nullptr);

// A strategy as make_strategy() makes it.
template <class S>
struct Made {
  explicit Made(const abi::Job& job) : strategy(job) {}
  S strategy;
};
template <>
struct Made<Prefix> {
  explicit Made(const abi::Job& job) : strategy(job, inside) {}
  NoStrategy inside{kAtEveryPoint};
  Prefix strategy;
};

template <class S>
Outcome run_once(const Program& program, const abi::Job& job, std::size_t most_steps = 200'000) {
  forget_arena();
  Made<S> made(job);
  return Simulation(program, made.strategy, most_steps).run();
}

// How often each order comes up with the seeds 1..runs.
template <class S, class Label>
std::map<std::string, std::uint64_t> sample(const Program& program, abi::Job job,
                                            std::uint64_t runs, Label label) {
  std::map<std::string, std::uint64_t> counts;
  for (job.seed = 1; job.seed <= runs; ++job.seed) ++counts[label(run_once<S>(program, job))];
  return counts;
}
template <class S>
std::map<std::string, std::uint64_t> sample(const Program& program, const abi::Job& job,
                                            std::uint64_t runs) {
  return sample<S>(program, job, runs, [](const Outcome& run) { return run.order; });
}

// How far counts are from probabilities: Pearson's chi-square as a number of standard deviations
// (Wilson and Hilferty). Above 4: they do not agree. Infinite if something impossible came up.
inline double deviation(const std::map<std::string, std::uint64_t>& counts,
                        const std::map<std::string, double>& probabilities) {
  std::uint64_t runs = 0;
  for (const auto& [order, count] : counts) {
    if (!probabilities.contains(order)) return INFINITY;
    runs += count;
  }
  double square = 0;
  for (const auto& [order, probability] : probabilities) {
    const double expected = probability * static_cast<double>(runs);
    const auto found = counts.find(order);
    const double count = found == counts.end() ? 0 : static_cast<double>(found->second);
    square += (count - expected) * (count - expected) / expected;
  }
  const double degrees = static_cast<double>(probabilities.size()) - 1;
  if (degrees <= 0) return 0;
  const double spread = 2 / (9 * degrees);
  return (std::cbrt(square / degrees) - (1 - spread)) / std::sqrt(spread);
}

inline std::map<std::string, double> uniform(const std::vector<std::string>& orders) {
  std::map<std::string, double> result;
  for (const std::string& order : orders) result[order] = 1.0 / static_cast<double>(orders.size());
  return result;
}

}  // namespace clew::rt::simulation

#endif  // CLEW_RUNTIME_STRATEGY_STRATEGY_SIMULATION_H_
