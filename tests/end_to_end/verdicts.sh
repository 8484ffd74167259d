#!/usr/bin/env bash
# What clew says of a run is what happened in it, and what it has seen it says.
. "$(dirname "$0")/lib.sh"

# --- threads that nobody joins: the first run ends before they have run at all
for verdict in fail pass; do
  "$clew" cc -O1 -g "$source/tests/programs/$verdict/not_joined.c" -o $verdict -pthread || exit 1
done
for strategy in period exhaustive portfolio; do
  check "$strategy finds what a thread that nobody joins does" \
    run 1 hunt --strategy $strategy --seed 1 --schedules 500 ./fail
  check "$strategy finds nothing where there is nothing" \
    run 0 hunt --strategy $strategy --seed 1 --schedules 100 ./pass
done
check "... and does not say that nothing is shared" bash -c '
  "$0" hunt --strategy period --seed 1 --schedules 100 ./pass 2>&1 | grep -q "all orders of the [1-9]"' "$clew"

# --- what looks like the end of the program, and is not
cat >handled.cpp <<'C'
#include <cassert>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <unistd.h>
static sigjmp_buf out;
int main(int, char** arguments) {
  switch (arguments[1][0]) {
    case '0': std::set_terminate([] { std::exit(0); }); throw 1;
    case '1': std::set_terminate([] { _exit(3); }); throw 1;
    case '2': signal(SIGABRT, [](int) { _exit(0); }); assert(!"handled");
    case '3': signal(SIGABRT, [](int) { siglongjmp(out, 1); }); if (sigsetjmp(out, 1) == 0) assert(!"left"); return 0;
    case '4': signal(SIGABRT, [](int) { siglongjmp(out, 1); }); if (sigsetjmp(out, 1) == 0) assert(!"left"); return 4;
    case '5': std::set_terminate([] { for (;;) pause(); }); throw 1;
    default: assert(!"not handled");
  }
}
C
"$clew" c++ -w -O1 -g handled.cpp -o handled -pthread || exit 1
ends() { # CASE STATUS KIND
  check "case $1: run" bash -c '"$0" run --json out.json ./handled $1 >out.txt 2>err.txt; [ $? = $2 ]' "$clew" "$1" "$2"
  if [ "$3" = pass ]; then check "case $1: passes" is outcome pass; else check "case $1: $3" is kind "$3"; fi
  "$clew" hunt --schedules 2 --seed 1 --no-spurious --json out.json ./handled "$1" >out.txt 2>err.txt
  if [ "$3" = pass ]; then check "case $1: hunt" is outcome not-found; else check "case $1: hunt" is kind "$3"; fi
}
ends 0 0 pass
ends 1 3 exception
ends 2 0 pass
ends 3 0 pass
ends 4 4 exit
ends 5 120 deadlock
ends 6 134 assert

# --- a wait that has ended is not told at the end, and a thread is said not to exist only when it does not
cat >reads.c <<'C'
#include <unistd.h>
int main(void) { char c; return read(0, &c, 1) == 1 ? 3 : 0; }
C
"$clew" cc -O1 -g reads.c -o reads || exit 1
check "a long wait that has ended" bash -c '(sleep 7.5; echo x) | "$0" run ./reads 2>err.txt; grep -q "status 3" err.txt && ! grep -q waits err.txt' "$clew"
"$clew" run --schedule 2:T0.7 ./pass >out.txt 2>err.txt
check "a thread that the run did not create" says err.txt "names thread T0.7, which this run did not create"
check "... is not said to come" bash -c '! grep -qi " yet" err.txt'

# --- what has been destroyed
cat >destroyed.c <<'C'
#include <pthread.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting, done;
static void* wait_for_it(void* x) {
  pthread_mutex_lock(&mutex);
  waiting = 1;
  while (!done) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return x;
}
int main(int argc, char** argv) {
  pthread_t thread;
  switch (argv[argc - 1][0]) {
    case '0': pthread_mutex_destroy(&mutex); pthread_mutex_lock(&mutex); return 0;
    case '1': pthread_cond_destroy(&condition); pthread_cond_broadcast(&condition); return 0;
    case '2': pthread_cond_destroy(&condition); done = 1; return wait_for_it(0) != 0;
    case '3':
      pthread_mutex_destroy(&mutex); pthread_cond_destroy(&condition);
      pthread_mutex_init(&mutex, 0); pthread_cond_init(&condition, 0); break;
    case '4':
      pthread_mutex_destroy(&mutex); pthread_cond_destroy(&condition);
      mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; memset(&condition, 0, sizeof condition); break;
    case '5': break;
    case '6':  /* glibc's pthread_cond_destroy waits for those who wait */
      pthread_create(&thread, 0, wait_for_it, 0);
      for (int seen = 0; !seen;) { pthread_mutex_lock(&mutex); seen = waiting; pthread_mutex_unlock(&mutex); }
      pthread_cond_destroy(&condition);
      return 0;
  }
  pthread_create(&thread, 0, wait_for_it, 0);
  pthread_mutex_lock(&mutex); done = 1; pthread_cond_broadcast(&condition); pthread_mutex_unlock(&mutex);
  pthread_cond_destroy(&condition);
  pthread_join(thread, 0);
  return 0;
}
C
"$clew" cc -w -O1 -g destroyed.c -o handled -pthread || exit 1
ends 0 134 misuse
ends 1 134 misuse
ends 2 0 pass
ends 3 0 pass
ends 4 0 pass
ends 5 0 pass
ends 6 120 deadlock
check "... under many schedules" run 0 hunt --seed 1 --schedules 300 ./handled 5

finish
