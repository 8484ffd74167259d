// The result of an isolation, as plain values.
#ifndef CLEW_HOST_ISOLATE_ISOLATE_RESULT_H_
#define CLEW_HOST_ISOLATE_ISOLATE_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/step.h"
#include "clew_abi/stream.h"
#include "host/isolate/dd.h"
#include "host/names/object_name.h"
#include "host/outcome.h"
#include "host/schedule/schedule.h"
#include "host/symbolize/symbolizer.h"
#include "host/trace/lock_steps.h"

namespace clew {

// An event: what a thread does at a yield point.
struct EventInfo {
  std::uint64_t clock = 0;
  std::string thread;
  std::optional<Location> at;
  abi::StepKind kind = abi::StepKind::kOther;
  std::uint64_t object = 0;  // address; 0: none
  std::string variable;      // "head", "queue.items_[3]", "Entry::next"; empty: not known
  LockStep lock = LockStep::kNone;
  std::uint64_t time = 0;  // the thread comes to this place for the n-th time; 0: not known
  ObjectName name = {};    // what is known of the object besides
};

// Where a thread stands: before the event that it would execute next.
struct Standpoint {
  std::string thread;              // "T0.2"
  std::string name;                // given by the program; may be empty
  std::optional<Location> at;      // nothing: not started, or no symbols
  std::vector<SourceFrame> stack;  // innermost first
  std::optional<EventInfo> step;   // that event, if it is known and is an access or a call
  bool blocks = false;             // of a thread that was to run: it has to wait before it does
};

// A difference that remains: in the failing schedule this, in the passing one that.
struct IsolatedSwitch {
  enum class Kind : std::uint8_t { kMove, kTarget, kChoice };
  Kind kind = Kind::kMove;
  std::uint64_t index = 0;    // of the switch in the schedule, from 1; kChoice: of the choice
  std::uint64_t changes = 1;  // atomic differences that remain of it
  std::uint64_t fail_clock = 0;
  std::optional<std::uint64_t> pass_clock;  // nothing: the passing run ends without it
  bool in_failing = true;                   // kChoice; false: only the passing schedule makes it
  std::optional<Choice> choice;             // kChoice
  std::string fail_to;                      // who runs then; empty: the next in the run queue
  std::string pass_to;
  Standpoint fail_from;  // who is preempted, where; no thread: the failing run does without it
  std::optional<Standpoint> fail_next;  // who runs instead, from where
  std::optional<Standpoint> pass_from;  // likewise in the passing run
  std::optional<Standpoint> pass_next;
};

// The part of a thread's course within which a preemption still leads to the failure. A place is a
// position in the course at which the preemption took effect when it was tried.
struct SwitchWindow {
  // What the thread has just done at its beginning, and what it is about to do at its beginning and
  // at its end, as far as it is known.
  std::optional<EventInfo> after;
  std::optional<EventInfo> first;
  std::optional<EventInfo> last;
  // The lines of the innermost function that the thread is in from the beginning to the place of
  // the switch, if that is not where the accesses are: it is preempted between these calls.
  std::optional<Location> caller_first;
  std::optional<Location> caller_last;
  std::uint64_t places = 0;  // that were tried from first to last: all fail
  bool gapless = false;      // all from first to last were tried
  bool ends_before = false;  // one step earlier it was tried, and does not fail
  bool ends_after = false;   // one step later likewise
  // Elsewhere in the course.
  std::uint64_t others = 0;  // that were tried
  std::uint64_t others_failing = 0;
  std::optional<EventInfo> others_first;  // of those that fail
  std::optional<EventInfo> others_last;
  bool whole_course = false;  // the whole course of the thread was tried
};

// A preemption of the failing schedule.
struct PreemptionInfo {
  std::uint64_t clock = 0;
  std::string to;  // who runs then
  Standpoint from;
  std::optional<Standpoint> next;
  std::optional<SwitchWindow> window;  // nothing: not determined
};

// A choice of the failing schedule: a question that was answered in another way than the usual one.
struct ChoiceInfo {
  Choice choice;
  Standpoint from;  // who asks, where
};

// Two events that come in one order in the failing run and in the other in the passing one.
struct CriticalPair {
  // What the failing run does when the second comes before the first.
  enum class Swapped : std::uint8_t {
    kNotTried,  // or the program's synchronisation does not allow it there
    kPasses,
    kFails,  // all the same
    kOther,  // fails in another way, or hides the failure
  };
  // Runs of similar schedules, with the events in the order of the failing run or in another.
  struct Tally {
    std::uint64_t failed = 0;
    std::uint64_t passed = 0;
  };

