#include "host/calls/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <thread>
#include <tuple>
#include <utility>

#include "host/calls/counted_jobs.h"
#include "host/calls/whole_counts.h"
#include "host/search/servable.h"
#include "host/seconds.h"

namespace clew {
namespace {

// A run that passes this many times as many points as the first hangs, and so does one that passes
// kLeastBudget. Chosen: counts of a hang grow with the budget, and so does the time that it takes.
constexpr std::uint64_t kTimesFirst = 50;
constexpr std::uint64_t kLeastBudget = 500'000;
// Of the more frequent class not more runs are kept than this, or this many times the other's: they
// would cost time and tell nothing.
constexpr std::size_t kMostOfOne = 2000;
constexpr std::size_t kTimesRarer = 20;

ScoreOptions score_of(const RankOptions& options) {
  if (options.score) return *options.score;
  if (options.method == RankMethod::kPaper)
    return {ScoreKind::kDiscretised, ClassWeight::kAsCounted, {}};
  return {ScoreKind::kBestSplit, ClassWeight::kBalanced, {}};
}

// Of a kind of failure at least this many runs, and it is ranked by itself. Chosen: with fewer, the
// permutation test cannot tell an answer from noise.
constexpr std::size_t kLeastOfKind = 5;

bool tells_kinds_apart(const RankOptions& options) {
  return options.kinds.value_or(options.method != RankMethod::kPaper);
}

bool leaves_count(const RankOptions& options) {
  return options.leaves.value_or(options.method != RankMethod::kPaper);
}

// Other graphs than the reduced one, and lines, are there for comparison: they have calls, or lines, alone.
RankEvidence evidence_of(const RankOptions& options) {
  if (options.method == RankMethod::kPaper || options.graph != GraphKind::kReduced ||
      options.level == CountLevel::kLines)
    return {.branches = false, .interruptions = false, .phases = false};
  return options.evidence.value_or(RankEvidence{});
}

CountLevel level_of(const RankOptions& options) {
  return evidence_of(options).branches ? CountLevel::kCallsAndLines : options.level;
}

CallDetail detail_of(const RankOptions& options) {
  if (options.graph != GraphKind::kReduced) return CallDetail::kEveryCall;
  const RankEvidence evidence = evidence_of(options);
  return evidence.interruptions || evidence.phases ? CallDetail::kOwnCalls : CallDetail::kCounters;
}

Assign assign_by(const RankOptions& options, const std::vector<CallEdge>& edges) {
  const bool leaves = leaves_count(options);
  const bool branches = evidence_of(options).branches;
  const bool lines = options.level == CountLevel::kLines;
  return [leaves, branches, lines, &edges](std::uint64_t feature) -> std::optional<std::uint32_t> {
    const CallEdge& edge = edges[feature];
    const bool counts = edge.kind == EdgeKind::kLine     ? lines
                        : edge.kind == EdgeKind::kBranch ? branches
                        : edge.kind == EdgeKind::kCall
                            ? !lines && (leaves || edge.callee < kFirstLeaf)
                            : false;
    return counts ? std::optional(edge.caller) : std::nullopt;
  };
}

Assign interrupted_in(const std::vector<CallEdge>& edges) {
  return [&edges](std::uint64_t feature) -> std::optional<std::uint32_t> {
    const CallEdge& edge = edges[feature];
    return edge.kind == EdgeKind::kInterruption ? std::optional(edge.caller) : std::nullopt;
  };
}

Evidence evidence_in(const CallEdge& edge) {
  if (edge.kind == EdgeKind::kInterruption) return Evidence::kInterruption;
  if (edge.kind == EdgeKind::kBranch) return Evidence::kBranch;
  return edge.callee < kFirstLeaf ? Evidence::kCall : Evidence::kLibraryCall;
}

// What happens when all other threads have made their last call counts so much. Chosen: it is first only where
// nothing else differs half as well.
constexpr double kAtTheEndCounts = 1.0 / 3;

// How functions are ordered. REQUIRES: the edges outlive it.
ScoreOptions scored_by(const RankOptions& options, const std::vector<CallEdge>& edges) {
  ScoreOptions scored = score_of(options);
  // The program's own functions say more than a library's.
  scored.prefer = [&edges](std::uint64_t a, std::uint64_t b) {
    return evidence_in(edges[a]) < evidence_in(edges[b]);
  };
  if (options.method == RankMethod::kPaper || options.level == CountLevel::kLines) return scored;
  scored.callee = [&edges](std::uint64_t feature) -> std::optional<std::uint32_t> {
    const CallEdge& edge = edges[feature];
    return edge.kind == EdgeKind::kCall && edge.callee < kFirstLeaf ? std::optional(edge.callee)
                                                                    : std::nullopt;
  };
  scored.evidence = [&edges](std::uint64_t feature) { return evidence_in(edges[feature]); };
  if (evidence_of(options).phases)
    scored.discount = [&edges](std::uint64_t feature) {
      return edges[feature].context == kAtTheEnd ? kAtTheEndCounts : 1.0;
    };
  return scored;
}

// How well failing runs have more calls of each function, and by each function of each.
class MoreCalls {
 public:
  MoreCalls(const FeatureTable& table, const std::vector<CallEdge>& edges,
            const ScoreOptions& options)
      : edges_(edges) {
    const auto passing = static_cast<double>(table.runs(RunClass::kPassing));
    const auto failing = static_cast<double>(table.runs(RunClass::kFailing));
    const double half = (passing + failing) / 2;
    const ClassCounts weight = options.weight == ClassWeight::kBalanced
                                   ? ClassCounts{half / passing, half / failing}
                                   : ClassCounts{1, 1};
    for (std::size_t column = 0; column < table.features().size(); ++column) {
      const CallEdge& edge = edges[table.features()[column]];
      if (edge.kind != EdgeKind::kCall || edge.callee >= kFirstLeaf) continue;
      const auto split = split_of(table.histogram(column, {1, 1}));
      if (!split || !is_more_in_failing(*split)) continue;
      const double score = score_of(table.histogram(column, weight), options.score);
      double& of = of_[edge.callee];
      of = std::max(of, score);
      double& by = by_[{edge.caller, edge.callee}];
      by = std::max(by, score);
      double& by_caller = by_caller_[edge.caller];
      by_caller = std::max(by_caller, score);
    }
  }

