// clew export: a recording in one file, with all that another machine needs to replay it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/recording/archive.h"
#include "host/report/words.h"
#include "host/target/portable.h"
#include "host/target/replay.h"

namespace clew::cli {
namespace {

struct ExportOptions {
  std::string recording;
  std::string file;
};

std::string default_name(const Recording& recording) {
  const std::string program = std::filesystem::path(recording.meta.program).filename().string();
  return recording.number != 0 ? fmt::format("{}-{}.clew", program, recording.number)
                               : fmt::format("{}.clew", program);
}

Result<void> write(const ExportOptions& options) {
  CLEW_TRY(const auto replay, prepare_replay(options.recording));
  ProgressLine progress("replay before the export");
  auto portable = make_portable(replay, progress);
  progress.clear();
  CLEW_CHECK_OK(portable);
  const std::string file = options.file.empty() ? default_name(replay.recording) : options.file;
  CLEW_TRY(const auto size,
           write_archive(file, replay.recording.path, portable->meta, portable->bundle));
  print_result(fmt::format(
      "wrote {} to {}: {} KiB, with the program and {} that it loads\n"
      "it holds the program's environment and input; elsewhere: clew import {}\n",
      recording_name(replay.recording), printable(file), with_commas((size + 1023) / 1024),
      counted(portable->bundle.size() - 1, "file"), printable(file)));
  return {};
}

}  // namespace

void register_export(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Write a recording to one file that replays on other machines");
  command
      ->add_option("recording", options->recording,
                   "Number or folder of the recording (default: the newest)")
      ->type_name("RECORDING");
  command
      ->add_option("-o,--output", options->file,
                   "The file to write, which must not exist (default: PROGRAM-N.clew)")
      ->type_name("FILE");
  command->footer(
      "The recording is replayed first, as it will be elsewhere. The file holds the program,\n"
      "its libraries, its arguments, its environment and all that it read.\n\n"
      "Examples:\n"
      "  clew export\n"
      "  clew export 7 -o crash.clew\n\n"
      "Exit status: 0 if the file was written, otherwise 124 to 126.");
  command->callback([options, &exit_status] {
    const auto done = write(*options);
    exit_status = done ? output_status(0) : report_error(done.error());
  });
}

}  // namespace clew::cli
