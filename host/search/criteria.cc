#include "host/search/criteria.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/quote.h"
#include "host/search/criteria_command.h"
#include "host/search/criteria_pattern.h"
#include "host/time_limit.h"

namespace clew {
namespace {

// Chosen, not measured: a judge that takes a minute is taken to hang; what is kept of its text is
// for a person to read.
constexpr double kJudgeSeconds = 60;
constexpr std::size_t kMostJudgeText = 4096;
constexpr std::size_t kMostLine = 120;
// As for `git bisect run`.
constexpr int kStatusUnresolved = 125;

constexpr std::array<std::string_view, 5> kSanitizerMarks{
    "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer",
    "WARNING: MemorySanitizer", ": runtime error: "};

bool is_unresolved(abi::FailureKind kind) {
  return kind == abi::FailureKind::kUnsupported || kind == abi::FailureKind::kInfeasible;
}

std::string_view line_at(std::string_view text, std::size_t position) {
  const std::size_t before =
      position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(first, text.find('\n', first) - first);
}

std::string_view first_line_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : line_at(text, first);
}

std::optional<std::string> sanitizer_report(std::string_view errors) {
  errors = errors.substr(0, OutputPattern::kMostText);
  for (const std::string_view mark : kSanitizerMarks)
    if (const std::size_t at = errors.find(mark); at != std::string_view::npos)
      return std::string(line_at(errors, at).substr(0, kMostLine));
  return std::nullopt;
}

// How the run ended, as a failure; nothing: it exited with 0.
std::optional<Judgement> failed_end(const RunFacts& facts) {
  switch (facts.end) {
    case abi::JobEnd::kExited:
      if (facts.status == 0) return std::nullopt;
      return Judgement{Verdict::kFail, FailureKind::kExit,
                       fmt::format("exited with status {}", facts.status)};
    case abi::JobEnd::kSignalled:
      if (facts.failure == abi::FailureKind::kExit || facts.failure == abi::FailureKind::kSignal)
        return Judgement{Verdict::kFail, FailureKind::kSignal,
                         fmt::format("signal {} ({})", facts.status, strsignal(facts.status))};
      [[fallthrough]];
    case abi::JobEnd::kFailed:
      return Judgement{is_unresolved(facts.failure) ? Verdict::kUnresolved : Verdict::kFail,
                       from_abi(facts.failure), to_word(from_abi(facts.failure))};
    case abi::JobEnd::kNotRun:
    case abi::JobEnd::kCheckpoint:
      break;
  }
  return Judgement{Verdict::kUnresolved, FailureKind::kUnfinished,
                   "the run did not come to an end"};
}

std::optional<std::string> difference(std::string_view name, std::string_view first,
                                      std::string_view now) {
  if (first == now) return std::nullopt;
  const auto [at, other] = std::ranges::mismatch(now, first);
  const auto position = static_cast<std::size_t>(at - now.begin());
  const auto lines = std::ranges::count(now.substr(0, position), '\n') + 1;
  const auto shown = [&](std::string_view text) {
    return position >= text.size() ? "its end" : quote(line_at(text, position));
  };
  return fmt::format("{} differs from the first run's in line {}: {} instead of {}", name, lines,
                     shown(now), shown(first));
}

std::vector<std::string> environment_with(std::vector<std::string> ours) {
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("CLEW_EXIT_STATUS=") &&
        !std::string_view(*entry).starts_with("CLEW_STDERR_FILE="))
      ours.emplace_back(*entry);
  return ours;
}

std::unexpected<Error> judge_error(const std::string& command, std::string what) {
  return fail(ErrorCode::kBadInput, fmt::format("--judge {}: {}", quote(command), what),
              "0 is a pass, 1 to 124 a failure, 125 neither; the program's output is on its "
              "standard input");
}

Result<Judgement> judgement_of(const std::string& command, const CommandEnd& end) {
  const std::string_view said =
      first_line_of(end.output).empty() ? first_line_of(end.errors) : first_line_of(end.output);
  switch (end.how) {
    case CommandEnd::How::kNotStarted:
      return judge_error(command, fmt::format("cannot run /bin/sh: {}", std::strerror(end.status)));
    case CommandEnd::How::kKilled:
      return judge_error(command, fmt::format("killed by signal {}", end.status));
    case CommandEnd::How::kTimeLimit:
      if (TimeLimit::is_over())
        return Judgement{Verdict::kUnresolved, FailureKind::kJudge, "the time limit was reached"};
      return judge_error(command, fmt::format("no answer within {:.0f} seconds", kJudgeSeconds));
    case CommandEnd::How::kInterrupted:
      return Judgement{Verdict::kUnresolved, FailureKind::kJudge, "interrupted"};
    case CommandEnd::How::kExited:
      break;
  }
  if (end.status == 0) return Judgement{};
  if (end.status == kStatusUnresolved)
    return Judgement{Verdict::kUnresolved, FailureKind::kJudge, "the judge says neither"};
  if (end.status > kStatusUnresolved)
    return judge_error(command, fmt::format("exit status {}{}{}", end.status,
                                            said.empty() ? "" : ": ", said.substr(0, kMostLine)));
  return Judgement{Verdict::kFail, FailureKind::kJudge,
                   said.empty() ? fmt::format("the judge exits with status {}", end.status)
                                : std::string(said.substr(0, kMostLine))};
}

