// What watches have found, as text and JSON.
#ifndef CLEW_HOST_REPORT_FINDING_TEXT_H_
#define CLEW_HOST_REPORT_FINDING_TEXT_H_

#include <string>
#include <vector>

#include "host/outcome.h"
#include "host/report/run_json.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// "2 findings: 1 race, 1 lock-order"; "no findings".
std::string findings_headline(const std::vector<Finding>& findings);
// Each with its places, indented; as a recording has them.
std::string findings_text(const std::vector<Finding>& findings);
// The same with the stacks that are known.
std::string findings_text(const RunResult& run, Symbolizer& symbols);

Json findings_json(const std::vector<Finding>& findings);
Json findings_json(const RunResult& run, Symbolizer& symbols);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_FINDING_TEXT_H_
