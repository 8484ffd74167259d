#include "host/isolate/window.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace clew {
namespace {

// So many positions at which a preemption takes no effect are the end of a thread's course.
constexpr std::size_t kBeyond = 16;

class WindowFinder {
 public:
  WindowFinder(std::uint64_t known, std::uint64_t end, const MovedTo& moved)
      : known_(known), end_(end), moved_(moved) {
    answers_[known] = Moved::kFails;
  }

  // False: stopped.
  Result<bool> try_positions(std::uint64_t most) {
    if (end_ <= most) {
      std::vector<std::uint64_t> all(end_);
      std::iota(all.begin(), all.end(), std::uint64_t{1});
      return ask(std::move(all));
    }
    std::vector<std::uint64_t> wanted;
    const std::uint64_t near = most / 4;
    for (std::uint64_t at = known_ > near ? known_ - near : 1; at <= std::min(end_, known_ + near);
         ++at)
      wanted.push_back(at);
    const std::uint64_t spread = std::max<std::uint64_t>(2, most / 2);
    for (std::uint64_t i = 0; i < spread; ++i) {
      const auto part = static_cast<unsigned __int128>(end_ - 1) * i / (spread - 1);
      wanted.push_back(1 + static_cast<std::uint64_t>(part));
    }
    return ask(std::move(wanted));
  }

  // False: stopped. Until the positions next to the window have been tried.
  Result<bool> find_ends() {
    for (;;) {
      const auto [below, first] = lower_end();
      const auto [last, above] = upper_end();
      std::vector<std::uint64_t> wanted;
      if (first - below > 1) wanted.push_back(std::midpoint(below, first));
      if (above - last > 1) wanted.push_back(std::midpoint(last, above));
      std::erase_if(wanted, [this](std::uint64_t at) { return answers_.contains(at); });
      if (wanted.empty()) return true;
      if (auto done = ask(std::move(wanted)); !done || !*done) return done;
    }
  }

  Window window() const {
    Window window;
    const auto [below, first] = lower_end();
    const auto [last, above] = upper_end();
    window.first = first;
    window.last = last;
    std::uint64_t tried = 0;
    for (const auto& [at, answer] : answers_) {
      const bool inside = at >= first && at <= last;
      if (inside) ++tried;
      if (inside && answer == Moved::kFails) ++window.places;
      if (inside || answer == Moved::kNoPlace) continue;
      ++window.others;
      if (answer != Moved::kFails) continue;
      if (window.others_failing++ == 0) window.others_first = at;
      window.others_last = at;
    }
    window.gapless = tried == last - first + 1;
    window.ends_before = does_not(first - 1);
    window.ends_after = does_not(last + 1);
    window.whole_course = answers_.size() == end_;
    return window;
  }

 private:
  bool does_not(std::uint64_t at) const {
    const auto found = answers_.find(at);
    return found != answers_.end() && found->second == Moved::kDoesNot;
  }

  // The next position tried that does not fail, or 0, and the last that fails before that.
  std::pair<std::uint64_t, std::uint64_t> lower_end() const {
    std::uint64_t first = known_;
    for (auto at = std::make_reverse_iterator(answers_.find(known_)); at != answers_.rend(); ++at) {
      if (at->second == Moved::kDoesNot) return {at->first, first};
      if (at->second == Moved::kFails) first = at->first;
    }
    // Nothing is known beyond the first that was tried.
    return {std::min(first - 1, answers_.begin()->first - 1), first};
  }
  std::pair<std::uint64_t, std::uint64_t> upper_end() const {
    std::uint64_t last = known_;
    for (auto at = answers_.find(known_); at != answers_.end(); ++at) {
      if (at->second == Moved::kDoesNot) return {last, at->first};
      if (at->second == Moved::kFails) last = at->first;
    }
    return {last, std::max(last + 1, answers_.rbegin()->first + 1)};
  }

  Result<bool> ask(std::vector<std::uint64_t> wanted) {
    std::ranges::sort(wanted);
    const auto repeated = std::ranges::unique(wanted);
    wanted.erase(repeated.begin(), repeated.end());
    std::erase_if(wanted, [this](std::uint64_t at) { return answers_.contains(at); });
    if (wanted.empty()) return true;
    CLEW_TRY(const auto answers, moved_(wanted));
    if (answers.empty()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) answers_[wanted[i]] = answers[i];
    return true;
  }

