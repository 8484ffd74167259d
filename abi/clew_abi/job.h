// Jobs: what the host asks of a program that is started once and run many times
// (runtime/snapshot), and what comes back. A plain run is the same with one job.
#ifndef CLEW_ABI_JOB_H_
#define CLEW_ABI_JOB_H_

#include <cstdint>

#include "clew_abi/stream.h"

namespace clew::abi {

// kind, name for people. What guide and parameters hold: guides.h.
#define CLEW_STRATEGIES(X)      \
  X(kNone, "none")              \
  X(kTimer, "timer")            \
  X(kSchedule, "schedule")      \
  X(kRandom, "random")          \
  X(kPct, "pct")                \
  X(kPos, "pos")                \
  X(kSurw, "surw")              \
  X(kRff, "rff")                \
  X(kChaos, "chaos")            \
  X(kPlan, "plan")              \
  X(kPrefix, "prefix")          \
  X(kRoundRobin, "round-robin") \
  X(kScript, "script")          \
  X(kNoise, "noise")

enum class StrategyKind : std::uint32_t {
#define CLEW_KIND(name, text) name,
  CLEW_STRATEGIES(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

// A thread in a guide: a number that depends on its path of creation alone, so that it names the
// same thread in every run of the program.
using ThreadKey = std::uint64_t;
inline constexpr ThreadKey kMainThreadKey = 0x5430'5430'5430'5431;
constexpr ThreadKey child_key(ThreadKey parent, std::uint32_t ordinal) {
  std::uint64_t z = parent + ordinal * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

enum JobFlags : std::uint32_t {
  kJobTrace = 1u << 0,       // write a trace (trace.h); one that does not fit is left out
  kJobAllPoints = 1u << 1,   // every access is a scheduling point; otherwise those in `sharing`
  kJobCheckpoint = 1u << 2,  // stop before event `stop_at` and take further jobs there, until
                             // kJobLeave; the run may end before
  kJobLeave = 1u << 3,       // no run: the newest checkpoint is dropped
  kJobLoose = 1u << 4,       // what is left over of a schedule when the run has ended, and names of
                             // threads that were never created, are no failure
  kJobTraceFile = 1u << 5,   // kJobTrace: a trace that does not fit continues in a file
  kJobWholeTrace = kJobTrace | kJobTraceFile,
  kJobBriefWaits = 1u << 6,  // a thread that waits in a loop does so at once until others get on;
                             // otherwise it may first be given the time to leave the loop by itself
};

// Part of the control memory, as offset from its start.
struct Part {
  std::uint64_t offset;
  std::uint64_t size;
};

// Of a strategy that follows: the events whose steps are traced, both included. Both 0: none.
struct TraceWindow {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const TraceWindow&) const = default;
};

struct Job {
  std::uint64_t number;
  StrategyKind strategy;
  std::uint32_t flags;    // JobFlags
  std::uint32_t choices;  // bits 1 << ChoiceKind that may be answered in other than the default way
  std::uint32_t names_count;
  std::uint64_t seed;
  std::uint64_t parameters[4];
  TraceWindow window;     // kJobTrace
  Part guide;             // kSchedule: a stream
  Part names;             // names_count NUL-terminated thread ids, for kSwitchTo, pick and wake
  std::uint64_t stop_at;  // kJobCheckpoint
  Place watch;            // of a strategy that follows: counts how often the run comes here; 0: no
  std::uint32_t depth;    // checkpoints that exist when it begins; it resumes from the newest
  std::uint32_t reserved;
};

enum class JobEnd : std::uint32_t {
  kNotRun = 0,  // of a result: the checkpoint that it was to resume from does not exist
  kExited,      // `status` is the exit status
  kFailed,      // `failure` says how: assertion, exception, deadlock, hang, ...; `status` too
  kSignalled,   // `status` is the signal
  kCheckpoint,  // stands at the checkpoint
};

// Where a job's trace lies: first what is in the file, then what is in memory. In bytes.
struct TraceExtent {
  std::uint64_t file_offset;
  std::uint64_t file_size;
  std::uint64_t offset;  // from the start of Control::trace
  std::uint64_t size;
  std::uint32_t incomplete;  // 1: there was more
  std::uint32_t reserved;
};

// What the course of a run depended on, or may have, and no decision of a strategy covers.
enum Uncovered : std::uint8_t {
  kUncoveredHandlers = 1u << 0,   // a signal was sent that has a handler: when it runs
  kUncoveredTime = 1u << 1,       // what clocks show, and which of several deadlines passes first
  kUncoveredOutside = 1u << 2,    // when something comes from outside
  kUncoveredRegions = 1u << 3,    // a region without yield points, or a file without accesses
  kUncoveredLibraries = 1u << 4,  // code that was not built with clew, other than libc and the like
  kUncoveredRest = 1u << 5,       // the strategy was no longer asked
  kUncoveredRounds = 1u << 6,     // of a loop in which a thread waits: those it was kept from
};

// What became of threads that waited in loops (runtime/strategy/patient.h).
enum LoopsLeft : std::uint8_t {
  kLoopLeftByItself = 1u << 0,  // while nothing that it looked at changed: after so many rounds
  kLoopNotLeft = 1u << 1,       // it was given the time to, in vain
};

// In the result of a job that resumes from a checkpoint, `clock`, `hash`, `threads`, `points`,
// `switches` and `preemptions` count from the start of the program; `interleaving`, `watched`,
// trace and sharing cover only what comes after the checkpoint.
struct JobResult {
  std::uint64_t number;
  JobEnd end;
  std::int32_t status;
  FailureKind failure;     // kFailed, and kSignalled if the runtime could say more
  std::uint8_t questions;  // bits 1 << ChoiceKind: arose, whether or not the strategy was asked
  std::uint8_t uncovered;  // Uncovered
  std::uint8_t loops;      // LoopsLeft
  std::uint32_t threads;
  std::uint32_t lasting;  // the first system call whose effect outlasts the run; 0: none
  std::uint32_t reserved2;
  std::uint64_t clock;         // events passed
  std::uint64_t hash;          // of what happened
  std::uint64_t interleaving;  // of the order of accesses that conflict; equal: equivalent runs
  std::uint64_t failure_key;   // of kind and place of the failure: equal for the same failure
  std::uint64_t scheduling_points;  // passed: events at which a strategy could decide
  std::uint64_t switches;
  std::uint64_t preemptions;
  std::uint64_t company;        // the last event at which another thread could have run; 0: none
  std::uint64_t watched;        // how often it came to Job::watch
  TraceExtent trace;            // kJobTrace
  std::uint64_t sharing_count;  // points newly found to touch what threads share (Control)
  // Child processes that the program made by fork and that continued natively, a bit for each, the
  // first in bit 0; those from the 64th on are not told.
  std::uint64_t threaded_children;  // created a thread
  std::uint64_t failed_children;    // ended with another status than 0, as the program was told
  std::int64_t time;                // virtual, in nanoseconds, from the start to the end
  std::int64_t busy_time;           // of that, while a thread could run
};

}  // namespace clew::abi

#endif  // CLEW_ABI_JOB_H_
