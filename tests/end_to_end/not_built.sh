#!/usr/bin/env bash
# Programs that clew did not build: run with the runtime preloaded, or refused with one clear line.
. "$(dirname "$0")/lib.sh"
cc=${CLEW_CLANG:-clang-19}
cat >abba.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* x) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return x;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  pthread_join(t, 0);
  return 0;
}
C
"$cc" -g abba.c -o abba -pthread || exit 1
check "a plain program runs" run 0 run --strategy none -- ./abba
check "... and what it lacks is said once" bash -c '[ "$(grep -c "was not built with clew" err.txt)" = 1 ]'
check "... recorded" run 0 replay --times 3
check "... quietly replayed" bash -c '! grep -q "was not built" err.txt'
check "its deadlock is found" run 1 hunt --seed 1 --time 30 ./abba
check "... and replayed" run 120 replay
check "... with both locks" says err.txt "waits for mutex"
check "... and isolated" run 0 isolate --time 60

cat >env.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  for (const char* n[] = {"LD_PRELOAD", "CLEW_PRELOAD", 0}, **p = n; *p; p++)
    printf("%s=%s\n", *p, getenv(*p) ? getenv(*p) : "(none)");
  return system("echo child $LD_PRELOAD.") != 0;
}
C
"$cc" env.c -o env || exit 1
check "the program does not see what was preloaded" run 0 run -- ./env
check "... nor its children" grep -qx "child ." out.txt
check "... LD_PRELOAD is as it was" grep -qx "LD_PRELOAD=(none)" out.txt
check "... CLEW_PRELOAD is gone" grep -qx "CLEW_PRELOAD=(none)" out.txt
own() { LD_PRELOAD=libm.so.6 run 0 run -- ./env; }
check "what the user preloads" own
check "... stays" grep -qx "LD_PRELOAD=libm.so.6" out.txt

# refused WHY ARGS...: 125, one line that says why, a hint
refused() {
  local why=$1; shift
  run 125 "$@" && says err.txt "^clew: .*$why" && says err.txt "^hint: " && [ "$(grep -c '^clew: ' err.txt)" = 1 ]
}
if "$cc" -static abba.c -o static -pthread 2>/dev/null; then
  check "a static program" refused "no dynamically linked program" run -- ./static
fi
if "$cc" -fsanitize=thread abba.c -o tsan -pthread 2>/dev/null; then
  for command in run hunt debug; do
    check "ThreadSanitizer: clew $command" refused "ThreadSanitizer" $command -- ./tsan
  done
  check "... which says why" says err.txt "own picture of threads and memory"
fi
cp abba suid; chmod u+s suid
check "a set-user-ID program" refused "set-user-ID" run -- ./suid
printf '#!/bin/sh\n./abba\n' >script; chmod +x script
check "a script" refused "script" run -- ./script
for sanitizer in address undefined; do
  check "clew cc -fsanitize=$sanitizer" "$clew" cc -fsanitize=$sanitizer -g abba.c -o sanitized -pthread
  check "... runs" run 0 run --strategy none -- ./sanitized
done
finish
