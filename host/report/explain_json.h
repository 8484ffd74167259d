// An explanation as JSON (docs/json.md).
#ifndef CLEW_HOST_REPORT_EXPLAIN_JSON_H_
#define CLEW_HOST_REPORT_EXPLAIN_JSON_H_

#include "host/explain/explanation.h"
#include "host/report/run_json.h"

namespace clew {

Json explain_json(const Explanation& explanation);
// The lines of a slice and how they depend on each other.
Json slice_json(const SliceGraph& graph);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EXPLAIN_JSON_H_
