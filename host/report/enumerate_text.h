// What an enumeration found, for people.
#ifndef CLEW_HOST_REPORT_ENUMERATE_TEXT_H_
#define CLEW_HOST_REPORT_ENUMERATE_TEXT_H_

#include <string>

#include "host/enumerate/enumerate_result.h"

namespace clew {

// The first line without "clew: ".
std::string enumerate_headline(const EnumerateResult& result);
// What follows: the reads by source line with the writes that they see or cannot see, the figures,
// the next commands.
std::string enumerate_text(const EnumerateResult& result);

// "not possible: ..." without these words.
std::string reason_text(const ReasonPlace& reason);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ENUMERATE_TEXT_H_
