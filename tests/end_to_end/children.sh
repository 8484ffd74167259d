#!/usr/bin/env bash
# Child processes that were built with clew get their own recordings, however they are started.
. "$(dirname "$0")/lib.sh"
cat >worker.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* add(void* x) {
  for (int i = 0; i < 50; i++) total++;
  return x;
}
int main(int argc, char** argv) {
  sigset_t set;
  char line[64] = "";
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  sigprocmask(SIG_BLOCK, 0, &set);
  if (argc > 2) fgets(line, sizeof line, stdin);
  printf("%s %d %s%s", argv[1], sigismember(&set, SIGUSR2), getenv("CLEW_CONTROL"), line[0] ? line : "\n");
  fflush(stdout);
  if (strcmp(argv[1], "exits") == 0) return 3;
  if (strcmp(argv[1], "aborts") == 0) abort();
  if (strcmp(argv[1], "locks") == 0) pthread_mutex_lock(&lock), pthread_mutex_lock(&lock);
  if (strcmp(argv[1], "waits") == 0) pause();
  return 0;
}
C
cat >parent.c <<'C'
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static void by_fork(const char* what) {
  pid_t pid = fork();
  if (pid == 0) {
    execl("./worker", "worker", what, (char*)0);
    _exit(9);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  printf("%s: %x\n", what, status);
}
int main(void) {
  printf("system: %x\n", system("./worker system"));
  fflush(stdout);
  FILE* pipe = popen("echo ' a line' | ./worker popen x", "r");
  char line[100] = "";
  if (fgets(line, sizeof line, pipe)) fputs(line, stdout);
  printf("popen: %x\n", pclose(pipe));
  char* arguments[] = {"./worker", "spawn", 0};
  pid_t pid;
  int status = -1;
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &block);
  posix_spawn(&pid, "./worker", 0, &attributes, arguments, environ);
  waitpid(pid, &status, 0);
  printf("spawn: %x\n", status);
  by_fork("exits");
  by_fork("aborts");
  by_fork("locks");
  fflush(stdout);
  execl("./worker", "worker", "last", (char*)0);
  return 1;
}
C
"$clew" cc -g worker.c -o worker -pthread && "$clew" cc -g parent.c -o parent || exit 1

check "a program with children" run 0 run --seed 5 --json out.json -- ./parent
for line in "system: 0" "popen 0 parent a line" "popen: 0" "spawn 1 parent" "spawn: 0" "exits: 300" \
  "aborts: 6" "locks: 7a00" "last 0 parent"; do
  check "... prints '$line'" grep -qx "$line" out.txt
done
check "... seven of them recorded" bash -c '[ "$(ls -d .clew/[0-9]* | wc -l)" = 8 ]'
check "... each named" bash -c '[ "$(grep -c "^clew: .*, process [0-9]* (.*worker .*), recording [2-8]$" err.txt)" = 7 ]'
check "... with what failed" says err.txt "deadlock.*no thread is runnable, process"
check "... in the JSON" bash -c '[ "$(grep -c "\"command\": \"" out.json)" = 7 ]'
mv worker.c worker.gone
check "its own replay starts none" run 0 replay --times 5
check "... and is of the program, not of a child" says err.txt "replayed recording 1 5 times"
number=2
for status in 0 0 0 3 134 120 0; do
  check "child $number replays" run $status replay $number --times 5
  check "... the same" says err.txt "replayed recording $number 5 times: same"
  number=$((number + 1))
done
check "a child's output comes again" run 0 replay 4
check "... from the replay" grep -qx "spawn 1 parent" out.txt
check "its origin is kept" grep -q "process [0-9]* of recording 1" .clew/4/meta.json

# A script is run by a shell, which was not built with clew.
printf './worker one; ./worker exits || echo "it failed"; exec ./worker last\n' >script
check "a script" run 0 run -- sh ./script
check "... whose programs are recorded" bash -c '[ "$(grep -c "^clew: .*, process" err.txt)" = 3 ]'
check "... and print" grep -qx "it failed" out.txt

# A child that outlives the program.
printf './worker waits >waits.txt & echo $! >pid.txt; while [ ! -s waits.txt ]; do sleep 0.01; done\n' >script
check "a child that stays" run 0 run -- sh ./script
check "... is let go" says err.txt "it was still running when the program that started it had ended"
check "... and lives" kill -0 "$(cat pid.txt)"
kill "$(cat pid.txt)"
last=$(sed -n 's/.*, recording \([0-9]*\)$/\1/p' err.txt | tail -n 1)
check "... its recording replays as far as it goes" run 0 replay "$last"

