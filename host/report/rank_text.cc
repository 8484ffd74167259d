#include "host/report/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "host/report/words.h"
#include "host/target/syscall_names.h"

namespace clew {
namespace {

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", with_commas(count));
}

// What a column counts, as a sentence: "`f` calls `g`".
std::string what(const RankResult& result, std::size_t column) {
  const std::uint64_t feature = result.table.features()[column];
  const CallEdge& edge = result.edges[feature];
  const SourceFunction& caller = result.functions[edge.caller].source;
  const std::string name = printable(caller.name);
  const auto own = [&](FunctionNumber function) {
    return printable(result.functions[function].source.name);
  };
  const char* const end =
      edge.context == kAtTheEnd ? ", after the last call of any other thread," : "";
  switch (edge.kind) {
    case EdgeKind::kLine:
      return fmt::format("{}:{} of `{}` runs", short_path(caller.file), edge.callee, name);
    case EdgeKind::kBranch:
      return fmt::format("{}:{} of `{}`{} runs more often than line {},", short_path(caller.file),
                         edge.callee, name, end, edge.after);
    case EdgeKind::kInterruption:
      if (edge.callee == kNoFunction)
        return fmt::format(
            "between two calls by `{}` another thread runs whose last call is of `{}`,", name,
            own(edge.other));
      return fmt::format(
          "between {} and its call of `{}` another thread runs whose last call is of `{}`,",
          edge.after == kNoFunction
              ? fmt::format("the beginning of `{}`", name)
              : fmt::format("the call of `{}` by `{}`", own(edge.after), name),
          own(edge.callee), own(edge.other));
    case EdgeKind::kCall:
      break;
  }
  return fmt::format("`{}`{} calls `{}`", name, end, printable(result.callees[feature]));
}

// Runs by how often they made a call, in at most eight classes from the least to the most.
std::string bars(const RankResult& result, std::size_t column, RunClass of) {
  constexpr std::size_t kBars = 8;
  static constexpr std::array<const char*, 9> kSteps{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::vector<std::uint64_t> values = result.table.column(column).values(result.table.runs());
  const auto [least, most] = std::ranges::minmax(values);
  std::array<double, kBars> heights{};
  double all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (result.table.classes()[i] != of) continue;
    const double share =
        most == least ? 0
                      : static_cast<double>(values[i] - least) / static_cast<double>(most - least);
    heights[std::min(kBars - 1, static_cast<std::size_t>(share * kBars))] += 1;
    ++all;
  }
  std::string text;
  for (const double height : heights)
    text += kSteps[height == 0 || all == 0
                       ? 0
                       : std::max<std::size_t>(1, static_cast<std::size_t>(8 * height / all))];
  return text;
}

std::string range_text(const RankResult& result, std::size_t column) {
  const std::vector<std::uint64_t> values = result.table.column(column).values(result.table.runs());
  const auto [least, most] = std::ranges::minmax(values);
  return least == most ? with_commas(least)
                       : fmt::format("{} to {}", with_commas(least), with_commas(most));
}

// What runs do that fail in this way, for several.
std::string failure_words(const RunFailure& failure) {
  switch (failure.kind) {
    case FailureKind::kExit:
      return fmt::format("exit with status {}", failure.status);
    case FailureKind::kSignal:
      return "end by " + signal_name(failure.status);
    case FailureKind::kHang:
      return "hang";
    case FailureKind::kDeadlock:
      return "deadlock";
    case FailureKind::kJudge:
      return "exit with status 0 and are judged to fail";
    default:
      return fmt::format("fail by `{}`", to_word(failure.kind));
  }
}

}  // namespace

std::string rank_headline(const RankResult& result) {
  const FeatureTable& all = result.all_runs ? *result.all_runs : result.table;
  return fmt::format("ranked {} by {} and {}", counted(result.functions.size(), "function"),
                     counted(all.runs(RunClass::kPassing), "passing run"),
                     counted(all.runs(RunClass::kFailing), "failing run"));
}

std::string rank_kinds(const RankResult& result) {
  if (!result.all_runs) return "";
  std::string text = fmt::format(
      "failing runs differ in how they fail; each kind is compared with the passing runs by "
      "itself: "
      "{} {}",
      with_commas(result.table.runs(RunClass::kFailing)), failure_words(*result.failure));
  for (const RankResult& other : result.others)
    text += fmt::format(", {} {}", with_commas(other.table.runs(RunClass::kFailing)),
                        failure_words(*other.failure));
  if (result.left_out > 0)
    text += fmt::format("; {} of other kinds, too few to compare", with_commas(result.left_out));
  return text;
}

