#include "host/cases/check.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "host/cases/impossible.h"
#include "host/cases/lab.h"
#include "host/cases/other_names.h"
#include "host/cases/place_together.h"
#include "host/cases/trial.h"
#include "host/search/fuzz_search.h"
#include "host/search/portfolio.h"
#include "host/seconds.h"
#include "host/target/exit_status.h"
#include "host/target/program.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

// Runs to know the program, to steer for the order, and to execute all of a small one. Chosen, not
// measured: together some seconds for a small program.
constexpr std::size_t kSamples = 24;
constexpr std::size_t kSteered = 300;
constexpr std::uint64_t kMostExhaustive = 4000;
// Other places of an event that was edited, of all events together, and runs for each; variables that may
// be the one of the case under another name. Chosen, not measured.
constexpr std::size_t kMostElsewhere = 4;
constexpr std::size_t kMostGuesses = 8;
constexpr std::size_t kSteeredElsewhere = 60;
constexpr std::size_t kMostOtherNames = 4;

// If not all runs with the order failed when the case was made: so many that pass that with that
// rate one in twenty would do so by chance (the rule of three).
std::uint64_t runs_wanted(const Case& one) {
  if (one.failed == 0 || one.failed == one.with_order) return 1;
  return (3 * one.with_order + one.failed - 1) / one.failed;
}

class Checking {
 public:
  Checking(const CheckOptions& options, RecordingStore& store, HuntObserver& observer,
           CheckedCase& result)
      : options_(options), store_(store), observer_(observer), result_(result) {}

  Result<void> run() {
    CLEW_TRY(auto one, read_case(result_.file));
    result_.one = std::move(one);
    CLEW_TRY(auto lab_options, laboratory());
    Lab lab(std::move(lab_options), observer_);
    Survey survey(lab);
    const auto done = check(survey);
    result_.out_of_time = lab.time_is_up();
    result_.runs += lab.runs();
    result_.notes = lab.notes();
    if (lab.interrupted_by() != 0) interrupted_by_ = lab.interrupted_by();
    return done;
  }
  [[nodiscard]] int interrupted_by() const { return interrupted_by_; }

 private:
  Result<LabOptions> laboratory() {
    const Case& one = *result_.one;
    fs::path folder = fs::path(result_.file).parent_path();
    if (folder.empty()) folder = ".";
    const std::string program =
        options_.program.empty() ? (folder / one.program).string() : options_.program;
    std::vector<std::string> command{program.find('/') == std::string::npos ? "./" + program
                                                                            : program};
    command.insert(command.end(), one.arguments.begin(), one.arguments.end());
    LabOptions lab;
    auto plan = plan_program(command);
    if (!plan) {
      plan.error().hint = "build it, or name another build with --program";
      return std::unexpected(plan.error());
    }
    lab.plan = std::move(*plan);
    result_.not_built = !lab.plan.preload.empty();
    lab.plan.output = OutputMode::kCaptureOnly;
    lab.criteria = one.criteria;
    const std::string input = one.input.empty() ? "/dev/null" : (folder / one.input).string();
    lab.input = [input] { return HuntInput::of_file(input); };
    lab.jobs = options_.jobs;
    lab.seed = options_.seed;
    if (options_.seconds > 0) lab.until = seconds_now() + options_.seconds;
    return lab;
  }

  Result<void> check(Survey& survey) {
    const Case& one = *result_.one;
    CLEW_CHECK_OK(survey.make(kSamples));
    if (survey.runs().empty())
      return fail(ErrorCode::kBadInput, "the program cannot be run under a schedule");
    result_.placed = place_events(one, survey.sites());
    const auto lacks = [](const Placed& placed) { return placed.fit == Fit::kNone; };
    if (std::ranges::any_of(result_.placed, lacks)) return check_other_names(survey);
    place_together(one, survey, result_.placed);
    CLEW_TRY(auto tried, try_placed(one, survey));
    CLEW_CHECK_OK(conclude(tried, survey));
    return hunt_unless_known(tried, survey);
  }

