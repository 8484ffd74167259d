#include "host/calls/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace clew {
namespace {

ClassCounts weight_of(const FeatureTable& table, ClassWeight kind) {
  if (kind == ClassWeight::kAsCounted) return {1, 1};
  const auto passing = static_cast<double>(table.runs(RunClass::kPassing));
  const auto failing = static_cast<double>(table.runs(RunClass::kFailing));
  if (passing == 0 || failing == 0) return {1, 1};
  const double half = (passing + failing) / 2;
  return {half / passing, half / failing};
}

// Scores that differ by rounding are the same.
bool is_higher(double a, double b) { return a > b + 1e-9; }

// A column as the permutation test needs it: which of its values each run has that has not the first.
struct Coded {
  std::vector<std::uint64_t> values;
  std::size_t usual = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> others;
};

Coded code(const FeatureColumn& column, std::size_t runs) {
  Coded coded;
  std::set<std::uint64_t> values;
  for (const auto& [run, value] : column.others()) values.insert(value);
  if (column.others().size() < runs) values.insert(column.usual());
  coded.values.assign(values.begin(), values.end());
  const auto position = [&](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(coded.values, value) -
                                      coded.values.begin());
  };
  coded.usual = position(column.usual());
  for (const auto& [run, value] : column.others()) coded.others.emplace_back(run, position(value));
  return coded;
}

Histogram histogram(const Coded& column, const std::vector<RunClass>& classes,
                    const ClassCounts& all, const ClassCounts& weight) {
  Histogram result(column.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i].value = column.values[i];
  ClassCounts usual = all;
  for (const auto& [run, at] : column.others) {
    const ClassCounts one =
        classes[run] == RunClass::kFailing ? ClassCounts{0, 1} : ClassCounts{1, 0};
    result[at].runs += one;
    usual = usual - one;
  }
  if (usual.all() > 0) result[column.usual].runs += usual;
  for (ValueCounts& value : result)
    value.runs = {value.runs.passing * weight.passing, value.runs.failing * weight.failing};
  return result;
}

// How often each run calls a function.
std::vector<std::uint64_t> calls_of(const std::vector<std::size_t>& columns,
                                    const FeatureTable& table) {
  std::vector<std::uint64_t> sum(table.runs());
  for (const std::size_t column : columns) {
    const std::vector<std::uint64_t> values = table.column(column).values(table.runs());
    for (std::size_t run = 0; run < sum.size(); ++run) sum[run] += values[run];
  }
  return sum;
}

Histogram histogram_of(const std::vector<std::uint64_t>& values, const FeatureTable& table,
                       const ClassCounts& weight) {
  std::map<std::uint64_t, ClassCounts> counts;
  for (std::size_t run = 0; run < values.size(); ++run)
    counts[values[run]] += table.classes()[run] == RunClass::kFailing
                               ? ClassCounts{0, weight.failing}
                               : ClassCounts{weight.passing, 0};
  Histogram histogram;
  for (const auto& [value, count] : counts) histogram.push_back({value, count});
  return histogram;
}

// What decides among functions of the same score.
void note_standing(const FeatureTable& table, const ScoreOptions& options,
                   const ClassCounts& weight, std::vector<RankedFunction>& ranking) {
  std::vector<std::vector<std::size_t>> columns_to(ranking.size());
  for (std::size_t column = 0; column < table.features().size(); ++column) {
    const auto callee = options.callee(table.features()[column]);
    if (callee && *callee < columns_to.size()) columns_to[*callee].push_back(column);
  }
  for (RankedFunction& function : ranking) {
    if (!function.column || function.score <= 0) continue;
    const std::uint64_t feature = table.features()[*function.column];
    function.evidence = options.evidence          ? options.evidence(feature)
                        : options.callee(feature) ? Evidence::kCall
                                                  : Evidence::kLibraryCall;
    if (columns_to[function.function].empty()) continue;  // main
    const std::vector<std::uint64_t> calls = calls_of(columns_to[function.function], table);
    function.follows = !is_higher(function.undiscounted,
                                  score_of(histogram_of(calls, table, weight), options.score));
    function.unreached = true;
    for (std::size_t run = 0; run < calls.size(); ++run)
      if (calls[run] > 0 && table.classes()[run] == RunClass::kFailing) function.unreached = false;
  }
}

}  // namespace

