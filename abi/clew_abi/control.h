// The control memory: one memfd, mapped by the host and, at a fixed address, by
// the runtime. The host fills in what the run is to be; the runtime reports through
// the ring. Fixed, so that it never moves what the program maps.
#ifndef CLEW_ABI_CONTROL_H_
#define CLEW_ABI_CONTROL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "clew_abi/job.h"
#include "clew_abi/version.h"

namespace clew::abi {

inline constexpr std::uint64_t kControlMagic = 0x77656c63'6c727463;  // "ctrlclew"
inline constexpr std::uintptr_t kControlAddress = 0x4000'0000'0000;
// The variable that carries the descriptor, always kControlDigits digits: its length
// must not move the stack. What the program itself sees there, and its children get, is kAskParent
// in their place: such a child asks the clew among its ancestors for a control memory (adoption.h).
inline constexpr char kControlVariable[] = "CLEW_CONTROL";
inline constexpr int kControlDigits = 6;
inline constexpr char kAskParent[] = "parent";
static_assert(sizeof kAskParent == kControlDigits + 1);
// Tells the runtime that LD_PRELOAD has one path and perhaps ':' before what the user set, which it
// takes away again before the program can see it.
inline constexpr char kPreloadVariable[] = "CLEW_PRELOAD";

enum ControlFlags : std::uint32_t {
  kFlagReplay = 1u << 0,         // full replay: checks are compared, a departure ends the run
  kFlagSlices = 1u << 1,         // report every slice (kSlice)
  kFlagWaitDebugger = 1u << 2,   // before main, wait until `debugger_ready` is set
  kFlagLineBuffered = 1u << 3,   // standard output was a terminal: flush at line ends
  kFlagEveryPoint = 1u << 4,     // stop at every point: every slice's first and last line is known
  kFlagFromMain = 1u << 5,       // the job begins at main, or at the first thread; nothing is
                                 // preempted before
  kFlagServe = 1u << 6,          // take jobs from the host there, one after the other
  kFlagInPlace = 1u << 7,        // ... and put the process back between jobs instead of forking
  kFlagCapture = 1u << 8,        // standard output and error are files, emptied before each job
  kFlagRecordInputs = 1u << 9,   // `inputs` is a ring for what the run reads from outside
  kFlagReplayInputs = 1u << 10,  // `inputs` holds all of it; nothing outside is asked
  kFlagChild = 1u << 11,         // a program started it: that may send it signals at any time
  kFlagBreaksOff = 1u << 12,     // the recording was interrupted: the replay ends where it does, at
                                 // the budget, the last input, or in a wait for one
  kFlagTellCreated = 1u << 13,   // tell the host what the run creates (kCreated)
                                 // 1u << 14: late_start.h
  kFlagLoadAgain = 1u << 15,     // the kernel chooses addresses at random: the runtime loads the
                                 // program once more, where it is in every run
                                 // from 1u << 16 on: watch.h
};

inline constexpr std::uint64_t kMostStackAtStart = std::uint64_t{64} << 20;

inline constexpr std::size_t kMaxChangedPath = 1024;

// Whether no thread is runnable, and something outside is waited for.
enum class WaitsOutside : std::uint32_t { kNo = 0, kYes, kForChildrenOnly };

// What a program does without because of where it runs (a container, an old kernel).
enum Lacking : std::uint32_t {
  kLacksFixedAddresses = 1u << 0,  // they differ from run to run
  kLacksDispatch = 1u << 1,        // system calls that libraries make are not caught
};

// Who is to act. The host writes kRun after it has laid out the jobs, and kQuit, which stays; the
// program the others.
enum class ServerState : std::uint32_t { kStarting = 0, kReady, kRun, kQuit };

struct Control {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size_of_control;  // sizeof(Control)

