// Program points: where noise can be made (Tzoref, Ur, Yom-Tov 2007, section 3).
//
// A point is a yield point that accesses what threads share, or a call that synchronises, met while
// another thread lived. What comes between two points of a thread touches nothing that others can
// see: noise there is noise at the next point, and those places are not points of their own.
#ifndef CLEW_HOST_NOISE_POINTS_H_
#define CLEW_HOST_NOISE_POINTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clew_abi/step.h"
#include "clew_abi/stream.h"
#include "host/noise/subset.h"
#include "host/outcome.h"
#include "host/trace/trace.h"

namespace clew {

struct NoisePoint {
  abi::Place place = 0;
  abi::StepKind kind = abi::StepKind::kOther;
  Location at;               // line 0: not known
  std::uint32_t column = 0;  // 0: not known
  bool races = false;        // seen unordered with a conflicting step of another thread
  // Takes a lock while holding another, and a different thread was seen to take the two in the other order.
  bool inverts = false;
  abi::ThreadKey thread = 0;  // that came here first
  std::uint32_t met = 0;      // its number in the order in which points were met
  // Of code of a library's that one line of the user's own calls: `at` is that line, and this the code's.
  std::optional<Location> inside;
  // The user's own lines from which the code with the point was called, in a run without noise.
  std::vector<Location> callers;
  bool in_library = false;  // ... and `at` is none of the user's
  // The user's own lines on the stack at the first visits of such a run, the innermost first; each stack once.
  std::vector<std::vector<Location>> stacks;
  // The user's outermost function there, in a run without noise: what the thread executes. Empty:
  // not known.
  std::string thread_function;

  // Section 5: it tells which thread matters, not where.
  [[nodiscard]] bool starts_thread() const { return kind == abi::StepKind::kCreate; }
};

// The points at which noise of a sample with these sides comes after the event (abi::noise_comes_after).
[[nodiscard]] Subset points_after(std::span<const NoisePoint> points, std::uint64_t sides);

// Two points that a thread came to one after the other, by position.
using PointEdge = std::pair<std::uint32_t, std::uint32_t>;

// Points of which one always came right after the other, and never after another one: noise after the first and noise before
// the second are the same delay.
struct Neighbours {
  std::vector<std::optional<std::uint32_t>> next, previous;  // by point
  Neighbours() = default;
  Neighbours(std::size_t points, const std::set<PointEdge>& seen);
};

// What the first runs show: which points there are, and what follows what.
class PointFinder {
 public:
  void learn(const Trace& trace, const std::vector<std::uint32_t>& shared_points);

  // How many learn() calls in a row brought nothing new.
  [[nodiscard]] std::uint64_t calls_without_news() const { return without_news_; }

  // Of a run that can be run again: the clocks at which it came to each place, the first few.
  void remember(const Trace& trace);
  [[nodiscard]] const std::map<abi::Place, std::vector<std::uint64_t>>& clocks() const {
    return clocks_;
  }

  // The points in the order of their places, which is the same in every campaign, without source.
  // Fixes the positions.
  [[nodiscard]] std::vector<NoisePoint> points();
  // REQUIRES: points() was called.
  [[nodiscard]] std::set<PointEdge> edges() const;

 private:
  struct Met {
    abi::StepKind kind = abi::StepKind::kOther;
    bool races = false;
    abi::ThreadKey thread = 0;
  };
  [[nodiscard]] bool is_point(abi::Place place, abi::StepKind kind) const;
  void learn_locks(const Trace& trace);
  [[nodiscard]] std::set<abi::Place> inversions() const;

  std::map<abi::Place, Met> met_;
  std::map<abi::Place, std::vector<std::uint64_t>> clocks_;
  std::vector<abi::Place> order_;
  std::set<std::uint64_t> shared_;
  std::map<abi::Place, std::uint32_t> position_;
  // Steps of one thread in a row, whether or not they are points.
  std::map<abi::Place, std::set<abi::Place>> next_;
  // Who took the second lock while holding the first, and where.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::set<std::pair<abi::ThreadKey, abi::Place>>>
      nested_;
  std::uint64_t without_news_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_POINTS_H_
