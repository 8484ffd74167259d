// Campaigns as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_PINPOINT_JSON_H_
#define CLEW_HOST_REPORT_PINPOINT_JSON_H_

#include "host/noise/pinpoint_result.h"
#include "host/report/run_json.h"

namespace clew {

Json pinpoint_json(const PinpointResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_PINPOINT_JSON_H_
