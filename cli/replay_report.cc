#include "cli/replay_report.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/ui.h"
#include "host/recording/machine_facts.h"
#include "host/report/run_text.h"
#include "host/report/words.h"

namespace clew::cli {

std::string recording_name(const Recording& recording) {
  return recording.number != 0 ? fmt::format("recording {}", recording.number)
                               : fmt::format("recording {}", recording.path.string());
}

std::string judged_line(const Recording& recording) {
  const auto& judged = recording.meta.judged;
  if (!judged) return "";
  return fmt::format("fail ({}): {}", to_word(judged->kind), printable(judged->detail));
}

namespace {

// Calls that the runtime did not know are the first to suspect.
std::string hint(const LaunchPlan& plan, const std::vector<Note>& notes) {
  if (plan.loaded_elsewhere)
    return "hint: it was recorded where the kernel fixes addresses, which is refused here (a "
           "container?); CLEW_LOAD_AGAIN=1 clew run makes recordings that replay in both\n";
  std::string unrecorded;
  for (const Note& note : notes)
    if (note.kind == Note::Kind::kNotRecorded)
      unrecorded += (unrecorded.empty() ? "" : ", ") + printable(note.subject);
  if (!unrecorded.empty())
    return fmt::format("hint: the program used something that is not recorded: {}\n", unrecorded);
  return "hint: possible causes: a library that the program loads was different, memory that it "
         "shares with another process, the processor's random numbers\n";
}

std::vector<MachineDifference> other_machine(const Recording& recording) {
  const auto recorded = machine_of(recording.path);
  return recorded ? differences(*recorded, this_machine()) : std::vector<MachineDifference>{};
}

}  // namespace

void print_other_machine(const Recording& recording) {
  for (const MachineDifference& difference : other_machine(recording))
    if (difference.matters)
      print_details(fmt::format("clew: note: {}\n", printable(difference.text)));
}

void print_departure(const Replay& replay, const RunResult& run,
                     const std::vector<std::string>& lines, Symbolizer& symbols) {
  print_headline(Outcome::kUnresolved,
                 fmt::format("departed: the replay of {} is not the recorded run",
                             recording_name(replay.recording)));
  print_details(departure_text(run, replay.recording.meta.summary, symbols));
  for (const std::string& line : lines) print_details(fmt::format("  {}\n", printable(line)));
  for (const MachineDifference& difference : other_machine(replay.recording))
    print_details(fmt::format("  {}\n", printable(difference.text)));
  print_details(hint(replay.plan, replay.recording.meta.summary.notes));
}

}  // namespace clew::cli
