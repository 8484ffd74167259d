#include "host/report/enumerate_json.h"

#include "host/report/enumerate_text.h"
#include "host/report/hunt_json.h"

namespace clew {
namespace {

Json place_json(const Location& at) {
  return {{"file", at.file}, {"line", at.line}, {"function", at.function}};
}

Json event_json(const EventPlace& event) {
  return {{"at", place_json(event.at)},
          {"thread", event.thread},
          {"instance", event.instance},
          {"place", event.place}};
}

const char* status_word(TermStatus status) {
  return status == TermStatus::kSeen         ? "seen"
         : status == TermStatus::kImpossible ? "impossible"
                                             : "open";
}

const char* reason_word(OrderReason::Kind kind) {
  using Kind = OrderReason::Kind;
  switch (kind) {
    case Kind::kSameThread:
      return "same thread";
    case Kind::kCreate:
      return "create";
    case Kind::kJoin:
      return "join";
    case Kind::kBarrier:
      return "barrier";
    case Kind::kSection:
      return "section";
    case Kind::kOwnWrite:
      return "own write";
    case Kind::kSawFirst:
      return "saw first";
    case Kind::kWaitedFirst:
      return "waited first";
    case Kind::kExhausted:
      return "exhausted";
    case Kind::kNone:
      break;
  }
  return "none";
}

Json term_json(const TermInfo& term) {
  Json json{{"write", term.write ? event_json(*term.write) : Json(nullptr)},
            {"local", term.local},
            {"status", status_word(term.status)},
            {"passing_runs", term.passing_runs},
            {"failing_runs", term.failing_runs},
            {"attempts", term.attempts},
            {"passing", or_null(term.passing)},
            {"failing", or_null(term.failing)}};
  if (term.status == TermStatus::kImpossible)
    json["reason"] = {{"kind", reason_word(term.reason.kind)},
                      {"at", place_json(term.reason.at)},
                      {"runs", term.reason.runs},
                      {"text", reason_text(term.reason)}};
  return json;
}

Json coverage_json(const EnumerateSearch::Coverage& coverage) {
  return {{"seen", coverage.seen}, {"impossible", coverage.impossible}, {"open", coverage.open}};
}

}  // namespace

Json enumerate_json(const EnumerateResult& result) {
  Json reads = Json::array();
  for (const ReadInfo& read : result.reads) {
    Json terms = Json::array();
    for (const TermInfo& term : read.terms) terms.push_back(term_json(term));
    reads.push_back({{"read", event_json(read.read)},
                     {"variable", read.variable},
                     {"terms", std::move(terms)}});
  }
  Json unexecuted = Json::array();
  for (const EnumerateResult::Unexecuted& write : result.unexecuted)
    unexecuted.push_back(
        {{"variable", write.variable}, {"at", place_json(write.at)}, {"by_text", write.by_text}});
  Json json{{"reads", std::move(reads)},
            {"coverage", coverage_json(result.coverage)},
            {"exhausted", result.exhausted},
            {"untried", result.untried},
            {"seen_otherwise", result.seen_otherwise},
            {"runs", result.runs},
            {"last_new_run", result.last_new_run},
            {"not_looked_at", result.not_looked_at},
            {"too_late", result.too_late},
            {"complete_list", !result.is_cut},
            {"later_instances", result.later_instances},
            {"reads_without_choice", result.without_choice},
            {"unexecuted_writes", std::move(unexecuted)},
            {"hunt", hunt_json(result.hunt, {})}};
  if (result.together > 1) {
    json["together"] = result.together;
    json["combinations"] = coverage_json(result.combined);
    Json failing = Json::array();
    for (const CombinationInfo& combination : result.failing_combinations) {
      Json terms = Json::array();
      for (const auto& [read, term] : combination.terms)
        terms.push_back({{"read", read}, {"term", term}});
      failing.push_back({{"terms", std::move(terms)},
                         {"failing_runs", combination.failing_runs},
                         {"failing", or_null(combination.failing)},
                         {"passing", or_null(combination.passing)}});
    }
    json["failing_combinations"] = std::move(failing);
  }
  return json;
}

}  // namespace clew
