#!/usr/bin/env bash
# What counts as a failure.
. "$(dirname "$0")/lib.sh"
cat >count.c <<'C'
// Prints what came of a lost update, and then exits with $1 or, if that is "report", like UBSan.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile int count;
static void* work(void* x) { count++; return x; }
int main(int argc, char** argv) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  printf("count is %d\n", count);
  if (count != 2)
    fputs(argc > 1 && argv[1][0] == 'r' ? "count.c:5:3: runtime error: pretended\n" : "too few\n", stderr);
  return count == 2 || argc < 2 ? 0 : atoi(argv[1]);
}
C
"$clew" cc -O1 -g count.c -o count -pthread || exit 1
# found KIND OPTIONS...: a failure of that kind
found() {
  local kind=$1
  shift
  run 1 hunt --seed 1 --schedules 2000 --json out.json "$@" && is kind "$kind"
}
none() { local status=$1; shift; run "$status" hunt --seed 1 --schedules 200 "$@"; }

check "exit status 0 is no failure" none 0 ./count
check "exit status" found exit ./count 7
check "--only takes it" found exit --only exit ./count 7
check "... or not" none 0 --only deadlock,hang ./count 7
check "... which is counted" says err.txt unresolved
check "regular expression" found output --fails-if-output 'count is [01]$' ./count
check "... says which" says err.txt "count is"
check "... that never matches" none 0 --fails-if-output 'count is 3' ./count
check "its absence" found output --fails-unless-output '^count is 2$' ./count
check "output unlike the first run's" found output --fails-if-output-differs ./count
check "... shows the difference" says err.txt "instead of"
check "only the output, whatever the exit status" found output --only output --fails-if-output 'is 1' ./count 7
check "judge" found judge --judge 'grep -q "is 2"' ./count
check "... gives the reason" bash -c '"$0" hunt --seed 1 --schedules 2000 --judge "grep -q \"is 2\" || { echo too few; exit 1; }" ./count 2>&1 | grep -q "too few"' "$clew"
check "... decides about the exit status" none 0 --judge 'exit 0' ./count 7
check "... knows it" found judge --judge '[ $CLEW_EXIT_STATUS != 7 ]' ./count 7
check "... reads standard error" found judge --judge '! grep -q few "$CLEW_STDERR_FILE"' ./count
check "... 125 is unresolved" none 122 --judge 'exit 125' ./count
check "... a missing command is an error" none 125 --judge /no/such/command ./count
check "... in one line and a hint" says err.txt hint
check "sanitizer reports" found sanitizer --only sanitizer ./count report
check "... are looked for with the other criteria" found sanitizer --fails-if-output never ./count report
check "a bad expression" none 124 --fails-if-output '(a' ./count
check "... in one line and a hint" lines err.txt 2
check "no such kind" none 124 --only crash ./count
check "... names those there are" says err.txt deadlock
check "the recording shows the output again" bash -c '
  "$0" hunt --seed 1 --schedules 2000 --fails-if-output "is 1" ./count >/dev/null 2>&1
  "$0" replay 2>/dev/null | grep -q "count is 1"' "$clew"
# The criteria stay with the recording.
rm -rf .clew
check "a failure by its output" found output --fails-if-output 'is 1' ./count
check "... is listed as one" bash -c '"$0" list | grep -q "fail (output)"' "$clew"
check "... in JSON, too" bash -c '"$0" list --json - | grep -q "\"outcome\": \"fail\""' "$clew"
check "... is shown as one" bash -c '"$0" show "$("$0" list | sed -n "s/^ *\([0-9]*\) .*fail (output).*/\1/p" | head -n 1)" | grep -q "fail (output): the output contains .is 1"' "$clew"
check "... and isolated without options" run 0 isolate --json out.json
check "... as what it is" bash -c 'grep -q "\"kind\": \"output\"" out.json'
rm -rf .clew
check "a failure by the judge's word" found judge --judge 'grep -q "is 2"' ./count
check "... is isolated without options" run 0 isolate --time 60
finish
