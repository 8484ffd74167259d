// An explanation in words.
#ifndef CLEW_HOST_REPORT_EXPLAIN_TEXT_H_
#define CLEW_HOST_REPORT_EXPLAIN_TEXT_H_

#include <string>

#include "host/explain/explanation.h"

namespace clew {

// "order violation: T0.2 reads `cnt` at lost_update.cpp:17 before T0.1 has written it at lost_update.cpp:9"
std::string headline(const Explanation& explanation);
// The rest: what was read instead of what, the story, the figures, what to do next. `full`: all steps.
std::string explain_text(const Explanation& explanation, bool full);
// The lines of the slice, causes first.
std::string slice_text(const SliceGraph& graph, const char* kind);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EXPLAIN_TEXT_H_
