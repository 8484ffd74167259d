#include "host/report/hunt_json.h"

#include "host/report/assertion.h"
#include "host/report/finding_text.h"

namespace clew {
namespace {

Json assertion_json(const LastWords& words) {
  const auto found = assertion_in(words);
  if (!found) return nullptr;
  return {{"text", found->text}, {"place", found->place}};
}

const char* to_word(Confidence confidence) {
  switch (confidence) {
    case Confidence::kFull:
      return "full";
    case Confidence::kFew:
      return "few";
    case Confidence::kUnresolved:
      break;
  }
  return "unresolved";
}

}  // namespace

Json hunt_json(const HuntResult& result, const LastWords& words) {
  Json failures = Json::array();
  for (const FoundFailure& one : result.failures)
    failures.push_back({{"failure", failure_json(one.failure)},
                        {"exit_status", one.exit_status},
                        {"count", one.count},
                        {"first_schedule", one.first_schedule},
                        {"recording", or_null(one.recording)}});
  const bool failed = !result.failures.empty();
  const bool found = result.looked_for_passing ? result.passing.has_value() : failed;
  return {{"outcome", found ? "found" : "not-found"},
          {"failure", failed ? failures[0]["failure"] : Json(nullptr)},
          {"assertion", failed ? assertion_json(words) : Json(nullptr)},
          {"confidence", outcome_of(result) == Outcome::kPass ? Json(to_word(confidence_in(result)))
                                                              : Json(nullptr)},
          {"single_threaded", result.single_threaded},
          {"always_fails", result.always_fails != 0},
          {"failing", or_null(result.failing)},
          {"passing", or_null(result.passing)},
          {"passing_distance", or_null(result.passing_distance)},
          {"schedules", result.schedules},
          {"unresolved", result.unresolved},
          {"interleavings", result.interleavings},
          {"seconds", result.seconds},
          {"per_second",
           result.seconds > 0 ? static_cast<double>(result.schedules) / result.seconds : 0.0},
          {"strategy", result.strategy},
          {"seed", result.seed},
          {"failures", failures},
          {"findings", findings_json(result.findings)},
          {"complete", result.complete},
          {"conclusion", or_null(result.conclusion)},
          {"coverage", result.coverage ? Json{{"seen", result.coverage->seen},
                                              {"impossible", result.coverage->impossible},
                                              {"open", result.coverage->open}}
                                       : Json(nullptr)},
          {"interrupted", result.interrupted_by != 0 ? Json(result.interrupted_by) : Json(nullptr)},
          {"notes", result.notes}};
}

}  // namespace clew
