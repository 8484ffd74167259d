// clew: the command line.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/cc.h"
#include "cli/commands.h"
#include "cli/hunt_arguments.h"
#include "cli/suggest.h"
#include "cli/ui.h"
#include "host/target/exit_status.h"
#include "host/target/standard_descriptors.h"

namespace clew::cli {
namespace {

// The compilers must see their arguments untouched, so they come before the parser.
std::optional<int> try_compiler(int argc, char** argv) {
  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  if (argc > 0)
    if (const auto language = compiler_called_as(argv[0]))
      return run_compiler(*language, arguments.subspan(1));
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "cc") return run_compiler(toolchain::Language::kC, arguments.subspan(2));
  if (first == "c++") return run_compiler(toolchain::Language::kCxx, arguments.subspan(2));
  return std::nullopt;
}

constexpr char kShortHelp[] =
    "clew: name a command; the first to try:\n"
    "  clew c++ -g queue.cc -o queue -pthread   build the program, as with clang\n"
    "  clew debug ./queue                       find a failure and its cause\n"
    "  clew list                                what was recorded so far\n"
    "clew --help lists all commands\n";

// The library would say which of its own parameters is missing.
int missing(const std::string& command) {
  if (command == "where")
    return report_error(
        {ErrorCode::kUsage, "name a clock: clew where 120", "clew show lists what happened when"});
  if (command == "rm")
    return report_error(
        {ErrorCode::kUsage, "name the recordings to remove: clew rm 3", "clew list shows them"});
  return report_error({ErrorCode::kUsage,
                       fmt::format("name the program to run: clew {} ./prog", command),
                       fmt::format("clew {} --help has examples", command)});
}

int usage_error(const CLI::ParseError& error, const std::string& command) {
  const std::string of = command.empty() ? "" : " " + command;
  return report_error({ErrorCode::kUsage, error.what(),
                       command.empty() ? "clew --help lists the commands"
                                       : fmt::format("clew{} --help lists its options", of)});
}

// `clew help hunt`, as git has it, is `clew hunt --help`.
std::vector<std::string> help_options(std::vector<std::string> arguments) {
  arguments.erase(arguments.begin());
  arguments.resize(std::min<std::size_t>(arguments.size(), 1));
  arguments.emplace_back("--help");
  return arguments;
}

int run_command(int argc, char** argv) {
  CLI::App app("clew leads from a multithreaded program that sometimes fails to the cause.",
               "clew");
  int exit_status = 0;
  app.set_version_flag("--version", "clew " CLEW_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  app.add_subcommand("cc", "Compile C for clew (clew cc --help)");
  app.add_subcommand("c++", "Compile C++ for clew (clew c++ --help)");
#define CLEW_COMMAND(name) register_##name(app, exit_status);
#include "cli/commands.def"
#undef CLEW_COMMAND
  app.footer(
      "Example:\n"
      "  clew c++ -g -O1 queue.cc -o queue -pthread\n"
      "  clew debug ./queue\n"
      "  clew replay\n\n"
      "Environment:\n"
      "  CLEW_SAFE_DIRECTORY   folders whose recordings are used although other users own them or\n"
      "                        can write to them: paths with colons between them, or *\n"
      "  CLEW_LARGE_INPUTS=1   replay inputs that are far larger than their file (zeros)\n"
      "  CLEW_LOAD_AGAIN=1     record at addresses that are possible in any container\n"
      "  NO_COLOR, COLUMNS     no colours; the width of the lines\n");
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    print_details(kShortHelp);
    return kExitUsage;
  }
  if (arguments[0] == "help") arguments = help_options(std::move(arguments));
  if (const auto error = unknown_command(app, arguments)) return report_error(*error);
  if (const auto error = unknown_option(app, arguments)) return report_error(*error);
  const std::string name = arguments[0].starts_with('-') ? "" : arguments[0];
  try {
    arguments = separate_program(app, std::move(arguments));
    std::ranges::reverse(arguments);  // as the parser wants them
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print_result(app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    print_result("clew " CLEW_VERSION "\n");
    return 0;
  } catch (const CLI::Success&) {
    return 0;
  } catch (const CLI::RequiredError& error) {
    return name.empty() ? usage_error(error, name) : missing(name);
  } catch (const CLI::ParseError& error) {
    return usage_error(error, name);
  }
  return exit_status;
}

// With less, clew would end without a word.
constexpr rlim_t kLeastStack = rlim_t{1} << 20;

std::optional<Error> too_small_a_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStack) return std::nullopt;
  return Error{ErrorCode::kSystem,
               fmt::format("a process may have a stack of {} KiB, clew needs {}",
                           limit.rlim_cur >> 10, kLeastStack >> 10),
               "raise the limit (ulimit -s)"};
}

// What the system did not give, by the exception of the library that asked for it.
Error system_fault(const std::system_error& error) {
  const bool threads = error.code() == std::errc::resource_unavailable_try_again;
  return {ErrorCode::kSystem,
          fmt::format("cannot start {}: {}", threads ? "a thread" : "something",
                      error.code().message()),
          threads ? "raise the limit on processes and threads (ulimit -u), or use --jobs 1" : ""};
}

int guarded_main(int argc, char** argv) {
  hold_standard_descriptors();
  if (const auto error = too_small_a_stack()) return report_error(*error);
  try {
    if (const auto status = try_compiler(argc, argv)) return *status;
    signal(SIGPIPE, SIG_IGN);  // a reader that goes away must not end a recording
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like any other
    return output_status(run_command(argc, argv));
  } catch (const std::bad_alloc&) {
    return report_error({ErrorCode::kSystem, "out of memory", "raise the limit (ulimit -v)"});
  } catch (const std::system_error& error) {
    return report_error(system_fault(error));
  } catch (const std::exception& error) {
    return report_error(
        {ErrorCode::kInternal, fmt::format("internal error: {}", error.what()), ""});
  } catch (...) {
    return report_error({ErrorCode::kInternal, "internal error: unknown exception", ""});
  }
}

}  // namespace
}  // namespace clew::cli

int main(int argc, char** argv) { return clew::cli::guarded_main(argc, argv); }
