#include "host/isolate/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "host/isolate/last_signal.h"
#include "host/isolate/order.h"
#include "host/isolate/script.h"
#include "host/isolate/source_view.h"
#include "host/isolate/window.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// Of more preemptions only those that were isolated are looked into.
// The limits here are chosen, not measured: the answer should take no longer than the isolation
// before it.
constexpr std::size_t kMostPreemptions = 16;
// Events behind the point at which the two runs part among which the pair is sought.
constexpr std::uint64_t kTraced = 400'000;
// Events before it that are traced as well, so that it can be told how often a thread came to a
// place.
constexpr std::uint64_t kTracedBefore = 100'000;
// Places tried to find a window; runs that are long enough for checkpoints cost more.
constexpr std::uint64_t kPlaces = 128;
constexpr std::uint64_t kPlacesOfLong = 16;

class Answer {
 public:
  Answer(Experiment& experiment, const Narrowed& narrowed, const RecordedJob& failing,
         const RecordedJob& passing)
      : x_(experiment), narrowed_(narrowed), failing_record_(failing), passing_record_(passing) {}

  Result<void> complete();

 private:
  void tell_switches(SourceView& failing, SourceView& passing, const Trace& failing_trace,
                     const Trace& passing_trace);
  Result<void> tell_preemptions(SourceView& view, const Trace& failing_trace,
                                const Trace& passing_trace);
  void tell_choice(SourceView& view, const Trace& failing_trace, const TraceDecision& decision);
  Result<RunResult> queried(const RecordedJob& record, std::vector<std::uint64_t> clocks);
  Result<void> look_closer();

  Experiment& x_;
  const Narrowed& narrowed_;
  const RecordedJob& failing_record_;
  const RecordedJob& passing_record_;
  bool from_start_ = false;  // so are the traces; otherwise from where the runs part
  std::map<std::size_t, std::uint64_t> begins_;  // of windows, by preemption
  // The clock of the pair's second event in the passing run, if the failing one ends before it; 0:
  // it does not, or there is no pair.
  std::uint64_t second_when_passing_ = 0;
};

struct Handover {
  std::optional<Standpoint> from;
  std::optional<Standpoint> next;
};

// What the thread that is preempted is about to do. In this run it may never come to it; in the
// other, which is the same up to there, it may. `from_start`: so are the traces.
Standpoint with_step(SourceView& view, const Trace& trace, const Trace& other, bool from_start,
                     const TraceDecision& decision, Standpoint standpoint) {
  const auto is_it = [&](const TraceStep& step) {
    return step.thread == decision.thread && step.own == decision.own &&
           step.place == decision.place;
  };
  for (const Trace* one : {&trace, &other}) {
    const auto step = std::ranges::find_if(one->steps, is_it);
    if (step == one->steps.end()) continue;
    standpoint.step = view.event(*step);
    // A place in a library may belong to many lines of the user's.
    if (from_start && standpoint.step->at && is_user_location(*standpoint.step->at))
      standpoint.step->time =
          1 + static_cast<std::uint64_t>(
                  std::ranges::count_if(one->steps.begin(), step, [&](const TraceStep& before) {
                    return before.thread == step->thread && before.place == step->place;
                  }));
    break;
  }
  return standpoint;
}

// A question is asked in the call that the thread is in, not before its next event.
Standpoint asking(SourceView& view, const Trace& trace, const TraceDecision& decision,
                  Standpoint standpoint) {
  if (const auto at = view.location(decision.place); at && is_user_location(*at))
    standpoint.at = at;
  standpoint.step.reset();
  for (const TraceStep& step : trace.steps)
    if (step.thread == decision.thread && step.own + 1 == decision.own)
      standpoint.step = view.event(step);
  return standpoint;
}

