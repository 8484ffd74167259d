#include "host/search/test_frameworks.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "host/elf/elf_file.h"
#include "host/lines.h"
#include "host/recording/file.h"
#include "host/search/boost_tests.h"
#include "host/search/criteria_command.h"

namespace clew {
namespace {

// Chosen, not measured: listing runs no test.
constexpr double kListSeconds = 30;
constexpr std::size_t kMostListText = std::size_t{16} << 20;

using Arguments = std::vector<std::string>;

struct FrameworkInfo {
  TestFramework framework;
  const char* word;
  std::string_view mark;     // a text that stands in every program linked with it
  std::string_view library;  // beginning of the name of its shared library; empty: it has none
};
constexpr std::array<FrameworkInfo, 6> kFrameworks{{
    {TestFramework::kGoogleTest, "GoogleTest", "gtest_list_tests", "libgtest"},
    {TestFramework::kCatch2, "Catch2", "--libidentify", "libCatch2"},
    {TestFramework::kDoctest, "doctest", "dt-list-test-cases", "libdoctest"},
    {TestFramework::kBoostTest, "Boost.Test", "BOOST_TEST_LIST_CONTENT",
     "libboost_unit_test_framework"},
    {TestFramework::kAcutest, "acutest", "Same as --exec=never", ""},
    {TestFramework::kOwnChildren, "child processes with threads", "", ""},
}};

constexpr std::string_view kAcutestTitle = "Unit tests:";

// ---- Which framework

bool file_contains(const std::string& path, std::string_view mark) {
  const auto file = open_regular(path);
  if (!file || file->size == 0) return false;
  const auto size = static_cast<std::size_t>(file->size);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->fd.get(), 0);
  if (bytes == MAP_FAILED) return false;
  const bool found = memmem(bytes, size, mark.data(), mark.size()) != nullptr;
  munmap(bytes, size);
  return found;
}

// Those that the file speaks of, or all.
std::vector<TestFramework> candidates(const std::string& program) {
  std::vector<std::string> libraries;
  if (const auto elf = ElfFile::open(program)) libraries = elf->needed_libraries();
  std::vector<TestFramework> likely, all;
  for (const FrameworkInfo& info : kFrameworks) {
    if (info.mark.empty()) continue;
    // A header alone: its text is in the program, or the program is not made with it. So with
    // Boost.Test, whose library nearly every program of it is linked with directly.
    if (!info.library.empty() && info.framework != TestFramework::kBoostTest)
      all.push_back(info.framework);
    const bool linked =
        !info.library.empty() && std::ranges::any_of(libraries, [&](const std::string& name) {
          return name.starts_with(info.library);
        });
    if (linked || file_contains(program, info.mark)) likely.push_back(info.framework);
  }
  return likely.empty() ? all : likely;
}

// ---- Arguments

// "--dt-test-case=x" is the doctest option "test-case"; "-tc=x" is "tc".
std::string_view doctest_option(std::string_view argument) {
  if (!argument.starts_with('-')) return {};
  argument.remove_prefix(std::min(argument.find_first_not_of('-'), argument.size()));
  if (argument.starts_with("dt-")) argument.remove_prefix(3);
  return argument.substr(0, argument.find('='));
}

Arguments without_doctest_options(const Arguments& arguments,
                                  const std::set<std::string_view>& names) {
  Arguments kept;
  for (const std::string& argument : arguments)
    if (kept.empty() || !names.contains(doctest_option(argument))) kept.push_back(argument);
  return kept;
}

// Options of Catch2, version 2 or 3, whose value is the next argument.
const std::set<std::string_view>& catch2_valued_options() {
  static const std::set<std::string_view> names{"-o",
                                                "--out",
                                                "-r",
                                                "--reporter",
                                                "-n",
                                                "--name",
                                                "-x",
                                                "--abortx",
                                                "-w",
                                                "--warn",
                                                "-d",
                                                "--durations",
                                                "-D",
                                                "--min-duration",
                                                "-f",
                                                "--input-file",
                                                "-c",
                                                "--section",
                                                "-g",
                                                "--generator-index",
                                                "-p",
                                                "--path-filter",
                                                "-v",
                                                "--verbosity",
                                                "--order",
                                                "--rng-seed",
                                                "--use-colour",
                                                "--colour-mode",
                                                "--wait-for-keypress",
                                                "--shard-count",
                                                "--shard-index",
                                                "--benchmark-samples",
                                                "--benchmark-resamples",
                                                "--benchmark-confidence-interval",
                                                "--benchmark-warmup-time"};
  return names;
}

enum class Keep : std::uint8_t { kSpecs, kNoSpecs };

// For a list: all but the options that say how it looks and where it goes. For a case: all but
// what selects test cases, which in Catch2 is every argument that is not an option.
Arguments catch2_arguments(const Arguments& arguments, Keep keep) {
  static const std::set<std::string_view> kLooks{"-o",         "--out", "-r",
                                                 "--reporter", "-v",    "--verbosity"};
  static const std::set<std::string_view> kFiles{"-f", "--input-file"};
  const auto& dropped = keep == Keep::kSpecs ? kLooks : kFiles;
  Arguments kept{arguments.front()};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool option = argument.starts_with('-');
    const std::string_view name = argument.substr(0, argument.find_first_of("=:"));
    const bool takes_next = option && name.size() == argument.size() &&
                            catch2_valued_options().contains(name) && i + 1 < arguments.size();
    const bool wanted = option ? !dropped.contains(name) : keep == Keep::kSpecs;
    if (wanted) kept.push_back(arguments[i]);
    if (takes_next) {
      ++i;
      if (wanted) kept.push_back(arguments[i]);
    }
  }
  return kept;
}

