// Results as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_RUN_JSON_H_
#define CLEW_HOST_REPORT_RUN_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

using Json = nlohmann::ordered_json;

// The fields that every command which runs something has.
Json summary_json(std::uint64_t recording, const RunSummary& summary);

// Those, plus what only the run itself knows: who waits for whom, the departure.
Json run_json(std::uint64_t recording, const RunResult& run, Symbolizer& symbols);

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Kind, detail, thread, place.
Json failure_json(const Failure& failure);
Json location_json(const Location& location);
Json location_json(const std::optional<Location>& location);  // null for nothing
Json stack_json(const std::vector<SourceFrame>& frames);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_RUN_JSON_H_
