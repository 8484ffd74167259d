#include "cli/rank_inputs.h"

#include <fmt/format.h>
#include <stdio.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "cli/validators.h"
#include "host/quote.h"
#include "host/target/slurp.h"

namespace clew::cli {
namespace {

// As a shell splits a line: blanks, quotes, backslashes. Nothing: a quote is not closed.
std::optional<std::vector<std::string>> split(const std::string& line) {
  std::vector<std::string> words;
  bool open = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\r')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return std::nullopt;
  return words;
}

Result<ProgramInput> input_of(const std::string& line, const std::string& from) {
  auto words = split(line);
  if (!words)
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: a quote is not closed in '{}'", from, quote(line, 100)));
  return ProgramInput{std::move(*words), {}, {}};
}

Result<ProgramInputs> from_file(const std::string& path) {
  auto inputs = std::make_shared<std::vector<ProgramInput>>();
  const std::string text = slurp(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    CLEW_TRY(auto input, input_of(line, path));
    inputs->push_back(std::move(input));
  }
  if (inputs->empty())
    return fail(ErrorCode::kBadInput, fmt::format("{} has no inputs", path),
                "one command line in each line");
  // Each of them in turn, again and again with other schedules.
  return ProgramInputs([inputs](std::uint64_t number) -> Result<std::optional<ProgramInput>> {
    return (*inputs)[number % inputs->size()];
  });
}

Result<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return fail(ErrorCode::kSystem, fmt::format("cannot run {}", command));
  std::string text;
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  if (pclose(pipe) != 0)
    return fail(ErrorCode::kBadInput, fmt::format("'{}' failed", command),
                "it is called with a number and prints the arguments for it");
  return text;
}

}  // namespace

void add_rank_inputs(CLI::App& app, RankInputOptions& options) {
  auto* group = app.add_option_group("Inputs", "Different inputs, besides different schedules");
  group
      ->add_option("--inputs", options.file,
                   "A file with arguments for the program, a command line in each line")
      ->type_name("FILE")
      ->check(CLI::ExistingFile.description(""));
  group
      ->add_option("--generate", options.generate,
                   "A command that is called with a number and prints the arguments for it")
      ->type_name("COMMAND");
  group
      ->add_option("--vary-seed", options.vary,
                   "A different number for each run: in place of NAME in the program's arguments, "
                   "or as the environment variable NAME")
      ->type_name("NAME");
  group->add_option("--runs-per-input", options.runs, "Schedules for each input")
      ->type_name("N")
      ->check(count())
      ->capture_default_str();
}

Result<ProgramInputs> inputs_of(const RankInputOptions& options, const HuntOptions& hunt) {
  if (!options.given()) return ProgramInputs{};
  if (!options.file.empty() && !options.generate.empty())
    return fail(ErrorCode::kUsage, "--inputs cannot be combined with --generate");
  const std::uint64_t seed = hunt.seed;
  ProgramInputs arguments;
  if (!options.file.empty()) {
    CLEW_TRY(arguments, from_file(options.file));
  } else if (!options.generate.empty()) {
    arguments = [command = options.generate,
                 seed](std::uint64_t number) -> Result<std::optional<ProgramInput>> {
      CLEW_TRY(auto line, output_of(fmt::format("{} {}", command, seed + number)));
      while (line.ends_with('\n')) line.pop_back();
      std::ranges::replace(line, '\n', ' ');
      CLEW_TRY(auto input, input_of(line, command));
      return input;
    };
  }
  if (options.vary.empty()) return arguments;
  const auto& given = hunt.plan.arguments;
  const bool replaces = std::any_of(given.begin() + 1, given.end(), [&](const std::string& word) {
    return word.contains(options.vary);
  });
  return ProgramInputs([arguments, replaces, name = options.vary,
                        seed](std::uint64_t number) -> Result<std::optional<ProgramInput>> {
    ProgramInput input;
    if (arguments) {
      CLEW_TRY(const auto first, arguments(number));
      if (!first) return std::nullopt;
      input = *first;
    }
    const std::string value = fmt::format("{}", seed + number);
    if (replaces)
      input.replaced.emplace_back(name, value);
    else
      input.environment.push_back(fmt::format("{}={}", name, value));
    return input;
  });
}

}  // namespace clew::cli
