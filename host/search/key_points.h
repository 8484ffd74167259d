// Key points: where threads can be interrupted so that it matters, what schedules over them do, and
// the counting of such schedules. The search that uses them is period_search.h.
#ifndef CLEW_HOST_SEARCH_KEY_POINTS_H_
#define CLEW_HOST_SEARCH_KEY_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "host/search/guides.h"
#include "host/trace/trace.h"

namespace clew {

// What a trace says about who can be interrupted where.
struct KeyPoint {
  std::uint64_t step = 0;  // the thread's steps before it
  abi::Place place = 0;
  abi::StepKind kind{};
  std::vector<std::uint32_t> objects;  // numbered; eight bytes of memory each
};
struct KeyThread {
  abi::ThreadKey key = 0;
  std::uint64_t steps = 0;
  std::vector<KeyPoint> points;  // not empty
};
struct KeyPoints {
  // Chosen, not measured.
  static constexpr std::size_t kMostThreads = 100;
  std::vector<KeyThread> threads;  // in the order of their first steps, at most kMostThreads
  std::uint32_t objects = 0;
  std::vector<bool> exclusive;  // by object: as a lock, one thread at a time holds it
  // Steps of the main thread up to its last creation of a thread before its first key point: with
  // them a schedule begins, so that there are threads to choose from.
  std::uint64_t prelude = 0;
};
[[nodiscard]] KeyPoints key_points(std::span<const TraceStep> trace);

// One run of a thread: up to, and without, key point number `end`.
struct Turn {
  std::uint32_t thread = 0;
  std::uint32_t end = 0;
  bool operator==(const Turn&) const = default;
};
using Turns = std::vector<Turn>;

// Periods that the turns need.
[[nodiscard]] std::size_t periods(const Turns& turns);
// Of the order of conflicting steps; the same for turns that are equivalent. A turn ends early if
// its thread needs a lock that another holds; what is left at the end runs in order.
[[nodiscard]] std::uint64_t play(const KeyPoints& model, const Turns& turns);
// The same of a run that was made, if it did at the model's key points what the model says. REQUIRES: its
// steps are counted as those of the model's trace were.
[[nodiscard]] std::optional<std::uint64_t> played(const KeyPoints& model,
                                                  std::span<const TraceStep> trace);
// The turns as directives for the plan strategy.
[[nodiscard]] std::vector<PlanDirective> directives(const KeyPoints& model, const Turns& turns);

// Counts and lists the words with given numbers of turns, without equal neighbours.
class Words {
 public:
  // Exact up to 2^53.
  [[nodiscard]] double count(const std::vector<std::uint32_t>& turns);
  // Word number `rank`. REQUIRES: rank < count(turns).
  [[nodiscard]] std::vector<std::uint32_t> word(std::vector<std::uint32_t> turns, double rank);

 private:
  // Threads with 1, 2, ... turns left, and last how many the one has left that may not be next.
  using State = std::vector<std::uint32_t>;
  [[nodiscard]] double count_from(const State& state);
  std::map<State, double> counts_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_KEY_POINTS_H_
