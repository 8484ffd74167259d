#include "cli/hunt_each.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/hunt_status.h"
#include "cli/ui.h"
#include "host/report/assertion.h"
#include "host/report/finding_text.h"
#include "host/report/hunt_json.h"
#include "host/report/hunt_text.h"
#include "host/report/junit.h"
#include "host/report/words.h"
#include "host/search/test_frameworks.h"
#include "host/target/exit_status.h"
#include "host/target/interrupts.h"
#include "host/time_limit.h"

namespace clew::cli {
namespace {

constexpr double kLeastSeconds = 0.1;
constexpr std::uint64_t kMostCapture = std::uint64_t{64} << 20;
constexpr std::size_t kMostShownOutput = 8192;

struct Hunted {
  TestCase test;
  HuntResult result;
  LastWords words;  // of the run that failed
};

struct AllHunted {
  std::vector<Hunted> cases;  // not one that was cut short before anything was found in it
  int interrupted_by = 0;
};

// ---- JUnit

// The end of what the failing run printed: a test framework says there what was wrong.
std::string end_of_output(const RecordingStore& store, std::optional<std::uint64_t> number) {
  if (!number) return "";
  const auto recording = store.load(std::to_string(*number));
  if (!recording) return "";
  std::string text;
  for (const auto& path : {recording->stdout_file(), recording->stderr_file()})
    if (const auto bytes = read_file(path, kMostCapture))
      text.append(bytes->begin() + static_cast<std::ptrdiff_t>(
                                       bytes->size() - std::min(bytes->size(), kMostShownOutput)),
                  bytes->end());
  return text;
}

// The assertion of a test framework says more than the exit status that comes of it.
std::string message_of(const Failure& failure, const LastWords& words) {
  if (failure.kind == FailureKind::kExit)
    if (const auto assertion = assertion_in(words)) return assertion_line(*assertion);
  return failure_line(failure);
}

std::string single_threaded_text(const HuntResult& result) {
  return "single-threaded: " + counted(result.schedules, "run");
}

JUnitCase junit_case(const std::string& name, const std::string& group, const HuntResult& result,
                     const RecordingStore& store) {
  JUnitCase one;
  one.name = name;
  one.group = group;
  one.seconds = result.seconds;
  one.schedules = result.schedules;
  const Outcome outcome = outcome_of(result);
  const std::string findings = findings_text(result.findings, result.schedules);
  if (outcome == Outcome::kPass) {
    one.note = confidence_text(result);
    if (result.single_threaded) one.note = single_threaded_text(result);
    if (!findings.empty())
      one.note += (one.note.empty() ? "" : "\n") +
                  fmt::format("{}\n{}", findings_headline(result.findings), findings);
    return one;
  }
  const LastWords words = last_words(store, result.failing.value_or(0));
  one.text = headline(result) + "\n" + hunt_text(result, words) + findings;
  if (outcome == Outcome::kUnresolved) {
    one.status = JUnitCase::Status::kError;
    one.kind = "unresolved";
    one.message = headline(result);
    return one;
  }
  one.status = JUnitCase::Status::kFailed;
  one.kind = to_word(result.failures.front().failure.kind);
  one.message = message_of(result.failures.front().failure, words);
  one.output = end_of_output(store, result.failing);
  return one;
}

std::string program_name(const HuntOptions& options) {
  return std::filesystem::path(options.plan.program).filename().string();
}

// ---- The test cases

// What is left is shared evenly among those that are left, so that a failure found early gives its
// time to the others. Schedules are not handed on: the same seed must be the same hunt.
class Shares {
 public:
  Shares(const HuntOptions& options, std::size_t cases)
      : seconds_(options.seconds),
        schedules_(options.schedules == 0 ? 0
                                          : std::max<std::uint64_t>(1, options.schedules / cases)),
        left_(cases) {}

  void give(HuntOptions& options) {
    options.schedules = schedules_;
    if (seconds_ > 0) {
      const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin_;
      options.seconds =
          std::max(kLeastSeconds, (seconds_ - used.count()) / static_cast<double>(left_));
    }
    --left_;
  }

