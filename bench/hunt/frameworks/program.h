// The program of bench/hunt/programs that a test case runs: BENCH_SOURCE, as C++ or, if that is a C
// file, from an object in which its main has the name bench_main. BENCH_ARGUMENT: its argument.
#ifndef CLEW_BENCH_HUNT_FRAMEWORKS_PROGRAM_H_
#define CLEW_BENCH_HUNT_FRAMEWORKS_PROGRAM_H_

#ifdef BENCH_SOURCE
#define main bench_main
#include BENCH_SOURCE
#undef main
#else
extern "C" int bench_main(int count, char** arguments);
#endif

template <class... Types>
int call_main(int (*function)(Types...)) {
  static char name[] = "program";
  static char argument[] = BENCH_ARGUMENT;
  static char* arguments[] = {name, argument[0] != '\0' ? argument : nullptr, nullptr};
  if constexpr (sizeof...(Types) == 0)
    return function();
  else
    return function(argument[0] != '\0' ? 2 : 1, arguments);
}

#endif  // CLEW_BENCH_HUNT_FRAMEWORKS_PROGRAM_H_
