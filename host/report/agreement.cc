#include "host/report/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/report/pinpoint_text.h"
#include "host/report/rank_text.h"
#include "host/report/words.h"

namespace clew {
namespace {

// Functions with the highest scores that a person would look at.
constexpr std::size_t kFirstFunctions = 3;

std::vector<Location> lines_of(const Explanation& explanation) {
  std::vector<Location> lines = explanation.root;
  for (const StoryStep& step : explanation.story)
    if (step.main) lines.push_back(step.at);
  return lines;
}

bool is_same_line(const Location& a, const Location& b) {
  return a.line != 0 && a.line == b.line && a.file == b.file;
}

bool is_same_function(const Location& a, const Location& b) {
  return !a.function.empty() && a.function == b.function && a.file == b.file;
}

}  // namespace

Agreed agreed(const PinpointResult& result, const Explanation& explanation) {
  Agreed best;
  const auto lines = lines_of(explanation);
  const auto look_at = [&](std::uint32_t i) {
    const NoisePoint& point = result.points[i];
    // Of a library's code an explanation names the user's lines that call it.
    const std::vector<Location> places =
        point.in_library && !point.callers.empty() ? point.callers : std::vector{point.at};
    const auto same = [&](auto is_same) {
      return std::ranges::any_of(lines, [&](const Location& at) {
        return std::ranges::any_of(places, [&](const Location& own) { return is_same(at, own); });
      });
    };
    const Agreement here = same(is_same_line)       ? Agreement::kSameLine
                           : same(is_same_function) ? Agreement::kSameFunction
                                                    : Agreement::kElsewhere;
    if (here < best.agreement) best = {here, short_place(point)};
  };
  for (const NoiseCause& cause : result.causes)
    if (cause.is_tenable()) std::ranges::for_each(cause.points, look_at);
  if (best.agreement != Agreement::kNothing) return best;
  if (result.scores.points.size() == result.points.size())
    for (std::uint32_t i = 0; i < result.points.size(); ++i)
      if (result.scores.stands_out(i)) look_at(i);
  return best;
}

Agreed agreed(const RankResult& result, const Explanation& explanation) {
  Agreed best;
  const auto lines = lines_of(explanation);
  for (std::size_t i = 0; i < std::min(kFirstFunctions, result.ranking.size()); ++i) {
    const RankedFunction& ranked = result.ranking[i];
    if (ranked.score <= 0 || ranked.p > kNoise) break;
    const ProgramFunction& function = result.functions[ranked.function];
    const bool named = std::ranges::any_of(lines, [&](const Location& at) {
      return at.file == function.source.file && at.line >= function.source.line &&
             at.line <= std::max(function.last_line, function.source.line);
    });
    const Agreement here = named ? Agreement::kSameFunction : Agreement::kElsewhere;
    if (here < best.agreement) best = {here, printable(function.source.name)};
  }
  return best;
}

std::string noise_sentence(const Agreed& agreed) {
  switch (agreed.agreement) {
    case Agreement::kSameLine:
      return fmt::format("Noise agrees with the explanation, which names {} as well.",
                         agreed.place);
    case Agreement::kSameFunction:
      return fmt::format(
          "Noise agrees in part: {} is in a function that the explanation names, at another line.",
          agreed.place);
    case Agreement::kElsewhere:
      return fmt::format("Noise does not agree: {} is no place that the explanation names.",
                         agreed.place);
    case Agreement::kNothing:
      break;
  }
  return "Noise says nothing: no point stands out.";
}

std::string calls_sentence(const Agreed& agreed) {
  switch (agreed.agreement) {
    case Agreement::kSameLine:
    case Agreement::kSameFunction:
      return fmt::format("Calls agree with the explanation, which names lines of `{}`.",
                         agreed.place);
    case Agreement::kElsewhere:
      return fmt::format(
          "Calls do not agree: the explanation names no line of `{}`, which ranks first.",
          agreed.place);
    case Agreement::kNothing:
      break;
  }
  return "Calls say nothing: no function is called differently in failing runs, beyond chance.";
}

const char* to_word(Agreement agreement) {
  switch (agreement) {
    case Agreement::kSameLine:
      return "line";
    case Agreement::kSameFunction:
      return "function";
    case Agreement::kElsewhere:
      return "elsewhere";
    case Agreement::kNothing:
      break;
  }
  return "nothing";
}

}  // namespace clew