  std::uint64_t known_;
  std::uint64_t end_;
  const MovedTo& moved_;
  std::map<std::uint64_t, Moved> answers_;
};

bool took_effect(const Trace& trace, const ScriptItem& item) {
  return std::ranges::any_of(trace.decisions, [&](const TraceDecision& decision) {
    return decision.thread == item.thread && decision.own == item.own &&
           decision.kind == item.kind && (item.to == 0 || decision.to == item.to);
  });
}

// The thread's event with this number; if it is no access or call, only its place.
TraceStep step_of(const Trace& trace, abi::ThreadKey thread, std::uint64_t own) {
  for (const TraceStep& step : trace.steps)
    if (step.thread == thread && step.own == own) return step;
  for (const TraceDecision& decision : trace.decisions)
    if (decision.thread == thread && decision.own == own)
      return {.thread = thread, .place = decision.place, .own = own};
  return {};
}

}  // namespace

Result<std::optional<Window>> find_window(std::uint64_t known, std::uint64_t end,
                                          std::uint64_t most, const MovedTo& moved) {
  WindowFinder search(known, std::max(known, end), moved);
  CLEW_TRY(const bool tried, search.try_positions(most));
  if (!tried) return std::nullopt;
  CLEW_TRY(const bool found, search.find_ends());
  if (!found) return std::nullopt;
  return search.window();
}

Result<std::optional<ScriptWindow>> window_of(Trials& trials, const ThreadScript& script,
                                              std::size_t item, std::uint64_t course,
                                              std::uint64_t most) {
  const auto at_position = [&](std::uint64_t own) {
    ThreadScript other = script;
    other[item].own = own;
    return other;
  };
  const MovedTo moved = [&](const std::vector<std::uint64_t>& at) -> Result<std::vector<Moved>> {
    std::vector<ThreadScript> scripts;
    std::vector<JobPlan> plans;
    for (const std::uint64_t own : at) scripts.push_back(at_position(own));
    for (const ThreadScript& one : scripts) plans.push_back(job_of(one, abi::kJobWholeTrace));
    CLEW_TRY(const auto runs, trials.run(plans));
    std::vector<Moved> answers;
    for (std::size_t i = 0; i < runs.size(); ++i)
      answers.push_back(!took_effect(runs[i].trace, scripts[i][item]) ? Moved::kNoPlace
                        : runs[i].verdict == Verdict::kFail           ? Moved::kFails
                                                                      : Moved::kDoesNot);
    return answers;
  };
  ThreadScript without = script;
  without.erase(without.begin() + static_cast<std::ptrdiff_t>(item));
  const JobPlan plain = job_of(without);
  CLEW_TRY(const auto anyway, trials.run({&plain, 1}));
  if (anyway.empty() || anyway.front().verdict == Verdict::kFail) return std::nullopt;
  // The last events of a thread may be none that are traced: as far as a preemption takes effect.
  for (bool further = true; further && course < most;) {
    std::vector<std::uint64_t> beyond(kBeyond);
    std::iota(beyond.begin(), beyond.end(), course + 1);
    CLEW_TRY(const auto answers, moved(beyond));
    if (answers.empty()) return std::nullopt;
    further = std::ranges::any_of(answers, [](Moved one) { return one != Moved::kNoPlace; });
    if (further) course += kBeyond;
  }
  CLEW_TRY(const auto window, find_window(script[item].own, course, most, moved));
  if (!window) return std::nullopt;
  const std::uint64_t ends[] = {window->first, window->last, window->others_first,
                                window->others_last};
  std::vector<JobPlan> plans;
  for (const std::uint64_t own : ends) {
    JobPlan& plan = plans.emplace_back(
        job_of(at_position(own != 0 ? own : script[item].own), abi::kJobWholeTrace));
    // All of it: where in the run that is, the clock does not say.
    if (!trials.has_checkpoints()) plan.window = {1, UINT64_MAX};
  }
  CLEW_TRY(const auto runs, trials.run(plans));
  if (runs.empty()) return std::nullopt;
  const abi::ThreadKey thread = script[item].thread;
  const auto step = [&](std::size_t i) {
    return ends[i] == 0 ? TraceStep{} : step_of(runs[i].trace, thread, ends[i]);
  };
  return ScriptWindow{*window, step_of(runs[0].trace, thread, window->first - 1),
                      step(0), step(1),
                      step(2), step(3)};
}

}  // namespace clew