 private:
  double seconds_;
  std::uint64_t schedules_;
  std::size_t left_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void print_case(const Hunted& one) {
  const HuntResult& result = one.result;
  const Outcome outcome = outcome_of(result);
  const std::string doubt = outcome == Outcome::kPass ? confidence_text(result) : "";
  const std::string figures =
      result.single_threaded
          ? single_threaded_text(result)
          : fmt::format("{}, {}, {:.1f} s", counted(result.schedules, "schedule"),
                        counted(result.interleavings, "interleaving"), result.seconds);
  print_result_label(outcome, doubt.empty() ? Doubt::kNo : Doubt::kYes);
  std::string text = fmt::format(" {} ({}){}", printable(one.test.name), figures,
                                 doubt.empty() ? "" : ": " + doubt);
  // What was printed is known of the first.
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    const FoundFailure& found = result.failures[i];
    text += fmt::format("\n       {}{}",
                        i == 0 ? message_of(found.failure, one.words) : failure_line(found.failure),
                        found.recording ? fmt::format(", recording {}", *found.recording) : "");
  }
  if (result.always_fails != 0) text += fmt::format("\n       {}", always_fails_text(result));
  for (const CountedFinding& found : result.findings)
    text += fmt::format("\n       {}: {}, in {} of {}", printable(found.finding.kind),
                        printable(found.finding.text), with_commas(found.runs),
                        counted(result.schedules, "schedule"));
  print_details(text + "\n");
}

// All hunts as one.
HuntResult total_of(const AllHunted& all, const HuntOptions& options) {
  HuntResult total;
  total.interrupted_by = all.interrupted_by;
  total.strategy = options.strategy;
  total.seed = options.seed;
  for (const auto& [test, result, words] : all.cases) {
    total.schedules += result.schedules;
    total.unresolved += result.unresolved;
    total.seconds += result.seconds;
    total.interleavings += result.interleavings;
    total.failures.insert(total.failures.end(), result.failures.begin(), result.failures.end());
    total.findings.insert(total.findings.end(), result.findings.begin(), result.findings.end());
    if (!total.failing && result.failing) {
      total.failing = result.failing;
      total.passing = result.passing;
      total.passing_distance = result.passing_distance;
    }
    for (const std::string& note : result.notes)
      if (std::ranges::find(total.notes, note) == total.notes.end()) total.notes.push_back(note);
  }
  return total;
}

std::uint64_t count(const std::vector<Hunted>& all, Outcome outcome) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      all, [&](const Hunted& one) { return outcome_of(one.result) == outcome; }));
}

void print_total(const std::vector<Hunted>& all, std::size_t cases, const HuntResult& total) {
  for (const std::string& note : total.notes) print_details("clew: note: " + note + "\n");
  const std::uint64_t failed = count(all, Outcome::kFail);
  const std::uint64_t unresolved = count(all, Outcome::kUnresolved);
  const bool cut = total.interrupted_by != 0;
  const Outcome worst = failed != 0              ? Outcome::kFail
                        : unresolved != 0 || cut ? Outcome::kUnresolved
                                                 : Outcome::kPass;
  std::string text = fmt::format("{}: {} of {} failed", to_word(worst), with_commas(failed),
                                 counted(cases, "test case"));
  if (unresolved != 0) text += fmt::format(", {} unresolved", with_commas(unresolved));
  const auto doubtful = static_cast<std::uint64_t>(std::ranges::count_if(all, [](const auto& one) {
    return outcome_of(one.result) == Outcome::kPass &&
           confidence_in(one.result) != Confidence::kFull;
  }));
  if (doubtful != 0)
    text += fmt::format(", {} passed with few schedules or unresolved ones", with_commas(doubtful));
  if (cut) text += fmt::format(", interrupted after {}", with_commas(all.size()));
  print_headline(worst, text);
  print_details(fmt::format("  {}\n", figures_text(total)));
  for (const Hunted& one : all)
    if (one.result.failing)
      print_details(fmt::format("  replay {}: clew replay {}\n", printable(one.test.name),
                                *one.result.failing));
}

