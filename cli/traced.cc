#include "cli/traced.h"

#include <fmt/format.h>

#include <utility>

#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"

namespace clew::cli {
namespace {

// Lets through what is in a part of the run.
class InWindow final : public CodeTraceListener {
 public:
  InWindow(CodeTraceListener& listener, ClockWindow window)
      : listener_(listener), window_(window) {}
  void block(const BlockRun& run) override {
    const abi::ReturnMark before = clock_.mark();
    clock_.block(run);
    const bool was_inside = std::exchange(inside_, window_.has(before.clock));
    if (!inside_) return;
    if (!was_inside) listener_.returned(before);
    listener_.block(run);
  }
  void cut(std::uint64_t address) override {
    if (inside_) listener_.cut(address);
  }
  void returned(const abi::ReturnMark& mark) override {
    clock_.returned(mark);
    if (inside_) listener_.returned(mark);
  }

 private:
  CodeTraceListener& listener_;
  ClockWindow window_;
  TraceClock clock_;
  bool inside_ = false;
};

}  // namespace

bool check_traced(const Replay& replay, const TracedReplay& traced) {
  if (traced.run.interrupted_by != 0) {
    print_headline(Outcome::kUnresolved, "interrupted");
    return false;
  }
  if (!traced.differences.empty()) {
    Symbolizer symbols(traced.run.reports);
    print_departure(replay, traced.run, traced.differences, symbols);
    return false;
  }
  if (!traced.whole)
    print_headline(Outcome::kUnresolved, fmt::format("the program has overwritten the trace of {}",
                                                     recording_name(replay.recording)));
  return traced.whole;
}

int status_of(const TracedReplay& traced) {
  if (traced.run.interrupted_by != 0) return 128 + traced.run.interrupted_by;
  if (!traced.differences.empty()) return kExitDeparted;
  return traced.whole ? 0 : 1;
}

Json json_of(const Replay& replay, const TracedReplay& traced) {
  return {{"recording", replay.recording.number},
          {"differences", traced.differences},
          {"complete", traced.whole},
          {"bytes", traced.bytes},
          {"seconds", traced.run.seconds}};
}

std::unexpected<Error> too_long() {
  return fail(ErrorCode::kBadInput, "this part of the run is too long to be kept in memory",
              "give a smaller one with --from and --to");
}

Result<int> trace_part(const Replay& replay, ClockWindow window, Kept& kept) {
  Replay quiet = replay;
  quiet.plan.output = OutputMode::kCaptureOnly;
  quiet.plan.queries = {replay.recording.meta.summary.clock};  // with it comes where code lies
  for (const std::uint64_t from : {std::uint64_t{0}, window.from}) {
    kept.whole = from == 0;
    kept.trace = RunTrace(kMostKept);
    InWindow listener(kept.trace, {from, window.to});
    ProgressLine progress;
    CLEW_TRY(auto traced, run_traced_replay(quiet, TraceDetail::kCalls, progress, listener));
    progress.clear();
    if (!check_traced(replay, traced)) return status_of(traced);
    kept.blocks = std::move(traced.blocks);
    kept.run = std::move(traced.run);
    if (!kept.trace.too_long()) return 0;
  }
  return too_long();
}

}  // namespace clew::cli