  // Not all events have a place: what they are about may be called otherwise now. A failure is one whatever
  // was taken for the variable; that there is none is an answer if nothing but the name has changed.
  Result<void> check_other_names(Survey& survey) {
    const std::vector<Placed> as_named = result_.placed;
    std::optional<Tried> answer;
    const auto ways = other_names(*result_.one, as_named, survey.sites(), kMostOtherNames);
    for (const OtherName& way : ways) {
      result_.placed = way.placed;
      place_together(way.one, survey, result_.placed);
      CLEW_TRY(auto tried, try_placed(way.one, survey));
      const bool fails = tried.tally.failing || tried.tally.failing_otherwise;
      if (fails || (way.fits && !answer)) answer = std::move(tried);
      if (fails || survey.lab().time_is_up()) break;
    }
    if (answer) {
      CLEW_CHECK_OK(conclude(*answer, survey));
      return hunt_unless_known(*answer, survey);
    }
    result_.placed = as_named;
    result_.reason = reason_in_names(*result_.one, as_named, survey);
    result_.status = result_.reason.why == NotPossible::Why::kNone ? CaseStatus::kNotPlaced
                                                                   : CaseStatus::kNotPossible;
    // A failure that shows all the same is not to be kept quiet about.
    return hunt_around(survey, std::nullopt);
  }

  // What the runs say of a case whose events are at certain places.
  struct Tried {
    std::vector<Placed> placed;
    Tally tally;
    NotPossible reason;
  };

  // REQUIRES: result_.placed has all events of `one`.
  Result<Tried> try_placed(const Case& one, Survey& survey) {
    const EventSites sites = sites_of(result_.placed);
    NotPossible reason = reason_in_code(one, sites, survey);
    CLEW_TRY(auto tally, try_case(one, sites, survey, Until::kFailing, kSteered));
    if (reason.why != NotPossible::Why::kNone) none_has_order(tally);
    if (tally.with_order == 0 && reason.why == NotPossible::Why::kNone &&
        !survey.lab().time_is_up() && !tally.failing_otherwise) {
      CLEW_TRY(reason, reason_not_in_code(one, sites, survey, tally));
    }
    // Last: it may take what is left of the time.
    if (!tally.failing && !tally.failing_otherwise) {
      CLEW_TRY(auto elsewhere, try_elsewhere(one, survey));
      if (elsewhere) return std::move(*elsewhere);
    }
    return Tried{result_.placed, std::move(tally), std::move(reason)};
  }

  // An event that was edited may be another one than the best guess. Nothing: no run fails with those
  // that were tried.
  Result<std::optional<Tried>> try_elsewhere(const Case& one, Survey& survey) {
    std::size_t tried = 0;
    for (std::size_t e = 0; e < one.events.size(); ++e) {
      if (result_.placed[e].fit != Fit::kMoved && result_.placed[e].fit != Fit::kNearest) continue;
      for (Placed& other : places_of_anchor(one.events[e].at, survey.sites(), kMostElsewhere)) {
        if (other.sites == result_.placed[e].sites) continue;
        if (++tried > kMostGuesses || survey.lab().time_is_up()) return std::nullopt;
        std::vector<Placed> placed = result_.placed;
        placed[e] = std::move(other);
        CLEW_TRY(auto tally,
                 try_case(one, sites_of(placed), survey, Until::kFailing, kSteeredElsewhere));
        if (tally.failing) return Tried{std::move(placed), std::move(tally), {}};
      }
    }
    return std::nullopt;
  }

  Result<NotPossible> reason_not_in_code(const Case& one, const EventSites& sites, Survey& survey,
                                         Tally& tally) {
    const bool sure = is_sure();
    NotPossible reason = reason_in_runs(one, sites, survey, tally.unordered,
                                        sure ? Placing::kSure : Placing::kNearest);
    if (reason.why == NotPossible::Why::kNone) {
      CLEW_TRY(reason, reason_by_exhaustion(one, sites, survey, kMostExhaustive, tally));
    }
    const bool nothing = reason.why == NotPossible::Why::kNone && tally.with_order == 0 &&
                         !tally.failing_otherwise && sure;
    if (nothing) reason = reason_in_absence(one, sites, survey, tally.unordered);
    using Why = NotPossible::Why;
    const bool is_of_runs = reason.why == Why::kSawFirst || reason.why == Why::kWaitedFirst ||
                            reason.why == Why::kNotTogether || reason.why == Why::kNeverAfter;
    const auto waits_in_loops = [](const LabRun& run) {
      return (run.result.uncovered & abi::kUncoveredRounds) != 0;
    };
    reason.rounds_not_tried = is_of_runs && (std::ranges::any_of(survey.runs(), waits_in_loops) ||
                                             std::ranges::any_of(tally.unordered, waits_in_loops));
    return reason;
  }