bool is_google_filter(std::string_view argument) {
  return argument.starts_with("--gtest_filter=") || argument.starts_with("-gtest_filter=");
}

std::string catch2_spec(std::string_view name) {
  std::string spec;
  if (name.starts_with('-') || name.starts_with('~')) spec += '\\';
  for (const char letter : name) {
    if (std::string_view("\\,[]\"").find(letter) != std::string_view::npos) spec += '\\';
    spec += letter;
  }
  return spec;
}

// Commas can be escaped in new versions only, stars in none; ? stands for any one character.
std::string doctest_filter(std::string_view name) {
  std::string filter(name);
  for (char& letter : filter)
    if (letter == ',' || letter == '*' || letter == '\\') letter = '?';
  return filter;
}

// ---- Asking

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Files that a test runner wrote while it lists would only confuse.
bool writes_reports(std::string_view variable) {
  return variable.starts_with("GTEST_OUTPUT=") || variable.starts_with("XML_OUTPUT_FILE=") ||
         variable.starts_with("GTEST_SHARD_STATUS_FILE=") ||
         variable.starts_with("TEST_PREMATURE_EXIT_FILE=");
}

Result<CommandEnd> ask(const LaunchPlan& plan, Arguments arguments) {
  Command command;
  command.program = plan.program;
  command.arguments = std::move(arguments);
  std::ranges::copy_if(plan.environment, std::back_inserter(command.environment),
                       [](const std::string& entry) { return !writes_reports(entry); });
  command.working_folder = plan.working_folder;
  command.seconds = kListSeconds;
  command.most_output = kMostListText;
  auto end = run_command(command);
  if (!end) return end;
  switch (end->how) {
    case CommandEnd::How::kInterrupted:
      return fail(ErrorCode::kSystem, "interrupted while the tests were listed");
    case CommandEnd::How::kNotStarted:
      return fail(ErrorCode::kBadInput,
                  fmt::format("cannot run {}: {}", plan.shown, std::strerror(end->status)));
    case CommandEnd::How::kTimeLimit:
      return fail(
          ErrorCode::kBadInput,
          fmt::format("{} did not list its tests within {:.0f} seconds", plan.shown, kListSeconds),
          "run it by hand with --gtest_list_tests, --list-tests, --list-test-cases or "
          "--list_content");
    case CommandEnd::How::kExited:
    case CommandEnd::How::kKilled:
      break;
  }
  return end;
}

// The version, if it is a Catch2 program.
Result<std::optional<unsigned>> catch2_version(const LaunchPlan& plan) {
  CLEW_TRY(const auto end, ask(plan, {plan.arguments.front(), "--libidentify"}));
  bool known = false;
  unsigned version = 2;
  for (const std::string_view line : lines_of(end.output)) {
    const std::size_t value =
        line.find_first_not_of(' ', std::min(line.find(':'), line.size()) + 1);
    if (value == std::string_view::npos) continue;
    if (line.starts_with("framework:")) known = line.substr(value).starts_with("Catch");
    if (line.starts_with("version:") && line[value] >= '1' && line[value] <= '9')
      version = static_cast<unsigned>(line[value] - '0');
  }
  return known ? std::optional(version) : std::nullopt;
}

