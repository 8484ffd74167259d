// What makes a function here stand in the place of libc's.
#ifndef CLEW_RUNTIME_INTERCEPT_INTERPOSED_H_
#define CLEW_RUNTIME_INTERCEPT_INTERPOSED_H_

#include "runtime/rt.h"

// A function of libc/interposed.def. Others are exported as they are (CLEW_EXPORT).
#define CLEW_INTERPOSE extern "C" __attribute__((visibility("hidden")))

#define CLEW_PRAGMA(text) _Pragma(#text)
#define CLEW_INTERPOSED(name) CLEW_PRAGMA(redefine_extname name clew_own_##name)
#define CLEW_INTERPOSED_LABEL(name)
#define CLEW_INTERPOSED_7(name)
#include "runtime/libc/interposed.def"

#endif  // CLEW_RUNTIME_INTERCEPT_INTERPOSED_H_
