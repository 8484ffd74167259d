#!/usr/bin/env bash
# OpenMP programs with LLVM's runtime, which is not built with clew: a thread that waits for tasks blocks in the
# scheduler.
. "$(dirname "$0")/lib.sh"
cc=${CLEW_CLANG_CXX:-clang++-19}
cat >tasks.cpp <<'C'
#include <omp.h>
#include <cstdio>
static void work(int rounds) {
  for (volatile int i = 0; i < rounds; i = i + 1) continue;
}
static long fibonacci(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}
static long untied(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) untied
  a = untied(n - 1);
#pragma omp task shared(b) untied
  b = untied(n - 2);
#pragma omp taskwait
  return a + b;
}
static long dependences() {
  long cells[7] = {}, sum = 0, first = 0, second = 0;
  for (int i = 0; i < 100; i++) {
#pragma omp task depend(inout : cells[i % 7]) shared(cells)
    { work(i), cells[i % 7] += i; }
  }
#pragma omp taskwait
  for (const long cell : cells) sum += cell;
  for (int i = 0; i < 10; i++) {
#pragma omp task depend(out : first) shared(first)
    { work(100), first++; }
#pragma omp task depend(out : second) shared(second)
    { work(200), second++; }
#pragma omp taskwait depend(in : first)
    sum += first;
#pragma omp task if (0) depend(in : second) shared(second, sum)
    sum += second;
  }
  return sum;
}
static long groups() {
  long sum = 0;
#pragma omp taskloop grainsize(10) reduction(+ : sum)
  for (int i = 0; i < 500; i++) sum += i;
#pragma omp taskgroup
  for (int i = 0; i < 50; i++) {
#pragma omp task priority(i % 3) shared(sum)
    {
#pragma omp taskyield
#pragma omp atomic
      sum += i;
    }
  }
  return sum;
}
static long nested() {
  long sum = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp task shared(sum)
    {
      long part = 0;
#pragma omp parallel num_threads(2) shared(part)
#pragma omp single
      part = fibonacci(7);
#pragma omp atomic
      sum += part;
    }
  }
#pragma omp taskwait
  return sum;
}
static long detached() {
  long sum = 0;
  for (int i = 0; i < 10; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(sum)
    {
#pragma omp atomic
      sum += i;
    }
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
  }
#pragma omp taskwait
  return sum;
}
static void print(const char* what, long (*compute)()) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = compute();
  std::printf("%s %ld\n", what, result);
}
int main() {
  omp_set_dynamic(0);
  omp_set_num_threads(4);
  omp_set_max_active_levels(2);
  print("fibonacci", [] { return fibonacci(12); });
  print("untied", [] { return untied(8); });
  print("dependences", dependences);
  print("groups", groups);
  print("nested", nested);
  print("detached", detached);
  long sum = 0;
#pragma omp parallel
  {  // every thread makes tasks and waits for them
    long own = 0;
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(own)
      {
        work(20);
#pragma omp atomic
        own += i;
      }
    }
#pragma omp taskwait
#pragma omp atomic
    sum += own;
  }
  std::printf("each %ld\n", sum);
}
C
"$cc" -O2 -g -fopenmp tasks.cpp -o plain || exit 1
"$clew" c++ -O2 -g -fopenmp tasks.cpp -o built || exit 1
./plain >native.txt || exit 1

# as_natively PROGRAM: under several seeds, never preempted by real time, and the recordings replay
as_natively() {
  local seed
  for seed in 1 2 3 4 5; do
    run 0 run --seed "$seed" -- "$1" || return 1
    cmp out.txt native.txt || return 1
    ! grep -q "by real time" err.txt || { echo "seed $seed: a thread spins"; return 1; }
    run 0 replay --times 2 || return 1
  done
}
check "tasks of a program that is built with clew" as_natively ./built
check "tasks of one that is not" as_natively ./plain
check "... hunted" run 0 hunt --seed 1 --schedules 20 ./built
check "without the interface for tools it still runs" bash -c 'OMP_TOOL=disabled timeout 250 "$0" run --seed 1 -- ./plain | cmp - native.txt' "$clew"

cat >deadlock.cpp <<'C'
#include <pthread.h>
#include <semaphore.h>
int main() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static sem_t begun;
  sem_init(&begun, 0, 0);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    pthread_mutex_lock(&mutex);
#pragma omp task
    {
      sem_post(&begun);
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    sem_wait(&begun);
#pragma omp taskwait
    pthread_mutex_unlock(&mutex);
  }
}
C
"$clew" c++ -O1 -g -fopenmp deadlock.cpp -o deadlock || exit 1
check "a task that never ends is a deadlock" run 120 run --seed 1 -- ./deadlock
check "... of who waits for it" says err.txt "waits for tasks (OpenMP)"
check "... and of the task" says err.txt "waits for mutex"
check "... and replayed" run 120 replay

cat >locks.cpp <<'C'
#include <omp.h>
#include <cstdio>
int main() {
  static omp_lock_t lock;
  static omp_nest_lock_t nested;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nested);
  static long sum, twice, tested, critical, total, ordered;
#pragma omp parallel num_threads(4) reduction(+ : total)
  {
    for (int i = 0; i < 50; i++) {
      omp_set_lock(&lock);
      sum++;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      twice++;
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
      while (!omp_test_lock(&lock)) continue;
      tested++;
      omp_unset_lock(&lock);
#pragma omp critical(outer)
#pragma omp critical(inner)
      critical++;
      total++;
    }
#pragma omp for ordered
    for (int i = 0; i < 50; i++) {
#pragma omp ordered
      ordered = ordered * 3 % 1009 + i;
    }
  }
  printf("%ld %ld %ld %ld %ld %ld\n", sum, twice, tested, critical, total, ordered);
}
C
cat >abba.cpp <<'C'
#include <omp.h>
int main() {
  static omp_lock_t a, b;
  omp_init_lock(&a);
  omp_init_lock(&b);
#pragma omp parallel num_threads(2)
  {
    const bool first = omp_get_thread_num() == 0;
    omp_set_lock(first ? &a : &b);
    omp_set_lock(first ? &b : &a);
    omp_unset_lock(first ? &b : &a);
    omp_unset_lock(first ? &a : &b);
  }
}
C
cat >itself.cpp <<'C'
static int depth;
static void enter() {
#pragma omp critical
  if (++depth < 3) enter();
}
int main() {
#pragma omp parallel num_threads(2)
  enter();
}
C
for p in locks abba itself; do "$clew" c++ -O1 -g -fopenmp $p.cpp -o $p || exit 1; done
"$cc" -O1 -fopenmp locks.cpp -o native && ./native >expected.txt || exit 1
for seed in 1 2 3; do
  check "locks, seed $seed" run 0 run --seed $seed -- ./locks
  check "... as natively" cmp out.txt expected.txt
  check "... and replayed" run 0 replay --times 3
done
check "locks under pct, which never runs a thread that waits" run 0 hunt --strategy pct --seed 1 --schedules 30 ./locks
check "... and under all strategies" run 0 hunt --seed 1 --schedules 30 ./locks
check "locks in two orders" run 1 hunt --seed 1 --schedules 500 --json out.json ./abba
check "... are a deadlock" json "d['failure']['kind'] == 'deadlock'"
check "... hunted on all cores" bash -c '! grep -q "one schedule at a time" err.txt'
check "... told in the words of OpenMP" bash -c '"$0" replay >out.txt 2>err.txt; grep -q "waits for OpenMP lock" err.txt' "$clew"
check "a critical section in itself" run 120 run --seed 1 -- ./itself
check "... is reported" says err.txt "waits for OpenMP lock"
finish