// Nothing: the program is not made with this framework. An empty list: its filter fits no test.
using Names = std::optional<std::vector<std::string>>;

Result<Names> ask_google_test(const LaunchPlan& plan) {
  CLEW_TRY(const auto end, ask(plan, with(plan.arguments, {"--gtest_list_tests"})));
  auto names = google_test_names(end.output);
  const bool linked = file_contains(plan.program, kFrameworks[0].mark);
  if (names.empty() && !linked) return std::nullopt;
  const auto disabled = [](const std::string& name) {
    return name.starts_with("DISABLED_") || name.find(".DISABLED_") != std::string::npos ||
           name.find("/DISABLED_") != std::string::npos;
  };
  if (std::ranges::find(plan.arguments, "--gtest_also_run_disabled_tests") == plan.arguments.end())
    std::erase_if(names, disabled);
  return names;
}

Result<Names> ask_catch2(const LaunchPlan& plan) {
  CLEW_TRY(const auto version, catch2_version(plan));
  if (!version) return std::nullopt;
  const Arguments flags = *version >= 3 ? Arguments{"--list-tests", "--verbosity", "quiet"}
                                        : Arguments{"--list-test-names-only"};
  CLEW_TRY(const auto end, ask(plan, with(catch2_arguments(plan.arguments, Keep::kSpecs), flags)));
  return catch2_names(end.output);
}

Result<Names> ask_doctest(const LaunchPlan& plan) {
  CLEW_TRY(const auto end,
           ask(plan, with(without_doctest_options(plan.arguments, {"r", "reporters", "o", "out"}),
                          {"--dt-list-test-cases", "--dt-no-colors=true"})));
  if (end.output.find("[doctest] listing") == std::string::npos) return std::nullopt;
  return doctest_names(end.output);
}

// What is no option selects test cases, as in Catch2.
Arguments acutest_options(const Arguments& arguments) {
  Arguments kept;
  for (const std::string& argument : arguments)
    if (kept.empty() || argument.starts_with('-')) kept.push_back(argument);
  return kept;
}

Result<Names> ask_acutest(const LaunchPlan& plan) {
  CLEW_TRY(const auto end, ask(plan, {plan.arguments.front(), "--list"}));
  if (end.output.find(kAcutestTitle) == std::string::npos) return std::nullopt;
  auto names = acutest_names(end.output);
  const Arguments& arguments = plan.arguments;
  // Parts of names select, too, and --exclude selects others: those are hunted as a whole.
  const auto named = [&](const std::string& name) {
    return std::ranges::find(arguments.begin() + 1, arguments.end(), name) != arguments.end();
  };
  if (std::ranges::any_of(names, named))
    std::erase_if(names, [&](const std::string& name) { return !named(name); });
  return names;
}

Result<Names> ask_boost_test(const LaunchPlan& plan) {
  CLEW_TRY(const auto end, ask(plan, boost_test_arguments(
                                         plan.arguments, {"--list_content", "--color_output=no"})));
  auto names = boost_test_names(end.errors);
  if (names.empty()) return std::nullopt;
  CLEW_CHECK_OK(select_boost_tests(plan.arguments, names));
  return names;
}

Result<Names> ask_framework(TestFramework framework, const LaunchPlan& plan) {
  switch (framework) {
    case TestFramework::kGoogleTest:
      return ask_google_test(plan);
    case TestFramework::kCatch2:
      return ask_catch2(plan);
    case TestFramework::kAcutest:
      return ask_acutest(plan);
    case TestFramework::kBoostTest:
      return ask_boost_test(plan);
    case TestFramework::kDoctest:
    case TestFramework::kOwnChildren:
      break;
  }
  return ask_doctest(plan);
}

TestCase make_case(TestFramework framework, const LaunchPlan& plan, const std::string& name) {
  TestCase result{name, "", arguments_for(framework, plan.arguments, name)};
  if (framework == TestFramework::kGoogleTest) result.group = name.substr(0, name.find('.'));
  if (const std::size_t end = name.rfind('/');
      framework == TestFramework::kBoostTest && end != name.npos)
    result.group = name.substr(0, end);
  return result;
}

}  // namespace

