// Traces: what a run did, in order, for jobs with kJobTrace (docs/trace-format.md).
//
// A trace is a sequence of records. Each begins with a TraceHead, which says how long the record
// is; a reader skips records of a kind that it does not know. Sizes are multiples of
// kTraceAlignment, so that a record in memory can be written in place.
//
// A strategy that decides at every scheduling point gives an access or a synchronisation for each
// one passed. A strategy that follows (kSchedule, kScript) gives its decisions, and the accesses
// and synchronisations within the job's window (Job::window).
#ifndef CLEW_ABI_TRACE_H_
#define CLEW_ABI_TRACE_H_

#include <cstdint>

#include "clew_abi/guides.h"
#include "clew_abi/job.h"
#include "clew_abi/step.h"

namespace clew::abi {

inline constexpr std::uint64_t kTraceAlignment = 8;

// The file of a trace that does not fit in memory (kJobTraceFile) is the host's. The runtime opens
// it as /proc/HOST/fd/N each time it moves what is in memory there, so that the program has no
// descriptor of it. A job that may write to it begins with at least kTraceReserve bytes of memory:
// jobs without kJobTraceFile leave them free at the end of Control::trace, and a job with it that
// does not moves all of its trace to the file. (Chosen, not measured: enough that the system calls
// for each piece cost little.)
inline constexpr std::uint64_t kTraceReserve = std::uint64_t{64} << 10;
// Of the jobs of a batch: a program that runs for ever must not fill the disk, and the host holds
// about as much in its memory. Chosen, not measured: 16 million records.
inline constexpr std::uint64_t kMostTraceInFile = std::uint64_t{1} << 30;

// The numbers 4 to 7 are reserved for values (more than an access has room for), branches, calls
// and returns.
enum class TraceKind : std::uint8_t { kAccess = 1, kSync = 2, kDecision = 3 };

// Of an access or a synchronisation.
enum TraceFlags : std::uint8_t {
  kTraceSwitched = 1u << 0,   // another thread ran before this point
  kTracePreempted = 1u << 1,  // ... although it could have continued
};

struct TraceHead {
  TraceKind kind;
  std::uint8_t flags;   // TraceFlags
  std::uint16_t size;   // of the whole record, in bytes
  std::uint16_t index;  // of the thread, in order of creation; the low 16 bits
  std::uint16_t reserved;
  ThreadKey thread;
  std::uint64_t clock;  // the event's number
  std::uint64_t own;    // its number among the events of its thread, from 1
};
static_assert(sizeof(TraceHead) == 32);

// The thread is about to access memory.
struct TraceAccess {
  TraceHead head;
  Place place;
  std::uint64_t address;  // 0: not known
  std::uint64_t enabled;  // bit i: the thread with index i could have run, i < 64
  std::uint32_t size;     // bytes; 0: not known
  StepKind kind;          // is_access()
  // Bytes of the value behind this structure, padded to kTraceAlignment. 0: the value is not
  // traced.
  std::uint8_t value_size;
  std::uint16_t reserved;
};
static_assert(sizeof(TraceAccess) == 64);

// The thread is about to synchronise, to yield, to sleep or to start.
struct TraceSync {
  TraceHead head;
  Place place;
  std::uint64_t object;   // synchronisation object; 0: none
  std::uint64_t enabled;  // as of an access
  StepKind kind;          // not is_access()
  std::uint8_t reserved[7];
};
static_assert(sizeof(TraceSync) == 64);

// A preemption, or an answer to a question (ChoiceKind) other than the default, that took effect.
// The script (guides.h) with the same decisions gives the same run. Thread, index and place are
// those of the thread that runs or asks; clock and own number are those of the event that comes
// next, for ChoiceKind::kCas of the one that fails.
struct TraceDecision {
  TraceHead head;
  Place place;
  ThreadKey to;           // who continues or is woken; 0: none
  std::uint32_t ordinal;  // of the question, or of the preemption at that event
  ScriptKind kind;
  std::uint8_t reserved[3];
};
static_assert(sizeof(TraceDecision) == 56);

}  // namespace clew::abi

#endif  // CLEW_ABI_TRACE_H_
