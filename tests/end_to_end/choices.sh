#!/usr/bin/env bash
# The choices beside switches: a program that cannot tolerate one is caught by it and by nothing else, and what is found
# replays. Its twin that tolerates it passes.
. "$(dirname "$0")/lib.sh"
# Each file is two programs: with -DFIXED, the twin.
cat >cas.cpp <<'C'
#include <assert.h>
#include <atomic>
#include <thread>
static std::atomic<int> owner, other;
int main() {
  std::thread t([] { other = 1; });
  int found = 0;
#ifdef FIXED
  while (!owner.compare_exchange_weak(found, 1) && found == 0) {}
#else
  if (!owner.compare_exchange_weak(found, 1)) assert(found != 0 && "somebody was faster");
#endif
  t.join();
  assert(owner == 1);
}
C
cat >spurious.cpp <<'C'
#include <assert.h>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable c;
static bool ready;
int main() {
  std::thread t([] {
    std::lock_guard lock(m);
    ready = true;
    c.notify_one();
  });
  {
    std::unique_lock lock(m);
#ifdef FIXED
    while (!ready) c.wait(lock);
#else
    if (!ready) c.wait(lock);
#endif
    assert(ready);
  }
  t.join();
}
C
cat >timeout.cpp <<'C'
#include <assert.h>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable c;
static bool ready;
int main() {
  std::thread t([] {
    std::lock_guard lock(m);
    ready = true;
    c.notify_one();
  });
  {
    std::unique_lock lock(m);
    const bool signalled = c.wait_for(lock, std::chrono::milliseconds(500), [] { return ready; });
#ifdef FIXED
    if (!signalled) c.wait(lock, [] { return ready; });
#else
    assert(signalled);
#endif
  }
  t.join();
}
C
cat >trylock.cpp <<'C'
#include <assert.h>
#include <atomic>
#include <mutex>
#include <thread>
static std::mutex m;
static std::atomic<int> step;
int main() {
  std::thread t([] {
    { std::lock_guard lock(m); }
    step++;
    step++;
  });
  while (step == 0) std::this_thread::yield();
#ifdef FIXED
  while (!m.try_lock()) {}
#else
  assert(m.try_lock() && "nobody takes it any more");
#endif
  m.unlock();
  t.join();
}
C
cat >wake.cpp <<'C'
#include <assert.h>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable arrived, go;
static int waiting, wakes, first = -1;
static void wait() {
  std::unique_lock lock(m);
  const int ticket = waiting++;
  arrived.notify_one();
  go.wait(lock, [] { return wakes > 0; });
  if (first < 0) first = ticket;
  arrived.notify_one();
}
int main() {
  std::thread a(wait), b(wait);
  {
    std::unique_lock lock(m);
    arrived.wait(lock, [] { return waiting == 2; });
    wakes = 1;
    go.notify_one();
    arrived.wait(lock, [] { return first >= 0; });
    go.notify_one();
  }
  a.join();
  b.join();
#ifndef FIXED
  assert(first == 0 && "first come, first served");
#endif
}
C
# Without points in the threads, so that a single answer decides which thread is first.
cat >pick.c <<'C'
#include <assert.h>
#include <pthread.h>
static int order[2], count;
__attribute__((annotate("clew_no_yield"))) static void* work(void* number) {
  order[count++] = (int)(long)number;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, (void*)1);
  pthread_create(&b, 0, work, (void*)2);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(order[0] == 1 && "the first that is created is the first to run");
  return 0;
}
C
# Fails when two weak compare-exchanges have failed: many questions, most of them answered by default. Threads end right
# after one, straight-line code has several, and other questions lie between.
cat >mixed.cpp <<'C'
#include <pthread.h>
#include <atomic>
#include <mutex>
static std::atomic<int> a, b, c, failures;
static std::mutex m;
static void once(std::atomic<int>& x) {
  int old = x.load(), found = old;
  if (!x.compare_exchange_weak(found, old + 1) && found == old) failures.fetch_add(1, std::memory_order_relaxed);
}
static void* work(void* x) {
  for (int i = 0; i < 6; i++) {
    once(a), once(b);
    if (m.try_lock()) m.unlock();
    for (int old = c; !c.compare_exchange_weak(old, old + 1);) {}
  }
  int expected = 100;
  b.compare_exchange_weak(expected, 0);
  return x;
}
int main() {
  pthread_t threads[3];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, work, nullptr);
  work(nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
  return failures >= 2 || c != 24;
}
C
for p in cas spurious timeout trylock wake; do
  for level in -O0 -O2; do "$clew" c++ -std=c++20 $level -g $p.cpp -o $p$level -pthread || exit 1; done
  "$clew" c++ -std=c++20 -O1 -g -DFIXED $p.cpp -o $p.fixed -pthread || exit 1
done
for level in -O0 -O2; do "$clew" c++ -std=c++20 $level -g mixed.cpp -o mixed$level -pthread || exit 1; done
"$clew" cc -O1 -g pick.c -o pick -pthread || exit 1

# replays NUMBER STATUS: fifty times, the same end each time
replays() { run "$2" replay "$1" --times 50 --json out.json && is diverged 0 && is replays 50; }
# choice PROGRAM OFF [OPTION...]: found, and replays; not found when switched off, nor in the twin
choice() {
  local program=$1 off=$2
  shift 2
  for level in -O0 -O2; do
    check "$program $level: found" run 1 hunt --seed 1 --schedules 3000 "$@" --json out.json "./$program$level"
    check "... and replays" replays "$(field failing)" 134
    check "... not with $off" run 0 hunt --seed 1 --schedules 3000 "$@" "$off" "./$program$level"
  done
  check "... not in the twin" run 0 hunt --seed 1 --schedules 3000 "./$program.fixed"
}
choice cas --no-cas-failures
choice spurious --no-spurious
choice timeout --no-timeouts
choice trylock --no-trylock-failures
# A waiter with a spurious wake-up goes to the end of the queue: that would cause the failure too.
choice wake --no-wake-choice --no-spurious

for level in -O0 -O2; do
  for seed in 1 2 3 4 5; do
    for strategy in random pct pos; do
      check "mixed $level, $strategy, seed $seed" run 1 hunt --seed $seed --strategy $strategy --schedules 3000 --json out.json ./mixed$level
      check "... replays" replays "$(field failing)" 1
    done
  done
done

check "pick: found" run 1 hunt --seed 1 --schedules 3000 --json out.json ./pick
check "... and replays" replays "$(field failing)" 134
# The choice alone, in a schedule without switches, at whichever clock its question arises.
check "pick: not by default" run 0 run --schedule '' ./pick
alone() { for clock in $(seq 1 20); do run 134 run --schedule "$clock/$1" "$2" >/dev/null && return 0; done; return 1; }
check "... by the choice alone" alone pick:T0.2 ./pick
check "cas: not by default" run 0 run --schedule '' ./cas-O2
check "... by the choice alone" alone cas ./cas-O2
check "... and that replays" replays "" 134
finish
