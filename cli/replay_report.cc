#include "cli/replay_report.h"

#include <fmt/format.h>

#include "cli/ui.h"
#include "host/report/run_text.h"
#include "host/report/words.h"

namespace clew::cli {

std::string recording_name(const Recording& recording) {
  return recording.number != 0 ? fmt::format("recording {}", recording.number)
                               : fmt::format("recording {}", recording.path.string());
}

void print_departure(const Replay& replay, const RunResult& run,
                     const std::vector<std::string>& lines, Symbolizer& symbols) {
  print_headline(Outcome::kUnresolved,
                 fmt::format("departed: the replay of {} is not the recorded run",
                             recording_name(replay.recording)));
  for (const std::string& line : lines) print_details(fmt::format("  {}\n", printable(line)));
  print_details(departure_text(run, symbols));
  const std::string which = replay.recording.number != 0 ? std::to_string(replay.recording.number)
                                                         : replay.recording.path.string();
  print_details(fmt::format("  replay it: clew replay {}\n", which));
}

}  // namespace clew::cli