const char* to_word(TestFramework framework) {
  for (const FrameworkInfo& info : kFrameworks)
    if (info.framework == framework) return info.word;
  return "unknown";
}

std::vector<std::string> google_test_names(std::string_view list) {
  std::vector<std::string> names;
  std::string suite;  // with its full stop
  for (std::string_view line : lines_of(list)) {
    line = line.substr(0, line.find("  # "));  // the parameter
    const bool indented = line.starts_with("  ");
    const std::string_view word = indented ? line.substr(2) : line;
    if (word.empty() || word.find(' ') != std::string_view::npos) {
      suite.clear();  // the program's own words
    } else if (!indented) {
      suite = word.ends_with('.') ? word : "";
    } else if (!suite.empty()) {
      names.push_back(suite + std::string(word));
    }
  }
  return names;
}

std::vector<std::string> catch2_names(std::string_view list) {
  std::vector<std::string> names;
  for (std::string_view line : lines_of(list)) {
    // A name that begins with # would be a comment in a file of names, so it is quoted.
    if (line.size() > 2 && line.starts_with("\"#") && line.ends_with('"'))
      line = line.substr(1, line.size() - 2);
    if (!line.empty()) names.emplace_back(line);
  }
  return names;
}

std::vector<std::string> doctest_names(std::string_view list) {
  std::vector<std::string> names;
  bool inside = false;
  for (const std::string_view line : lines_of(list)) {
    const bool ours = line.starts_with("[doctest] ");
    const bool rule = line.starts_with("====") && line.find_first_not_of('=') == line.npos;
    if (ours) inside = line.find("listing all test case names") != line.npos;
    // The same name may stand for several cases; the filter takes them all.
    if (inside && !ours && !rule && !line.empty() && std::ranges::find(names, line) == names.end())
      names.emplace_back(line);
  }
  return names;
}

std::vector<std::string> acutest_names(std::string_view list) {
  std::vector<std::string> names;
  bool inside = false;
  for (const std::string_view line : lines_of(list)) {
    if (line == kAcutestTitle)
      inside = true;
    else if (inside && line.starts_with("  ") && line.size() > 2)
      names.emplace_back(line.substr(2));
    else
      inside = false;
  }
  return names;
}

std::vector<std::string> arguments_for(TestFramework framework,
                                       const std::vector<std::string>& arguments,
                                       std::string_view name) {
  switch (framework) {
    case TestFramework::kGoogleTest: {
      Arguments kept = arguments;
      std::erase_if(kept, is_google_filter);
      kept.insert(kept.begin() + 1, fmt::format("--gtest_filter={}", name));
      return kept;
    }
    case TestFramework::kCatch2:
      return with(catch2_arguments(arguments, Keep::kNoSpecs), {catch2_spec(name)});
    case TestFramework::kAcutest:
      return with(acutest_options(arguments), {"--exec=never", std::string(name)});
    case TestFramework::kBoostTest:
      return boost_test_case_arguments(arguments, name);
    case TestFramework::kOwnChildren:
      return arguments;
    case TestFramework::kDoctest:
      break;
  }
  return with(without_doctest_options(arguments, {"tc", "test-case", "cs", "case-sensitive"}),
              {fmt::format("--dt-test-case={}", doctest_filter(name)), "--dt-case-sensitive=true"});
}

Result<TestList> list_tests(const LaunchPlan& plan) {
  for (const TestFramework framework : candidates(plan.program)) {
    CLEW_TRY(const auto names, ask_framework(framework, plan));
    if (!names) continue;
    if (names->empty())
      return fail(ErrorCode::kUsage, fmt::format("no test case of {} is selected", plan.shown),
                  "the filter among its arguments matches none");
    TestList list{framework, {}};
    for (const std::string& name : *names) list.cases.push_back(make_case(framework, plan, name));
    return list;
  }
  return fail(ErrorCode::kBadInput,
              fmt::format("{} is not a GoogleTest, Catch2, doctest, Boost.Test or acutest program",
                          plan.shown),
              "without --each it is hunted as a whole");
}

}  // namespace clew
