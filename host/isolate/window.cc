#include "host/isolate/window.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace clew {
namespace {

// One end of the window: failing up to `fails`, not at `other`.
struct Edge {
  std::uint64_t fails;
  std::uint64_t other;
  std::uint64_t step = 1;  // while the other is not known: 0 once it is

  bool open() const { return step != 0 || (fails > other ? fails - other : other - fails) > 1; }
};

class Edges {
 public:
  Edges(std::uint64_t known, std::uint64_t end, const FailsAt& fails)
      : end_(end), fails_(fails), low_{known, 0}, high_{known, end + 1} {
    answers_[known] = true;
    // Positions 0 and end + 1 do not exist: they count as not failing.
    answers_[0] = answers_[end + 1] = false;
  }

  // False: stopped.
  Result<bool> narrow() {
    while (low_.open() || high_.open()) {
      std::vector<std::uint64_t> wanted;
      if (low_.open()) wanted.push_back(probe(low_, -1));
      if (high_.open()) wanted.push_back(probe(high_, +1));
      if (auto done = ask(wanted); !done || !*done) return done;
      if (low_.open()) take(low_, -1);
      if (high_.open()) take(high_, +1);
    }
    return true;
  }

  // False: stopped. Tries positions in between; a hole becomes an end.
  Result<bool> look_inside(std::uint64_t known, std::uint64_t inner) {
    for (;;) {
      const std::uint64_t width = high_.fails - low_.fails;
      std::vector<std::uint64_t> wanted;
      const std::uint64_t count = std::min(width, inner);
      for (std::uint64_t i = 1; i < count; ++i) {
        const auto part = static_cast<unsigned __int128>(width) * i / count;
        wanted.push_back(low_.fails + static_cast<std::uint64_t>(part));
      }
      if (auto done = ask(wanted); !done || !*done) return done;
      std::uint64_t below = low_.other;
      std::uint64_t above = high_.other;
      for (const auto& [at, failed] : answers_) {
        if (failed) continue;
        if (at < known) below = std::max(below, at);
        if (at > known) above = std::min(above, at);
      }
      if (below == low_.other && above == high_.other) return true;
      const auto nearest = [&](std::uint64_t from, std::uint64_t to) {
        // The failing position known that is nearest to the hole, on our side of it.
        std::uint64_t best = known;
        for (const auto& [at, failed] : answers_)
          if (failed && at > std::min(from, to) && at < std::max(from, to) &&
              (from < to ? at < best : at > best))
            best = at;
        return best;
      };
      if (below != low_.other) low_ = {nearest(below, known), below, 0};
      if (above != high_.other) high_ = {nearest(above, known), above, 0};
      if (auto done = narrow(); !done || !*done) return done;
    }
  }

  Window window() const {
    Window window{low_.fails, high_.fails, 0};
    for (const auto& [at, failed] : answers_)
      if (failed && at >= window.first && at <= window.last) ++window.tested;
    return window;
  }

 private:
  std::uint64_t probe(const Edge& edge, int direction) const {
    if (edge.step == 0) return std::midpoint(edge.fails, edge.other);
    if (direction < 0) return edge.fails > edge.step ? edge.fails - edge.step : 0;
    return std::min(end_ + 1, edge.fails + edge.step);
  }

  void take(Edge& edge, int direction) {
    const std::uint64_t at = probe(edge, direction);
    if (answers_.at(at)) {
      edge.fails = at;
      edge.step *= 2;
    } else {
      edge.other = at;
      edge.step = 0;
    }
  }

  Result<bool> ask(std::vector<std::uint64_t> wanted) {
    std::erase_if(wanted, [this](std::uint64_t at) { return answers_.contains(at); });
    if (wanted.empty()) return true;
    CLEW_TRY(const auto failed, fails_(wanted));
    if (failed.empty()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) answers_[wanted[i]] = failed[i];
    return true;
  }

  std::uint64_t end_;
  const FailsAt& fails_;
  Edge low_;
  Edge high_;
  std::map<std::uint64_t, bool> answers_;
};

// Where the thread stood when the item took effect.
abi::Place place_of(const Trace& trace, const ScriptItem& item) {
  for (const TraceDecision& decision : trace.decisions)
    if (decision.thread == item.thread && decision.own == item.own && decision.kind == item.kind)
      return decision.place;
  return 0;
}

}  // namespace

Result<std::optional<Window>> find_window(std::uint64_t known, std::uint64_t end,
                                          std::uint64_t inner, const FailsAt& fails) {
  Edges search(known, std::max(known, end), fails);
  CLEW_TRY(const bool narrowed, search.narrow());
  if (!narrowed) return std::nullopt;
  CLEW_TRY(const bool seen, search.look_inside(known, inner));
  if (!seen) return std::nullopt;
  return search.window();
}

Result<std::optional<ScriptWindow>> window_of(Trials& trials, const ThreadScript& script,
                                              std::size_t item, std::uint64_t inner) {
  const auto moved = [&](std::uint64_t own) {
    ThreadScript other = script;
    other[item].own = own;
    return other;
  };
  const FailsAt fails = [&](const std::vector<std::uint64_t>& at) -> Result<std::vector<bool>> {
    std::vector<JobPlan> plans;
    for (const std::uint64_t own : at) plans.push_back(job_of(moved(own)));
    CLEW_TRY(const auto runs, trials.run(plans));
    std::vector<bool> failed;
    for (const TrialRun& run : runs) failed.push_back(run.verdict == Verdict::kFail);
    return failed;
  };
  CLEW_TRY(const auto window,
           find_window(script[item].own, trials.failure().result.clock, inner, fails));
  if (!window) return std::nullopt;
  const std::uint64_t first = window->first;
  const ThreadScript ends[] = {moved(first), moved(window->last), moved(first > 1 ? first - 1 : 1)};
  std::vector<JobPlan> plans;
  for (const ThreadScript& end : ends) plans.push_back(job_of(end, abi::kJobWholeTrace));
  CLEW_TRY(const auto runs, trials.run(plans));
  if (runs.empty()) return std::nullopt;
  const auto place = [&](std::size_t i) { return place_of(runs[i].trace, ends[i][item]); };
  return ScriptWindow{*window, first > 1 ? place(2) : 0, place(0), place(1)};
}

}  // namespace clew
