// Isolation as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_ISOLATE_JSON_H_
#define CLEW_HOST_REPORT_ISOLATE_JSON_H_

#include "host/isolate/isolate_result.h"
#include "host/report/run_json.h"

namespace clew {

Json isolate_json(const IsolateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ISOLATE_JSON_H_
