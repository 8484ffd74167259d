// For the programs in pass/: a check that stays on in every build and names the line that failed.
#ifndef CLEW_TESTS_PROGRAMS_CHECK_H_
#define CLEW_TESTS_PROGRAMS_CHECK_H_

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

#endif  // CLEW_TESTS_PROGRAMS_CHECK_H_
