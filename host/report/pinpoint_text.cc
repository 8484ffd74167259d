#include "host/report/pinpoint_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "host/report/hunt_text.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kPointsShown = 10;
constexpr std::size_t kEdgesShown = 3;  // of each sign

std::string percent(double share) {
  if (share > 1e-7 && share < 0.001) return fmt::format("{:.2g} %", 100 * share);
  return fmt::format("{:.1f} %", 100 * share);
}

std::string rate_text(const Rate& rate) {
  return fmt::format("{} of {} runs ({}, 95 % between {} and {})", with_commas(rate.failed),
                     with_commas(rate.runs), percent(rate.value()), percent(rate.low()),
                     percent(rate.high()));
}

std::string line_text(const Location& at) {
  return at.line == 0 ? "an unknown line" : fmt::format("{}:{}", short_path(at.file), at.line);
}

std::string inside_text(const Location& at) {
  return fmt::format("{}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
}

// "a.cpp:46, a.cpp:51 and 2 more lines"
std::string callers_text(const NoisePoint& point) {
  constexpr std::size_t kCallersShown = 3;
  const std::size_t shown = std::min(kCallersShown, point.callers.size());
  const std::size_t more = point.callers.size() - shown;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}{}:{}",
                        i == 0                        ? ""
                        : i + 1 == shown && more == 0 ? " and "
                                                      : ", ",
                        short_path(point.callers[i].file), point.callers[i].line);
  return more == 0 ? text : text + fmt::format(" and {}", counted(more, "more line"));
}

// The user's own lines come first: nobody looks for a mistake in a library.
std::string own_place(const NoisePoint& point) {
  if (point.in_library && !point.callers.empty())
    return callers_text(point) + (point.at.line != 0 ? ", inside " + inside_text(point.at) : "");
  std::string text = point.at.line != 0           ? location_text(point.at)
                     : !point.at.function.empty() ? "unknown line " + in_function(point.at.function)
                                                  : "unknown place";
  if (point.inside && point.inside->line != 0) text += ", inside " + inside_text(*point.inside);
  return text;
}

std::string place_of(const NoisePoint& point) {
  if (point.in_library || point.callers.empty()) return own_place(point);
  return own_place(point) + ", called at " + callers_text(point);
}

std::string point_text(const NoisePoint& point) {
  return fmt::format("the {} at {}", kind_text(point), place_of(point));
}

std::string list_of(const PinpointResult& result, const std::vector<std::uint32_t>& points) {
  std::vector<std::string> texts;
  for (const std::uint32_t i : points) texts.push_back(point_text(result.points[i]));
  if (texts.size() == 1) return texts[0];
  const std::string last = texts.back();
  texts.pop_back();
  return fmt::format("{} and {}", fmt::join(texts, ", "), last);
}

std::string failure_of(const PinpointResult& result, const NoiseCause& cause) {
  if (!cause.failure || *cause.failure >= result.failures.size()) return "The failure";
  const FoundFailure& found = result.failures[*cause.failure];
  // Which of the threads that are blocked is looked at tells one deadlock from another.
  const bool is_deadlock = found.failure.kind == FailureKind::kDeadlock && found.failure.at;
  const std::string stands = is_deadlock ? fmt::format(", thread {} at {}", found.failure.thread,
                                                       line_text(*found.failure.at))
                                         : "";
  return fmt::format("The failure ({}{}{})", failure_line(found.failure), stands,
                     found.recording ? fmt::format("; recording {}", *found.recording) : "");
}

// What the delays on one side do, if it is that which stands out.
std::string side_text(const PinpointResult& result, std::uint32_t point) {
  const PointScore& of = result.scores.sides[point];
  if (of.side == NoiseSide::kEither || !result.scores.stands_out(point)) return "";
  return fmt::format("; {:.2f} with delays {} it", of.score,
                     of.side == NoiseSide::kBefore ? "before" : "after");
}

