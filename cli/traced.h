// What commands that trace a recording have in common.
#ifndef CLEW_CLI_TRACED_H_
#define CLEW_CLI_TRACED_H_

#include "host/observe/run_trace.h"
#include "host/observe/trace_file.h"
#include "host/observe/traced_replay.h"
#include "host/report/run_json.h"
#include "host/target/replay.h"
#include "host/translate/code_trace.h"

namespace clew::cli {

// Of a run that is kept as a whole for the names of its data. Chosen, not measured.
inline constexpr std::uint64_t kMostKept = std::uint64_t{512} << 20;

// The run was the recorded one, and all of it could be read; otherwise says what was not.
bool check_traced(const Replay& replay, const TracedReplay& traced);

int status_of(const TracedReplay& traced);

Json json_of(const Replay& replay, const TracedReplay& traced);

// A part of a run in memory, and, if there is room, all that comes before it.
struct Kept {
  RunTrace trace{kMostKept};
  std::deque<TranslatedBlock> blocks;
  RunResult run;
  bool whole = true;  // from the start of the run
};

// Runs the recording. Returns the exit status; 0: `kept` is the run, not yet finished.
[[nodiscard]] Result<int> trace_part(const Replay& replay, ClockWindow window, Kept& kept);
[[nodiscard]] std::unexpected<Error> too_long();

// Both listen to the same run.
class Both : public CodeTraceListener {
 public:
  Both(CodeTraceListener& first, CodeTraceListener& second) : first_(first), second_(second) {}
  void block(const BlockRun& run) override {
    first_.block(run);
    second_.block(run);
  }
  void cut(std::uint64_t address) override {
    first_.cut(address);
    second_.cut(address);
  }
  void returned(const abi::ReturnMark& mark) override {
    first_.returned(mark);
    second_.returned(mark);
  }

 private:
  CodeTraceListener& first_;
  CodeTraceListener& second_;
};

}  // namespace clew::cli

#endif  // CLEW_CLI_TRACED_H_
