// Why a run fails, as plain values.
#ifndef CLEW_HOST_EXPLAIN_EXPLANATION_H_
#define CLEW_HOST_EXPLAIN_EXPLANATION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/outcome.h"

namespace clew {

enum class CauseKind : std::uint8_t {
  kDataRace,
  kAtomicityViolation,
  kOrderViolation,
  kLostWakeup,
  kDeadlock,
  kChoice,
  kUnknown,
};
const char* to_word(CauseKind kind);  // "data-race", as JSON has it

struct HeldLock {
  std::uint64_t address = 0;
  std::string name;     // empty: it has none
  bool shared = false;  // for reading only

  bool operator==(const HeldLock& other) const { return address == other.address; }
};

// What a thread does to the memory, or to the synchronisation object, that the cause is about.
struct CauseEvent {
  enum class What : std::uint8_t {
    kReads,
    kWrites,
    kUpdates,
    kFailsToUpdate,  // a compare-exchange that leaves the memory as it was
    kFrees,
    kDestroys,
    kCloses,
    kLeaves,  // the function whose local variable it is
    kCalls,
    kNothing
  };
  What what = What::kNothing;  // kNothing: it is as it was when the program started
  std::string thread;
  Location at;
  Location
      called_at;  // where the function that `earlier` and `later` share comes to it; line 0: `at`
  std::string text;             // of the source line
  std::string call;             // kCalls: of what
  std::string value;            // read or written; empty: not known
  std::vector<HeldLock> locks;  // held
  std::uint64_t clock = 0;
};

const char* to_word(CauseEvent::What what);  // "reads"; of kNothing: "start"

// What came of a call, or of an instruction, that may give what is asked for or not.
enum class OutcomeKind : std::uint8_t {
  kTry,       // an attempt to lock fails
  kExchange,  // a weak compare-exchange fails spuriously
  kWakeUp,    // a wait for a condition ends without a signal
  kTimeOut,   // a wait reaches its limit
  kStale,  // a wait is ended by a signal, but what it was about has changed again by the time it returns
};
const char* to_word(OutcomeKind kind);  // "try"

// A thread that waits at the end of the failing run.
struct WaitFact {
  CauseEvent wait;     // its call
  std::string object;  // what it waits for; empty: it has no name
  std::string holder;  // of a lock: the thread that holds it; empty: none, or not known
  std::optional<CauseEvent> taken;   // ... where it has taken it
  std::optional<CauseEvent> signal;  // the last call that could have woken it
  bool before = false;               // ... came before the wait began
  std::optional<CauseEvent>
      renewed;  // the object was initialised once more since: who waits is forgotten
  bool for_descriptor = false;      // it waits for what others write to a descriptor
  std::optional<CauseEvent> woken;  // the wait of another thread that it ended instead
  bool returns = false;             // the same wait ends in the passing run
};

enum class CausePattern : std::uint8_t {
  kNone,
  kTooEarly,      // `use` comes before `passing_source`, whose value the passing run reads
  kOverwritten,   // `use` comes behind `failing_source`, which the passing run does not read
  kBetween,       // `remote` comes between `earlier` and `later` of one thread
  kUseAfterFree,  // `use` comes behind `failing_source`, which ends the memory's life
  kResult,        // a call gives another result
  kWaitsForever,  // threads wait, and nobody is left who could wake them
  kOutcome,  // the thread of `use` continues as if it had got what it had asked for (CallOutcome)
  // What a watch has ended the run for (found.h); the failing run alone shows it.
  kRace,       // nothing orders `earlier` and `use`
  kLockOrder,  // `waits`: each takes a lock, holding one that the next takes
  kReported,   // a listener of the user's has `reported` it
};

// kOutcome: the call is `use`.
struct CallOutcome {
  OutcomeKind kind = OutcomeKind::kTry;
  std::string object;  // that it is about; empty: it has no name
  // Decided by the schedule alone: nobody had the lock, the time was not over, nobody has written the memory.
  bool by_chance = false;
  std::optional<CauseEvent> holder;  // kTry: who has taken the lock that is asked for
  std::optional<CauseEvent>
      looked;  // kWakeUp, kStale: at what it decided to wait by, and does not look at again
  std::string looked_at;             // ... the variable
  std::optional<CauseEvent> signal;  // kStale: what has ended the wait
  std::optional<CauseEvent> change;  // ... and who has changed that variable since
  enum class There : std::uint8_t { kNotSeen, kSame, kOther };
  There in_passing = There::kNotSeen;  // what came of the same in the passing run
  // The failing schedule, in which only this is changed, passes.
  enum class Tested : std::uint8_t {
    kNot,
    kWithout,  // the usual answer
    kRelease,  // the other's release comes before the attempt
    kOrder,    // the call, or its return, comes before what the other does
  };
  Tested tested = Tested::kNot;
};

// A thread goes by what it has read, and another one has written that since.
struct Check {
  std::string variable;
  CauseEvent read;
  CauseEvent write;
  // With what was written put in at the read, or with the other's first if it is an update, the failing run passes.
  bool tested = false;
};

struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  CausePattern pattern = CausePattern::kNone;
  std::string variable;  // empty: not known
  std::string
      memory;  // ... then which memory it is, "byte 8 of the 64 bytes allocated at a.cc:7"; empty: not known either
  CauseEvent use;            // of the failing run
  std::string use_variable;  // what it uses, if that is not `variable`
  std::string passing_value;
  std::optional<CauseEvent> failing_source;  // who wrote what it reads; nothing: not seen
  std::optional<CauseEvent> passing_source;  // likewise in the passing run
  std::optional<CauseEvent> earlier;         // kBetween
  std::optional<CauseEvent> remote;
  std::optional<CauseEvent> later;
  // kBetween, if the two accesses are of two variables: that of the later one; ...
  std::string later_variable;
  bool remote_meets_later = false;       // ... `remote` is of that, not of `variable`
  std::optional<CauseEvent> remote_too;  // ... and the other's access of the other of the two
  // kBetween: by schedules alone, with the remote access before both and behind both, the run passes
  bool tested_outside = false;
  std::optional<std::int32_t> descriptor;  // kUseAfterFree: that is closed
  bool other_end = false;                  // ... or the other end of its pipe
  std::optional<CauseEvent> reopened;      // ... and who has got its number since
  bool cleared = false;                    // kOverwritten: the pointer is null since
  bool ending = false;                  // kOverwritten: by the destructor of what it is a part of
  std::optional<CauseEvent> allocated;  // kUseAfterFree
  std::optional<CauseEvent> got;        // ... where the user got the address
  bool reused = false;                  // ... something else has the memory by then
  std::optional<CauseEvent> freed;  // kBetween: who has freed the memory before the later access
  std::optional<CauseEvent>
      timed_out;                // the wait that let one come there, which in the passing run
                                // does not time out
  bool omitted = false;         // kTooEarly: the failing run goes another way than to that write
  bool timed_out_late = false;  // ... or not before the write that the failing run misses
  std::optional<CauseEvent> let_go;  // kTooEarly, kOverwritten: what let the early one come there
  bool created = false;              // ... has created its thread
  std::optional<CauseEvent> slept;   // kTooEarly: what the early one did instead of waiting
  std::optional<CauseEvent> beside;  // what the same thread has written as well, and was read ...
  std::optional<CauseEvent> beside_read;  // ... here
  bool beside_missed = false;             // ... before it was written
  std::string beside_variable;            // ... of which
  std::string beside_memory;              // ... then which memory it is; empty: not known either
  std::optional<CauseEvent>
      released;  // kBetween: where the lock that all hold is released; `beside`:
                 // where the one is released that was held there
  std::optional<CallOutcome> outcome;  // kOutcome
  std::optional<Check> check;          // what has led there, and was out of date by then
  std::vector<WaitFact> waits;         // kWaitsForever, kLockOrder
  std::string reported;                // kReported
  bool cycle = false;                  // ... each waits for a lock that the next one holds
  bool unordered =
      false;  // the use and the other access hold no lock in common, and one is not atomic
};

