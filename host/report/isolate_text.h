// What was isolated, for people who never heard of delta debugging.
#ifndef CLEW_HOST_REPORT_ISOLATE_TEXT_H_
#define CLEW_HOST_REPORT_ISOLATE_TEXT_H_

#include <string>

#include "host/isolate/isolate_result.h"
#include "host/report/symptom.h"

namespace clew {

// "isolating, 12 tests, 3,800 differences left, about 20 tests to go, 5 s"
std::string status_text(const IsolateStatus& status);

// The first line without "clew: ".
std::string headline(const IsolateResult& result);

// What follows the first line: the failure with the last words of its run, the cause in a few sentences, each switch with its
// backtraces, both runs in columns, the figures, what could not be shown, the next commands.
std::string isolate_text(const IsolateResult& result, const LastWords& words = {});

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ISOLATE_TEXT_H_
