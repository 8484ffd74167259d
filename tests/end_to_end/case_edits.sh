#!/bin/bash
# clew check after edits that could make it say that a failure is gone which is not: another name for the variable in
# statements that were written anew, a statement of the same words or the same shape elsewhere, equal statements of
# which one is hardly ever executed. Without the hunt around the order (--hunt 0), which would find most of them.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

build() { "$clew" cc -g -O1 -pthread "$@"; }
still() { run 1 check --seed 1 --hunt 0 --program "$1" "$2"; }

# A variable that is called otherwise, and is part of a structure, in statements of another form; one that is gone.
cat >votes.c <<'CODE'
#include <pthread.h>
static int votes, noes;
static void* count(void* box) {
  noes += 1;
  votes += 2;
  return box;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return votes == 4 ? 0 : 1;
}
CODE
sed -e 's/int votes, noes/struct { int count; } ayes;\nstatic int noes/' -e 's/votes += 2;/int n = ayes.count;\n  ayes.count = n + 2;/' \
  -e 's/votes == 4/ayes.count == 4/' votes.c >renamed.c
sed -e 's/int votes, /int /' -e '/votes += 2;/d' -e 's/votes == 4/noes > 0/' votes.c >gone.c
cat >votes.clewcase <<'CODE'
clew-case = 3
program = "votes"
failure = "exit"
beside = "noes"
[event a]
thread = 1
does = "read"
variable = "votes"
function = "count"
file = "votes.c"
text = "votes += 2;"
[event b]
thread = 2
does = "write"
variable = "votes"
function = "count"
file = "votes.c"
text = "votes += 2;"
[event c]
thread = 1
does = "write"
variable = "votes"
function = "count"
file = "votes.c"
text = "votes += 2;"
[orders]
between = a b c
CODE
build votes.c -o votes
build renamed.c -o renamed
build gone.c -o gone
check "votes are lost" still votes votes.clewcase
check "... also under another name, in other statements" still renamed votes.clewcase
check "... which is said to be a guess" says out.txt 'is the nearest match'
check "a variable that is gone" run 0 check --hunt 0 --program gone votes.clewcase
check "... is said to be" says out.txt 'is called `votes` any more'
sed '/^beside/d' votes.clewcase >unknown.clewcase
check "... but not if what was beside it is not known" run 122 check --hunt 0 --program gone unknown.clewcase

# A count in an object becomes atomic: the statement that has the shape of the one that is gone is not it.
cat >release.c <<'CODE'
#include <pthread.h>
#include <stdlib.h>
struct buffer {
  int refs;
  char* bytes;
};
static void drop(struct buffer* it) {
#ifdef FIXED
  int left = __atomic_sub_fetch(&it->refs, 1, __ATOMIC_SEQ_CST);
#else
  int left = it->refs - 1;
  it->refs = left;
#endif
  if (left == 0) {
    free(it->bytes);
    it->bytes = NULL;
  }
}
static void* use(void* it) {
  drop(it);
  return NULL;
}
int main(void) {
  pthread_t a, b;
  struct buffer* one = malloc(sizeof *one);
  one->refs = 3;
  one->bytes = malloc(8);
  pthread_create(&a, 0, use, one);
  pthread_create(&b, 0, use, one);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return one->refs == 1 ? 0 : 1;
}
CODE
cat >release.clewcase <<'CODE'
clew-case = 3
program = "release"
failure = "exit"
[event a]
thread = 1
does = "read"
function = "drop"
file = "release.c"
text = "int left = it->refs - 1;"
[event b]
thread = 2
does = "write"
function = "drop"
file = "release.c"
text = "it->refs = left;"
[event c]
thread = 1
does = "write"
function = "drop"
file = "release.c"
text = "it->refs = left;"
[orders]
between = a b c
CODE
build release.c -o release
build -DFIXED release.c -o release_fixed
check "a count that is lost" still release release.clewcase
check "... is one atomic step now" run 0 check --hunt 0 --program release_fixed release.clewcase
check "... by the statement that updates it" sh -c "tr -s '\\n ' ' ' <out.txt | grep -q 'one atomic step now, at .*release.c:9'"