// Who runs in its place.
std::optional<Standpoint> next_of(SourceView& view, const TraceDecision& decision) {
  auto next = view.running(decision.clock);
  if (decision.to == 0 || decision.to == decision.thread || !next ||
      next->thread != view.thread(decision.thread))
    return next;
  // The next event is that of the same thread again.
  next = view.standing(decision.clock, view.thread(decision.to));
  if (next) next->blocks = true;
  return next;
}

// Who is preempted at this clock, and by whom.
Handover handover(SourceView& view, const Trace& trace, const Trace& other, bool from_start,
                  std::uint64_t clock, abi::ScriptKind kind) {
  const TraceDecision* decision = decision_at(trace, clock, kind);
  Handover over;
  if (decision != nullptr) {
    over.from = view.standing(clock, view.thread(decision->thread));
    // One that has ended stands nowhere, and is who asks for another.
    if (!over.from && kind != abi::kScriptPreemption)
      over.from.emplace().thread = view.thread(decision->thread);
    if (over.from && kind == abi::kScriptPreemption)
      over.from = with_step(view, trace, other, from_start, *decision, std::move(*over.from));
    else if (over.from)
      over.from = asking(view, trace, *decision, std::move(*over.from));
    over.next = next_of(view, *decision);
  } else {
    over.from = view.running(clock);
  }
  return over;
}

std::string text_of(const std::optional<ThreadId>& thread) { return thread ? thread->text() : ""; }

void Answer::tell_switches(SourceView& failing, SourceView& passing, const Trace& failing_trace,
                           const Trace& passing_trace) {
  using Kind = ScheduleDifference::Kind;
  const std::uint64_t passing_end = passing_record_.run.summary.clock;
  for (std::size_t g = 0; g < narrowed_.groups.size(); ++g) {
    if (narrowed_.isolated.passing[g] == narrowed_.isolated.failing[g]) continue;
    const ScheduleDifference::Group& group = narrowed_.groups[g];
    IsolatedSwitch one;
    one.index = group.index + 1;
    one.changes = narrowed_.isolated.failing[g] - narrowed_.isolated.passing[g];
    std::uint64_t pass_clock = 0;
    abi::ScriptKind kind = abi::kScriptPreemption;
    if (group.kind == Kind::kChoice) {
      const Choice& choice = group.failing_choice ? *group.failing_choice : *group.passing_choice;
      one.kind = IsolatedSwitch::Kind::kChoice;
      one.choice = choice;
      one.in_failing = group.failing_choice.has_value();
      one.fail_clock = pass_clock = choice.clock.value;
      kind = abi::script_kind(choice.kind);
      if (group.failing_choice) one.fail_to = text_of(group.failing_choice->thread);
      if (group.passing_choice) one.pass_to = text_of(group.passing_choice->thread);
    } else {
      const Switch& fails = narrowed_.failing.schedule.switches[group.index];
      const Switch& passes = narrowed_.passing.schedule.switches[group.index];
      one.kind =
          group.kind == Kind::kMove ? IsolatedSwitch::Kind::kMove : IsolatedSwitch::Kind::kTarget;
      one.fail_clock = fails.clock.value;
      pass_clock = passes.clock.value;
      one.fail_to = text_of(fails.to);
      one.pass_to = text_of(passes.to);
    }
    if (pass_clock <= passing_end) one.pass_clock = pass_clock;
    Handover over =
        handover(failing, failing_trace, passing_trace, from_start_, one.fail_clock, kind);
    if (over.from) one.fail_from = std::move(*over.from);
    one.fail_next = std::move(over.next);
    if (one.pass_clock) {
      over = handover(passing, passing_trace, failing_trace, from_start_, pass_clock, kind);
      one.pass_from = std::move(over.from);
      one.pass_next = std::move(over.next);
    }
    x_.result.switches.push_back(std::move(one));
  }
}