std::string rank_sentence(const RankResult& result, const RankedFunction& function) {
  if (!function.column || !function.split) return "";
  const Split& split = *function.split;
  // Which side is the failing runs', by the share of each class that lies there.
  const double passing = split.below.passing + split.above.passing;
  const double failing = split.below.failing + split.above.failing;
  const bool less = split.below.failing / failing > split.below.passing / passing;
  const double of_failing = less ? split.below.failing : split.above.failing;
  const double of_passing = less ? split.above.passing : split.below.passing;
  const bool difference =
      result.edges[result.table.features()[*function.column]].kind == EdgeKind::kBranch;
  const auto at_most = [&](std::uint64_t n) {
    if (difference && n > 0) return fmt::format("by at most {}", with_commas(n));
    return n == 0 ? std::string("not at all") : n == 1 ? "at most once" : "at most " + times(n);
  };
  const auto at_least = [&](std::uint64_t n) {
    if (difference) return fmt::format("by at least {}", with_commas(n));
    return n == 1 ? std::string("at least once") : "at least " + times(n);
  };
  return fmt::format("{} {} in {} of {}, and {} in {} of {}", what(result, *function.column),
                     less ? at_most(split.low) : at_least(split.high),
                     with_commas(static_cast<std::uint64_t>(of_failing)),
                     counted(static_cast<std::uint64_t>(failing), "failing run"),
                     less ? at_least(split.high) : at_most(split.low),
                     with_commas(static_cast<std::uint64_t>(of_passing)),
                     counted(static_cast<std::uint64_t>(passing), "passing run"));
}

namespace {

enum class Kinds : std::uint8_t { kOne, kSeveral };

std::string ranking_text(const RankResult& result, std::size_t most, Kinds kinds) {
  std::string text;
  if (result.table.runs(RunClass::kPassing) == 0 || result.table.runs(RunClass::kFailing) == 0)
    return text;
  if (result.failure && kinds == Kinds::kSeveral)
    text += fmt::format("runs that {}:\n", failure_words(*result.failure));
  text += fmt::format("{:>5}  {:>5}  {:>6}  {:>9}  {:>5}  function\n", "rank", "score", "p",
                      "functions", "lines");
  for (std::size_t i = 0; i < std::min(most, result.ranking.size()); ++i) {
    const RankedFunction& function = result.ranking[i];
    if (function.score <= 0) break;
    const SourceFunction& source = result.functions[function.function].source;
    text += fmt::format(
        "{:>5}  {:>5.3f}  {:>6.3f}  {:>8.1f}%  {:>4.1f}%  {}{}\n", i + 1, function.score,
        function.p, result.functions_to_review(i + 1), result.lines_to_review(i + 1),
        printable(source.name),
        source.file.empty() ? "" : fmt::format("  {}:{}", short_path(source.file), source.line));
    if (function.split) {
      text += fmt::format("       {}\n", rank_sentence(result, function));
      text += fmt::format("       passing |{}|  failing |{}|  ({})\n",
                          bars(result, *function.column, RunClass::kPassing),
                          bars(result, *function.column, RunClass::kFailing),
                          range_text(result, *function.column));
    }
  }
  const auto scored = static_cast<std::size_t>(
      std::ranges::count_if(result.ranking, [](const auto& f) { return f.score > 0; }));
  if (scored == 0)
    text += "no call happens more or less often in failing runs\n";
  else if (scored > most)
    text += fmt::format("  ... and {} more with a score (--most {})\n", scored - most, scored);
  if (scored > 0 && result.ranking.front().p > kNoise)
    text += fmt::format(
        "this may be noise: with the classes of the runs dealt out at random, the first score is "
        "reached in {:.0f} of 100 cases\n",
        100 * result.ranking.front().p);
  return text;
}

const char* kind_word(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kCall:
      return "call";
    case EdgeKind::kLine:
      return "line";
    case EdgeKind::kBranch:
      return "branch";
    case EdgeKind::kInterruption:
      return "interruption";
  }
  return "";
}

