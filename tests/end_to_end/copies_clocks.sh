#!/usr/bin/env bash
# A copy of the program, made by fork, has the program's clocks, under clew or not.
. "$(dirname "$0")/lib.sh"

cat >clocks.cpp <<'C'
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <semaphore>
#include <semaphore.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
using namespace std::chrono;
static double now(clockid_t c) { timespec t; clock_gettime(c, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
// Waits of 20 milliseconds, each by another call.
static int check() {
  int bad = 0;
  auto timed = [&](const char* what, auto wait) {
    const auto begin = steady_clock::now();
    wait();
    const double took = duration<double>(steady_clock::now() - begin).count();
    if (took < 0.019 || took > 5) { fprintf(stderr, "%s took %f\n", what, took); bad = 1; }
  };
  std::mutex m; std::condition_variable c; std::counting_semaphore<> s(0); sem_t ps; sem_init(&ps, 0, 0);
  timed("wait_for", [&] { std::unique_lock l(m); c.wait_for(l, 20ms, [] { return false; }); });
  timed("wait_until system", [&] { std::unique_lock l(m); c.wait_until(l, system_clock::now() + 20ms, [] { return false; }); });
  timed("semaphore", [&] { s.try_acquire_for(20ms); });
  timed("sem_timedwait", [&] { timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 20000000; if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, ++t.tv_sec; sem_timedwait(&ps, &t); });
  timed("sleep_until", [&] { std::this_thread::sleep_until(steady_clock::now() + 20ms); });
  timed("sleep_for", [&] { std::this_thread::sleep_for(20ms); });
  return bad;
}
int main() {
  std::thread([] {}).join();
  const double m0 = now(CLOCK_MONOTONIC), r0 = now(CLOCK_REALTIME); const time_t t0 = time(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const double m = now(CLOCK_MONOTONIC) - m0, r = now(CLOCK_REALTIME) - r0; timeval tv; gettimeofday(&tv, nullptr);
    if (m < 0 || m > 5 || r < 0 || r > 5 || time(nullptr) < t0 || time(nullptr) > t0 + 5 || tv.tv_sec < t0 || tv.tv_sec > t0 + 5) { fprintf(stderr, "the child's clocks differ by %f %f\n", m, r); _exit(1); }
    _exit(check());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
C
"$clew" c++ -std=c++20 -O1 -g clocks.cpp -o clocks -pthread || exit 1
check "without clew" ./clocks
check "under clew" run 0 run --seed 1 ./clocks
check "in a hunt" run 0 hunt --seed 1 --schedules 3 ./clocks
check "... in processes of their own" run 0 hunt --seed 1 --schedules 2 --fork ./clocks

finish
