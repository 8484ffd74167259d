// What became of cases, and a case that was made, as text, JSON and JUnit.
#ifndef CLEW_HOST_REPORT_CHECK_TEXT_H_
#define CLEW_HOST_REPORT_CHECK_TEXT_H_

#include <string>

#include "host/cases/check_result.h"
#include "host/cases/make_case.h"
#include "host/report/run_json.h"

namespace clew {

// "2 of 3 cases fail", for the first line.
std::string headline(const CheckResult& result);
// A paragraph with what there is to know about it.
std::string checked_text(const CheckedCase& one);
Json check_json(const CheckResult& result);
std::string check_junit(const CheckResult& result);

// `file`: where it was written.
std::string headline(const MadeCase& made, const std::string& file);
std::string made_text(const MadeCase& made, const std::string& file);
Json made_json(const MadeCase& made, const std::string& file);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_CHECK_TEXT_H_
