#include "host/isolate/isolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "host/isolate/answer.h"
#include "host/isolate/experiment.h"
#include "host/isolate/narrowing.h"
#include "host/isolate/object_names.h"
#include "host/isolate/sides.h"
#include "host/schedule/stream.h"
#include "host/seconds.h"
#include "host/target/interrupts.h"
#include "host/target/replay.h"
#include "host/time_limit.h"

namespace clew {
namespace {

class Isolation {
 public:
  Isolation(const IsolateOptions& options, RecordingStore& store, IsolateObserver& observer,
            Subject subject, Judge judge)
      : observer_(observer),
        x_(options, store, std::move(subject), std::move(judge), [this] { return pulse(); }),
        limit_(TimeLimit::with_keeping(options.seconds)),
        started_(seconds_now()) {}

  Result<IsolateResult> run();

 private:
  struct Recorded {
    std::optional<RecordedJob> failing;
    std::optional<RecordedJob> passing;
  };

  bool pulse();
  void note_interrupt();
  Result<void> work();
  Result<Recorded> keep(const Narrowed& narrowed);

  IsolateObserver& observer_;
  Experiment x_;
  Interrupts interrupts_;
  TimeLimit limit_;  // of all, with the recording of what was found
  double started_;
};

void Isolation::note_interrupt() {
  const int signal = interrupts_.take();
  if (signal == 0) return;
  x_.result.interrupted_by = signal;
  x_.result.complete = false;
}

bool Isolation::pulse() {
  const double passed = seconds_now() - started_;
  note_interrupt();
  IsolateStatus status;
  status.stage = x_.stage;
  status.tests = x_.trials.runs();
  status.seconds = passed;
  if (x_.left) {
    status.deltas_left = x_.left;
    status.tests_left =
        *x_.left > UINT64_MAX ? 64 : std::bit_width(static_cast<std::uint64_t>(*x_.left));
  }
  observer_.status(status);
  const bool limit = TimeLimit::is_over() ||
                     (x_.options.seconds > 0 && passed >= x_.options.seconds) ||
                     (x_.options.tests != 0 && x_.trials.runs() >= x_.options.tests);
  if (limit) x_.result.complete = false;
  // Simplifying leaves half of what there is to the rest.
  const bool enough =
      x_.simplifying && ((x_.options.seconds > 0 && passed >= x_.options.seconds / 2) ||
                         (x_.options.tests != 0 && x_.trials.runs() >= x_.options.tests / 2));
  return x_.result.complete && !enough;
}

// Both sides, in separate processes, to their end.
Result<Isolation::Recorded> Isolation::keep(const Narrowed& narrowed) {
  x_.stage = IsolateStage::kRecording;
  CLEW_CHECK_OK(x_.recorder.reserve_for_passing());
  QueriedClocks clocks = clocks_to_query(narrowed);
  CLEW_TRY(auto failing,
           x_.record(job_of(narrowed.failing.schedule), Verdict::kFail, clocks.failing));
  CLEW_TRY(auto passing,
           x_.record(job_of(narrowed.passing.schedule), Verdict::kPass, clocks.passing));
  return Recorded{std::move(failing), std::move(passing)};
}

Result<void> Isolation::work() {
  CLEW_TRY(auto sides, find_sides(x_));
  if (x_.trials.stopped()) {
    x_.result.complete = false;  // the limit may have ended a run, before anybody asked about it
    return {};
  }
  if (!sides.passing) {
    x_.result.always_fails = true;
    return {};
  }
  CLEW_TRY(auto narrowed, narrow(x_, *sides.passing, sides.failing));
  CLEW_TRY(auto kept, keep(narrowed));
  if (kept.failing && !kept.passing && x_.trials.has_cut() && !x_.trials.stopped()) {
    // A run that was counted as passing before its end fails later.
    if (auto removed = x_.store.remove(kept.failing->number); !removed) return removed;
    x_.trials.run_to_the_end();
    CLEW_TRY(narrowed, narrow(x_, *sides.passing, sides.failing));
    CLEW_TRY(kept, keep(narrowed));
  }
  if (kept.failing && kept.passing)
    return complete_answer(x_, narrowed, *kept.failing, *kept.passing);
  if (x_.result.interrupted_by == 0 && !x_.recorder.ran_out_of_time())
    x_.doubt(kept.failing ? "the passing side did not pass in a separate process"
                          : "the failing side did not fail in a separate process");
  return {};
}

Result<IsolateResult> Isolation::run() {
  x_.result.original = x_.subject.number();
  CLEW_CHECK_OK(work());
  note_interrupt();  // one that came while the answer was completed
  if (!x_.result.minimal && !x_.result.switches.empty())
    x_.doubt("the isolation stopped before the difference was as small as it can be");
  if (x_.result.interrupted_by == 0) name_objects(x_.result);
  x_.result.cost_runs = x_.trials.cost_runs();
  x_.result.seconds = seconds_now() - started_;
  x_.result.notes = x_.trials.notes();
  return std::move(x_.result);
}

Result<std::string> newest_failing(const RecordingStore& store) {
  CLEW_TRY(const auto list, store.list());
  for (const Listed& one : list) {
    // The result of an isolation is not the subject of the next one, and a copy made by fork()
    // cannot be run by itself.
    if (!one.meta || one.meta->origin.kind() == Origin::Kind::kIsolation ||
        one.meta->generation > 0)
      continue;
    const RunSummary& summary = one.meta->summary;
    const bool failed = summary.outcome == Outcome::kFail || summary.outcome == Outcome::kHang ||
                        one.meta->judged.has_value();
    if (failed) return std::to_string(one.number);
  }
  return fail(ErrorCode::kUsage, "there is no recording of a failure here",
              "clew hunt finds one; clew debug does all of it");
}

// The criteria by which the recording was found, unless others were given. A shell command is taken
// from this folder's own recordings only: those of others may say anything.
void take_criteria(const Recording& recording, IsolateOptions& options) {
  const auto& judged = recording.meta.judged;
  if (!judged || options.criteria != Criteria{}) return;
  if (!judged->criteria.judge || recording.number != 0) options.criteria = judged->criteria;
}

Result<Subject> recorded_subject(IsolateOptions& options, const RecordingStore& store) {
  std::string selector = options.failing;
  if (selector.empty()) {
    CLEW_TRY(auto newest, newest_failing(store));
    selector = std::move(newest);
  }
  CLEW_TRY(auto replay, prepare_replay(selector));
  CLEW_CHECK_OK(check_runs_live(replay.recording));
  const Meta& meta = replay.recording.meta;
  take_criteria(replay.recording, options);
  if (meta.summary.outcome == Outcome::kPass && !options.criteria.need_output())
    return fail(
        ErrorCode::kBadInput,
        fmt::format("recording {} passed: there is no failure to isolate", replay.recording.number),
        meta.judged ? "give the --judge again that calls it a failure"
                    : "clew list shows which recordings failed");
  CLEW_TRY(auto schedule, to_schedule(replay.plan.follow));
  CLEW_TRY(auto input, HuntInput::of_recording(replay.recording));
  LaunchPlan plan = live_plan(replay);
  return Subject{std::move(replay.recording), std::move(plan), std::move(schedule),
                 std::move(input)};
}

Result<Subject> given_subject(const IsolateOptions& options) {
  CLEW_TRY(auto schedule, load_schedule(options.failing));
  CLEW_TRY(auto input, HuntInput::from_here());
  return Subject{std::nullopt, *options.program, std::move(schedule), std::move(input)};
}

}  // namespace

Result<IsolateResult> isolate(const IsolateOptions& given, RecordingStore& store,
                              IsolateObserver& observer) {
  IsolateOptions options = given;
  CLEW_TRY(auto subject,
           options.program ? given_subject(options) : recorded_subject(options, store));
  CLEW_TRY(auto judge, Judge::create(options.criteria));
  return Isolation(options, store, observer, std::move(subject), std::move(judge)).run();
}

}  // namespace clew
