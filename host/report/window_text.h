// How far a preemption can be moved, in sentences.
#ifndef CLEW_HOST_REPORT_WINDOW_TEXT_H_
#define CLEW_HOST_REPORT_WINDOW_TEXT_H_

#include <string>

#include "host/isolate/isolate_result.h"

namespace clew {

// `label`: the thread's name. Empty: nothing was tried but the place itself.
std::string window_text(const SwitchWindow& window, const std::string& label);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_WINDOW_TEXT_H_
