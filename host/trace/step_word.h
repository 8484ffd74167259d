// What a step is called.
#ifndef CLEW_HOST_TRACE_STEP_WORD_H_
#define CLEW_HOST_TRACE_STEP_WORD_H_

#include "clew_abi/step.h"

namespace clew {

const char* to_word(abi::StepKind kind);  // "read"; empty for what is no event of the program's

}  // namespace clew

#endif  // CLEW_HOST_TRACE_STEP_WORD_H_
