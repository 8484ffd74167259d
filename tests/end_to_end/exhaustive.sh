#!/usr/bin/env bash
# clew hunt --strategy exhaustive: what its answer covers, and what it says of the rest.
. "$(dirname "$0")/lib.sh"
cc=${CLEW_CLANG:-clang-19}
# A program with one step of each of two threads; STEP and AGAIN are what they do.
cat >two.c <<'C'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#ifdef __CLEW__
#define SILENT __attribute__((annotate("clew_no_yield"), noinline))
void clew_no_yield_begin(void);
void clew_no_yield_end(void);
#endif
static volatile int shared;
void touch(volatile int*);
#ifdef WITH_SILENT
SILENT static void silent(void) { shared = 3; }
#endif
static void* work(void* x) {
  shared = 1;
  STEP;
  return x;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  shared = 2;
  pthread_join(t, 0);
  return shared > 9;
}
C
echo 'void touch(volatile int* x) { *x = 4; }' >touch.c
"$cc" -shared -fPIC -O1 touch.c -o libtouch.so || exit 1
try() { # NAME STEP FLAGS...: hunts in the program with this step
  local name=$1 step=$2
  shift 2
  "$clew" cc -O1 -g -pthread -DSTEP="$step" two.c -o "$name" "$@" || exit 1
  run 0 hunt --strategy exhaustive --bound 1 "./$name"
}
quiet() { ! grep -q "apart from" err.txt; }
claims_nothing_else() { ! grep -q "any other" err.txt; }

check "a plain program" try plain "shared++" touch.c
check "... has no exceptions" quiet
check "... and the claim is about code built with clew" says err.txt "in what code built with clew does"
check "a function without yield points" try silent "silent()" -DWITH_SILENT touch.c
check "... is named" says err.txt "apart from switches in code without yield points"
check "... and nothing is said about other schedules" claims_nothing_else
check "a region" try region "clew_no_yield_begin(); shared++; clew_no_yield_end()" touch.c
check "... is named" says err.txt "apart from switches in code without yield points"
check "a file without points at accesses" try coarse "shared++" -fclew-yield=sync touch.c
check "... is named" says err.txt "apart from switches in code without yield points"
check "a library that was not built with clew" try library "touch(&shared)" -L. -ltouch "-Wl,-rpath,$PWD"
check "... is named" says err.txt "apart from switches in code not built with clew"
check "a clock" try clock "shared = time(0) == 0" touch.c
check "... is named" says err.txt "other times of clocks and deadlines"
check "a sleep" try sleep "usleep(10)" touch.c
check "... is named" says err.txt "other times of clocks and deadlines"
finish