// How many events each thread has in its course, as far as one of the runs shows it.
std::uint64_t course_of(const Trace& failing, const Trace& passing, abi::ThreadKey thread) {
  std::uint64_t most = 0;
  for (const Trace* trace : {&failing, &passing}) {
    for (const TraceStep& step : trace->steps)
      if (step.thread == thread) most = std::max(most, step.own);
    for (const TraceDecision& decision : trace->decisions)
      if (decision.thread == thread) most = std::max(most, decision.own);
  }
  return most;
}

SwitchWindow shown_window(SourceView& view, const ScriptWindow& found) {
  const Window& window = found.window;
  SwitchWindow shown;
  const auto event = [&](const TraceStep& step) -> std::optional<EventInfo> {
    if (step.thread == 0) return std::nullopt;
    EventInfo info = view.event(step);
    // What a library does inside tells the reader little.
    if (!info.at || !is_user_location(*info.at)) return std::nullopt;
    return info;
  };
  shown.after = event(found.before);
  shown.first = event(found.first);
  shown.last = event(found.last);
  shown.others_first = event(found.others_first);
  shown.others_last = event(found.others_last);
  shown.places = window.places;
  shown.gapless = window.gapless;
  shown.ends_before = window.ends_before;
  shown.ends_after = window.ends_after;
  shown.others = window.others;
  shown.others_failing = window.others_failing;
  shown.whole_course = window.whole_course;
  return shown;
}

void Answer::tell_choice(SourceView& view, const Trace& failing_trace,
                         const TraceDecision& decision) {
  const auto choice =
      std::ranges::find_if(narrowed_.failing.schedule.choices, [&](const Choice& one) {
        return one.clock.value == decision.clock && abi::script_kind(one.kind) == decision.kind;
      });
  if (choice == narrowed_.failing.schedule.choices.end()) return;
  auto from = view.standing(decision.clock, view.thread(decision.thread));
  if (from)
    x_.result.choices.push_back({*choice, asking(view, failing_trace, decision, std::move(*from))});
}

Result<void> Answer::tell_preemptions(SourceView& view, const Trace& failing_trace,
                                      const Trace& passing_trace) {
  JobPlan plan = job_of(narrowed_.failing.schedule);
  plan.flags |= abi::kJobWholeTrace;
  if (narrowed_.failing.schedule.switches.size() > kMostPreemptions) return {};
  // Unless it is asked for, not worth whole runs.
  if (x_.trials.has_checkpoints() && !x_.result.simplified) return {};
  x_.stage = IsolateStage::kWindows;
  CLEW_TRY(const auto runs, x_.trials.run({&plan, 1}));
  if (runs.empty() || !runs.front().trace.complete) return {};
  const ThreadScript script = script_of(runs.front().trace);
  const auto is_scheduled = [&](std::uint64_t clock) {
    return std::ranges::binary_search(narrowed_.failing.schedule.switches, Clock{clock}, {},
                                      &Switch::clock);
  };
  std::size_t item = 0;
  for (const TraceDecision& decision : runs.front().trace.decisions) {
    const std::size_t at = item++;
    if (decision.kind != abi::kScriptPreemption) tell_choice(view, failing_trace, decision);
    // What fairness adds to a long run is not of the schedule's making.
    if (decision.kind != abi::kScriptPreemption || !is_scheduled(decision.clock)) continue;
    PreemptionInfo info;
    info.clock = decision.clock;
    info.to = view.thread(decision.to);
    if (auto from = view.standing(decision.clock, view.thread(decision.thread)))
      info.from =
          with_step(view, failing_trace, passing_trace, from_start_, decision, std::move(*from));
    info.next = next_of(view, decision);
    const std::uint64_t course =
        std::max(decision.own, course_of(failing_trace, passing_trace, decision.thread));
    CLEW_TRY(const auto window, window_of(x_.trials, script, at, course,
                                          x_.trials.has_checkpoints() ? kPlacesOfLong : kPlaces));
    if (window) {
      info.window = shown_window(view, *window);
      for (const TraceStep& step : failing_trace.steps)
        if (step.thread == decision.thread && step.own == window->window.first)
          begins_[x_.result.preemptions.size()] = step.clock;
    }
    x_.result.preemptions.push_back(std::move(info));
  }
  return {};
}