  // What the run is to be.
  std::uint32_t flags;
  std::uint32_t pool;        // threads to make ready at main (kFlagFromMain)
  std::uint64_t seed;        // of the program's own randomness
  std::uint64_t budget;      // the clock at which the run counts as a hang
  std::uint64_t fair_slice;  // most points in a row while other threads are runnable (spin loops)
  std::int64_t epoch_ns;     // virtual CLOCK_REALTIME at the start
  // As the program begins with them, a bit for each signal: 1 << (number - 1).
  std::uint64_t blocked_signals;
  std::uint64_t ignored_signals;
  // The recording that this run becomes, if the host listens to its child processes (adoption.h);
  // otherwise 0.
  std::uint64_t recording;
  std::int32_t host;        // its process id
  std::int32_t trace_file;  // descriptor in that process of the file for traces (trace.h); -1: none
  std::int32_t translation;  // ... of the memory for a translated run (translation.h); -1: none
  // Replay: forks that lead from the program to the copy of it whose recording this is.
  std::uint32_t generation;
  // With kFlagLoadAgain: RLIMIT_STACK, soft, as the program has it; UINT64_MAX: none. The kernel
  // derives addresses from the limit at the start, which is at most kMostStackAtStart then.
  std::uint64_t stack_limit;
  // The fork of the program, counted from 1, that is answered as in the child: the process
  // continues as that child, and nobody runs as its parent. 0: none.
  std::uint32_t enter_child;
  // How many times as much virtual time as usual everything takes that takes time. At least 1.
  std::uint32_t clock_speed;

  // Parts behind this structure, as offsets from its start.
  std::uint64_t total_size;      // of the whole memory
  std::uint64_t queries_offset;  // queries_count ascending u64 clocks, for kStack
  std::uint64_t queries_count;
  std::uint64_t ring_offset;
  std::uint64_t ring_size;  // a power of two
  // Without kFlagServe there is one job and no result.
  std::uint64_t jobs_offset;     // Job[jobs_count]
  std::uint64_t results_offset;  // JobResult[jobs_count]
  Part sharing;      // a bit for each yield point, id 0 first: known to touch what threads share
  Part new_sharing;  // u32 ids found by the jobs of this batch, one after the other
  Part trace;        // records of trace.h: of the jobs of this batch with kJobTrace
  Part inputs;       // records of clew_abi/inputs.h; as a ring its size is a power of two
  Part listeners;    // NUL-terminated texts "FILE" or "FILE:OPTIONS": libraries to load (watch.h)
  // Of these parts, what the batch's jobs have filled so far.
  std::uint64_t new_sharing_count;  // ids
  std::uint64_t trace_used;         // bytes
  std::uint64_t trace_file_used;    // bytes, of the file

  // The ring. Bytes written and read since the start; the runtime owns head, the host tail.
  alignas(64) std::atomic<std::uint64_t> head;
  alignas(64) std::atomic<std::uint64_t> tail;

  // The ring of inputs, likewise.
  alignas(64) std::atomic<std::uint64_t> inputs_head;
  alignas(64) std::atomic<std::uint64_t> inputs_tail;

  // Live state, for progress and the watchdog.
  alignas(64) std::atomic<std::uint64_t> live_clock;
  std::atomic<std::uint32_t> attached;  // the runtime is in charge
  std::atomic<std::uint32_t> debugger_ready;
  std::atomic<WaitsOutside> waits_outside;
  // Set by the host: nobody reads the rings any more, and the program keeps running.
  std::atomic<std::uint32_t> let_go;
  std::atomic<std::uint32_t> lacks;  // Lacking; complete when `attached` is set

  // The server. `state` is a futex; the host sets the counts back when it lays out a batch.
  alignas(64) std::atomic<ServerState> state;
  std::atomic<std::uint32_t> jobs_count;
  std::atomic<std::uint32_t> jobs_done;  // results written
  std::atomic<std::int32_t> runner;      // process id of the run under way
  std::atomic<std::uint64_t> forks;      // processes that were needed so far
  std::atomic<std::uint32_t> depth;      // checkpoints that stand

  // What the jobs did to files that were there before, which is not undone: the first such file, as
  // an absolute path, once the number is not 0.
  std::atomic<std::uint32_t> changed_files;
  // What they made and only one of them can have: files and other names, which are removed, and
  // addresses.
  std::atomic<std::uint32_t> claimed;
  char changed_file[kMaxChangedPath];
};

}  // namespace clew::abi

#endif  // CLEW_ABI_CONTROL_H_
