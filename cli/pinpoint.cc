// clew pinpoint: which program points make a failure appear.
#include "host/noise/pinpoint.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_options.h"
#include "cli/population_status.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/report/pinpoint_json.h"
#include "host/report/pinpoint_pictures.h"
#include "host/report/pinpoint_text.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"

namespace clew::cli {
namespace {

struct PinpointCommand {
  HuntCommand command;
  PinpointOptions pinpoint;
  std::string json;
  std::string graph;
  std::string plot;
};

Result<int> run(PinpointCommand& given) {
  const Orphans orphans;  // ended last
  CLEW_CHECK_OK(complete_program(given.command));
  given.pinpoint.hunt = given.command.hunt;
  CLEW_TRY(auto store, RecordingStore::open());
  tell_before_run(given.pinpoint.hunt.plan);
  const Interrupts interrupts;  // up to the end: what was found is reported
  CampaignStatusLine status;
  const auto result = pinpoint(given.pinpoint, store, status);
  status.clear();
  CLEW_CHECK_OK(result);
  for (const std::string& note : result->notes) print_details("clew: note: " + note + "\n");
  print_headline(result->anything_stands_out() ? Outcome::kFail : Outcome::kPass,
                 pinpoint_headline(*result));
  print_details(pinpoint_text(*result));
  CLEW_CHECK_OK(write_text(given.graph,
                           given.graph.ends_with(".dot") ? flow_dot(*result) : flow_svg(*result)));
  CLEW_CHECK_OK(write_text(given.plot, differences_svg(*result)));
  CLEW_CHECK_OK(write_json(given.json, pinpoint_json(*result)));
  return exit_status_of(*result);
}

void add_search(CLI::App& app, PinpointCommand& given) {
  PinpointOptions& pinpoint = given.pinpoint;
  app.add_option("--algorithm", pinpoint.search.algorithm,
                 "active, features (the paper's), dd, ddmin, or a shared library with an algorithm "
                 "of your own (<clew/search.h>)")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--samples", pinpoint.search.samples,
                 "Samples of half of the points (default: 5000; active: as it sees fit)")
      ->type_name("N")
      ->check(count());
  app.add_option("--runs", pinpoint.search.runs, "Runs of each sample (default: 20; active: 8)")
      ->type_name("N")
      ->check(count());
  app.add_option("--threshold", pinpoint.search.threshold,
                 "Failing runs that make a sample a failing one (default: the mean, at least 1)")
      ->type_name("N")
      ->check(count());
  app.add_option("--noise", pinpoint.percent,
                 "The probability of noise at a chosen point, in percent (default: 95)")
      ->type_name("PERCENT")
      ->check(CLI::Range(1, 100));
  app.add_option("--runs-everywhere", pinpoint.runs_everywhere,
                 "Runs with noise at all points, to compare with (default: 400)")
      ->type_name("N")
      ->check(count());
  app.add_option("--at", pinpoint.at,
                 "No search: how often it fails with noise at these places alone; may be repeated")
      ->type_name("FILE:LINE")
      ->allow_extra_args(false);
  app.add_flag("--one-kind", pinpoint.search.one_kind,
               "All failures count as the same, whatever their kind and place");
  app.add_flag("--resume", pinpoint.resume,
               "Continue the newest campaign of this program that was interrupted");
  app.add_option("--resume-from", pinpoint.resumed, "Continue this campaign")
      ->type_name("FILE")
      ->each([&pinpoint](const std::string&) { pinpoint.resume = true; });
  app.add_option(
         "--join", pinpoint.join,
         "Add the samples of another campaign of this program to the scores; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_pictures(CLI::App& app, PinpointCommand& given) {
  app.add_option("--graph", given.graph,
                 "Write the control flow between points, coloured by score, as SVG or for Graphviz")
      ->type_name("FILE.svg|FILE.dot")
      ->check(picture())
      ->check(writable());
  app.add_option("--plot", given.plot,
                 "Write the distributions of the differences of scores as SVG")
      ->type_name("FILE.svg")
      ->check(writable());
}

}  // namespace

void register_pinpoint(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<PinpointCommand>();
  CLI::App* command = app.add_subcommand(
      "pinpoint", "Find the places in a program where a delay makes it fail, over many runs");
  add_search(*command, *options);
  add_program_options(*command, options->command);
  add_pictures(*command, *options);
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "Examples:\n"
      "  clew pinpoint ./queue_test\n"
      "  clew pinpoint --algorithm features --samples 5000 --runs 100 -- ./crawler --pages 40\n"
      "  clew pinpoint --resume ./queue_test\n\n"
      "Exit status: 1 points stand out, 0 nothing stands out, 124 usage error, 125 bad input or\n"
      "system error, 126 internal error, 128 + n interrupted by signal n with nothing found.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