// The name of a column.
std::string column_name(const RankResult& result, std::uint64_t feature) {
  const CallEdge& edge = result.edges[feature];
  const std::string& caller = result.functions[edge.caller].source.name;
  const auto own = [&](FunctionNumber function) {
    return function == kNoFunction ? std::string("...") : result.functions[function].source.name;
  };
  const std::string context = edge.context == kAtTheEnd ? "[end] "
                              : edge.context == 0       ? ""
                                                        : fmt::format("[{}] ", edge.context);
  if (edge.kind == EdgeKind::kInterruption)
    return fmt::format("{} -> {} and {} with {} between", caller, own(edge.after), own(edge.callee),
                       own(edge.other));
  if (edge.kind == EdgeKind::kBranch)
    return fmt::format("{}{} -> line {} over line {} ({:x})", context, caller, edge.callee,
                       edge.after, edge.other);
  return fmt::format("{}{} -> {}", context, caller, result.callees[feature]);
}

Json ranking_json(const RankResult& result) {
  Json ranking = Json::array();
  for (std::size_t i = 0; i < result.ranking.size(); ++i) {
    const RankedFunction& function = result.ranking[i];
    const ProgramFunction& of = result.functions[function.function];
    Json call;
    if (function.column && function.score > 0) {
      const CallEdge& edge = result.edges[result.table.features()[*function.column]];
      call["callee"] = result.callees[result.table.features()[*function.column]];
      if (edge.kind == EdgeKind::kLine || edge.kind == EdgeKind::kBranch)
        call["line"] = edge.callee;
      call["kind"] = kind_word(edge.kind);
      call["text"] = rank_sentence(result, function);
      if (function.split) {
        call["low"] = function.split->low;
        call["high"] = function.split->high;
        call["below"] = {{"passing", function.split->below.passing},
                         {"failing", function.split->below.failing}};
        call["above"] = {{"passing", function.split->above.passing},
                         {"failing", function.split->above.failing}};
      }
    }
    Json at;
    if (!of.source.file.empty()) at = {{"file", of.source.file}, {"line", of.source.line}};
    ranking.push_back({{"rank", i + 1},
                       {"function", of.source.name},
                       {"at", at},
                       {"score", function.score},
                       {"p", function.p},
                       {"call", call},
                       {"follows", function.follows},
                       {"lines", of.lines},
                       {"functions_to_review", result.functions_to_review(i + 1)},
                       {"lines_to_review", result.lines_to_review(i + 1)}});
  }
  return ranking;
}

Json kind_json(const RankResult& result) {
  return {{"kind", to_word(result.failure->kind)},
          {"status", result.failure->status},
          {"failing", result.table.runs(RunClass::kFailing)},
          {"ranking", ranking_json(result)}};
}

}  // namespace

std::string rank_text(const RankResult& result, std::size_t most) {
  std::string text = rank_kinds(result);
  if (!text.empty()) text += '\n';
  const Kinds kinds = result.all_runs ? Kinds::kSeveral : Kinds::kOne;
  text += ranking_text(result, most, kinds);
  for (const RankResult& other : result.others) text += ranking_text(other, most, kinds);
  return text;
}

Json rank_json(const RankResult& result) {
  const FeatureTable& all = result.all_runs ? *result.all_runs : result.table;
  Json kinds = Json::array();
  if (result.failure) kinds.push_back(kind_json(result));
  for (const RankResult& other : result.others) kinds.push_back(kind_json(other));
  return {{"ranking", ranking_json(result)},
          {"kinds", kinds},
          {"runs",
           {{"passing", all.runs(RunClass::kPassing)},
            {"failing", all.runs(RunClass::kFailing)},
            {"all", result.runs},
            {"unresolved", result.unresolved}}},
          {"functions", result.functions.size()},
          {"lines", result.lines()},
          {"stable", result.stable},
          {"noise", result.ranking.empty() || result.ranking.front().p > kNoise},
          {"notes", result.notes},
          {"seconds", result.seconds}};
}
std::string rank_csv(const RankResult& result) {
  const auto quoted = [](std::string text) {
    for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2))
      text.insert(at, 1, '"');
    return '"' + text + '"';
  };
  const FeatureTable& table = result.all_runs ? *result.all_runs : result.table;
  std::string csv;
  for (const std::uint64_t feature : table.features()) {
    csv += quoted(column_name(result, feature));
    csv += ',';
  }
  csv += "class\n";
  std::vector<std::vector<std::uint64_t>> columns;
  for (std::size_t i = 0; i < table.features().size(); ++i)
    columns.push_back(table.column(i).values(table.runs()));
  for (std::size_t run = 0; run < table.runs(); ++run) {
    for (const auto& column : columns) csv += fmt::format("{},", column[run]);
    csv += table.classes()[run] == RunClass::kFailing ? "failing\n" : "correct\n";
  }
  return csv;
}

}  // namespace clew
