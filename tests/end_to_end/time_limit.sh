#!/usr/bin/env bash
# --time bounds all of hunt, isolate and debug, whatever the program does. A command that does not keep to it never ends here, or takes
# minutes: the limits of this test are far above what it should take.
. "$(dirname "$0")/lib.sh"
cat >hostile.cpp <<'C'
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
static std::atomic<int> here, there;
static int count;
static void unmap_all_of_clew() {
  unsigned long begin[64], end[64];
  int found = 0;
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (found < 64 && fgets(line, sizeof line, maps) != nullptr)
    if (strstr(line, "clew") && sscanf(line, "%lx-%lx", &begin[found], &end[found]) == 2) ++found;
  for (int i = 0; i < found; ++i) munmap(reinterpret_cast<void*>(begin[i]), end[i] - begin[i]);
}
static void other(char how) {
  switch (how) {
    case 's': raise(SIGSTOP); break;
    case 'k': kill(getpid(), SIGSTOP); break;
    case 'u': unmap_all_of_clew(); break;
    case 'w': while (there == 0) {} here = 1; break;
    case 'l': for (long i = 0; i < 4'000'000'000; ++i) count = count + 1; break;
  }
}
int main(int, char** arguments) {
  const char how = arguments[1][0];
  std::thread thread(other, how);
  if (how == 'w') { while (here == 0) {} there = 1; }
  thread.join();
  return how == 'l' && count < 0;
}
C
"$clew" c++ -w -O1 -g hostile.cpp -o hostile -pthread || exit 1
ends() { timeout -s KILL 60 "$clew" "$@" >said 2>&1; [[ $? -ne 137 ]]; }
for how in s k u w l; do
  for command in hunt debug; do
    check "$command --time 2 ends: hostile $how" ends $command --time 2 --seed 1 ./hostile $how
  done
done
check "a program that stops itself is not judged" run 122 hunt --schedules 20 --seed 1 ./hostile s
"$clew" hunt --budget 2000000 --seed 1 --schedules 1 ./hostile w >/dev/null 2>&1
check "isolate --time 2 ends" ends isolate --time 2
finish