  EventInfo first;   // in the failing run
  EventInfo second;  // clock 0: the failing run ends before it happens
  // If what decides is that one thread comes between two accesses of the other: the other's earlier
  // one, before `first`; or its later one, behind `second`, which then lies between.
  std::optional<EventInfo> earlier = {};
  std::optional<EventInfo> later = {};
  Swapped swapped = Swapped::kNotTried;
  bool alone = false;  // kPasses: no other conflicting events were seen to change their order
  Tally this_order = {};
  Tally other_order = {};
  // If they take the same lock: the first accesses made under it whose order changes with theirs.
  std::optional<EventInfo> guarded_first = {};
  std::optional<EventInfo> guarded_second = {};

  [[nodiscard]] bool decides() const { return swapped == Swapped::kPasses; }
};

// The course of a run around what was isolated, one line for each event.
struct CourseLine {
  EventInfo event;
  bool marked = false;    // belongs to the pair
  bool switched = false;  // another thread ran before
};

// A thread that waits when a run has come to a deadlock.
struct WaitInfo {
  std::string thread;
  std::optional<Location> at;
  abi::WaitKind kind = abi::WaitKind::kNothing;
  std::uint64_t object = 0;          // what it waits for, as abi::WaitKind says; kJoin: not used
  std::string variable;              // the object's name; empty: not known
  ObjectName name = {};              // what is known of it besides
  std::string ending;                // kJoin: the thread whose end it waits for
  std::string holder;                // the thread that has it; empty: none, or not known
  std::optional<Location> taken_at;  // where that one took it
  // Of a condition variable: the last signal of it in the run.
  enum class Signalled : std::uint8_t { kNotKnown, kNever, kBefore, kDuring };  // its wait
  Signalled signalled = Signalled::kNotKnown;
  std::optional<EventInfo> signal;
  std::string woken;  // kDuring: the thread that the signal woke instead; empty: not known
};

struct IsolateResult {
  // --- what was compared
  Failure failure;
  std::uint64_t original = 0;              // the recording that was given; 0: a schedule was
  std::uint64_t original_preemptions = 0;  // of its run
  bool simplified = false;
  std::uint64_t simplest = 0;  // simplified: preemptions in the simplest schedule that fails
  bool fewest = false;         // simplified: shown that no schedule with fewer preemptions fails
  std::optional<DeltaCount> deltas;       // between the two schedules; nothing: not compared
  std::optional<DeltaCount> deltas_left;  // likewise, after isolation

  // --- the answer
  std::vector<IsolatedSwitch> switches;     // differences that remain; usually one
  std::vector<PreemptionInfo> preemptions;  // all of the failing schedule, if they are few
  std::uint64_t preemption_count = 0;
  std::vector<ChoiceInfo> choices;  // other choices of the failing schedule, if they are few
  std::uint64_t choice_count = 0;
  std::optional<CriticalPair> pair;
  std::vector<WaitInfo> waits;  // of a deadlock
  std::vector<CourseLine> failing_course;
  std::vector<CourseLine> passing_course;
  std::optional<std::uint64_t> failing;  // recordings of both sides
  std::optional<std::uint64_t> passing;
  // Whether the passing run comes to where the failing one fails, and passes there; nothing: not
  // known, or the failure is no statement's.
  std::optional<bool> reaches;
  bool minimal = false;             // 1-minimal (definition 16), by running
  bool always_fails = false;        // no passing schedule was found
  std::vector<std::string> doubts;  // what could not be confirmed, a sentence each

  // --- what it cost
  struct Test {
    std::string schedule;
    Verdict verdict;
  };
  std::vector<Test> log;  // the tests of the isolation in order, of schedules that are not too long
  std::uint64_t tests = 0;
  double cost_runs = 0;  // program runs' worth of events
  double seconds = 0;
  bool complete = true;    // false: stopped at a limit, or interrupted
  int interrupted_by = 0;  // a signal, or 0
  std::vector<std::string> notes;
};

enum class IsolateStage : std::uint8_t {
  kRunning,  // the failing schedule
  kSimplifying,
  kPassing,  // looking for a passing schedule
  kIsolating,
  kFollowing,  // the difference to its effect
  kRecording,  // both sides
  kOrder,      // looking for the events whose order decides
  kWindows,    // finding out how far each switch can be moved
};

struct IsolateStatus {
  IsolateStage stage = IsolateStage::kIsolating;
  std::uint64_t tests = 0;
  std::optional<DeltaCount> deltas_left;    // nothing: not known yet
  std::optional<std::uint64_t> tests_left;  // an estimate
  double seconds = 0;
};

// How far an isolation came.
enum class Isolated : std::uint8_t {
  kDone,         // what is left is the difference between failing and passing
  kNarrowed,     // ended before that, with a smaller difference than at first
  kAlwaysFails,  // nothing to compare with: no schedule passed
  kNothing,      // ended before there was anything to report
};
Isolated how_far(const IsolateResult& result);

// kPass: isolated; kUnresolved: not.
Outcome outcome_of(const IsolateResult& result);

// 0 isolated, 122 not isolated, 128 + n interrupted by signal n (docs/exit-status.md).
int exit_status_of(const IsolateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_ISOLATE_RESULT_H_
