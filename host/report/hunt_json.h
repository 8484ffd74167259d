// Hunts as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_HUNT_JSON_H_
#define CLEW_HOST_REPORT_HUNT_JSON_H_

#include "host/report/run_json.h"
#include "host/report/symptom.h"
#include "host/search/hunt_result.h"

namespace clew {

// `words`: of the run that failed, for the assertion of a test framework.
Json hunt_json(const HuntResult& result, const LastWords& words = {});

}  // namespace clew

#endif  // CLEW_HOST_REPORT_HUNT_JSON_H_