  Result<void> conclude(Tried& tried, Survey& survey) {
    const Tally& tally = tried.tally;
    result_.placed = tried.placed;
    result_.reason = tried.reason;
    result_.with_order = tally.with_order;
    result_.failed = tally.failed;
    const EventSites sites = sites_of(result_.placed);
    if (tally.failing) return fails(survey, *tally.failing, sites);
    if (tally.failing_otherwise) {
      result_.other_order = true;
      return fails(survey, *tally.failing_otherwise, sites);
    }
    result_.wanted = runs_wanted(*result_.one);
    if (tally.with_order > 0)
      result_.status = tally.with_order >= result_.wanted ? CaseStatus::kPasses : CaseStatus::kOpen;
    else if (result_.reason.why != NotPossible::Why::kNone)
      result_.status = CaseStatus::kNotPossible;
    else
      result_.status = CaseStatus::kOpen;
    return {};
  }

  Result<void> hunt_unless_known(const Tried& tried, Survey& survey) {
    const bool all_executed = result_.reason.why == NotPossible::Why::kExhausted;
    if (result_.status == CaseStatus::kFails || all_executed) return {};
    return hunt_around(survey, tried.tally.passing);
  }

  // Whether each event is what it was, and not only the most similar: a function's only wait is its wait,
  // whatever its text.
  [[nodiscard]] bool is_sure() const {
    for (std::size_t i = 0; i < result_.placed.size(); ++i) {
      const Placed& placed = result_.placed[i];
      const bool is_it = placed.is_only_one && !abi::is_access(result_.one->events[i].at.kind);
      if (placed.fit == Fit::kNearest && !is_it) return false;
    }
    return true;
  }
  // Runs that seem to have the order have it by steps that it does not mean: two of its events are one
  // step now.
  static void none_has_order(Tally& tally) {
    tally.with_order = 0;
    tally.failed = 0;
    if (!tally.failing_otherwise) tally.failing_otherwise = std::move(tally.failing);
    tally.failing.reset();
  }

  Result<void> fails(Survey& survey, const LabRun& run, const EventSites& sites) {
    result_.status = CaseStatus::kFails;
    CLEW_TRY(auto recorded,
             survey.lab().record(run, store_, Origin::from_line(origin()),
                                 survey.sites().clocks_to_query(run.steps, nullptr)));
    if (!recorded) return {};
    result_.recording = recorded->number;
    note_failure(recorded->summary.failure);
    // With the stacks of just this run: places of libraries belong to many lines.
    if (recorded->run.summary.clock == run.result.clock && !result_.one->orders.empty()) {
      survey.learn(run, std::make_shared<const RunResult>(std::move(recorded->run)));
      TracedRun traced = survey.traced(run);
      result_.other_order = !find_match(*result_.one, sites, traced);
      traced.failed = false;  // now all of it
      result_.lacks_last = !result_.other_order && !find_match(*result_.one, sites, traced);
    }
    return {};
  }
  void note_failure(const std::optional<Failure>& failure) {
    result_.failure = failure;
    result_.other_failure = failure && failure->kind != result_.one->failure;
  }
  [[nodiscard]] std::string origin() const { return fmt::format("check of {}", result_.file); }