  // An interruption has to tell so much more than the numbers of calls. Chosen.
  static constexpr double kMargin = 0.05;
  [[nodiscard]] double explain(std::uint64_t feature) const {
    const CallEdge& edge = edges_[feature];
    const auto find = [](const auto& map, const auto& key) {
      const auto found = map.find(key);
      return found == map.end() ? 0.0 : found->second;
    };
    // With more calls there is more to come between.
    const double by = edge.callee == kNoFunction
                          ? find(by_caller_, edge.caller)
                          : std::max(find(by_, std::pair(edge.caller, edge.after)),
                                     find(by_, std::pair(edge.caller, edge.callee)));
    return kMargin + std::max(find(of_, edge.other), by);
  }

 private:
  const std::vector<CallEdge>& edges_;
  std::map<FunctionNumber, double> of_;
  std::map<std::pair<FunctionNumber, FunctionNumber>, double> by_;
  std::map<FunctionNumber, double> by_caller_;
};

// Interruptions are looked at before all else, if they tell anything: they come before what follows from them. They must
// tell this share of what calls and branches tell, and those of a function this share of what the best tells. Chosen: the
// failure often shows perfectly in numbers of calls, while it may come about by one of several interruptions.
constexpr double kShareOfOthers = 0.4;
constexpr double kShareOfBest = 0.8;
// The highest p-value with which an interruption is believed.
constexpr double kBelieved = 0.01;

// Moves functions whose interruptions tell failing runs apart to the front.
void put_interrupted_first(const RankOptions& options, const FeatureTable& table,
                           const std::vector<CallEdge>& edges, const ScoreOptions& scored,
                           std::uint32_t permutations, std::vector<RankedFunction>& ranking) {
  if (!evidence_of(options).interruptions || table.runs(RunClass::kPassing) == 0 ||
      table.runs(RunClass::kFailing) == 0)
    return;
  const MoreCalls more(table, edges, scored);
  const Assign assign = interrupted_in(edges);
  auto interrupted = rank_interruptions(
      table, assign, scored, [&](std::uint64_t feature) { return more.explain(feature); },
      [&](FunctionNumber caller, FunctionNumber callee) {
        return std::ranges::any_of(edges, [&](const CallEdge& edge) {
          return edge.kind == EdgeKind::kCall && edge.caller == caller && edge.callee == callee;
        });
      });
  if (interrupted.empty()) return;
  const double least = std::max(kShareOfOthers * (ranking.empty() ? 0 : ranking.front().score),
                                kShareOfBest * interrupted.front().score);
  std::erase_if(interrupted,
                [&](const RankedFunction& function) { return function.score < least; });
  if (interrupted.empty()) return;
  test_by_permutation(table, assign, scored, permutations, options.hunt.seed, interrupted);
  if (permutations > 0 && interrupted.front().p > kBelieved) return;
  std::vector<RankedFunction> rest;
  for (const RankedFunction& function : ranking)
    if (std::ranges::find(interrupted, function.function, &RankedFunction::function) ==
        interrupted.end())
      rest.push_back(function);
  ranking = std::move(interrupted);
  ranking.insert(ranking.end(), rest.begin(), rest.end());
}

class Ranker final : public HuntObserver, public ReportListener {
 public:
  Ranker(const RankOptions& options, RecordingStore& store, RankObserver& observer)
      : options_(options),
        store_(store),
        observer_(observer),
        jobs_(level_of(options), options.graph, detail_of(options)),
        started_(seconds_now()) {}

