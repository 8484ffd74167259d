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

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_TRACED_REPLAY_H_