  // The order may have moved: schedules close to it, and others.
  Result<void> hunt_around(Survey& survey, const std::optional<LabRun>& passing) {
    if (options_.hunt == 0 || survey.lab().time_is_up()) return {};
    HuntOptions options;
    options.plan = survey.lab().options().plan;
    options.criteria = survey.lab().options().criteria;
    options.seed = options_.seed;
    options.jobs = options_.jobs;
    options.keep_passing = false;
    options.schedules = options_.hunt / 2;
    const double until = survey.lab().options().until;
    const auto limit = [&] {
      if (until != 0) options.seconds = std::max(0.5, until - seconds_now());
    };
    limit();
    if (passing) {
      CLEW_TRY(auto schedule, survey.lab().schedule_of(*passing));
      if (schedule) {
        CLEW_TRY(auto input, survey.lab().options().input());
        CLEW_TRY(const auto near,
                 hunt_with(std::make_unique<FuzzSearch>(std::move(*schedule), Verdict::kFail,
                                                        passing->result.clock, options_.seed),
                           options, store_, observer_, std::move(input)));
        if (took(near)) return {};
      }
    } else {
      options.schedules = options_.hunt;
    }
    limit();
    CLEW_TRY(auto input, survey.lab().options().input());
    CLEW_TRY(const auto far, hunt_with(std::make_unique<PortfolioSearch>(options_.seed), options,
                                       store_, observer_, std::move(input)));
    (void)took(far);
    return {};
  }
  bool took(const HuntResult& hunted) {
    result_.hunted += hunted.schedules;
    result_.runs += hunted.schedules;
    if (hunted.interrupted_by != 0) interrupted_by_ = hunted.interrupted_by;
    if (hunted.failures.empty()) return hunted.interrupted_by != 0;
    result_.status = CaseStatus::kFails;
    result_.other_order = true;
    result_.recording = hunted.failures.front().recording;
    note_failure(hunted.failures.front().failure);
    return true;
  }

  const CheckOptions& options_;
  RecordingStore& store_;
  HuntObserver& observer_;
  CheckedCase& result_;
  int interrupted_by_ = 0;
};

}  // namespace

std::vector<std::string> find_cases(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) && it->path().filename() == ".clew") it.disable_recursion_pending();
    if (it->is_regular_file(error) && it->path().extension() == kCaseSuffix)
      files.push_back(it->path().lexically_normal().string());
  }
  std::ranges::sort(files);
  return files;
}

CheckResult check_cases(const CheckOptions& options, RecordingStore& store,
                        HuntObserver& observer) {
  CheckResult result;
  for (const std::string& file : options.files) {
    CheckedCase& one = result.cases.emplace_back();
    one.file = file;
    const double started = seconds_now();
    Checking checking(options, store, observer, one);
    if (const auto done = checking.run(); !done) {
      one.status = CaseStatus::kNotRun;
      one.error = done.error();
    }
    one.seconds = seconds_now() - started;
    result.interrupted_by = checking.interrupted_by();
    if (result.interrupted_by == 0) continue;
    // What was not found by then is no answer.
    if (one.status != CaseStatus::kFails) {
      one.status = CaseStatus::kNotRun;
      one.error = Error{ErrorCode::kBadInput, "interrupted before there was an answer", ""};
    }
    break;
  }
  return result;
}

const char* to_word(CaseStatus status) {
  switch (status) {
    case CaseStatus::kFails:
      return "fails";
    case CaseStatus::kPasses:
      return "passes";
    case CaseStatus::kNotPossible:
      return "not-possible";
    case CaseStatus::kOpen:
      return "open";
    case CaseStatus::kNotPlaced:
      return "not-placed";
    case CaseStatus::kNotRun:
      return "not-run";
  }
  return "";
}

int exit_status_of(const CheckResult& result) {
  if (result.interrupted_by != 0) return 128 + result.interrupted_by;
  const auto is = [](auto... statuses) {
    return [=](const CheckedCase& one) { return ((one.status == statuses) || ...); };
  };
  if (std::ranges::any_of(result.cases, is(CaseStatus::kFails))) return 1;
  const auto undecided = is(CaseStatus::kOpen, CaseStatus::kNotPlaced, CaseStatus::kNotRun);
  return std::ranges::any_of(result.cases, undecided) ? kExitUnresolved : 0;
}

}  // namespace clew
