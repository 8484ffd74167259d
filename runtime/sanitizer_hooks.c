// Part of the program, not of the runtime: see clew_abi/sanitizer.h. Without debug information, so
// that no report takes it for the user's code.
#include "clew_abi/sanitizer.h"

void __asan_on_error(void);
void __ubsan_on_report(void);

void __asan_on_error(void) { __clew_asan_error(); }
void __ubsan_on_report(void) { __clew_ubsan_report(); }
