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
          {"confirmed", to_word(step.confirmed)}};
}

}  // namespace

Json explain_json(const Explanation& explanation) {
  Json root = Json::array();
  for (const Location& at : explanation.root) root.push_back(location_json(at));
  Json story = Json::array();
  for (const StoryStep& step : explanation.story) story.push_back(step_json(step));
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
          {"seconds", explanation.seconds},
          {"trace_bytes", explanation.trace_bytes},
          {"failing", explanation.failing},
          {"passing", explanation.passing}};
}

}  // namespace clew
