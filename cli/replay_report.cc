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
  print_details(departure_text(run, replay.recording.meta.summary, symbols));
  for (const std::string& line : lines) print_details(fmt::format("  {}\n", printable(line)));
  print_details(
      "hint: something that is not recorded was different: a file, a process id, /dev/urandom, the "
      "processor's clock or random numbers\n");
}

}  // namespace clew::cli