double score_of(const Histogram& column, ScoreKind kind) {
  if (kind == ScoreKind::kDiscretised) return discretised_gain_ratio(column);
  const auto split = best_split(column);
  return split ? split->ratio : 0;
}

std::optional<Split> split_of(const Histogram& column) {
  const auto best = best_split(column);
  if (!best) return std::nullopt;
  Split split{column[best->behind].value, column[best->behind + 1].value, {}, {}};
  for (std::size_t i = 0; i < column.size(); ++i)
    (i <= best->behind ? split.below : split.above) += column[i].runs;
  return split;
}

std::vector<RankedFunction> rank_functions(const FeatureTable& table,
                                           const std::vector<std::uint32_t>& lines,
                                           const Assign& assign, const ScoreOptions& options) {
  std::vector<RankedFunction> ranking(lines.size());
  for (std::uint32_t i = 0; i < ranking.size(); ++i) ranking[i].function = i;
  const ClassCounts weight = weight_of(table, options.weight);
  for (std::size_t column = 0; column < table.features().size(); ++column) {
    const auto function = assign(table.features()[column]);
    if (!function || *function >= ranking.size()) continue;
    RankedFunction& of = ranking[*function];
    const double full = score_of(table.histogram(column, weight), options.score);
    const double score =
        full * (options.discount ? options.discount(table.features()[column]) : 1.0);
    const bool tie = of.column && !is_higher(score, of.score) && !is_higher(of.score, score);
    const bool preferred = tie && options.prefer &&
                           options.prefer(table.features()[column], table.features()[*of.column]);
    if (of.column && !preferred && !is_higher(score, of.score)) continue;
    of.score = score;
    of.undiscounted = full;
    of.column = column;
  }
  for (RankedFunction& function : ranking)
    if (function.column && function.score > 0)
      function.split = split_of(table.histogram(*function.column, {1, 1}));
  if (options.callee) note_standing(table, options, weight, ranking);
  std::ranges::sort(ranking, [&](const RankedFunction& a, const RankedFunction& b) {
    if (is_higher(a.score, b.score) || is_higher(b.score, a.score)) return a.score > b.score;
    if (a.unreached != b.unreached) return b.unreached;
    const bool library = a.evidence == Evidence::kLibraryCall;
    if (library != (b.evidence == Evidence::kLibraryCall)) return !library;
    if (a.follows != b.follows) return b.follows;
    if (a.evidence != b.evidence) return a.evidence < b.evidence;
    if (lines[a.function] != lines[b.function]) return lines[a.function] > lines[b.function];
    return a.function < b.function;
  });
  return ranking;
}

bool is_more_in_failing(const Split& split) {
  const ClassCounts all{split.below.passing + split.above.passing,
                        split.below.failing + split.above.failing};
  return split.above.failing * all.passing > split.above.passing * all.failing;
}

