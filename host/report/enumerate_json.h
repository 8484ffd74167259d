// Enumerations as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_ENUMERATE_JSON_H_
#define CLEW_HOST_REPORT_ENUMERATE_JSON_H_

#include "host/enumerate/enumerate_result.h"
#include "host/report/run_json.h"

namespace clew {

Json enumerate_json(const EnumerateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ENUMERATE_JSON_H_
