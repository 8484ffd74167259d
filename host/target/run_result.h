// What a run reported about itself, as values. Addresses and places are raw here; host/symbolize
// turns them into source.
#ifndef CLEW_HOST_TARGET_RUN_RESULT_H_
#define CLEW_HOST_TARGET_RUN_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/stream.h"
#include "clew_abi/watch.h"
#include "host/outcome.h"
#include "host/recording/capture.h"

namespace clew {

using ThreadIndex = std::uint64_t;  // in order of creation; a position in RunResult::threads
using FrameList = std::vector<std::uint64_t>;  // code addresses, innermost first

struct ThreadInfo {
  std::string id;    // "T0.2"
  std::string name;  // given by the program; may be empty
  std::uint64_t start = 0;
};

struct ModuleInfo {
  std::uint64_t base = 0;  // process-wide id of its first point
  std::uint64_t points = 0;
  std::string path;
};

// What the run has created (abi::MessageType::kCreated).
struct CreatedName {
  abi::CreatedKind kind = abi::CreatedKind::kFile;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path;  // absolute, or a queue's name; empty: it must stay
};

struct FailureReport {
  abi::FailureKind kind = abi::FailureKind::kExit;
  ThreadIndex thread = 0;
  std::string detail;
  std::string file;  // empty: see the frames
  std::uint32_t line = 0;
  std::string function;
  FrameList frames;
};

struct WaitReport {
  ThreadIndex thread = 0;
  abi::WaitKind kind = abi::WaitKind::kNothing;
  std::uint64_t object = 0;
  std::optional<ThreadIndex> holder;
  abi::Place place = 0;
  FrameList frames;
  std::uint64_t since = 0;  // the clock at which it began; 0: not waiting
};

struct HoldReport {
  ThreadIndex thread = 0;
  abi::WaitKind kind = abi::WaitKind::kNothing;
  std::uint64_t object = 0;
  std::uint64_t clock = 0;           // when it was taken
  std::uint64_t address = 0;         // where it was taken
  std::optional<Location> taken_at;  // the same, in user code (host/symbolize/locate.h)
};

struct SliceReport {
  ThreadIndex thread = 0;
  std::uint64_t first_clock = 0;
  std::uint64_t last_clock = 0;
  abi::Place first_place = 0;
  abi::Place last_place = 0;
  abi::SliceEnd end = abi::SliceEnd::kRunEnded;
  abi::WaitKind wait = abi::WaitKind::kNothing;
  std::uint64_t object = 0;
};

struct StackReport {
  std::uint64_t clock = 0;
  ThreadIndex thread = 0;
  bool running = false;  // at that clock
  abi::Place place = 0;
  FrameList frames;
};

// What a watch has found (abi::MessageType::kFinding).
struct FindingReport {
  struct Lock {
    abi::WaitKind kind = abi::WaitKind::kNothing;
    std::uint64_t object = 0;
  };
  struct Site {
    abi::FindingAction action = abi::FindingAction::kNothing;
    ThreadIndex thread = 0;
    std::uint64_t clock = 0;
    abi::Place place = 0;
    std::uint64_t object = 0;
    std::uint64_t size = 0;
    std::vector<Lock> locks;
    FrameList frames = {};  // host/names/findings.h
  };
  abi::FindingKind kind = abi::FindingKind::kRace;
  abi::FindingSeverity severity = abi::FindingSeverity::kError;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;  // of the kind; kListener
  std::string text;  // likewise
  std::vector<Site> sites;
};

struct Departure {
  std::uint64_t clock = 0;
  ThreadIndex expected_thread = 0;
  ThreadIndex actual_thread = 0;
  abi::Place expected_place = 0;
  abi::Place actual_place = 0;
  std::string what;
};

struct EndReport {
  std::uint64_t clock = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t threads = 0;
  std::uint64_t hash = 0;
};

// What the runtime said through the ring.
struct Reports {
  std::vector<ThreadInfo> threads{{"T0", "", 0}};  // main is there from the start
  std::vector<ModuleInfo> modules;
  std::optional<FailureReport> failure;
  std::vector<WaitReport> waits;
  std::vector<HoldReport> holds;
  std::vector<SliceReport> slices;
  std::vector<StackReport> stacks;
  std::vector<FindingReport> findings;
  std::string maps;
  std::map<std::uint64_t, std::string> names;  // of locks and the like (host/observe/event_names.h)
  std::vector<std::string> notes;
  std::vector<CreatedName> created;
  std::optional<Departure> departure;
  std::optional<EndReport> end;
  std::optional<std::string> becomes;  // the path of the program that it became by exec()
  std::optional<int> status;           // as waitpid gives it, said by the process itself
};

struct RunResult {
  RunSummary summary;
  Reports reports;
  Captured output;                 // standard output
  Captured errors;                 // standard error
  std::optional<Captured> input;   // standard input, if it was recorded
  std::optional<Captured> inputs;  // all that it read from outside, if it was recorded
  int interrupted_by = 0;          // the signal that clew got; 0: none
  int output_error = 0;  // errno: clew could not write all of it to its own output; 0: it could
  double seconds = 0;
  double cpu_seconds = 0;  // of the program alone

  // "T0.2", or "thread 7" for one that was never announced.
  std::string thread_id(ThreadIndex thread) const;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_RUN_RESULT_H_