std::string table_of(const PinpointResult& result) {
  std::string text = fmt::format(
      "  rank  score  95 %           hue   point{}\n",
      result.points.size() > kPointsShown ? fmt::format(" (of {})", result.points.size()) : "");
  std::size_t rank = 0;
  for (const std::uint32_t i : result.scores.ranking()) {
    if (++rank > kPointsShown) break;
    const PointScore& score = result.scores.points[i];
    const NoisePoint& point = result.points[i];
    const std::string source = source_line(point.at);
    text += fmt::format(
        "  {:4}  {:5.2f}  {:5.2f}..{:<6.2f}  {:.2f}  {} ({}{}{}{}){}\n", rank, score.score,
        score.low, score.high, score.hue, place_of(point), kind_text(point), side_text(result, i),
        point.starts_thread() ? ": tells the thread, not the place" : "",
        result.scores.stands_out(i) ? "; stands out" : "", source.empty() ? "" : ": " + source);
  }
  if (result.scores.failing > 0 &&
      std::ranges::none_of(result.scores.ranking(),
                           [&](std::uint32_t i) { return result.scores.stands_out(i); }))
    text += fmt::format(
        "  No score stands out: of {} points some are as high by chance ({} of {} samples fail).\n",
        result.points.size(), with_commas(result.scores.failing),
        with_commas(result.scores.samples));
  return text;
}

std::string edge_text(const PinpointResult& result, const ScoredEdge& edge) {
  const NoisePoint &from = result.points[edge.from], &to = result.points[edge.to];
  const PointScore& before = result.delays.after[edge.from];
  const PointScore& after = result.delays.after[edge.to];
  return fmt::format("  {:+.2f}  {} ({}) -> {} ({}): {:.2f} -> {:.2f}{}\n", edge.difference,
                     own_place(from), kind_text(from), own_place(to), kind_text(to), before.score,
                     after.score,
                     std::abs(edge.z) >= result.scores.z_to_stand_out ? "; stands out" : "");
}

// What delays do on both sides of the event at the end of an extreme edge, as far as the scores tell them from 1 with as
// many points as there are.
std::string edge_sentence(const PinpointResult& result, const ScoredEdge& edge) {
  const auto effect = [&](std::uint32_t i) -> const char* {
    const double z = result.delays.after[i].z;
    if (std::abs(z) < result.scores.z_to_stand_out) return "does not stand out";
    return z > 0 ? "makes it fail more often" : "makes it fail less often";
  };
  const auto where = [&](std::uint32_t i) {
    const NoisePoint& point = result.points[i];
    return fmt::format("the {} at {}", kind_text(point), short_place(point));
  };
  const std::string one = effect(edge.from), other = effect(edge.to);
  if (one == other) return "";
  return fmt::format("  A delay right after {} {}; one right after {} {}.\n", where(edge.from), one,
                     where(edge.to), other);
}

enum class Change : std::uint8_t { kDrop, kRise };

// The most extreme edges of one sign, one for each delay that makes the difference: after a branch there are several.
std::vector<const ScoredEdge*> extreme_edges(const PinpointResult& result, Change change) {
  std::vector<const ScoredEdge*> shown;
  std::set<std::uint32_t> told;
  for (const ScoredEdge& edge : result.edges) {
    if (shown.size() == kEdgesShown) break;
    const bool drops = change == Change::kDrop;
    if (drops ? edge.difference <= 0 : edge.difference >= 0) continue;
    if (told.insert(drops ? edge.from : edge.to).second) shown.push_back(&edge);
  }
  return shown;
}

std::string edges_text(const PinpointResult& result) {
  if (result.edges.empty() || result.scores.failing == 0) return "";
  std::string edges, sentences;
  for (const Change change : {Change::kDrop, Change::kRise}) {
    const auto shown = extreme_edges(result, change);
    for (const ScoredEdge* edge : shown) edges += edge_text(result, *edge);
    if (!shown.empty()) sentences += edge_sentence(result, *shown.front());
  }
  return fmt::format(
      "  Where the effect of a delay changes most along the control flow ({}): scores of a delay "
      "right after the one and right after the other:\n{}{}"
      "  Scores of consecutive points against arbitrary pairs (Kolmogorov-Smirnov): D = {:.3f}, p "
      "= "
      "{:.2g}.\n",
      counted(result.edges.size(), "edge"), edges, sentences, result.ks.d, result.ks.p);
}

