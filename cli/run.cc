// clew run: one run, recorded.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/hunt_arguments.h"
#include "cli/ui.h"
#include "host/recording/recording.h"
#include "host/report/exit_status.h"
#include "host/report/holds.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/words.h"
#include "host/schedule/schedule.h"
#include "host/schedule/stream.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/descendants.h"
#include "host/target/program.h"
#include "host/target/run_target.h"

namespace clew::cli {
namespace {

struct RunOptions {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> schedule;
  std::string strategy = "timer";
  std::uint64_t budget = kDefaultBudget;
  std::string json;
  std::vector<std::string> command;
};

std::uint64_t random_seed() {
  // Short enough to be typed.
  return std::uniform_int_distribution<std::uint64_t>(
      1, 999'999'999)(*std::make_unique<std::random_device>());
}

Result<LaunchPlan> make_plan(const RunOptions& options) {
  auto planned = plan_program(without_marks(options.command));
  if (!planned) return planned;
  LaunchPlan& plan = *planned;
  plan.budget = options.budget;
  plan.seed = options.seed ? *options.seed : random_seed();
  plan.schedule_seed = plan.seed;
  plan.strategy = options.strategy == "none" ? abi::StrategyKind::kNone : abi::StrategyKind::kTimer;
  if (options.schedule) {
    const auto schedule = load_schedule(*options.schedule);
    if (!schedule) return std::unexpected(schedule.error());
    plan.strategy = abi::StrategyKind::kSchedule;
    plan.follow = encode(*schedule);
  }
  if (options.json == "-") plan.output = OutputMode::kCaptureOnly;
  return planned;
}

Meta make_meta(const LaunchPlan& plan, const RunResult& run, StdinKind input) {
  Meta meta = meta_of(plan);
  meta.created_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  meta.wall_seconds = run.seconds;
  meta.summary = run.summary;
  meta.stdin_kind = input;
  meta.stdin_data = run.input;
  meta.stdout_data = run.output;
  meta.stderr_data = run.errors;
  meta.inputs = run.inputs;
  return meta;
}

void print_summary(const LaunchPlan& plan, const RunResult& run, std::uint64_t number,
                   Symbolizer& symbols) {
  for (const std::string& note : run.summary.notes)
    print_details("clew: note: " + printable(note) + "\n");
  if (run.summary.outcome == Outcome::kPass) {
    print_headline(Outcome::kPass, fmt::format("{}, recording {}", headline(run.summary), number));
    return;
  }
  print_headline(run.summary.outcome, headline(run.summary));
  print_details(failure_text(run, symbols));
  const bool drawn = plan.strategy == abi::StrategyKind::kTimer;
  print_details(fmt::format("  {}{}\n  replay it: clew replay {}\n", figures_text(run.summary),
                            drawn ? fmt::format(", seed {}", plan.seed) : "", number));
}

// Tells of the child processes that were recorded; the same as JSON.
Json report_children(const Descendants& descendants) {
  for (const std::string& note : descendants.notes())
    print_details("clew: note: " + printable(note) + "\n");
  Json list = Json::array();
  for (const RecordedChild& child : descendants.children()) {
    RunResult run = child.run;
    Symbolizer symbols(run.reports);
    locate_failure(run, symbols);
    print_headline(run.summary.outcome,
                   fmt::format("{}, process {} ({}), recording {}", headline(run.summary),
                               child.pid, printable(child.command), child.recording));
    if (run.summary.outcome != Outcome::kPass)
      print_details(fmt::format("{}  replay it: clew replay {}\n", failure_text(run, symbols),
                                child.recording));
    Json json = run_json(child.recording, run, symbols);
    json["process"] = child.pid;
    json["command"] = child.command;
    list.push_back(std::move(json));
  }
  return list;
}

Result<int> run(const RunOptions& options) {
  auto plan = make_plan(options);
  if (!plan) return std::unexpected(plan.error());
  auto identity = identify_program(plan->program);
  if (!identity) return std::unexpected(identity.error());
  auto store = RecordingStore::open();
  if (!store) return std::unexpected(store.error());
  auto draft = store->create();
  if (!draft) return std::unexpected(draft.error());
  auto input = InputFeed::from_here(&*draft);
  if (!input) return std::unexpected(input.error());
  const StdinKind input_kind = input->kind();

  plan->recording = draft->number();
  auto descendants = Descendants::listen(*plan, draft->number(), *store);
  if (!descendants) return std::unexpected(descendants.error());

  tell_if_preloaded(*plan);
  ProgressLine progress;
  auto result = run_target(*plan, std::move(*input), &*draft, progress, &*descendants);
  progress.clear();
  if (!result) return std::unexpected(result.error());
  Symbolizer symbols(result->reports);
  locate_failure(*result, symbols);

  Meta meta = make_meta(*plan, *result, input_kind);
  meta.identity = *identity;
  const auto recording = draft->commit(std::move(meta));
  if (!recording) return std::unexpected(recording.error());

  if (result->seconds < kMostSecondsToAskAgain) locate_holds(recording->path, *result, progress);
  progress.clear();
  tell_if_output_lost(*result);
  print_summary(*plan, *result, recording->number, symbols);
  Json json = run_json(recording->number, *result, symbols);
  json["children"] = report_children(*descendants);
  json["seed"] = plan->seed;
  if (auto written = write_json(options.json, json); !written)
    return std::unexpected(written.error());
  return exit_status_of(*result);
}

}  // namespace

void register_run(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program once and record the run");
  command->add_option("--seed", options->seed, "Seed of the random slices (default: a new one)")
      ->type_name("N");
  command
      ->add_option("--schedule", options->schedule,
                   "Switch threads at these clocks and nowhere else: a file, or a text such as "
                   "'6:T0.1, 9'")
      ->type_name("TEXT|FILE");
  command
      ->add_option("--strategy", options->strategy,
                   "timer: preempt after random slices; none: never preempt")
      ->check(CLI::IsMember({"timer", "none"}))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--budget", options->budget, "The clock at which the run counts as a hang")
      ->type_name("CLOCK")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--json", options->json, "Write the result as JSON; - is standard output")
      ->type_name("FILE");
  command
      ->add_option("PROG", options->command,
                   "The program and its arguments; options after it are its own")
      ->type_name("ARGS")
      ->required();
  command->footer(
      "Examples:\n"
      "  clew run ./queue_test\n"
      "  clew run --seed 7 ./queue_test --items 3\n"
      "  clew run --schedule '6:T0.1, 9' -- ./queue_test\n\n"
      "Exit status: the program's own (0, its exit status, 128 + n for signal n); 120 deadlock,\n"
      "121 hang, 122 unresolved, 124 usage error, 125 bad input or system error, 126 internal "
      "error.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
