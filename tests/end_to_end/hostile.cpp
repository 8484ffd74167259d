// What a program can do to keep a tool from ending in time; the argument says which.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
static std::atomic<int> here, there;
static volatile int count;
static int lost;
static void bump() { lost = lost + 1; }
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
    case 's':
      raise(SIGSTOP);
      break;
    case 'k':
      kill(getpid(), SIGSTOP);
      break;
    case 'u':
      unmap_all_of_clew();
      break;
    case 'w':
      while (there == 0) {
      }
      here = 1;
      break;
    case 'a':
      for (;;) asm volatile("pause");
    case 'l':
      for (long i = 0; i < 4'000'000'000; ++i) count = count + 1;
      break;
    case 'm': {
      std::vector<char> gigabyte(1 << 30);
      for (std::size_t i = 0; i < gigabyte.size(); i += 4096) gigabyte[i] = 1;
      count = gigabyte[4096];
      break;
    }
  }
}
// Is left while threads run that never end; fails if an update is lost.
static int leave_running() {
  for (int i = 0; i < 4; ++i)
    std::thread([] {
      for (;;) count = count + 1;
    }).detach();
  std::thread first(bump), second(bump);
  first.join();
  second.join();
  return lost != 2;
}
int main(int, char** arguments) {
  const char how = arguments[1][0];
  if (how == 'd') return leave_running();
  // Before the first thread, where the runs of a hunt begin.
  if (how == 'b')
    for (long i = 0; i < 4'000'000'000; ++i) count = count + 1;
  std::thread thread(other, how);
  if (how == 'w') {
    while (here == 0) {
    }
    there = 1;
  }
  thread.join();
  return how == 'l' && count < 0;
}