// Where threads of the traced runs that ended in a deadlock stood: those of at least half of them.
std::string stuck_text(const PinpointResult& result, const OrderEvidence& seen) {
  std::string text;
  for (const StuckAt& one : seen.stuck) {
    if (2 * one.failing < seen.failing) continue;
    text += fmt::format("    {}: {}{}\n", with_commas(one.failing),
                        point_text(result.points[one.point]),
                        one.last ? fmt::format("; the last step of another thread at the same "
                                               "object was {}",
                                               point_text(result.points[*one.last]))
                                 : "; no other thread had used the same object");
  }
  if (text.empty()) return "";
  return fmt::format("  Where a thread stood blocked at the end of the {} failing ones:\n{}",
                     with_commas(seen.failing), text);
}

// Who came before whom, of steps of different threads with nothing else at that place in between.
std::string orders_text(const PinpointResult& result, const OrderEvidence& seen) {
  constexpr std::size_t kOrdersShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kOrdersShown, seen.orders.size()); ++i) {
    const StepOrder& order = seen.orders[i];
    const NoisePoint& then = result.points[order.then];
    text += fmt::format("    {}, then {} by another thread, next at the same {}: {} and {}\n",
                        point_text(result.points[order.first]), point_text(then),
                        abi::is_access(then.kind) ? "memory" : "object", with_commas(order.failing),
                        with_commas(order.passing));
  }
  if (!text.empty())
    text = fmt::format(
        "  Seen in more of the {} failing than of the {} passing runs that were traced:\n{}",
        with_commas(seen.failing), with_commas(seen.passing), text);
  return text + stuck_text(result, seen);
}

// Delays after the one and before the other, in samples of half of the points.
std::string stretches_text(const PinpointResult& result) {
  constexpr std::size_t kStretchesShown = 3;  // of each effect
  std::string text;
  std::size_t more = 0, less = 0;
  for (const Stretch& stretch : result.stretches) {
    const bool is_more = stretch.effect == DelayEffect::kFailsMore;
    if ((is_more ? more : less)++ >= kStretchesShown) continue;
    const bool is_one_function = stretch.first.function == stretch.then.function;
    text +=
        fmt::format("  Between {} and {}{}: a delay there makes it fail {} often (score {:.2f}).\n",
                    line_text(stretch.first), line_text(stretch.then),
                    is_one_function ? " " + in_function(stretch.first.function) : "",
                    is_more ? "more" : "less", stretch.score);
  }
  return text;
}

std::string figures(const PinpointResult& result) {
  return fmt::format(
      "  {}, {} ({} now, {:.1f} s, {:.0f}/s), algorithm {}, seed {}\n  campaign: {}\n",
      counted(result.samples, "sample"), counted(result.runs, "run"), with_commas(result.runs_now),
      result.seconds,
      result.seconds > 0 ? static_cast<double>(result.runs_now) / result.seconds : 0.0,
      result.algorithm, result.seed, result.campaign);
}

}  // namespace

std::string cause_text(const PinpointResult& result, const NoiseCause& cause) {
  std::string text =
      fmt::format("  {} appears with noise at {} alone: {}.\n", failure_of(result, cause),
                  list_of(result, cause.points), rate_text(cause.rate));
  if (cause.beside_first)
    text +=
        "  This is a second cause, or another way to the first: it shows in samples without all "
        "points of the "
        "first.\n";
  if (cause.points.size() > 1 && !cause.without_each.empty())
    for (std::size_t i = 0; i < cause.points.size(); ++i)
      text += fmt::format("    without {}: {}\n", point_text(result.points[cause.points[i]]),
                          rate_text(cause.without_each[i]));
  if (cause.confidence)
    text +=
        fmt::format("  That {} needed holds with p {} {:.2f}, by runs made to confirm it alone.\n",
                    cause.points.size() == 1 ? "it is" : "each of these is",
                    *cause.confidence >= 0.99 ? ">=" : "=",
                    *cause.confidence >= 0.99 ? 0.99 : std::floor(*cause.confidence * 100) / 100);
  return text + orders_text(result, cause.orders);
}

