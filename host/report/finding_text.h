// What watches have found, as text and JSON.
#ifndef CLEW_HOST_REPORT_FINDING_TEXT_H_
#define CLEW_HOST_REPORT_FINDING_TEXT_H_

#include <string>
#include <vector>

#include "host/outcome.h"
#include "host/report/run_json.h"
#include "host/search/hunt_result.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// "2 findings: 1 race, 1 lock-order"; "no findings".
std::string findings_headline(const std::vector<Finding>& findings);
// Each with its places, indented, and the stacks that are known.
std::string findings_text(const RunResult& run, Symbolizer& symbols);
Json findings_json(const RunResult& run, Symbolizer& symbols);

// The same of a hunt, with how many of its runs have each.
std::string findings_headline(const std::vector<CountedFinding>& findings);
std::string findings_text(const std::vector<CountedFinding>& findings, std::uint64_t schedules);
Json findings_json(const std::vector<CountedFinding>& findings);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_FINDING_TEXT_H_