# A program that becomes another one by exec without a child process: the replay does not follow it.
printf 'int main(void) { extern int execl(const char*, ...); return execl("/bin/echo", "echo", "became echo", (char*)0); }\n' >becomes.c
"$clew" cc -Wno-everything becomes.c -o becomes || exit 1
check "a program that becomes another" run 0 run -- ./becomes
check "... which prints" grep -qx "became echo" out.txt
check "... and is named" says err.txt "ends where the program became /bin/echo"
check "... is replayed up to there" run 0 replay
check "... and not further" bash -c '! grep -q echo out.txt'

# A program that replaces itself by itself several times, and then continues.
cat >stages.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(int count, char** arguments) {
  printf("stage %d\n", count);
  fflush(stdout);
  if (count == 1) execl("./nothing", "nothing", (char*)0);
  if (count == 1) execl(arguments[0], arguments[0], "a", (char*)0);
  if (count == 2) execl(arguments[0], arguments[0], "a", "b", (char*)0);
  if (count == 3) execl("./worker", "worker", "exits", (char*)0);
  return 1;
}
C
"$clew" cc -g stages.c -o stages || exit 1
check "a program that becomes itself" run 3 run -- ./stages
check "... is recorded in each stage" bash -c '[ "$(grep -c "^clew: .*, process" err.txt)" = 3 ]'
check "... and none was ended from outside" bash -c '! grep -q interrupted err.txt'
first=$(sed -n 's/.*, recording \([0-9]*\)$/\1/p' err.txt | head -n 1)
check "... the first replays" run 0 replay $((first - 1)) --times 2
check "... those in the middle" run 0 replay "$first" --times 2
check "... both" run 0 replay $((first + 1)) --times 2
check "... the last" run 3 replay $((first + 2)) --times 2
printf './stages a >stages.txt & echo $! >pid.txt; while ! grep -q "waits" stages.txt; do sleep 0.01; done\n' >script
sed -i 's/"exits"/"waits"/' stages.c && "$clew" cc -g stages.c -o stages || exit 1
check "one whose last stage stays" run 0 run -- sh ./script
kill "$(cat pid.txt)"
check "... is let go in that one only" bash -c '[ "$(grep -c "it was still running when" err.txt)" = 1 ]'

# A sleep of the program is as long for its child, also if another child has ended and was not waited for.
cat >apart.c <<'C'
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}
static int serve(int line) {  // answers each byte with the time since the start
  const int begin = milliseconds();
  struct pollfd wait = {line, POLLIN, 0};
  for (char c;;) {
    if (poll(&wait, 1, 1000) == 0) continue;
    if (read(line, &c, 1) != 1) return 0;
    const int spent = milliseconds() - begin;
    if (write(line, &spent, sizeof spent) != sizeof spent) return 1;
  }
}
static int ask(int line) {
  int spent = -1;
  if (write(line, "?", 1) != 1 || read(line, &spent, sizeof spent) != sizeof spent) exit(4);
  return spent;
}
int main(int argc, char** argv) {
  if (argc > 1) return serve(atoi(argv[1]));
  int pair[2];
  char number[16];
  if (fork() == 0) _exit(0);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 3;
  snprintf(number, sizeof number, "%d", pair[1]);
  if (fork() == 0) {
    close(pair[0]);
    execl(argv[0], argv[0], number, (char*)0);
    _exit(9);
  }
  close(pair[1]);
  const int first = ask(pair[0]);
  usleep(400000);
  const int second = ask(pair[0]);
  for (int i = 0; i < 10; i++) usleep(60000), ask(pair[0]);
  const int third = ask(pair[0]);
  close(pair[0]);
  while (wait(0) > 0) {
  }
  if (second - first >= 300 && third - second >= 400) return 0;
  return printf("%d %d %d\n", first, second, third), 1;
}
C
"$clew" cc -g apart.c -o apart || exit 1
check "a client and its server keep step" run 0 run -- ./apart
server=$(sed -n 's/^clew: .*process .*, recording //p' err.txt | tail -n 1)
check "... in a replay, too" run 0 replay --times 2
check "... of the server" run 0 replay --times 2 "$server"

# Too many for the disk.
printf 'i=0; while [ $i -lt 104 ]; do ./worker many >/dev/null; i=$((i+1)); done\n' >script
check "a hundred and four" run 0 run -- sh ./script
check "... a hundred of which are recorded" bash -c '[ "$(grep -c "^clew: .*, process" err.txt)" = 100 ]'
check "... which is said" says err.txt "more than 100 child processes"
finish