enum class Confirmed : std::uint8_t {
  kNotTested,
  kNotTestable,  // it is in one run only, or nothing can be changed there
  kByValue,   // with the other run's value put in here, the failing run passes or the other fails
  kByBranch,  // likewise with the way that the other run takes
  kByOrder,   // with the other order, by a schedule alone, the failing run passes
  kJointly,   // likewise, together with others; alone it makes no difference
  kRefuted,   // it fails all the same
};
const char* to_word(Confirmed confirmed);

// Whether a step follows from the main step before it: with that one as in the passing run, it is, too.
enum class Link : std::uint8_t { kNotTested, kConfirmed, kRefuted };
const char* to_word(Link link);

// Of a step that is a synchronisation.
enum class SyncEvent : std::uint8_t { kNone, kTaken, kSignalled, kWaitsForever };

// What the failing run comes to right behind a branch, before it does anything else.
enum class BranchEnd : std::uint8_t { kNone, kAssertion, kSanitizer };

struct StoryStep {
  std::string thread;
  Location at;
  std::string text;      // of the source line
  std::string variable;  // empty: not known, or a branch
  std::string failing;   // the value, or where the branch leads; empty: the run does not come here
  std::string passing;
  std::string because;  // how it follows from the step before
  bool branch = false;
  BranchEnd branch_end = BranchEnd::kNone;
  std::uint32_t failing_line = 0;  // of the same file, that the branch leads to; 0: somewhere else
  std::uint32_t passing_line = 0;
  SyncEvent sync = SyncEvent::kNone;
  bool returns_in_passing = false;  // kWaitsForever: the other run continues from here
  bool only_failing = false;        // the other run does not come here
  bool only_passing = false;
  bool main = true;  // otherwise only in the full story
  Confirmed confirmed = Confirmed::kNotTested;
  Link link = Link::kNotTested;
  std::uint64_t clock = 0;
};