# A signal in a function that has another call for it now, and a function that has had the words of the old one all along.
cat >bell.c <<'CODE'
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static atomic_int stopping, jobs;
static void add(void) {
  pthread_mutex_lock(&mutex);
  jobs++;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&bell);
}
static void stop(void) {
  stopping = 1;
#ifdef EDITED
  pthread_cond_broadcast(&bell);
#else
  pthread_cond_signal(&bell);
#endif
}
static void* work(void* arg) {
  pthread_mutex_lock(&mutex);
  while (!stopping) {
    if (jobs > 0) jobs--;
    if (!stopping) pthread_cond_wait(&bell, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return arg;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, work, 0);
  add();
  stop();
  pthread_join(a, 0);
  return 0;
}
CODE
cat >bell.clewcase <<'CODE'
clew-case = 3
program = "bell"
failure = "deadlock"
[event a]
thread = 1
does = "signal"
variable = "bell"
function = "stop"
file = "bell.c"
text = "pthread_cond_signal(&bell);"
[event b]
thread = 2
does = "wait"
variable = "bell"
function = "work"
file = "bell.c"
text = "pthread_cond_wait(&bell, &mutex);"
[orders]
before = a b
CODE
build bell.c -o bell
build -DEDITED bell.c -o bell_edited
check "a signal that comes too early" still bell bell.clewcase
check "... is that of its function, which calls something else" still bell_edited bell.clewcase
check "... not that of another one" says out.txt 'in stop: pthread_cond_broadcast'

# The second of two equal statements, which no run may have come to yet, is not the first.
cat >move.c <<'CODE'
#include <pthread.h>
#include <stdlib.h>
static int left = 50, right = 50, noise;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void busy(int n) {
  for (int i = 0; i < n; i++) {
    pthread_mutex_lock(&m);
    noise++;
    pthread_mutex_unlock(&m);
  }
}
static void move(void) {
  pthread_mutex_lock(&m);
  left -= 5;
  if (!SELDOM || noise == 33) {
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
  }
  right += 5;
  pthread_mutex_unlock(&m);
}
static void* mover(void* a) {
  busy(30);
  move();
  return a;
}
static void* auditor(void* a) {
  busy(3);
  pthread_mutex_lock(&m);
  int sum = left + right;
  pthread_mutex_unlock(&m);
  if (sum != 100) exit(4);
  busy(40);
  return a;
}
int main(void) {
  pthread_t x, y;
  pthread_create(&x, 0, mover, 0);
  pthread_create(&y, 0, auditor, 0);
  pthread_join(x, 0);
  pthread_join(y, 0);
  return 0;
}
CODE
cat >move.clewcase <<'CODE'
clew-case = 3
program = "move"
failure = "exit"
[event a]
thread = 1
does = "lock"
variable = "m"
function = "move"
file = "move.c"
text = "pthread_mutex_lock(&m);"
[event b]
thread = 2
does = "lock"
variable = "m"
function = "auditor"
file = "move.c"
text = "pthread_mutex_lock(&m);"
[event c]
thread = 1
does = "lock"
variable = "m"
function = "move"
file = "move.c"
text = "pthread_mutex_lock(&m);"
occurrence = 2
[orders]
between = a b c
CODE
build -DSELDOM=0 move.c -o move
build -DSELDOM=1 move.c -o seldom
check "a sum that is wrong in between" still move move.clewcase
run 0 check --seed 1 --hunt 0 --program seldom move.clewcase && gone=yes || gone=no
check "... is not gone because the second lock is hardly ever taken" [ "$gone" = no ]

# A loop that gives up looks like one that waits: it is told that no such run was made.
cat >ready.c <<'CODE'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int limit;
static atomic_int ready;
static void* load(void* a) {
  limit = 42;
  ready = 1;
  return a;
}
static void* use(void* a) {
#ifdef WAITS
  for (int i = 0; i < 300 && !ready; i++) sched_yield();
#endif
  int bound = limit;
  return bound == 42 ? a : (void*)1;
}
int main(void) {
  pthread_t a, b;
  void* failed;
  pthread_create(&a, 0, load, 0);
  pthread_create(&b, 0, use, 0);
  pthread_join(a, 0);
  pthread_join(b, &failed);
  return failed != 0;
}
CODE
cat >ready.clewcase <<'CODE'
clew-case = 3
program = "ready"
failure = "exit"
[event a]
thread = 1
does = "read"
variable = "limit"
function = "use"
file = "ready.c"
text = "int bound = limit;"
[event b]
thread = 2
does = "write"
variable = "limit"
function = "load"
file = "ready.c"
text = "limit = 42;"
[orders]
before = a b
CODE
build ready.c -o ready
build -DWAITS ready.c -o waits
check "a limit that is read too early" still ready ready.clewcase
run 0 check --seed 1 --hunt 0 --program waits ready.clewcase && gone=yes || gone=no
check "... after a loop that gives up: found, or told that this was not tried" sh -c "[ $gone = no ] || tr -s '\\n ' ' ' <out.txt | grep -q 'gives up before was not tried'"
# What was not found when a signal came is no answer.
timeout --preserve-status -s INT 2 "$clew" check --time 60 --hunt 100000000 --program release_fixed release.clewcase >out.txt 2>err.txt
status=$?
check "a check that is interrupted in its hunt gives no answer" [ $status = 130 ]
finish
