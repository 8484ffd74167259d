#!/usr/bin/env bash
# Test programs that fork each case, as Check, acutest and many hand-written runners do, and those that run for seconds by
# their own clock.
. "$(dirname "$0")/lib.sh"
cat >body.h <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int counter;
static void* increment(void* unused) { counter = counter + 1; return unused; }
static int count(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, increment, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return counter;
}
static int alone(void) { return 0; }
static int safe(void) { return count() > 2; }
static int racy(void) { return count() != 2; }
static int fails(void) { return count() > 0 ? 7 : 0; }
struct test { const char* name; int (*run)(void); int expected; };
static const struct test kTests[] = {{"alone", alone, 0}, {"safe", safe, 0}, {"fails", fails, 7}, {"racy", racy, 0}};
C
# The child leads a group of its own and tells its parent through a pipe, of which it closes the other end.
cat >runner.c <<'C'
#include "body.h"
static int forked(const struct test* test) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    close(ends[0]);
    const int status = test->run();
    if (write(ends[1], "done", 4) != 4) _exit(99);
    _exit(status);
  }
  close(ends[1]);
  char text[8];
  while (read(ends[0], text, sizeof text) > 0) {}
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != test->expected;
}
int main(int count, char** names) {
  int failures = 0;
  for (unsigned i = 0; i < sizeof kTests / sizeof *kTests; ++i)
    if (count < 2 || strcmp(names[1], kTests[i].name) == 0) failures += forked(&kTests[i]);
  return failures != 0;
}
C
"$clew" cc -O1 -g runner.c -o runner -pthread || exit 1
hunt() { local status=$1; shift; run "$status" hunt --seed 3 --json out.json "$@"; }
check "the first child with threads" hunt 0 --schedules 300 ./runner
check "... is the one that is run" json "d['schedules'] == 300 and d['interleavings'] > 1 and any('run as child 2,' in n and 'with threads: 2, 4;' in n for n in d['notes'])"
check "one that the program expects to fail is not" json "not any('3' in n for n in d['notes'])"
check "a child without others before it" hunt 0 --schedules 300 ./runner safe
check "... is put back in place" json "any('run as child 1,' in n for n in d['notes']) and not any('forked for each' in n for n in d['notes'])"
check "a failure in a child" hunt 1 --schedules 2000 ./runner racy
failing=$(python3 -c 'import json; print(json.load(open("out.json"))["failing"])')
check "... replays" run 1 replay "$failing"
check "... is isolated" run 0 isolate "$failing"
check "... by its threads" says out.txt "preempt"
check "... is the same in a live replay" run 1 replay "$failing" --live
check "... is found by debug" run 1 debug --seed 3 --schedules 2000 ./runner racy
check "the child that is asked for" hunt 1 --schedules 2000 --child 4 ./runner
check "each child with threads" run 1 hunt --each --seed 3 --schedules 2000 --json out.json ./runner
check "... has a hunt of its own" bash -c 'grep -q "^\[PASS\] child 2 " err.txt && grep -q "^\[FAIL\] child 4 " err.txt && ! grep -q "child 3 " err.txt'

# The options and the list of acutest.
cat >list.c <<'C'
#include "body.h"
int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "--help") == 0) puts("  -E, --no-exec         Same as --exec=never");
  if (count > 1 && strcmp(arguments[1], "--list") == 0) {
    puts("Unit tests:");
    for (int i = 0; i < 4; ++i) printf("  %s\n", kTests[i].name);
    return 0;
  }
  if (count < 3 || strcmp(arguments[1], "--exec=never") != 0) return 3;
  for (int i = 0; i < 4; ++i)
    if (strcmp(arguments[2], kTests[i].name) == 0) return kTests[i].run() != kTests[i].expected;
  return 4;
}
C
"$clew" cc -O1 -g list.c -o list -pthread || exit 1
check "acutest: each" run 1 hunt --each --seed 3 --schedules 2000 --json out.json ./list
check "... by its names" json "d['framework'] == 'acutest' and [(t['name'], t['result']) for t in d['tests']] == [('alone', 'pass'), ('safe', 'pass'), ('fails', 'pass'), ('racy', 'fail')]"

# For twenty seconds, by the clock and by a timed wait; what was waited for has passed by the clock.
cat >seconds.cpp <<'C'
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
using Clock = std::chrono::steady_clock;
static std::atomic<long> turns;
static long lost;
static void turn(Clock::time_point end) { while (Clock::now() < end) { ++turns; ++lost; } }
int main(int count, char**) {
  const auto begin = Clock::now();
  std::thread other(turn, begin + std::chrono::seconds(20));
  if (count > 1) {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    while (Clock::now() < begin + std::chrono::seconds(20)) {
      const auto before = Clock::now();
      never.wait_for(lock, std::chrono::milliseconds(1));
      if (Clock::now() < before) return 2;
      const auto until = Clock::now() + std::chrono::milliseconds(1);
      std::this_thread::sleep_until(until);
      if (Clock::now() < until) return 3;
    }
  } else {
    turn(begin + std::chrono::seconds(20));
  }
  other.join();
  return Clock::now() - begin < std::chrono::seconds(20) ? 4 : turns != lost;
}
C
"$clew" c++ -O1 -g seconds.cpp -o seconds -pthread || exit 1
check "twenty seconds by the program's clock" hunt 1 --time 20 ./seconds
check "... pass a hundred times as fast" json "any('100 times as fast' in n and '20.0 s' in n for n in d['notes'])"
check "... in a replay, too" run 1 replay "$(python3 -c 'import json; print(json.load(open("out.json"))["failing"])')"
check "... and as fast as is wished" hunt 1 --time 20 --clock-speed 1000 ./seconds
check "... without a note" json "not any('as fast' in n for n in d['notes'])"
check "timed waits agree with the clock" hunt 0 --only deadlock --schedules 12 ./seconds wait
check "... at speed" json "any('times as fast' in n for n in d['notes']) and d['unresolved'] == 0"
finish