struct SliceSizes {  // in instances of source lines
  std::uint64_t dynamic = 0;
  std::uint64_t dual = 0;
  std::uint64_t pruned = 0;
  std::uint64_t bfs = 0;                        // to look at before the cause is reached
  std::array<std::uint64_t, 3> breakdown = {};  // of the pruned one: passing, failing, other values
  std::uint64_t functions = 0;
  bool complete = true;
};

// A line of a slice, and how lines depend on each other.
struct SliceLine {
  std::string thread;
  Location at;
  std::string text;
  std::uint64_t instance = 0;  // the how-manieth of this line and thread in the slice
  std::uint64_t clock = 0;     // in the failing run, if it is there
  bool failing = false;        // the failing run executes it
  bool passing = false;
};
struct SliceArrow {
  std::size_t from = 0;  // depends ...
  std::size_t to = 0;    // ... on this
  bool control = false;
  bool def_use = false;  // the other run has another dependence there
  bool failing = false;
  bool passing = false;
};
struct SliceGraph {
  std::vector<SliceLine> lines;  // what a line depends on comes before it, but for cycles
  std::vector<SliceArrow> arrows;
  bool complete = true;
};

// Why a line does what it does, or why it is not reached.
struct Question {
  std::string file;  // the end of its path
  std::uint32_t line = 0;
  std::string variable;  // empty: whatever differs there
  bool why_not = false;
};
struct Asked {
  Question question;
  std::array<std::uint64_t, 2> times =
      {};             // the line is executed, in the failing, in the passing run
  bool more = false;  // ... or more often: counting was ended
  bool differs = false;
  std::string thread;  // which execution of the failing run is told; empty: none
  Location at;
  std::uint64_t clock = 0;
  std::string variable;
  bool writes = false;
  std::string failing;  // its value; empty: not known
  std::string passing;
  std::optional<CauseEvent> source;  // who wrote what is read in the failing run
};

struct ThreadAlignment {
  std::string thread;
  double failing = 0;  // per cent
  double passing = 0;
};

struct Explanation {
  Failure failure;
  Cause cause;
  std::optional<Cause> behind;  // kWaitsForever: why nobody comes to wake them
  // If `cause` is a check that was out of date: what followed, from which the story is told.
  std::optional<Cause> leads_to;
  // Only if these, too, are put right does the failing run pass: each of all suffices for the failure.
  std::vector<Cause> also;
  std::vector<Location> root;  // where it can be mended
  std::vector<StoryStep> story;
  std::optional<Asked> asked;
  SliceSizes slice;
  SliceGraph lines;  // of the slice that was asked for
  std::vector<ThreadAlignment> alignment;
  std::uint64_t value_differences = 0;  // in the pruned slice
  std::uint64_t flow_differences = 0;
  std::uint64_t tests = 0;
  bool tests_complete = true;  // false: a limit was reached, or they were interrupted
  int tests_interrupted_by = 0;
  double seconds = 0;
  std::uint64_t trace_bytes = 0;
  std::uint64_t instructions = 0;  // of both traces
  std::uint64_t failing = 0;       // recordings
  std::uint64_t passing = 0;
  std::vector<std::string> doubts;
  int interrupted_by = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_EXPLANATION_H_