  Result<RankResult> run();

  void status(const HuntStatus&) override {
    const double passed = seconds_now() - started_;
    observer_.status(
        {result_.table.runs(RunClass::kPassing), result_.table.runs(RunClass::kFailing), passed,
         options_.hunt.seconds > 0 ? std::max(0.0, options_.hunt.seconds - passed) : 0});
  }
  void found(const FoundFailure&) override {}
  void learn(const JobPlan& plan, const JobReport& report) override;

 private:
  Result<void> settle_budget();
  Result<void> run_inputs();
  Result<void> hunt_once(HuntOptions options);
  HuntOptions hunt_options() const;
  void look();
  void separate();
  std::vector<std::pair<RunFailure, std::size_t>> kinds() const;
  FeatureTable table_of(const RunFailure& kind) const;
  bool wanted(RunClass of) const;

  const RankOptions& options_;
  RecordingStore& store_;
  RankObserver& observer_;
  CountedJobs jobs_;
  double started_;
  std::uint64_t budget_ = 0;
  std::uint64_t first_clock_ = 0;
  bool probing_ = false;
  Stability stability_;
  std::unordered_map<CallEdge, std::uint64_t, CallEdgeHash> feature_of_;
  RankResult result_;
  std::vector<std::optional<RunFailure>> failures_;  // of each run in the table; nothing: it passed
};

bool Ranker::wanted(RunClass of) const {
  const std::size_t passing = result_.table.runs(RunClass::kPassing);
  const std::size_t failing = result_.table.runs(RunClass::kFailing);
  const std::size_t have = of == RunClass::kPassing ? passing : failing;
  return have < std::max(kMostOfOne, kTimesRarer * std::min(passing, failing));
}

// Of a run that fails.
RunFailure failure_of(const abi::JobResult& run) {
  switch (run.end) {
    case abi::JobEnd::kSignalled:
      if (run.failure == abi::FailureKind::kExit || run.failure == abi::FailureKind::kSignal)
        return {FailureKind::kSignal, run.status};
      [[fallthrough]];  // a hang that was ended
    case abi::JobEnd::kFailed:
      return {from_abi(run.failure), 0};
    default:
      // By its status, or by what the criteria have found in what it has written.
      return {run.status != 0 ? FailureKind::kExit : FailureKind::kJudge, run.status};
  }
}

// The kinds with the most runs first.
std::vector<std::pair<RunFailure, std::size_t>> Ranker::kinds() const {
  std::map<RunFailure, std::size_t> counts;
  for (const auto& failure : failures_)
    if (failure) ++counts[*failure];
  std::vector<std::pair<RunFailure, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return sorted;
}

FeatureTable Ranker::table_of(const RunFailure& kind) const {
  std::vector<bool> kept;
  for (const auto& failure : failures_) kept.push_back(!failure || *failure == kind);
  return result_.table.select(kept);
}

// One ranking for each kind of failure, in place of one for all.
void Ranker::separate() {
  const auto all = kinds();
  if (all.size() == 1) result_.failure = all.front().first;
  if (all.size() < 2 || !tells_kinds_apart(options_)) return;
  for (const auto& [kind, count] : all | std::views::drop(1)) {
    if (count < kLeastOfKind) {
      result_.left_out += count;
      continue;
    }
    RankResult& one = result_.others.emplace_back();
    one.failure = kind;
    one.functions = result_.functions;
    one.edges = result_.edges;
    one.callees = result_.callees;
    one.table = table_of(kind);
    rank_again(options_, one);
  }
  result_.failure = all.front().first;
  FeatureTable first = table_of(all.front().first);
  result_.all_runs = std::exchange(result_.table, std::move(first));
}

void Ranker::learn(const JobPlan&, const JobReport& report) {
  if (probing_) {
    first_clock_ = report.result.clock;
    return;
  }
  ++result_.runs;
  auto counts = jobs_.take(report.result.number);
  if (report.verdict == Verdict::kUnresolved || !counts) {
    ++result_.unresolved;
    return;
  }
  const RunClass of = report.verdict == Verdict::kFail ? RunClass::kFailing : RunClass::kPassing;
  if (!wanted(of)) return;
  RunCounts row;
  for (const auto& [edge, count] : *counts) {
    const auto [feature, added] = feature_of_.try_emplace(edge, result_.edges.size());
    if (added) result_.edges.push_back(edge);
    row.emplace_back(feature->second, count);
  }
  std::ranges::sort(row);
  result_.table.add(of, row);
  failures_.emplace_back();
  if (of == RunClass::kFailing) failures_.back() = failure_of(report.result);
  look();
}

void Ranker::look() {
  if (!options_.until_stable || stability_.stable() || !stability_.is_time(result_.table)) return;
  std::vector<std::uint32_t> lines;
  for (const ProgramFunction& function : jobs_.code().functions()) lines.push_back(function.lines);
  const auto all = kinds();
  const bool several = all.size() > 1 && tells_kinds_apart(options_);
  const FeatureTable table = with_whole_counts(
      several ? table_of(all.front().first) : result_.table, result_.edges, feature_of_);
  const ScoreOptions scored = scored_by(options_, result_.edges);
  auto ranking = rank_functions(table, lines, assign_by(options_, result_.edges), scored);
  put_interrupted_first(options_, table, result_.edges, scored, 0, ranking);
  stability_.look(result_.table, ranking);
}

HuntOptions Ranker::hunt_options() const {
  HuntOptions options = options_.hunt;
  options.keep_going = true;
  options.keep_passing = options.keep_failing = false;
  options.in_place = options.in_place && !how_to_serve(options.plan.program).not_in_place;
  options.plan.budget = budget_;
  options.budget_is_guess = false;
  if (options.seconds > 0)
    options.seconds = std::max(0.001, options.seconds - (seconds_now() - started_));
  return options;
}

// One run as it would be made anyway: how long it is tells when another hangs.
Result<void> Ranker::settle_budget() {
  budget_ = options_.hunt.plan.budget;
  if (options_.budget_is_given) return {};
  probing_ = true;
  HuntOptions options = hunt_options();
  options.schedules = 1;
  if (options_.inputs) {
    CLEW_TRY(const auto first, options_.inputs(0));
    if (first) apply(*first, options.plan);
  }
  ReportListener* const listeners[] = {this};
  CLEW_CHECK_OK(hunt(options, store_, *this, listeners));
  probing_ = false;
  budget_ = std::min(budget_, std::max(kLeastBudget, kTimesFirst * first_clock_));
  return {};
}

Result<void> Ranker::hunt_once(HuntOptions options) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  options.runner = jobs_.factory(options.jobs != 0 ? options.jobs : cores);
  options.enough = [this] { return options_.until_stable && stability_.stable(); };
  ReportListener* const listeners[] = {this};
  CLEW_TRY(const auto hunted, hunt(options, store_, *this, listeners));
  jobs_.forget_others();
  for (const std::string& note : hunted.notes)
    if (std::ranges::find(result_.notes, note) == result_.notes.end())
      result_.notes.push_back(note);
  result_.interrupted_by = hunted.interrupted_by;
  return {};
}

Result<void> Ranker::run_inputs() {
  for (std::uint64_t i = 0;; ++i) {
    const HuntOptions& given = options_.hunt;
    if (result_.interrupted_by != 0 || (options_.until_stable && stability_.stable()) ||
        (given.schedules != 0 && result_.runs >= given.schedules) ||
        (given.seconds > 0 && seconds_now() - started_ >= given.seconds))
      return {};
    CLEW_TRY(const auto input, options_.inputs(i));
    if (!input) return {};
    HuntOptions options = hunt_options();
    apply(*input, options.plan);
    options.seed = given.seed + i;
    options.schedules = options_.runs_per_input;
    options.jobs = 1;
    ++result_.inputs;
    CLEW_CHECK_OK(hunt_once(std::move(options)));
  }
}

Result<RankResult> Ranker::run() {
  CLEW_CHECK_OK(settle_budget());
  if (options_.inputs) {
    CLEW_CHECK_OK(run_inputs());
  } else {
    CLEW_CHECK_OK(hunt_once(hunt_options()));
  }
  result_.stable = stability_.stable();
  result_.functions = jobs_.code().functions();
  for (const CallEdge& edge : result_.edges)
    result_.callees.push_back(edge.kind == EdgeKind::kLine || edge.kind == EdgeKind::kBranch
                                  ? fmt::format("line {}", edge.callee)
                                  : jobs_.code().name_of(edge.callee));
  for (std::string& lack : jobs_.code().lacks()) result_.notes.push_back(std::move(lack));
  result_.table = with_whole_counts(result_.table, result_.edges, feature_of_);
  separate();
  rank_again(options_, result_);
  result_.seconds = seconds_now() - started_;
  return std::move(result_);
}

}  // namespace

