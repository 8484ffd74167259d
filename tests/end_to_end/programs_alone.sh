#!/usr/bin/env bash
# A program built with clew and started without it is the ordinary program: real threads, real
# time, no recording.
. "$(dirname "$0")/lib.sh"
cat >p.cpp <<'C'
#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <condition_variable>
std::mutex m;
std::condition_variable c;
bool ready;
static int kernel_threads() {
  int n = 0;
  DIR* d = opendir("/proc/self/task");
  while (readdir(d)) n++;
  closedir(d);
  return n - 2;
}
int main() {
  std::thread t([] { std::unique_lock<std::mutex> l(m); c.wait(l, [] { return ready; }); });
  printf("threads %d\n", kernel_threads());
  auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto took = std::chrono::steady_clock::now() - before;
  printf("slept %d\n", took >= std::chrono::milliseconds(50));
  { std::lock_guard<std::mutex> l(m); ready = true; }
  c.notify_all();
  t.join();
}
C
"$clew" c++ -std=c++20 -O2 p.cpp -o p -pthread || exit 1
./p >out.txt
check "real threads" says out.txt "threads 2"
check "real time" says out.txt "slept 1"
check "no recording" [ ! -e .clew ]
"$clew" run -- ./p >out.txt 2>err.txt
check "under clew: one kernel thread" says out.txt "threads 1"
check "a recording" [ -e .clew/1 ]
cat >s.c <<'C'
#include <unistd.h>
int main(void) { sleep(3600); return 0; }
C
"$clew" cc s.c -o s && timeout 20 "$clew" run -- ./s 2>/dev/null
check "an hour of sleep takes no time" [ $? = 0 ]
finish
