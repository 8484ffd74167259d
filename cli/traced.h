// What commands that trace a recording have in common.
#ifndef CLEW_CLI_TRACED_H_
#define CLEW_CLI_TRACED_H_

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
