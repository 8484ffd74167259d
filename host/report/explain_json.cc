#include "host/report/explain_json.h"

#include "host/report/explain_details.h"
#include "host/report/explain_text.h"

namespace clew {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json step_json(const StoryStep& step) {
  return {{"thread", step.thread},
          {"at", location_json(step.at)},
          {"text", step.text},
          {"variable", text_or_null(step.variable)},
          {"failing", text_or_null(step.failing)},
          {"passing", text_or_null(step.passing)},
          {"because", text_or_null(step.because)},
          {"branch", step.branch},
          {"only", step.only_failing   ? Json("failing")
                   : step.only_passing ? Json("passing")
                                       : Json(nullptr)},
          {"main", step.main},
          {"clock", step.clock},
          {"confirmed", to_word(step.confirmed)},
          {"link", to_word(step.link)}};
}

Json event_json(const CauseEvent& event) {
  if (event.what == CauseEvent::What::kNothing) return "start";
  return {{"thread", event.thread}, {"at", location_json(event.at)}, {"clock", event.clock}};
}

Json asked_json(const Explanation& explanation) {
  if (!explanation.asked) return nullptr;
  const Asked& asked = *explanation.asked;
  return {{"answered", !asked.thread.empty()},
          {"why_not", asked.question.why_not},
          {"file", asked.question.file},
          {"line", asked.question.line},
          {"times", {{"failing", asked.times[0]}, {"passing", asked.times[1]}}},
          {"differs", asked.differs},
          {"thread", text_or_null(asked.thread)},
          {"at", asked.thread.empty() ? Json(nullptr) : location_json(asked.at)},
          {"clock", asked.clock},
          {"variable", text_or_null(asked.variable)},
          {"failing", text_or_null(asked.failing)},
          {"passing", text_or_null(asked.passing)},
          {"source", asked.source ? event_json(*asked.source) : Json(nullptr)}};
}

Json lines_json(const SliceGraph& graph) {
  Json lines = Json::array();
  for (const SliceLine& line : graph.lines)
    lines.push_back({{"thread", line.thread},
                     {"at", location_json(line.at)},
                     {"text", line.text},
                     {"instance", line.instance},
                     {"clock", line.clock},
                     {"failing", line.failing},
                     {"passing", line.passing}});
  return lines;
}

Json arrows_json(const SliceGraph& graph) {
  Json arrows = Json::array();
  for (const SliceArrow& arrow : graph.arrows)
    arrows.push_back({{"from", arrow.from},
                      {"to", arrow.to},
                      {"control", arrow.control},
                      {"def_use", arrow.def_use},
                      {"failing", arrow.failing},
                      {"passing", arrow.passing}});
  return arrows;
}

}  // namespace

Json slice_json(const SliceGraph& graph) {
  return {
      {"lines", lines_json(graph)}, {"arrows", arrows_json(graph)}, {"complete", graph.complete}};
}

Json explain_json(const Explanation& explanation) {
  Json root = Json::array();
  for (const Location& at : explanation.root) root.push_back(location_json(at));
  Json story = Json::array();
  for (const StoryStep& step : explanation.story) story.push_back(step_json(step));
  Json also = Json::array();
  for (const Cause& cause : explanation.also) also.push_back(cause_json(cause));
  Json alignment = Json::array();
  for (const ThreadAlignment& one : explanation.alignment)
    alignment.push_back(
        {{"thread", one.thread}, {"failing", one.failing}, {"passing", one.passing}});
  const SliceSizes& slice = explanation.slice;
  return {{"explained", explanation.cause.pattern != CausePattern::kNone},
          {"kind", to_word(explanation.cause.kind)},
          {"headline", headline(explanation)},
          {"variable", text_or_null(explanation.cause.variable)},
          {"cause", cause_json(explanation.cause)},
          {"behind", explanation.behind ? cause_json(*explanation.behind) : Json(nullptr)},
          {"leads_to", explanation.leads_to ? cause_json(*explanation.leads_to) : Json(nullptr)},
          {"also", also},
          {"asked", asked_json(explanation)},
          {"root", root},
          {"story", story},
          {"slice",
           {{"dynamic", slice.dynamic},
            {"dual", slice.dual},
            {"pruned", slice.pruned},
            {"bfs", slice.bfs},
            {"breakdown",
             {{"passing", slice.breakdown[0]},
              {"failing", slice.breakdown[1]},
              {"value_differences", slice.breakdown[2]}}},
            {"functions", slice.functions},
            {"complete", slice.complete}}},
          {"alignment", alignment},
          {"differences",
           {{"value", explanation.value_differences}, {"flow", explanation.flow_differences}}},
          {"tests", explanation.tests},
          {"tests_complete", explanation.tests_complete},
          {"seconds", explanation.seconds},
          {"trace_bytes", explanation.trace_bytes},
          {"instructions", explanation.instructions},
          {"failing", explanation.failing},
          {"passing", explanation.passing}};
}

}  // namespace clew
