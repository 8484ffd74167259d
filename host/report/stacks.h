// Where every thread stands at a clock, as text and JSON, and lines of source around a place.
#ifndef CLEW_HOST_REPORT_STACKS_H_
#define CLEW_HOST_REPORT_STACKS_H_

#include <string>

#include "host/report/run_json.h"
#include "host/symbolize/moments.h"
#include "host/target/run_result.h"

namespace clew {

std::string moment_text(const RunResult& run, const Moment& moment, Symbolizer& symbols);
// An element of the list `at` of docs/json.md.
Json moment_json(const RunResult& run, const Moment& moment);

// The lines around one of a source file, the line itself marked; empty if the file cannot be read.
std::string excerpt(const Location& location);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_STACKS_H_
