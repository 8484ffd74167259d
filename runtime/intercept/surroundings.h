// The rest of the runtime, as the scheduler sees it (sched/surroundings.h).
#ifndef CLEW_RUNTIME_INTERCEPT_SURROUNDINGS_H_
#define CLEW_RUNTIME_INTERCEPT_SURROUNDINGS_H_

#include "runtime/sched/surroundings.h"

namespace clew::rt {

Surroundings& surroundings();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_SURROUNDINGS_H_
