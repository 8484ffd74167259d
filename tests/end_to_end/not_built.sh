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

cat >spin.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static atomic_int stop;
static volatile long n;
static void handler(int signal) { stop = signal; }
static void* spin(void* x) {
  while (!stop) n++;
  return x;
}
int main(int argc, char** argv) {
  (void)argc;
  signal(SIGALRM, handler);
  signal(SIGUSR1, handler);
  pthread_t t[2];
  switch (argv[1][0]) {
    case 's': {  // a sleeper, and two that spin
      struct timespec before, after, nap = {0, 50000000};
      clock_gettime(CLOCK_MONOTONIC, &before);
      for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, spin, 0);
      nanosleep(&nap, 0);
      stop = 1;
      for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
      clock_gettime(CLOCK_MONOTONIC, &after);
      printf("slept %d ms\n", (int)((after.tv_sec - before.tv_sec) * 1000 +
                                    (after.tv_nsec - before.tv_nsec) / 1000000));
      break;
    }
    case 'a':  // a timer
      alarm(1);
      spin(0);
      break;
    case 'k':  // a signal of another thread
      pthread_create(&t[0], 0, spin, 0);
      sleep(1);
      pthread_kill(t[0], SIGUSR1);
      pthread_join(t[0], 0);
      break;
    case 'o': {  // and of another process
      char command[64];
      sprintf(command, "{ sleep 1; kill -USR1 %d; } >/dev/null 2>&1 &", (int)getpid());
      if (system(command)) return 1;
      spin(0);
      break;
    }
    case 'r': {  // data from another process
      FILE* pipe = popen("sleep 1; echo x", "r");
      pthread_create(&t[0], 0, spin, 0);
      stop = fgetc(pipe);
      pthread_join(t[0], 0);
      break;
    }
  }
  printf("stopped by %d\n", (int)stop);
  return 0;
}
C
"$cc" -O1 spin.c -o spin -pthread || exit 1
# spins HOW: the thread that is waited for in a loop without calls gets to run, also in a replay
spins() {
  run 0 run --strategy none -- ./spin "$1" && says err.txt "a thread spins in code" && cp out.txt spin.txt &&
    run 0 replay && cmp out.txt spin.txt
}
check "two threads spin until a third has slept" spins s
check "... as long as it wanted to" grep -qx "slept 50 ms" spin.txt
check "a thread spins until its alarm" spins a
check "a thread spins until another sends it a signal" spins k
check "a thread spins until another process sends it a signal" spins o
check "a thread spins until another has read something" spins r

cat >makes_code.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile int go;
static void* spin(void* code) {
  ((void (*)(volatile int*))code)(&go);
  return 0;
}
static void* call(void* unused) {
  while (!go) getppid();
  return unused;
}
int main(int argc, char** argv) {
  /* cmp dword [rdi], 0; je -5; ret */
  static const unsigned char kLoop[] = {0x83, 0x3f, 0x00, 0x74, 0xfb, 0xc3};
  void* code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  memcpy(code, kLoop, sizeof kLoop);
  pthread_t thread;
  pthread_create(&thread, 0, argc > 1 && argv[1][0] == 'c' ? call : spin, code);
  usleep(1000);
  go = 1;
  pthread_join(thread, 0);
  puts("seen");
  return 0;
}
C
"$cc" -O1 makes_code.c -o makes_code -pthread || exit 1
check "a thread spins in code that the program has made" run 0 run --strategy none -- ./makes_code
check "a thread spins in calls that are no points" run 0 run --strategy none -- ./makes_code c

# A library whose constructor creates a thread and takes locks: clew is initialised before it.
cat >early.c <<'C'
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, done;
static pthread_t worker;
static void* work(void* unused) {
  pthread_mutex_lock(&mutex);
  while (!wanted) pthread_cond_wait(&changed, &mutex);
  done = 42;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  pthread_rwlock_wrlock(&lock);
  pthread_create(&worker, 0, work, 0);
  pthread_rwlock_unlock(&lock);
}
int ask(void) {
  pthread_rwlock_wrlock(&lock);
  pthread_mutex_lock(&mutex);
  wanted = 1;
  pthread_cond_broadcast(&changed);
  while (!done) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_unlock(&lock);
  return done;
}
C
printf 'int printf(const char*, ...);\nint ask(void);\nint main(void) { printf("%%d\\n", ask()); return 0; }\n' >late.c
"$cc" -O1 -shared -fPIC early.c -o libearly.so -pthread && "$cc" -O1 late.c -o late -L. -learly -Wl,-rpath,"$PWD" || exit 1
"$clew" cc -O1 late.c -o late_built -L. -learly -Wl,-rpath,"$PWD" || exit 1
for program in late late_built; do
  for seed in 1 2 3; do
    check "a constructor of a library makes a thread ($program, seed $seed)" run 0 run --seed $seed -- ./$program
    check "... which is one of clew's" grep -qx 42 out.txt
    check "... and replayed" run 0 replay --times 3
  done
done

# refused WHY ARGS...: 125, one line that says why, a hint
refused() {
  local why=$1; shift
  run 125 "$@" && says err.txt "^clew: .*$why" && says err.txt "^hint: " && [ "$(grep -c '^clew: ' err.txt)" = 1 ]
}
"$cc" -static abba.c -o static -pthread || exit 1
check "a static program" refused "not a dynamically linked program" run -- ./static
"$cc" -fsanitize=thread abba.c -o tsan -pthread || exit 1
for command in run hunt debug; do
  check "ThreadSanitizer: clew $command" refused "ThreadSanitizer" $command -- ./tsan
done
check "... which says why" says err.txt "own model of threads and memory"
cp abba suid; chmod u+s suid
check "a set-user-ID program" refused "set-user-ID" run -- ./suid
printf '#!/bin/sh\n./abba\n' >script; chmod +x script
check "a script" refused "script" run -- ./script
for sanitizer in address undefined; do
  check "clew cc -fsanitize=$sanitizer" "$clew" cc -fsanitize=$sanitizer -g abba.c -o sanitized -pthread
  check "... runs" run 0 run --strategy none -- ./sanitized
done
finish