std::string rates_text(const PinpointResult& result) {
  std::string text = fmt::format("  Without noise: {}.\n", rate_text(result.without));
  text += fmt::format("  With noise at all {} points: {}.\n", result.points.size(),
                      rate_text(result.everywhere));
  if (result.scores.samples > 0)
    text += fmt::format(
        "  With noise at half of them: {} of all runs; {} of {} samples fail (at least {}).\n",
        percent(result.scores.runs_failing), with_commas(result.scores.failing),
        with_commas(result.scores.samples), counted(result.scores.threshold, "failing run"));
  return text;
}

std::string source_line(const Location& at) {
  if (at.line == 0) return "";
  std::error_code error;
  if (!std::filesystem::is_regular_file(at.file, error)) return "";
  std::ifstream file(at.file);
  std::string line;
  for (std::uint32_t i = 0; i < at.line; ++i)
    if (!std::getline(file, line)) return "";
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : printable(line.substr(begin));
}

std::string kind_text(const NoisePoint& point) {
  if (point.starts_thread()) return "start of a thread";
  const std::string word = to_word(point.kind);
  return word.empty() ? "yield or sleep" : word;
}

std::string short_place(const NoisePoint& point) {
  if (point.in_library && !point.callers.empty()) return callers_text(point);
  if (point.at.line == 0) return point.at.function.empty() ? "?" : function_text(point.at.function);
  return fmt::format("{}:{}", short_path(point.at.file), point.at.line);
}

std::string campaign_status_text(const CampaignProgress& progress, double seconds) {
  std::string text = progress.stage;
  if (progress.planned != 0)
    text += fmt::format(", {} of {} samples", with_commas(progress.samples),
                        with_commas(progress.planned));
  text += fmt::format(", {} ({:.0f}/s)", counted(progress.runs, "run"),
                      seconds > 0 ? static_cast<double>(progress.runs) / seconds : 0.0);
  if (progress.runs > 0)
    text += fmt::format(", {} fail", percent(static_cast<double>(progress.failed) /
                                             static_cast<double>(progress.runs)));
  if (progress.planned > progress.samples && progress.samples > progress.samples_before)
    text += fmt::format(", about {:.0f} s left",
                        progress.stage_seconds *
                            static_cast<double>(progress.planned - progress.samples) /
                            static_cast<double>(progress.samples - progress.samples_before));
  return text;
}

std::string pinpoint_headline(const PinpointResult& result) {
  if (!result.causes.empty())
    return fmt::format("pinpointed: {}", list_of(result, result.causes.front().points));
  if (result.points.empty())
    return result.single_threaded ? "nothing to pinpoint: the program has one thread"
                                  : "nothing to pinpoint: threads share nothing";
  if (!result.anything_failed())
    return fmt::format("nothing stands out: none of {} failed",
                       counted(result.runs + result.discovery_runs, "run"));
  if (result.anything_stands_out()) return "some points go with the failure, see the table";
  if (!result.finished) return "no answer: the campaign was ended before the algorithm was done";
  if (result.without.runs > 0 && result.without.failed == result.without.runs)
    return "nothing stands out: it fails without noise as well";
  return "nothing stands out: no point goes with the failure more than by chance";
}

std::string pinpoint_text(const PinpointResult& result) {
  std::string text;
  if (result.without.failed > 0)
    text += fmt::format(
        "  It fails without noise as well ({} of {} runs): noise may only change how.\n",
        result.without.failed, result.without.runs);
  for (const NoiseCause& cause : result.causes) text += cause_text(result, cause);
  if (!result.finished && !result.points.empty())
    text += "  The campaign was ended before the algorithm was done (--resume continues it).\n";
  if (result.points.empty()) return text + figures(result);
  text += stretches_text(result);
  if (result.scores.failing > 0) text += table_of(result);
  text += edges_text(result);
  text += rates_text(result);
  return text + figures(result);
}

}  // namespace clew
