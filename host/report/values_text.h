// The values of the variables where threads stand, as text and JSON.
#ifndef CLEW_HOST_REPORT_VALUES_TEXT_H_
#define CLEW_HOST_REPORT_VALUES_TEXT_H_

#include <string>

#include "host/observe/values_at.h"
#include "host/report/run_json.h"

namespace clew {

std::string values_text(const ValuesAt& values);
Json values_json(const ValuesAt& values);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_VALUES_TEXT_H_