std::vector<EventInfo*> events_of(CriticalPair& pair) {
  std::vector<EventInfo*> events{&pair.first, &pair.second};
  for (std::optional<EventInfo>* one :
       {&pair.earlier, &pair.later, &pair.guarded_first, &pair.guarded_second})
    if (*one) events.push_back(&**one);
  return events;
}

bool lacks_users_line(const EventInfo& event) {
  return !event.at || !is_user_location(*event.at) || event.at->line == 0;
}

// A recorded run, looked at where these clocks are reached.
Result<RunResult> Answer::queried(const RecordedJob& record, std::vector<std::uint64_t> clocks) {
  CLEW_TRY(auto replay, prepare_replay(std::to_string(record.number)));
  replay.plan.output = OutputMode::kCaptureOnly;
  std::ranges::sort(clocks);
  const auto repeated = std::ranges::unique(clocks);
  clocks.erase(repeated.begin(), repeated.end());
  replay.plan.queries = std::move(clocks);
  RunObserver quiet;
  CLEW_TRY(auto run, run_replay(replay, quiet));
  x_.trials.count_elsewhere(run.summary.clock);
  return run;
}

// The user's line that led to an event in a library.
void locate(EventInfo& event, std::uint64_t clock, SourceView& view) {
  const auto standing = view.running(clock);
  if (standing && standing->thread == event.thread && standing->at) event.at = standing->at;
}

// A further look at the failing run: where the threads stood when the windows began, hence in
// which calls they are preempted; and which lines of the user's led to events in libraries. What
// the failing run does not come to is looked at in the passing one.
Result<void> Answer::look_closer() {
  std::vector<EventInfo*> events;
  if (x_.result.pair)
    for (EventInfo* event : events_of(*x_.result.pair))
      if (event->clock != 0 && lacks_users_line(*event)) events.push_back(event);
  if ((!begins_.empty() || !events.empty()) && !x_.trials.stopped()) {
    std::vector<std::uint64_t> clocks;
    for (const auto& [preemption, clock] : begins_) clocks.push_back(clock);
    for (const EventInfo* event : events) clocks.push_back(event->clock);
    CLEW_TRY(const auto run, queried(failing_record_, std::move(clocks)));
    SourceView view(run);
    for (EventInfo* event : events) locate(*event, event->clock, view);
    for (const auto& [preemption, clock] : begins_) {
      PreemptionInfo& info = x_.result.preemptions[preemption];
      const auto begin = view.running(clock);
      if (!begin || begin->thread != info.from.thread) continue;
      const auto shared = shared_call(begin->stack, info.from.stack);
      if (!shared) continue;
      info.window->caller_first = shared->first;
      info.window->caller_last = shared->second;
    }
  }
  if (second_when_passing_ == 0 || !lacks_users_line(x_.result.pair->second) || x_.trials.stopped())
    return {};
  CLEW_TRY(const auto run, queried(passing_record_, {second_when_passing_}));
  SourceView view(run);
  locate(x_.result.pair->second, second_when_passing_, view);
  return {};
}