std::vector<RankedFunction> rank_interruptions(
    const FeatureTable& table, const Assign& assign, const ScoreOptions& options,
    const std::function<double(std::uint64_t feature)>& explained,
    const std::function<bool(std::uint32_t caller, std::uint32_t callee)>& calls) {
  const ClassCounts weight = weight_of(table, options.weight);
  std::map<std::uint32_t, RankedFunction> best;
  for (std::size_t column = 0; column < table.features().size(); ++column) {
    const auto function = assign(table.features()[column]);
    if (!function || table.column(column).others().empty()) continue;
    const double score = score_of(table.histogram(column, weight), options.score);
    const auto known = best.find(*function);
    if (score <= 0 ||
        (known != best.end() && !is_higher(score, known->second.score) &&
         !(options.prefer && !is_higher(known->second.score, score) &&
           options.prefer(table.features()[column], table.features()[*known->second.column]))))
      continue;
    if (!is_higher(score, explained(table.features()[column]))) continue;
    const auto split = split_of(table.histogram(column, {1, 1}));
    if (!split || !is_more_in_failing(*split)) continue;
    RankedFunction& of = best[*function];
    of.function = *function;
    of.score = of.undiscounted = score;
    of.column = column;
    of.split = split;
    of.evidence = Evidence::kInterruption;
  }
  std::vector<RankedFunction> ranking;
  std::map<std::uint32_t, std::ptrdiff_t> callees;  // how many of those with the same score
  for (const auto& [function, of] : best) {
    ranking.push_back(of);
    callees[function] = std::ranges::count_if(best, [&](const auto& other) {
      return other.first != function && !is_higher(other.second.score, of.score) &&
             !is_higher(of.score, other.second.score) && calls(function, other.first);
    });
  }
  std::ranges::sort(ranking, [&](const RankedFunction& a, const RankedFunction& b) {
    if (is_higher(a.score, b.score) || is_higher(b.score, a.score)) return a.score > b.score;
    if (callees[a.function] != callees[b.function])
      return callees[a.function] > callees[b.function];
    return a.function < b.function;
  });
  return ranking;
}

void test_by_permutation(const FeatureTable& table, const Assign& assign,
                         const ScoreOptions& options, std::uint32_t permutations,
                         std::uint64_t seed, std::vector<RankedFunction>& ranking) {
  if (permutations == 0) return;
  // Many calls happen equally often: each such column is looked at once.
  std::set<std::vector<std::uint64_t>> seen;
  std::vector<Coded> columns;
  for (std::size_t i = 0; i < table.features().size(); ++i) {
    if (!assign(table.features()[i]) || table.column(i).others().empty()) continue;
    if (seen.insert(table.column(i).values(table.runs())).second)
      columns.push_back(code(table.column(i), table.runs()));
  }
  const ClassCounts all{static_cast<double>(table.runs(RunClass::kPassing)),
                        static_cast<double>(table.runs(RunClass::kFailing))};
  const ClassCounts weight = weight_of(table, options.weight);
  std::vector<RunClass> classes = table.classes();
  std::mt19937_64 random(seed);
  std::vector<double> highest;
  for (std::uint32_t i = 0; i < permutations; ++i) {
    std::ranges::shuffle(classes, random);
    double most = 0;
    for (const Coded& column : columns)
      most = std::max(most, score_of(histogram(column, classes, all, weight), options.score));
    highest.push_back(most);
  }
  for (RankedFunction& function : ranking) {
    const auto as_high = static_cast<double>(std::ranges::count_if(
        highest, [&](double other) { return !is_higher(function.undiscounted, other); }));
    function.p = function.score > 0 ? (as_high + 1) / (static_cast<double>(permutations) + 1) : 1;
  }
}

std::size_t Stability::rarer(const FeatureTable& table) {
  return std::min(table.runs(RunClass::kPassing), table.runs(RunClass::kFailing));
}

bool Stability::is_time(const FeatureTable& table) const {
  const std::size_t now = rarer(table);
  return now >= kLeastRuns &&
         static_cast<double>(now) >= std::ceil(kGrowth * static_cast<double>(last_));
}

void Stability::look(const FeatureTable& table, const std::vector<RankedFunction>& ranking) {
  last_ = rarer(table);
  std::vector<std::uint32_t> first;
  for (const RankedFunction& function : ranking)
    if (function.score > 0 && first.size() < kLooked) first.push_back(function.function);
  same_ = first == first_ && same_ > 0 ? same_ + 1 : 1;
  first_ = std::move(first);
}

}  // namespace clew