void apply(const ProgramInput& input, LaunchPlan& plan) {
  for (const auto& [from, to] : input.replaced)
    for (std::size_t i = 1; i < plan.arguments.size(); ++i)
      for (std::size_t at = plan.arguments[i].find(from); at != std::string::npos;
           at = plan.arguments[i].find(from, at + to.size()))
        plan.arguments[i].replace(at, from.size(), to);
  plan.arguments.insert(plan.arguments.end(), input.arguments.begin(), input.arguments.end());
  for (const std::string& variable : input.environment) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(plan.environment, [&](const std::string& v) { return v.starts_with(name); });
    plan.environment.push_back(variable);
  }
}

void rank_again(const RankOptions& options, RankResult& result) {
  std::vector<std::uint32_t> lines;
  for (const ProgramFunction& function : result.functions) lines.push_back(function.lines);
  const Assign assign = assign_by(options, result.edges);
  ScoreOptions scored = scored_by(options, result.edges);
  // Names make it the same in every run.
  scored.prefer = [&](std::uint64_t a, std::uint64_t b) {
    const auto key = [&](std::uint64_t feature) {
      const CallEdge& edge = result.edges[feature];
      return std::tuple(evidence_in(edge), result.callees[feature], edge.after, edge.other);
    };
    return key(a) < key(b);
  };
  result.ranking = rank_functions(result.table, lines, assign, scored);
  test_by_permutation(result.table, assign, score_of(options), options.permutations,
                      options.hunt.seed, result.ranking);
  put_interrupted_first(options, result.table, result.edges, scored, options.permutations,
                        result.ranking);
}

std::uint64_t RankResult::lines() const {
  std::uint64_t sum = 0;
  for (const ProgramFunction& function : functions) sum += function.lines;
  return sum;
}

double RankResult::functions_to_review(std::size_t rank) const {
  return functions.empty()
             ? 0
             : 100.0 * static_cast<double>(rank) / static_cast<double>(functions.size());
}

double RankResult::lines_to_review(std::size_t rank) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::min(rank, ranking.size()); ++i)
    sum += functions[ranking[i].function].lines;
  const std::uint64_t all = lines();
  return all == 0 ? 0 : 100.0 * static_cast<double>(sum) / static_cast<double>(all);
}

Result<RankResult> rank(const RankOptions& options, RecordingStore& store, RankObserver& observer) {
  return Ranker(options, store, observer).run();
}

}  // namespace clew
