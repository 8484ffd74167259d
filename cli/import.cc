// clew import: what clew export wrote, as a recording of this folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/recording/archive.h"
#include "host/recording/machine_facts.h"
#include "host/report/run_text.h"
#include "host/report/words.h"

namespace clew::cli {
namespace {

Result<void> read(const std::string& file) {
  CLEW_TRY(auto store, RecordingStore::open());
  CLEW_TRY(const auto recording, import_archive(file, store));
  const Meta& meta = recording.meta;
  print_result(fmt::format("imported {} as recording {}: {}, {}\n", printable(file),
                           recording.number, printable(path_before_import(meta.program)),
                           headline(meta.summary)));
  if (const auto recorded = machine_of(recording.path))
    for (const MachineDifference& difference : differences(*recorded, this_machine()))
      print_result(fmt::format("  {}\n", printable(difference.text)));
  print_result(fmt::format(
      "replay it: clew replay {} (this runs the program in the file, with your rights)\n",
      recording.number));
  return {};
}

}  // namespace

void register_import(CLI::App& app, int& exit_status) {
  auto file = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("import", "Make a recording of a file that clew export wrote");
  command->add_option("file", *file, "The file")->type_name("FILE")->required();
  command->footer(
      "Importing runs nothing. Replaying what was imported runs the program that the file holds:\n"
      "do it with files from people from whom you would run a program.\n\n"
      "Example:\n"
      "  clew import crash.clew && clew replay\n\n"
      "Exit status: 0 if there is a new recording, otherwise 124 to 126.");
  command->callback([file, &exit_status] {
    const auto done = read(*file);
    exit_status = done ? output_status(0) : report_error(done.error());
  });
}

}  // namespace clew::cli
