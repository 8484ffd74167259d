// clew case: a failure as a file that is committed beside the tests.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/criteria_options.h"
#include "cli/hunt_arguments.h"
#include "cli/hunt_status.h"
#include "cli/isolate_report.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/cases/make_case.h"
#include "host/recording/file.h"
#include "host/report/check_text.h"
#include "host/target/exit_status.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

struct CaseCommand {
  std::vector<std::string> words;  // a recording, or with --read the program and its arguments
  std::vector<std::string> reads;
  std::vector<std::string> sees;
  std::string output;
  std::string json;
  CriteriaOptions criteria;
  double seconds = 60;
  unsigned jobs = 0;
  std::uint64_t seed = 1;
  bool force = false;
};

class MakeStatusLine final : public MakeObserver {
 public:
  void status(const HuntStatus& status) override {
    isolating_.clear();
    hunting_.status(status);
  }
  void status(const IsolateStatus& status) override { isolating_.status(status); }
  void found(const FoundFailure&) override {}
  void clear() {
    isolating_.clear();
    hunting_.clear();
  }

 private:
  HuntStatusLine hunting_{HuntStatusLine::Found::kQuiet};
  IsolateStatusLine isolating_;
};

struct Line {
  std::string file;
  std::uint32_t line = 0;
  std::string variable;
};

// FILE:LINE or FILE:LINE:VARIABLE
Result<Line> parse_line(const std::string& text, const char* option) {
  const std::size_t colon = text.find(':');
  Line result;
  if (colon != std::string::npos && colon > 0) {
    result.file = text.substr(0, colon);
    const char* first = text.data() + colon + 1;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(first, end, result.line);
    if (error == std::errc() && result.line > 0 && (rest == end || *rest == ':')) {
      if (rest != end) result.variable = std::string(rest + 1, end);
      return result;
    }
  }
  return fail(ErrorCode::kUsage, fmt::format("{} {}: not of the form FILE:LINE", option, text),
              "clew case new --read calc.cpp:12:n --sees calc.cpp:30 -- ./calc");
}

Result<MadeCase> make_of_reads(const CaseCommand& command, MakeObserver& observer) {
  if (command.reads.size() != command.sees.size())
    return fail(ErrorCode::kUsage, "each --read needs a --sees");
  if (command.words.empty())
    return fail(ErrorCode::kUsage, "--read needs a program to run", "put it at the end: -- ./prog");
  MakeReadsOptions options;
  for (std::size_t i = 0; i < command.reads.size(); ++i) {
    CLEW_TRY(const auto read, parse_line(command.reads[i], "--read"));
    CLEW_TRY(const auto write, parse_line(command.sees[i], "--sees"));
    options.reads.push_back({read.file, read.line, read.variable, write.file, write.line});
  }
  CLEW_TRY(options.plan, plan_program(without_marks(command.words)));
  CLEW_TRY(options.criteria, criteria_of(command.criteria));
  options.seconds = command.seconds;
  options.jobs = command.jobs;
  options.seed = command.seed;
  return make_case_of_reads(options, observer);
}

Result<MadeCase> make_of_recording(const CaseCommand& command, RecordingStore& store,
                                   MakeObserver& observer) {
  if (command.words.size() > 1 || !command.sees.empty())
    return fail(ErrorCode::kUsage, "a case is made of one recording",
                "clew case new 7, or with --read and --sees a program");
  MakeOptions options;
  if (!command.words.empty()) options.recording = command.words[0];
  CLEW_TRY(options.criteria, criteria_of(command.criteria));
  options.seconds = command.seconds;
  options.jobs = command.jobs;
  options.seed = command.seed;
  return make_case(options, store, observer);
}

// As a file that is committed is: others may read it.
Result<void> write_for_all(const std::string& file, std::span<const std::uint8_t> bytes) {
  CLEW_CHECK_OK(write_file_atomically(file, bytes, Durability::kKilled));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  std::error_code ignored;
  fs::permissions(file, static_cast<fs::perms>(0666 & ~mask), ignored);
  return {};
}

