#include "cli/traced.h"

#include <fmt/format.h>

#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"

namespace clew::cli {

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

}  // namespace clew::cli