Json each_json(const std::vector<Hunted>& all, const TestList& list, const HuntResult& total) {
  Json json = hunt_json(total);
  json["framework"] = to_word(list.framework);
  json["tests"] = Json::array();
  for (const Hunted& one : all) {
    Json test = {{"name", one.test.name}, {"result", to_word(outcome_of(one.result))}};
    test.update(hunt_json(one.result, one.words));
    json["tests"].push_back(std::move(test));
  }
  return json;
}

int exit_status(const std::vector<Hunted>& all, const HuntResult& total) {
  if (!total.failures.empty()) return 1;
  if (total.interrupted_by != 0) return 128 + total.interrupted_by;
  return count(all, Outcome::kUnresolved) != 0 ? kExitUnresolved : 0;
}

// The child processes with threads that the program forks, each as a test case.
Result<TestList> list_children(const HuntOptions& options, RecordingStore& store) {
  HuntStatusLine status(HuntStatusLine::Found::kQuiet);
  const auto children = children_with_threads(options, store, status);
  status.clear();
  CLEW_CHECK_OK(children);
  TestList list{TestFramework::kOwnChildren, {}};
  for (const std::uint32_t child : *children)
    list.cases.push_back({fmt::format("child {}", child), "", options.plan.arguments, child});
  return list;
}

Result<AllHunted> hunt_all(const HuntOptions& options, const TestList& list, RecordingStore& store,
                           const Interrupts& interrupts) {
  AllHunted all;
  Shares shares(options, list.cases.size());
  HuntStatusLine status(HuntStatusLine::Found::kQuiet);
  for (const TestCase& test : list.cases) {
    HuntOptions one = options;
    one.plan.arguments = test.arguments;
    one.plan.enter_child = test.child;
    shares.give(one);
    status.set_label(
        fmt::format("{} of {}, {}", all.cases.size() + 1, list.cases.size(), printable(test.name)));
    auto result = hunt(one, store, status);
    status.clear();
    CLEW_CHECK_OK(result);
    all.interrupted_by = result->interrupted_by != 0 ? result->interrupted_by : interrupts.take();
    if (all.interrupted_by == 0 || !result->failures.empty()) {
      LastWords words = last_words(store, result->failing.value_or(0));
      all.cases.push_back({test, std::move(*result), std::move(words)});
      print_case(all.cases.back());
    }
    if (all.interrupted_by != 0) break;
  }
  return all;
}

}  // namespace

Result<int> hunt_each(const HuntOptions& options, RecordingStore& store, const std::string& json,
                      const std::string& junit) {
  // Between two hunts, too, Ctrl-C must not lose what was found.
  const Interrupts interrupts;
  const TimeLimit limit(TimeLimit::with_keeping(options.seconds));
  auto list = list_tests(options.plan);
  if (!list && list.error().code == ErrorCode::kBadInput) {
    CLEW_TRY(auto children, list_children(options, store));
    if (!children.cases.empty()) list = std::move(children);
  }
  if (const int signal = interrupts.take(); signal != 0) return 128 + signal;
  CLEW_CHECK_OK(list);
  print_details(fmt::format("clew: {}, {}, seed {}\n", to_word(list->framework),
                            counted(list->cases.size(), "test case"), options.seed));
  CLEW_TRY(const auto all, hunt_all(options, *list, store, interrupts));

  const HuntResult total = total_of(all, options);
  print_total(all.cases, list->cases.size(), total);
  JUnitSuite suite{program_name(options), {}};
  for (const auto& [test, result, words] : all.cases) {
    // GoogleTest's names carry the suite, JUnit has a place of its own for it.
    const std::string name =
        test.group.empty() ? test.name : test.name.substr(test.group.size() + 1);
    suite.cases.push_back(
        junit_case(name, test.group.empty() ? suite.name : test.group, result, store));
  }
  CLEW_CHECK_OK(write_text(junit, junit.empty() ? "" : junit_xml(suite)));
  CLEW_CHECK_OK(write_json(json, each_json(all.cases, *list, total)));
  return exit_status(all.cases, total);
}

Result<void> write_junit(const std::string& target, const HuntOptions& options,
                         const HuntResult& result, const RecordingStore& store) {
  if (target.empty()) return {};
  const std::string name = program_name(options);
  return write_text(target, junit_xml({name, {junit_case(name, "clew.hunt", result, store)}}));
}

}  // namespace clew::cli
