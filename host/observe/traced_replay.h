// A recording run again, with every instruction looked at.
#ifndef CLEW_HOST_OBSERVE_TRACED_REPLAY_H_
#define CLEW_HOST_OBSERVE_TRACED_REPLAY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/replay.h"
#include "host/translate/code_trace.h"

namespace clew {

struct TracedReplay {
  RunResult run;
  std::vector<std::string> differences;  // from the recording
  bool whole = true;                     // all that was written down could be read
  std::uint64_t bytes = 0;               // of it
  std::deque<TranslatedBlock> blocks;    // that ran
};

// Takes what the run has written down, in parts of whole records, with the blocks so far. False: it makes no
// sense.
using TracePartSink = std::function<bool(std::span<const std::uint8_t> records,
                                         const std::deque<TranslatedBlock>& blocks)>;

[[nodiscard]] Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                                     RunObserver& observer,
                                                     const TracePartSink& sink);
[[nodiscard]] Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                                     RunObserver& observer,
                                                     CodeTraceListener& listener);

// What is changed in a run between two blocks: what comes before is the recorded run, what comes behind is
// another one, with the same schedule as far as it goes.
struct RunChange {
  std::uint64_t offset = 0;  // RunTrace::stream_offset
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes = {};  // of memory; empty: none is changed
  // A general register: its number as instructions have it; nothing: none is changed.
  struct RegisterValue {
    int number = 0;
    std::uint64_t value = 0;
  };
  std::optional<RegisterValue> reg = {};
  std::uint64_t continue_at = 0;  // this code comes next, instead of the block; 0: the block does
};

struct ChangedRun {
  RunResult run;
  bool whole = true;                   // all that was written down could be read
  std::deque<TranslatedBlock> blocks;  // that ran
  // The general registers as they were at each change, before it.
  std::vector<std::array<std::uint64_t, 16>> registers;
};

// `changes` are in the order of their offsets. Fails with kSystem if the run does not come to one of them.
[[nodiscard]] Result<ChangedRun> run_changed(const Replay& replay, TraceDetail detail,
                                             const std::vector<RunChange>& changes,
                                             RunObserver& observer, CodeTraceListener& listener);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_TRACED_REPLAY_H_