Result<void> Answer::complete() {
  x_.result.failing = failing_record_.number;
  x_.result.passing = passing_record_.number;
  x_.result.preemption_count = std::min<std::uint64_t>(failing_record_.run.summary.preemptions,
                                                       narrowed_.failing.schedule.switches.size());
  x_.result.choice_count = failing_record_.schedule.choices.size();
  if (failing_record_.summary.failure) x_.result.failure = *failing_record_.summary.failure;
  SourceView failing(failing_record_.run);
  SourceView passing(passing_record_.run);
  // Both runs are the same up to here.
  const std::uint64_t parting =
      common_until(narrowed_.failing.schedule, narrowed_.passing.schedule);
  from_start_ = !x_.trials.has_checkpoints() && parting <= kTracedBefore;
  const std::uint64_t from = from_start_ ? 1 : parting;
  CLEW_TRY(const auto failing_run,
           x_.trials.run_traced(narrowed_.failing.schedule, from, parting + kTraced));
  CLEW_TRY(const auto passing_run,
           x_.trials.run_traced(narrowed_.passing.schedule, from, parting + kTraced));
  const bool traced = failing_run && passing_run;
  if (traced && failing_run->result.hash != failing_record_.run.summary.hash)
    x_.doubt(
        "two runs under the same schedule differed: the program depends on something that clew "
        "does "
        "not control, and this answer may be due to chance");
  if (traced && !(failing_run->trace.complete && passing_run->trace.complete))
    x_.doubt("the trace of a run is incomplete: events that matter may be missing here");
  const Trace nothing;
  const Trace& failing_trace = traced ? failing_run->trace : nothing;
  const Trace& passing_trace = traced ? passing_run->trace : nothing;
  failing.know_locks(failing_trace);
  passing.know_locks(passing_trace);
  tell_switches(failing, passing, failing_trace, passing_trace);
  x_.result.waits = failing.waits();
  if (traced && from_start_ && failing_trace.complete &&
      failing_run->result.clock <= parting + kTraced)
    tell_signals(x_.result.waits, failing, failing_trace);
  if (!traced) return {};
  if (x_.trials.failing_place_is_exact()) x_.result.reaches = !passing_run->hides;
  CLEW_TRY(const auto pair, find_order(x_, narrowed_, failing, failing_trace, passing_trace));
  if (pair && pair->second.clock == 0) second_when_passing_ = pair->second_when_passing;
  const auto behind = [&](const Trace& trace) {
    const auto first = std::ranges::lower_bound(trace.steps, parting, {}, &TraceStep::clock);
    return std::span(first, trace.steps.end());
  };
  x_.result.failing_course = failing.course(behind(failing_trace), pair, EventSide::kFailing);
  x_.result.passing_course = passing.course(behind(passing_trace), pair, EventSide::kPassing);
  if (auto done = tell_preemptions(failing, failing_trace, passing_trace); !done) return done;
  return look_closer();
}

}  // namespace

QueriedClocks clocks_to_query(const Narrowed& narrowed) {
  QueriedClocks clocks;
  for (std::size_t g = 0; g < narrowed.groups.size(); ++g) {
    if (narrowed.isolated.passing[g] == narrowed.isolated.failing[g]) continue;
    if (clocks.failing.size() == kMostPreemptions) break;
    const ScheduleDifference::Group& group = narrowed.groups[g];
    if (group.kind == ScheduleDifference::Kind::kChoice) {
      const Choice& choice = group.failing_choice ? *group.failing_choice : *group.passing_choice;
      clocks.failing.push_back(choice.clock.value);
      clocks.passing.push_back(choice.clock.value);
      continue;
    }
    clocks.failing.push_back(narrowed.failing.schedule.switches[group.index].clock.value);
    clocks.passing.push_back(narrowed.passing.schedule.switches[group.index].clock.value);
  }
  if (narrowed.failing.schedule.switches.size() <= kMostPreemptions)
    for (const Switch& item : narrowed.failing.schedule.switches)
      clocks.failing.push_back(item.clock.value);
  if (narrowed.failing.schedule.choices.size() <= kMostPreemptions)
    for (const Choice& choice : narrowed.failing.schedule.choices)
      clocks.failing.push_back(choice.clock.value);
  return clocks;
}

Result<void> complete_answer(Experiment& experiment, const Narrowed& narrowed,
                             const RecordedJob& failing, const RecordedJob& passing) {
  return Answer(experiment, narrowed, failing, passing).complete();
}

}  // namespace clew
