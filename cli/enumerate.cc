// clew enumerate: which write each read may see, and a run for each.
#include "host/enumerate/enumerate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_options.h"
#include "cli/status_line.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/report/enumerate_json.h"
#include "host/report/enumerate_text.h"
#include "host/report/hunt_text.h"
#include "host/report/words.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"

namespace clew::cli {
namespace {

constexpr double kDefaultSeconds = 60;

struct EnumerateCommand {
  HuntCommand command;
  EnumerateOptions options;
  bool all = false;
  bool pairs = false;
  bool triples = false;
  std::string json;
};

class EnumerateStatusLine final : public EnumerateObserver {
 public:
  void status(const EnumerateSearch::Coverage& coverage, const HuntStatus& status) override {
    if (line_.due(status.seconds))
      line_.draw(
          fmt::format("clew: {}, {}", counted(status.schedules, "run"), coverage_text(coverage)));
  }
  void clear() { line_.clear(); }

 private:
  StatusLine line_{0.3};
};

Result<int> run(EnumerateCommand& given) {
  const Orphans orphans;  // ended last
  CLEW_CHECK_OK(complete_program(given.command));
  HuntOptions& hunt = given.command.hunt;
  if (hunt.schedules == 0 && hunt.seconds == 0) hunt.seconds = kDefaultSeconds;
  given.options.hunt = hunt;
  given.options.together = given.triples ? 3 : given.pairs ? 2 : 1;
  CLEW_TRY(auto store, RecordingStore::open());
  tell_before_run(hunt.plan);
  const Interrupts interrupts;  // up to the end: what was found is reported
  EnumerateStatusLine status;
  const auto result = enumerate(given.options, store, status);
  status.clear();
  CLEW_CHECK_OK(result);
  for (const std::string& note : result->hunt.notes) print_details("clew: note: " + note + "\n");
  print_headline(outcome_of(result->hunt), enumerate_headline(*result));
  print_details(enumerate_text(*result));
  CLEW_CHECK_OK(write_json(given.json, enumerate_json(*result)));
  return exit_status_of(result->hunt);
}

}  // namespace

void register_enumerate(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<EnumerateCommand>();
  CLI::App* command = app.add_subcommand(
      "enumerate", "List which writes each shared read may see, with a run for each");
  CLI::Option* at =
      command
          ->add_option("--at", options->options.at,
                       "The reads of this line alone, or of this variable there; may be repeated")
          ->type_name("FILE:LINE[:VARIABLE]")
          ->allow_extra_args(false);
  command->add_flag("--all", options->all, "All reads (the default)")->excludes(at);
  CLI::Option* pairs = command->add_flag("--pairs", options->pairs,
                                         "Combinations of what two reads see, besides single ones");
  command
      ->add_flag("--triples", options->triples,
                 "Combinations of what three reads see, besides single ones")
      ->excludes(pairs);
  command
      ->add_option("--instances", options->options.instances,
                   "Tell this many times apart that a thread comes to a read or write")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_flag("--exhaust", options->options.exhaust,
                    "Do not stop before every schedule was executed");
  command->add_option("--schedules", options->command.hunt.schedules, "Stop after this many runs")
      ->type_name("N")
      ->check(count());
  add_program_options(*command, options->command);
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "Without --time and --schedules it ends after 60 seconds, when every schedule was executed,\n"
      "or when nothing is open and hundreds of runs have brought nothing new.\n\n"
      "Examples:\n"
      "  clew enumerate ./calc\n"
      "  clew enumerate --at calc.c:31:n ./calc\n"
      "  clew enumerate --pairs --time 20 --json - ./queue_test\n\n"
      "Exit status: 0 no run fails, 1 a run fails, 122 no run could be judged, 124 usage error,\n"
      "125 bad input or system error, 126 internal error, 128 + n interrupted by signal n with\n"
      "nothing found.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
