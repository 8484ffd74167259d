// A recording run again, with every instruction looked at.
#ifndef CLEW_HOST_OBSERVE_TRACED_REPLAY_H_
#define CLEW_HOST_OBSERVE_TRACED_REPLAY_H_

#include <cstdint>
#include <deque>
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

[[nodiscard]] Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                                     RunObserver& observer,
                                                     CodeTraceListener& listener);

// Memory that is changed in a run between two blocks: what comes before is the recorded run, what
// comes behind is another one, with the same schedule as far as it goes.
struct MemoryChange {
  std::uint64_t offset = 0;  // RunTrace::stream_offset
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

// `changes` are in the order of their offsets.
[[nodiscard]] Result<RunResult> run_changed(const Replay& replay, TraceDetail detail,
                                            const std::vector<MemoryChange>& changes,
                                            RunObserver& observer, CodeTraceListener& listener);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_TRACED_REPLAY_H_
