#include "host/cases/place_together.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "host/cases/matching.h"

namespace clew {
namespace {

// Of each event. Chosen, not measured: a function that was split has a few such statements.
constexpr std::size_t kMostWays = 6;

struct Way {
  const Placed* first;
  const Placed* third;
};

class Together {
 public:
  Together(const Case& one, const Survey& survey) : case_(one) {
    for (const LabRun& run : survey.runs()) runs_.push_back(survey.traced(run));
  }

  // Whether a run has steps for all events of the order, in whatever order they come.
  [[nodiscard]] bool has_events(const CaseOrder& order, const std::vector<Placed>& placed) const {
    Case alone = case_;
    alone.orders = {order};
    bool found = false;
    for (const TracedRun& run : runs_)
      each_choice(alone, sites_of(placed), run, [&](const Match&) { return !(found = true); });
    return found;
  }

  // Whether a thread executes both, in this order, for the same data. One atomic update may be both.
  [[nodiscard]] bool in_one_thread(const CaseOrder& order, const Way& way) const {
    return std::ranges::any_of(runs_, [&](const TracedRun& run) {
      const auto firsts = instances_of(case_.events[order.events[0]], way.first->sites, run);
      const auto thirds = instances_of(case_.events[order.events[2]], way.third->sites, run);
      return std::ranges::any_of(firsts, [&](std::size_t a) {
        return std::ranges::any_of(thirds, [&](std::size_t c) {
          const bool is_one_step = a == c && run.steps[a].kind == abi::StepKind::kUpdate;
          return (a < c || is_one_step) && run.steps[a].thread == run.steps[c].thread &&
                 (!order.same_data || same_data(run.steps[a], run.steps[c]));
        });
      });
    });
  }

 private:
  const Case& case_;
  std::vector<TracedRun> runs_;
};

bool is_edited(const Placed& placed) {
  return placed.fit == Fit::kMoved || placed.fit == Fit::kNearest;
}

}  // namespace

void place_together(const Case& one, const Survey& survey, std::vector<Placed>& placed) {
  const Together together(one, survey);
  for (const CaseOrder& order : one.orders) {
    if (order.kind != CaseOrder::Kind::kBetween) continue;
    Placed& first = placed[order.events[0]];
    Placed& third = placed[order.events[2]];
    if ((!is_edited(first) && !is_edited(third)) || together.has_events(order, placed)) continue;
    const auto firsts = places_of_anchor(one.events[order.events[0]].at, survey.sites(), kMostWays);
    const auto thirds = places_of_anchor(one.events[order.events[2]].at, survey.sites(), kMostWays);
    // As little as possible is given up: the sum of the ranks counts. Code of two functions that was edited is likely to have
    // become part of one.
    std::vector<Way> in_one_function;
    std::vector<Way> others;
    for (std::size_t sum = 0; sum < firsts.size() + thirds.size(); ++sum)
      for (std::size_t a = 0; a < firsts.size() && a <= sum; ++a)
        if (sum - a < thirds.size()) {
          const Way way{&firsts[a], &thirds[sum - a]};
          (way.first->at.function == way.third->at.function ? in_one_function : others)
              .push_back(way);
        }
    std::vector<Way> ways = std::move(in_one_function);
    if (!together.in_one_thread(order, {&first, &third}))
      ways.insert(ways.end(), others.begin(), others.end());
    const auto found = std::ranges::find_if(
        ways, [&](const Way& way) { return together.in_one_thread(order, way); });
    if (found == ways.end()) continue;
    first = *found->first;
    third = *found->third;
  }
}

}  // namespace clew
