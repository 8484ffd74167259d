#!/usr/bin/env bash
# Copies of a program that fork() makes and that have threads: each gets its own recording, and is replayed from the
# start of the program through the fork.
. "$(dirname "$0")/lib.sh" "$@"

cat >copies.c <<'C'
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int total;
static void* add(void* x) {
  for (int i = 0; i < 200; i++) total++;
  return x;
}
static void count(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
static int reap(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}
// Reads a file, the time and the process id, and counts with a race.
static void work(const char* who) {
  char line[64] = "";
  FILE* file = fopen("input.txt", "r");
  if (file) fgets(line, sizeof line, file), fclose(file);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  count();
  printf("%s: %d %d %ld.%09ld %d %s", who, total, getpid() != 0, (long)now.tv_sec, now.tv_nsec,
         (int)gettid() == (int)getpid(), line);
  fflush(stdout);
}
static void* fork_in_thread(void* x) {
  pid_t pid = fork();
  if (pid == 0) {
    work("by thread");
    return x;  // the last thread: the process ends
  }
  printf("by thread: %x\n", reap(pid));
  return x;
}
static volatile int ready, seen;
static void* publish(void* x) {
  for (int i = 0; i < 100; i++) ready++, seen++;
  return x;
}
static void* check(void* x) {
  for (int i = 0; i < 3; i++) assert(ready == seen);
  return x;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* hold(void* x) {
  pthread_mutex_lock(&lock);
  pause();
  return x;
}
static void on_alarm(int number) { (void)number; }

static void one(void) {
  printf("before\n");
  total = 1000;
  pid_t pid = fork();
  if (pid == 0) {
    work("child");
    exit(3);
  }
  count();
  printf("parent: %x\n", reap(pid));
}
static void grandchildren(void) {
  pid_t pid = fork();
  if (pid == 0) {  // no threads here
    char byte;
    FILE* file = fopen("input.txt", "r");
    if (fread(&byte, 1, 1, file) != 1) _exit(1);
    total = byte;
    pid_t grandchild = fork();
    if (grandchild == 0) work("grandchild"), _exit(4);
    _exit(reap(grandchild) >> 8);
  }
  printf("without: %x\n", reap(pid));
  fflush(stdout);
  pid = fork();
  if (pid == 0) {
    count();
    pid_t grandchild = fork();
    if (grandchild == 0) work("grandchild of threads"), _exit(5);
    int status = reap(grandchild) >> 8;
    work("its parent");
    _exit(status);
  }
  printf("with: %x\n", reap(pid));
}
static void by_thread(void) {
  pthread_t thread, other;
  pthread_create(&other, 0, hold, 0);
  pthread_create(&thread, 0, fork_in_thread, 0);
  pthread_join(thread, 0);
}
static void fails(void) {
  pid_t pid = fork();
  if (pid == 0) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, publish, 0);
    pthread_create(&threads[1], 0, check, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    _exit(0);
  }
  printf("fails: %x\n", reap(pid));
}
static void quiet(void) {
  for (int i = 0; i < 40; i++) {
    pid_t pid = fork();
    if (pid == 0) _exit(i);
    if (reap(pid) != i << 8) abort();
  }
  pid_t pid = fork();
  if (pid == 0) abort();
  printf("aborts: %x\n", reap(pid));
  pid = fork();
  if (pid == 0) assert(total == 7);
  printf("asserts: %x\n", reap(pid));
  pid = fork();
  if (pid == 0) execl("/bin/echo", "echo", "echoes", (char*)0);
  printf("echo: %x\n", reap(pid));
  pid = vfork();
  if (pid == 0) _exit(6);
  printf("vfork: %x\n", reap(pid));
}
static void held(void) {
  pthread_t thread;
  pthread_create(&thread, 0, hold, 0);
  while (pthread_mutex_trylock(&lock) == 0) pthread_mutex_unlock(&lock), sched_yield();
  pid_t pid = fork();
  if (pid == 0) pthread_mutex_lock(&lock), _exit(0);
  printf("held: %x\n", reap(pid));
}
static void* send_signal(void* x) {
  pthread_kill(*(pthread_t*)x, SIGALRM);
  return x;
}
// No timers and no pending signals in the child; its own work, and signals from its parent come.
static void signals(void) {
  signal(SIGALRM, on_alarm);
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(SIGUSR1);
  alarm(1);
  pid_t pid = fork();
  if (pid == 0) {
    sigpending(&pending);
    printf("pending %d, alarm %u\n", sigismember(&pending, SIGUSR1), alarm(0));
    pthread_t self = pthread_self(), thread;
    pthread_create(&thread, 0, send_signal, &self);
    pause();
    pthread_join(thread, 0);
    int number = 0;
    printf("ready\n");
    fflush(stdout);
    sigwait(&set, &number);
    printf("got %d\n", number == SIGUSR1);
    fflush(stdout);
    _exit(0);
  }
  alarm(0);
  usleep(100000);
  kill(pid, SIGUSR1);
  printf("signals: %x\n", reap(pid));
}
struct shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  sem_t done;
  int turns;
};
static struct shared* shared;
static void* turn(void* x) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&shared->lock);
    shared->turns++;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
  }
  return x;
}
static void share(void) {
  shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t of_lock;
  pthread_mutexattr_init(&of_lock);
  pthread_mutexattr_setpshared(&of_lock, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_settype(&of_lock, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&shared->lock, &of_lock);
  pthread_condattr_t of_condition;
  pthread_condattr_init(&of_condition);
  pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &of_condition);
  sem_init(&shared->done, 1, 0);
  pid_t pids[2];
  for (int k = 0; k < 2; k++) {
    if ((pids[k] = fork()) != 0) continue;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, turn, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    sem_post(&shared->done);
    _exit(0);
  }
  pthread_t thread;
  pthread_create(&thread, 0, turn, 0);
  pthread_mutex_lock(&shared->lock);
  while (shared->turns < 100) pthread_cond_wait(&shared->changed, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
  for (int k = 0; k < 2; k++) sem_wait(&shared->done);
  pthread_join(thread, 0);
  for (int k = 0; k < 2; k++) printf("shared: %x\n", reap(pids[k]));
  printf("turns: %d\n", shared->turns);
}
static int listening;
static void* serve(void* x) {
  for (int i = 0; i < 2; i++) {
    int connection = accept(listening, 0, 0);
    char byte = 'y';
    if (connection < 0 || write(connection, &byte, 1) != 1) abort();
    close(connection);
  }
  return x;
}
static void prefork(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  listening = socket(AF_INET, SOCK_STREAM, 0);
  bind(listening, (struct sockaddr*)&address, sizeof address);
  getsockname(listening, (struct sockaddr*)&address, &size);
  listen(listening, 64);
  pid_t pids[4];
  for (int k = 0; k < 4; k++) {
    if ((pids[k] = fork()) != 0) continue;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, serve, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    _exit(0);
  }
  int answers = 0;
  for (int i = 0; i < 16; i++) {
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    char byte = 0;
    if (connect(connection, (struct sockaddr*)&address, sizeof address) != 0) abort();
    if (read(connection, &byte, 1) == 1 && byte == 'y') answers++;
    close(connection);
  }
  for (int k = 0; k < 4; k++)
    if (reap(pids[k]) != 0) abort();
  printf("answers: %d\n", answers);
}
static void stays(void) {
  pid_t pid = fork();
  if (pid == 0) {
    count();
    for (;;) sleep(1);
  }
  FILE* file = fopen("pid.txt", "w");
  fprintf(file, "%d\n", pid);
  fclose(file);
  usleep(300000);
}
int main(int argc, char** argv) {
  (void)argc;
  const char* what = argv[1];
  if (!strcmp(what, "one")) one();
  if (!strcmp(what, "grandchildren")) grandchildren();
  if (!strcmp(what, "thread")) by_thread();
  if (!strcmp(what, "fails")) fails();
  if (!strcmp(what, "quiet")) quiet();
  if (!strcmp(what, "held")) held();
  if (!strcmp(what, "signals")) signals();
  if (!strcmp(what, "share")) share();
  if (!strcmp(what, "prefork")) prefork();
  if (!strcmp(what, "stays")) stays();
  return 0;
}
C
"$clew" cc -g copies.c -o copies -pthread || exit 1

# copies: how many child processes the last run has recorded; copy K: the Kth of their recordings
copies() { grep -c "^clew: .*, process [0-9]* (.*copies .*), recording [0-9]*$" err.txt; }
recorded() { [ "$(copies)" = "$1" ] || { echo "$(copies) recorded instead of $1"; return 1; }; }
copy() { sed -n 's/.*, process [0-9]* (.*), recording \([0-9]*\)$/\1/p' run.txt | sort -n | sed -n "$1p"; }
record() {
  echo "some input" >input.txt
  local status=0
  timeout 60 "$clew" run "$@" >out.txt 2>err.txt </dev/null || status=$?
  cp err.txt run.txt
  cp out.txt printed.txt
  rm input.txt
  return $status
}
# same WHO: it prints again what it printed in the run, and nothing else
same() { grep "^$1:" printed.txt | diff out.txt -; }

check "a copy with threads" record --seed 3 --json out.json -- ./copies one
check "... is recorded" recorded 1
check "... and its end is seen" grep -qx "parent: 300" out.txt
check "... in the JSON" grep -q '"process": ' out.json
check "... read its input" grep -q "^child: .* some input$" out.txt
check "it replays without its input" run 3 replay "$(copy 1)" --times 20
check "... the same" says err.txt "replayed recording $(copy 1) 20 times: same outcome and hash"
check "... with what it printed" run 3 replay "$(copy 1)"
check "... and its parent did not" bash -c '[ "$(cat out.txt)" = "before
$(grep "^child:" printed.txt)" ]'
check "its origin is kept" grep -q "process [0-9]* of recording 1, a copy made by fork()" ".clew/$(copy 1)/meta.json"
check "its parent replays" run 0 replay --times 3
check "... which is the program" says err.txt "replayed recording 1 3 times"
check "another run has another race" record --seed 4 -- ./copies one
check "it cannot be isolated" run 125 isolate "$(copy 1)"
check "... which is said" says err.txt "can only be replayed"

check "grandchildren" record --seed 1 -- ./copies grandchildren
check "... three recorded" recorded 3
check "... and their ends" bash -c 'grep -qx "without: 400" out.txt && grep -qx "with: 500" out.txt'
for k in 1 2 3; do
  number=$(copy $k)
  case $k in
    1) status=4 who=grandchild ;;
    2) status=5 who="its parent" ;;
    3) status=5 who="grandchild of threads" ;;
  esac
  check "grandchild or child $k replays" run "$status" replay "$number" --times 20
  check "... the same" says err.txt "20 times: same"
  check "... with what it printed" run "$status" replay "$number"
  check "... alone" same "$who"