Result<Judgement> ask(const std::string& command, const RunFacts& facts) {
  CLEW_TRY(auto errors, MemoryFile::create(facts.errors));
  Command call;
  call.program = "/bin/sh";
  call.arguments = {"sh", "-c", command};
  call.environment = environment_with({fmt::format("CLEW_EXIT_STATUS={}", facts.status),
                                       fmt::format("CLEW_STDERR_FILE={}", errors.path())});
  call.input = facts.output;
  call.seconds = kJudgeSeconds;
  call.most_output = kMostJudgeText;
  CLEW_TRY(const auto end, run_command(call));
  return judgement_of(command, end);
}

}  // namespace

std::vector<FailureKind> admissible_kinds() {
  std::vector<FailureKind> kinds;
  for (unsigned i = 0; i < static_cast<unsigned>(abi::FailureKind::kCount); ++i)
    if (const auto kind = static_cast<abi::FailureKind>(i); !is_unresolved(kind))
      kinds.push_back(from_abi(kind));
  kinds.insert(kinds.end(), {FailureKind::kOutput, FailureKind::kJudge});
  return kinds;
}

Result<FailureKind> admissible_kind(const std::string& word) {
  std::vector<std::string_view> words;
  for (const FailureKind kind : admissible_kinds()) {
    if (word == to_word(kind)) return kind;
    words.emplace_back(to_word(kind));
  }
  return fail(ErrorCode::kUsage,
              fmt::format("--only {}: there is no such kind of failure", quote(word)),
              fmt::format("one or more of {}", fmt::join(words, ", ")));
}

struct Judge::State {
  Criteria criteria;
  std::optional<OutputPattern> unwanted, wanted;
  struct Texts {
    std::string output, errors;
  };
  std::optional<Texts> first;

  bool admits(std::optional<FailureKind> kind) const {
    return criteria.only.empty() || std::ranges::find(criteria.only, kind) != criteria.only.end();
  }
  // The looks at the output that need no command; each may find a failure.
  std::optional<Judgement> look(const RunFacts& facts);
  std::optional<std::string> compare(const RunFacts& facts);
};

std::optional<Judgement> Judge::State::look(const RunFacts& facts) {
  const auto failure = [](std::string detail) {
    return Judgement{Verdict::kFail, FailureKind::kOutput, std::move(detail)};
  };
  if (unwanted && (unwanted->found_in(facts.output) || unwanted->found_in(facts.errors)))
    return failure(fmt::format("the output contains {}", quote(unwanted->expression())));
  if (facts.end != abi::JobEnd::kExited) return std::nullopt;
  if (wanted && !wanted->found_in(facts.output) && !wanted->found_in(facts.errors))
    return failure(fmt::format("the output lacks {}", quote(wanted->expression())));
  if (auto found = compare(facts)) return failure(std::move(*found));
  return std::nullopt;
}

std::optional<std::string> Judge::State::compare(const RunFacts& facts) {
  if (!criteria.fails_if_output_differs) return std::nullopt;
  const std::string_view output = facts.output.substr(0, OutputPattern::kMostText);
  const std::string_view errors = facts.errors.substr(0, OutputPattern::kMostText);
  if (!first) first = Texts{std::string(output), std::string(errors)};
  if (auto found = difference("standard output", first->output, output)) return found;
  return difference("standard error", first->errors, errors);
}

Judge::Judge(Criteria criteria) : state_(std::make_shared<State>()) {
  state_->criteria = std::move(criteria);
}

const Criteria& Judge::criteria() const { return state_->criteria; }

Result<Judge> Judge::create(Criteria criteria) {
  Judge judge(std::move(criteria));
  State& state = *judge.state_;
  const auto compile = [](const std::optional<std::string>& expression, const char* option,
                          std::optional<OutputPattern>& into) -> Result<void> {
    if (!expression) return {};
    CLEW_TRY(auto pattern, OutputPattern::create(*expression, option));
    into = std::move(pattern);
    return {};
  };
  CLEW_CHECK_OK(compile(state.criteria.fails_if_output, "--fails-if-output", state.unwanted));
  CLEW_CHECK_OK(compile(state.criteria.fails_unless_output, "--fails-unless-output", state.wanted));
  return judge;
}

Result<Judgement> Judge::judge(const RunFacts& facts) {
  State& state = *state_;
  std::optional<Judgement> other;  // a failure that is not asked for
  const auto decides = [&](std::optional<Judgement> found) {
    if (!found) return false;
    const bool admitted = found->verdict == Verdict::kUnresolved || state.admits(found->kind);
    if (admitted || !other) other = std::move(found);
    return admitted;
  };

  auto ended = failed_end(facts);
  if (ended && ended->verdict == Verdict::kUnresolved) return *ended;
  const bool asks = state.criteria.judge && facts.end == abi::JobEnd::kExited;
  if (const auto report = sanitizer_report(facts.errors))
    if (decides(Judgement{Verdict::kFail, FailureKind::kSanitizer, *report})) return *other;
  if (!asks && decides(std::move(ended))) return *other;
  if (decides(state.look(facts))) return *other;
  if (asks) {
    CLEW_TRY(auto said, ask(*state.criteria.judge, facts));
    if (said.verdict != Verdict::kPass && decides(std::move(said))) return *other;
  }
  if (!other) return Judgement{};
  other->verdict = Verdict::kUnresolved;
  other->detail += ", which is not a failure that was asked for";
  return *other;
}

}  // namespace clew
