#include "host/report/pinpoint_json.h"

#include "host/report/pinpoint_text.h"

namespace clew {
namespace {

Json location_of(const Location& at) {
  return {{"file", at.file}, {"line", at.line}, {"function", at.function}};
}

Json place_json(const NoisePoint& point) {
  Json callers = Json::array();
  for (const Location& caller : point.callers) callers.push_back(location_of(caller));
  return {{"file", point.at.file},
          {"line", point.at.line},
          {"column", point.column},
          {"function", point.at.function},
          {"inside", point.inside ? location_of(*point.inside) : Json(nullptr)},
          {"callers", callers}};
}

Json ids(const PinpointResult& result, const std::vector<std::uint32_t>& points) {
  Json list = Json::array();
  for (const std::uint32_t i : points) list.push_back(result.points[i].place);
  return list;
}

Json rate_or_null(const Rate& rate) { return rate.runs > 0 ? Json(rate.value()) : Json(nullptr); }

Json side_word(NoiseSide side) {
  switch (side) {
    case NoiseSide::kEither:
      return "either";
    case NoiseSide::kBefore:
      return "before";
    case NoiseSide::kAfter:
      return "after";
  }
  return nullptr;
}

Json points_json(const PinpointResult& result) {
  Json list = Json::array();
  for (const std::uint32_t i : result.scores.ranking()) {
    const PointScore& score = result.scores.points[i];
    list.push_back({{"id", result.points[i].place},
                    {"at", place_json(result.points[i])},
                    {"kind", kind_text(result.points[i])},
                    {"score", score.score},
                    {"low", score.low},
                    {"high", score.high},
                    {"hue", score.hue},
                    {"side", side_word(result.scores.sides[i].side)},
                    {"side_score", result.scores.sides[i].score},
                    {"stands_out", result.scores.stands_out(i)}});
  }
  return list;
}

Json edges_json(const PinpointResult& result) {
  Json list = Json::array();
  for (const ScoredEdge& edge : result.edges)
    list.push_back({{"from", place_json(result.points[edge.from])},
                    {"to", place_json(result.points[edge.to])},
                    {"difference", edge.difference},
                    {"seen", edge.seen}});
  return list;
}

Json stretches_json(const PinpointResult& result) {
  Json list = Json::array();
  for (const Stretch& stretch : result.stretches)
    list.push_back({{"from", location_of(stretch.first)},
                    {"to", location_of(stretch.then)},
                    {"points", ids(result, {stretch.from, stretch.to})},
                    {"fails", stretch.effect == DelayEffect::kFailsMore ? "more" : "less"},
                    {"score", stretch.score}});
  return list;
}

Json orders_json(const PinpointResult& result, const OrderEvidence& seen) {
  Json list = Json::array();
  for (const StepOrder& order : seen.orders)
    list.push_back({{"first", place_json(result.points[order.first])},
                    {"then", place_json(result.points[order.then])},
                    {"failing", order.failing},
                    {"passing", order.passing}});
  Json stuck = Json::array();
  for (const StuckAt& one : seen.stuck)
    stuck.push_back({{"at", place_json(result.points[one.point])},
                     {"last", one.last ? place_json(result.points[*one.last]) : Json(nullptr)},
                     {"failing", one.failing}});
  return {{"failing", seen.failing}, {"passing", seen.passing}, {"orders", list}, {"stuck", stuck}};
}

Json bugs_json(const PinpointResult& result) {
  Json list = Json::array();
  for (const NoiseCause& cause : result.causes) {
    const bool known = cause.failure && *cause.failure < result.failures.size();
    list.push_back(
        {{"failure", known ? failure_json(result.failures[*cause.failure].failure) : Json(nullptr)},
         {"recording", known ? or_null(result.failures[*cause.failure].recording) : Json(nullptr)},
         {"points", ids(result, cause.points)},
         {"rate", cause.rate.value()},
         {"low", cause.rate.low()},
         {"high", cause.rate.high()},
         {"runs", cause.rate.runs},
         {"confidence", or_null(cause.confidence)},
         {"traced", orders_json(result, cause.orders)},
         {"beside_first", cause.beside_first}});
  }
  return list;
}

}  // namespace

Json pinpoint_json(const PinpointResult& result) {
  const NoiseCause* first = result.causes.empty() ? nullptr : &result.causes.front();
  return {{"outcome", result.anything_stands_out() ? "found" : "nothing-stands-out"},
          {"points", points_json(result)},
          {"answer",
           {{"points", first != nullptr ? ids(result, first->points) : Json::array()},
            {"rate", first != nullptr ? Json(first->rate.value()) : Json(nullptr)},
            {"rate_without", rate_or_null(result.without)},
            {"rate_everywhere", rate_or_null(result.everywhere)},
            {"confidence", first != nullptr ? or_null(first->confidence) : Json(nullptr)}}},
          {"edges", edges_json(result)},
          {"stretches", stretches_json(result)},
          {"ks", {{"d", result.ks.d}, {"p", result.ks.p}}},
          {"bugs", bugs_json(result)},
          {"samples", result.samples},
          {"runs", result.runs},
          {"seconds", result.seconds},
          {"per_second",
           result.seconds > 0 ? static_cast<double>(result.runs_now) / result.seconds : 0.0},
          {"design",
           {{"samples", result.scores.samples},
            {"failing", result.scores.failing},
            {"threshold", result.scores.threshold},
            {"rate", result.scores.runs_failing}}},
          {"algorithm", result.algorithm},
          {"seed", result.seed},
          {"finished", result.finished},
          {"campaign", result.campaign},
          {"interrupted", result.interrupted_by != 0 ? Json(result.interrupted_by) : Json(nullptr)},
          {"notes", result.notes}};
}

}  // namespace clew