// The name of the file, and the program as it is to be called from there.
Result<std::string> write_case(const CaseCommand& command, MadeCase& made) {
  std::string file = command.output;
  if (file.empty()) file = fs::path(made.made.program).filename().string() + kCaseSuffix;
  std::error_code error;
  if (command.output.empty() && !command.force && fs::exists(file, error))
    return fail(ErrorCode::kUsage, fmt::format("{} exists already", file),
                "name another with -o FILE, or overwrite it with --force");
  fs::path folder = fs::absolute(file, error).parent_path();
  const fs::path relative = fs::relative(made.made.program, folder, error);
  if (!error && !relative.empty()) made.made.program = relative.string();
  if (made.input) {
    const std::string input = file + ".input";
    made.made.input = fs::path(input).filename().string();
    CLEW_CHECK_OK(write_for_all(input, *made.input));
  }
  const std::string text = format_case(made.made);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  CLEW_CHECK_OK(write_for_all(file, bytes));
  return file;
}

Result<int> run(const CaseCommand& command) {
  const Orphans orphans;  // ended last
  CLEW_TRY(auto store, RecordingStore::open());
  const Interrupts interrupts;
  MakeStatusLine status;
  auto made = command.reads.empty() ? make_of_recording(command, store, status)
                                    : make_of_reads(command, status);
  status.clear();
  CLEW_CHECK_OK(made);
  if (made->interrupted_by != 0) {
    print_headline(Outcome::kUnresolved, "interrupted: no case was written");
    return 128 + made->interrupted_by;
  }
  if (made->proof == MadeCase::Proof::kNotSeen) {
    print_headline(Outcome::kUnresolved, "no case: no order was found");
    print_details(made_text(*made, "FILE"));
    CLEW_CHECK_OK(write_json(command.json, made_json(*made, "")));
    return kExitUnresolved;
  }
  CLEW_TRY(const auto file, write_case(command, *made));
  print_headline(Outcome::kPass, headline(*made, file));
  print_details(made_text(*made, file));
  CLEW_CHECK_OK(write_json(command.json, made_json(*made, file)));
  return 0;
}

void add_options(CLI::App& app, CaseCommand& command) {
  app.add_option(
         "recording", command.words,
         "The failing recording, by number or folder (default: the newest that failed); with "
         "--read the program and its arguments")
      ->type_name("[RECORDING]");
  app.add_option("-o,--output", command.output,
                 "The file to write (default: the program's name with .clewcase, here)")
      ->type_name("FILE");
  app.add_flag("--force", command.force, "Overwrite a file of that name");
  app.add_option("--read", command.reads,
                 "A read of a variable; it is to see the write that --sees names. May be repeated")
      ->type_name("FILE:LINE[:VARIABLE]")
      ->expected(1)
      ->take_all();
  app.add_option("--sees", command.sees, "The write that the read is to see, for each --read")
      ->type_name("FILE:LINE")
      ->expected(1)
      ->take_all();
  app.add_option("--time", command.seconds, "Stop after this many seconds")
      ->type_name("SECONDS")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--jobs", command.jobs, "Runs at a time (default: one for each core)")
      ->type_name("N")
      ->check(count(kMostJobs));
  app.add_option("--seed", command.seed, "Seed of all random choices")
      ->type_name("N")
      ->check(whole())
      ->capture_default_str();
  add_json(app, command.json);
}

}  // namespace

void register_case(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<CaseCommand>();
  CLI::App* command =
      app.add_subcommand("case", "Keep a failure as a file that clew check runs (clew case new)");
  command->require_subcommand(1);
  CLI::App* make =
      command->add_subcommand("new", "Write down the order of events that makes a recording fail");
  add_options(*make, *options);
  add_criteria(*make, options->criteria);
  const char* footer =
      "Examples:\n"
      "  clew case new\n"
      "  clew case new 7 -o tests/lost_update.clewcase\n"
      "  clew case new --read calc.cpp:12:n --sees calc.cpp:30 -- ./calc 21\n\n"
      "Exit status: 0 written, 122 no order was found, 124 usage error, 125 bad input or system\n"
      "error, 126 internal error, 128 + n interrupted by signal n.";
  make->footer(footer);
  command->footer(footer);
  make->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