done

check "a copy made by a second thread" record --seed 2 -- ./copies thread
check "... is recorded" recorded 1
check "... and ended with it" grep -qx "by thread: 0" out.txt
check "... it replays" run 0 replay "$(copy 1)" --times 20
check "... with what it printed" run 0 replay "$(copy 1)"
check "... alone" bash -c 'grep "^by thread: [0-9]* " printed.txt | diff - out.txt'

failing=
passing=
for seed in $(seq 1 60); do
  record --seed "$seed" -- ./copies fails
  if grep -q "^clew: fail (assert).*process" err.txt; then failing=$seed; else passing=$seed; fi
  [ -n "$failing" ] && [ -n "$passing" ] && break
done
record --seed "$failing" -- ./copies fails
check "an assertion fails in a copy under some schedule" [ -n "$failing" ]
check "... and not under all" [ -n "$passing" ]
check "... seen by its parent" grep -qx "fails: 8\?6" out.txt
check "... with its place" says err.txt "at copies.c:"
check "... and how to replay it" says err.txt "replay it: clew replay $(copy 1)"
check "... its replay fails as well" run 134 replay "$(copy 1)"
check "... in the same way" says err.txt "assertion.*ready == seen"
check "... each time" run 134 replay "$(copy 1)" --times 20
check "... and its course can be shown" run 0 show "$(copy 1)"

