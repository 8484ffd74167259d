#!/usr/bin/env bash
# clew hunt: how often a program is started, put back or forked, what is run once for all schedules, and what is said about it.
. "$(dirname "$0")/lib.sh"
cat >body.h <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int counter;
static void* add(void* unused) { counter = counter + 1; return unused; }
static int count(void) {
  pthread_t a, b;
  counter = 0;
  pthread_create(&a, NULL, add, NULL);
  pthread_create(&b, NULL, add, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return counter;
}
C
build() { { echo '#include "body.h"'; cat; } >"$1.c" && "$clew" cc -O1 -g -w "$1.c" -o "$1" -pthread || exit 1; }
json() { python3 -c '
import json, sys
d = json.load(open("out.json"))
sys.exit(0 if eval(sys.argv[1]) else "not so: %s: %s" % (sys.argv[1], {k: d[k] for k in ("schedules", "notes", "outcome")}))' "$1"; }
replays() { local number; number=$(python3 -c 'import json; print(json.load(open("out.json"))["failing"])')
  "$clew" replay "$number" >out.txt 2>err.txt </dev/null; says err.txt "same outcome, output and hash"; }
hunt() { local status=$1; shift; run "$status" hunt --seed 1 --json out.json "$@"; }

build unused <<'C'
int main(int c, char** v) { if (c > 5) { fork(); setgid(0); chdir("/"); } count(); return 0; }
C
check "calls that are not made" hunt 0 --schedules 400 ./unused
check "... nothing is said about them" json "d['schedules'] == 400 and d['notes'] == []"

build folder <<'C'
int main(void) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL || strcmp(folder, "/") == 0) return 1;
  if (count() == 1) { if (chdir("/") != 0) return 2; }
  return 0;
}
C
check "a call that is made in some schedules" hunt 0 --schedules 400 ./folder
check "... is named, and no run sees it of another" json "d['schedules'] == 400 and any('called chdir() in schedule' in n for n in d['notes'])"

# Long runs, in which a strategy is asked at a part of the points only: the run that records the failure is asked at the same.
build long <<'C'
static volatile long total, seen;
static void* lose(void* unused) {
  for (long i = 0; i < 100000; ++i) { total = total + 1; seen = total; }
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, lose, NULL);
  pthread_create(&b, NULL, lose, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return total == 200000 ? 0 : 1 + total % 100;
}
C
for strategy in random pct pos surw rff; do
  check "a long run: $strategy" hunt 1 --strategy $strategy --schedules 20 --no-passing ./long
  check "... fails when it is recorded" json "d['unresolved'] == 0 and d['notes'] == []"
  check "... and replays" replays
done

build child <<'C'
int main(void) {
  const int before = count();
  const pid_t pid = fork();
  if (pid == 0) _exit(before);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != before) return 2;
  return before == 2 ? 0 : 1;
}
C
check "a failure of a program that forks" hunt 1 ./child
check "... replays" run 1 replay "$(python3 -c 'import json; print(json.load(open("out.json"))["failing"])')"

build lost <<'C'
int main(void) { return count() == 2 ? 0 : 1; }
C
build always <<'C'
int main(void) { count(); return 1; }
C
check "a program that fails always" hunt 1 --time 30 ./always
check "... is told so" bash -c 'grep -q "fails under every one of the .* schedules tried, also without any preemption" err.txt'
check "... in JSON, too" json "d['always_fails'] and d['seconds'] < 15"
check "one that does not" hunt 1 ./lost
check "... is not" json "not d['always_fails']"

build single <<'C'
int main(void) { char* text = strdup("x"); puts(text); free(text); return 0; }
C
check "one thread" hunt 0 --time 30 ./single
check "... three runs" json "d['single_threaded'] and d['schedules'] == 3 and d['confidence'] == 'full'"
check "... as the text says" says err.txt "single-threaded: 3 runs"
build forks <<'C'
int main(int c, char** v) {
  if (c > 1) _exit(count() > 5);
  const pid_t pid = fork();
  if (pid == 0) execl("/proc/self/exe", v[0], "x", NULL);
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}
C
check "threads of a child that becomes another program" hunt 0 --schedules 20 ./forks
check "... a note says where they are" json "any('no run had a second thread, but the program forks' in n for n in d['notes']) and not d['single_threaded']"
check "... and few schedules are few" json "d['confidence'] == 'few'"

# What comes before the first thread is run once, unless each run has to do it anew.
build files <<'C'
int main(void) {
  struct stat status;
  if (stat("made.txt", &status) == 0) return 3;
  FILE* file = fopen("made.txt", "w");
  fputs("text", file);
  fclose(file);
  count();
  return stat("made.txt", &status) == 0 && remove("made.txt") == 0 ? 0 : 4;
}
C
check "files made before the first thread" hunt 0 --schedules 200 ./files
build output <<'C'
int main(void) { printf("before\n"); fflush(stdout); int n = count(); printf("after %d\n", n); return 0; }
C
check "output before the first thread" hunt 1 --fails-if-output '^before\nafter 1' ./output
check "... belongs to every run" hunt 0 --schedules 200 --fails-unless-output '^before\nafter [12]\n' ./output
build owned <<'C'
int main(void) {
  pthread_mutexattr_t kind;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &kind);
  pthread_mutex_lock(&mutex);
  count();
  return pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0 ? 0 : 1;
}
C
check "a lock that is held there" hunt 0 --schedules 200 ./owned
finish
