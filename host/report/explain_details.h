// What an explanation says about its cause behind the first sentence.
#ifndef CLEW_HOST_REPORT_EXPLAIN_DETAILS_H_
#define CLEW_HOST_REPORT_EXPLAIN_DETAILS_H_

#include <string>

#include "host/explain/explanation.h"
#include "host/report/run_json.h"

namespace clew {

// The file without its folder, and the line.
[[nodiscard]] std::string cause_line(const Location& at);
// The line by which a person would know it, and the one that does it.
[[nodiscard]] std::string shared_line(const CauseEvent& event);
// Indented lines: what let it come there, where the lock was released, where the pointer came from.
[[nodiscard]] std::string cause_details(const Cause& cause);
// What a thread went by that was out of date; empty: nothing of that kind.
[[nodiscard]] std::string check_text(const Cause& cause);

// The events of the cause, as docs/explain.md describes them.
[[nodiscard]] Json cause_json(const Cause& cause);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EXPLAIN_DETAILS_H_