check "copies without threads" record -- ./copies quiet
check "... make no recordings" recorded 0
for line in 'aborts: 8\?6' 'asserts: 8\?6' "echoes" "echo: 0" "vfork: 600"; do
  check "... '$line'" grep -qx "$line" out.txt
done

check "a copy that needs a lock which another thread held" record -- ./copies held
check "... is reported" says err.txt "deadlock.*process"
check "... replays" run 120 replay "$(copy 1)" --times 3

check "timers and signals" record -- ./copies signals
check "... are not the parent's" grep -qx "pending 0, alarm 0" out.txt
check "... but come" bash -c 'grep -qx "got 1" out.txt && grep -qx "signals: 0" out.txt'
check "... replay" run 0 replay "$(copy 1)" --times 5

check "memory shared with copies" record -- ./copies share
check "... by all" grep -qx "turns: 100" out.txt
check "four copies that share a socket" record -- ./copies prefork
check "... serve all" grep -qx "answers: 16" out.txt
check "... are recorded" recorded 4
for k in 1 2 3 4; do check "... replay $k" run 0 replay "$(copy $k)" --times 3; done

check "a copy that stays" record -- ./copies stays
check "... is let go" says err.txt "it was still running when the program that started it had ended"
check "... and lives" kill -0 "$(cat pid.txt)"
kill "$(cat pid.txt)"
check "... its recording replays as far as it goes" run 0 replay "$(copy 1)"

printf './copies one; (echo subshell)\n' >script
check "a copy made by a program that a script starts" record -- sh ./script
check "... is recorded, and so is that program" recorded 2
check "... a shell's own are not" bash -c 'grep -qx subshell out.txt && ! grep -q "process [0-9]* (sh" err.txt'
check "... it replays" run 3 replay "$(copy 2)" --times 5
check "... and that program" run 0 replay "$(copy 1)" --times 5

check "hunts leave copies alone" run 0 hunt --schedules 20 -- ./copies one
finish
