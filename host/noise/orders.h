// Which order of two steps goes with the failure. Noise tells where a delay matters; whom it lets come
// first is seen in traces of such runs. An order is a step, and the next one at the same memory or
// synchronisation object, by another thread; of two accesses one changes the memory.
#ifndef CLEW_HOST_NOISE_ORDERS_H_
#define CLEW_HOST_NOISE_ORDERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "host/noise/algorithm.h"
#include "host/noise/points.h"
#include "host/trace/trace.h"

namespace clew {

// Counts the orders of traced runs.
class OrderCounter {
 public:
  enum class Outcome : std::uint8_t { kFails, kPasses };

  explicit OrderCounter(std::span<const NoisePoint> points);
  void learn(const Trace& trace, Outcome outcome);
  // Of a run that ended in a deadlock, after learn().
  void learn_stuck(const Trace& trace);
  // Those seen in more of the failing than of the passing runs, by more than any order of so many
  // would be by chance in one campaign out of a hundred. The most telling first; of equals, the one
  // that came first in the failing runs. One for each pair of lines.
  [[nodiscard]] OrderEvidence telling() const;

 private:
  using Order = std::pair<std::uint32_t, std::uint32_t>;
  struct Seen {
    std::uint64_t failing = 0, passing = 0;
    double position = 0;  // in the failing runs, the sum over them: 0 the first step, 1 the last
  };
  [[nodiscard]] std::map<Order, std::size_t> orders_of(const Trace& trace) const;

  std::span<const NoisePoint> points_;
  std::map<abi::Place, std::uint32_t> position_;
  std::map<Order, Seen> seen_;
  std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, std::uint64_t> stuck_;
  std::uint64_t failing_ = 0, passing_ = 0;
};

// Runs with noise at the points of the cause alone, and with noise at half of all points, and fills in
// its orders. `is_deadlock`: whether the failure with this number is one. False: told to stop.
[[nodiscard]] bool watch_orders(Laboratory& laboratory, std::span<const NoisePoint> points,
                                const std::function<bool(std::uint32_t)>& is_deadlock,
                                NoiseCause& cause);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_ORDERS_H_
