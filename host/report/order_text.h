// The two events whose order differs between the failing and the passing run, in sentences.
#ifndef CLEW_HOST_REPORT_ORDER_TEXT_H_
#define CLEW_HOST_REPORT_ORDER_TEXT_H_

#include <string>

#include "host/isolate/isolate_result.h"

namespace clew {

std::string order_text(const CriticalPair& pair);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ORDER_TEXT_H_
