// The happens-before relation of a traced run and its races, for the exhaustive search.
#ifndef CLEW_HOST_TRACE_TRACE_ORDER_H_
#define CLEW_HOST_TRACE_TRACE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

inline constexpr std::uint32_t kMostThreads = 64;  // TraceStep::enabled has no room for more

// The happens-before relation of a trace by vector clocks, and its races.
class TraceOrder {
 public:
  // `race(i, u)`: step i conflicts with the next step of u at some state after it, and does not
  // happen before it.
  using Race = std::function<void(std::size_t i, std::uint32_t u)>;

  explicit TraceOrder(std::span<const TraceStep> trace);

  // Those of the steps from `from` on with the ones before each; the former and the threads'
  // unknown next steps when the run ended.
  void each_race(std::size_t from, const Race& race);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr int kGranule = 6;          // log2 of the bytes under one key of touched_
  static constexpr std::uint64_t kWide = 64;  // keys; chosen, not measured

  // Numbers of steps of each thread; it knows of that many.
  using Clock = std::vector<std::uint32_t>;
  struct Thread {
    std::size_t last = kNone;  // its newest step, up to the current one
    Clock known;               // happened before its next step, whatever lock that takes
    Clock released;            // ... because of a lock it waited for
    bool waits = false;        // in a kWait that nothing has ended yet
  };
  using ByThread = std::vector<std::vector<std::size_t>>;  // steps, ascending

  void step(std::size_t k, const Race* race);
  void races_of(std::size_t k, const TraceStep& next, std::uint32_t u, const Race& race) const;
  [[nodiscard]] bool could_run(std::size_t i, std::uint32_t u) const;
  [[nodiscard]] bool may_split(std::size_t k, std::uint32_t u) const;
  void touch(std::size_t k);
  void see_waking(std::size_t j);
  void cut_off(const Race& race) const;
  [[nodiscard]] std::uint32_t joined_by(const TraceStep& step) const;
  static void merge(Clock& into, const Clock& from);
  template <class F>
  void each_touched(const TraceStep& step, const F& f) const;

  std::span<const TraceStep> trace_;
  std::uint32_t width_ = 0;            // threads
  std::vector<Clock> clocks_;          // what happened before or at each step
  std::vector<std::uint32_t> number_;  // of each step among its thread's, from 1
  std::vector<std::size_t> final_;     // each thread's last step of all
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, ByThread> touched_;
  ByThread wide_;  // steps that touch so much that they are not in touched_
  std::unordered_map<std::uint64_t, std::uint32_t> created_;  // index by object of kCreate
  std::uint32_t creations_ = 0;
  std::uint64_t joined_ = 0;          // threads that are known to have ended
  Clock known_at_end_;                // to the thread of the last step, before it
  std::size_t since_at_end_ = kNone;  // the step of that thread before it
};

}  // namespace clew

#endif  // CLEW_HOST_TRACE_TRACE_ORDER_H_
