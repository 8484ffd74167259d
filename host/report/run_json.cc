#include "host/report/run_json.h"

#include <fmt/format.h>

#include "host/report/finding_text.h"
#include "host/report/names.h"
#include "host/report/words.h"
#include "host/target/syscall_names.h"

namespace clew {
namespace {

Json place_json(Symbolizer& symbols, abi::Place place) {
  const auto found = symbols.place(place);
  return found ? location_json(found->at) : Json(nullptr);
}

Json waits_json(const RunResult& run, Symbolizer& symbols) {
  Json list = Json::array();
  for (const WaitReport& wait : run.reports.waits) {
    const auto frames = symbols.frames(wait.frames);
    const SourceFrame* user = Symbolizer::user_frame(frames);
    // Of a system call the object is the descriptor or the process.
    const std::string call = waiting_call(wait.kind, wait.object);
    Json holds = Json::array();
    for (const HoldReport& hold : run.reports.holds)
      if (hold.thread == wait.thread)
        holds.push_back({{"kind", to_word(hold.kind)},
                         {"object", fmt::format("{:#x}", hold.object)},
                         {"clock", hold.clock},
                         {"at", hold.taken_at ? location_json(*hold.taken_at)
                                              : place_json(symbols, hold.address << 1 | 1)}});
    list.push_back(
        {{"thread", run.thread_id(wait.thread)},
         {"waits_for", call.empty() ? to_word(wait.kind) : call},
         {"object", fmt::format("{:#x}", call.empty() ? wait.object : wait.object & 0xffff'ffff)},
         {"holder", wait.holder ? Json(run.thread_id(*wait.holder)) : Json(nullptr)},
         {"at",
          user != nullptr ? location_json(location_of(*user)) : place_json(symbols, wait.place)},
         {"holds", holds}});
  }
  return list;
}

}  // namespace

Json location_json(const Location& location) {
  return {{"file", location.file},
          {"line", location.line},
          {"function", location.function},
          {"short", short_function(location.function)}};
}

Json location_json(const std::optional<Location>& location) {
  return location ? location_json(*location) : Json(nullptr);
}

Json failure_json(const Failure& failure) {
  return {{"kind", to_word(failure.kind)},
          {"detail", failure.detail},
          {"thread", failure.thread.empty() ? Json(nullptr) : Json(failure.thread)},
          {"at", location_json(failure.at)}};
}

Json stack_json(const std::vector<SourceFrame>& frames) {
  Json list = Json::array();
  for (const SourceFrame& frame : frames)
    list.push_back({{"function", frame.function},
                    {"short", short_function(frame.function)},
                    {"file", frame.file},
                    {"line", frame.line},
                    {"column", frame.column},
                    {"module", frame.module},
                    {"address", fmt::format("{:#x}", frame.address)}});
  return list;
}

Json summary_json(std::uint64_t recording, const RunSummary& summary) {
  Json notes = Json::array();
  for (const Note& note : summary.notes) notes.push_back(note.text);
  return {{"recording", recording == 0 ? Json(nullptr) : Json(recording)},
          {"outcome", to_word(summary.outcome)},
          {"failure", summary.failure ? failure_json(*summary.failure) : Json(nullptr)},
          {"clock", summary.clock},
          {"switches", summary.switches},
          {"preemptions", summary.preemptions},
          {"threads", summary.threads},
          {"hash", hex_hash(summary.hash)},
          {"exit_status", summary.exit_status},
          {"notes", notes}};
}

Json run_json(std::uint64_t recording, const RunResult& run, Symbolizer& symbols) {
  Json json = summary_json(recording, run.summary);
  json["seconds"] = run.seconds;
  json["cpu_seconds"] = run.cpu_seconds;
  if (run.reports.failure)
    json["failure"]["stack"] = stack_json(symbols.frames(run.reports.failure->frames));
  if (!run.reports.waits.empty() && json["failure"].is_object())
    json["failure"]["waits"] = waits_json(run, symbols);
  json["findings"] = findings_json(run, symbols);
  if (run.reports.departure) {
    const Departure& departure = *run.reports.departure;
    json["departure"] = {{"clock", departure.clock},
                         {"what", departure.what},
                         {"expected",
                          {{"thread", run.thread_id(departure.expected_thread)},
                           {"at", place_json(symbols, departure.expected_place)}}},
                         {"actual",
                          {{"thread", run.thread_id(departure.actual_thread)},
                           {"at", place_json(symbols, departure.actual_place)}}}};
  }
  return json;
}

}  // namespace clew
