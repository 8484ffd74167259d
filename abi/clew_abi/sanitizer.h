// What clang's sanitizers tell the runtime. They call functions of the program's when they have
// found something, empty unless it defines them; runtime/sanitizer_hooks.c, which `clew c++` links
// into programs built with -fsanitize=..., defines them and calls these.
#ifndef CLEW_ABI_SANITIZER_H_
#define CLEW_ABI_SANITIZER_H_

#ifdef __cplusplus
extern "C" {
#endif

// AddressSanitizer is about to print a report.
void __clew_asan_error(void);
// UndefinedBehaviorSanitizer is about to print a line.
void __clew_ubsan_report(void);

#ifdef __cplusplus
}
#endif

#endif  // CLEW_ABI_SANITIZER_H_
