#!/usr/bin/env bash
# A replay that is not the recorded run says so, and where.
. "$(dirname "$0")/lib.sh"
cat >p.cpp <<'C'
#include <cstdio>
#include <dlfcn.h>
#include <mutex>
#include <thread>
int shared;
std::mutex lock;
static void work(int n) {
  for (int i = 0; i < n; i++) {
    std::lock_guard<std::mutex> hold(lock);
    shared = shared + 1;
  }
}
int main() {
  int n = 0;
  FILE* f = fopen("n.txt", "r");
  if (f == nullptr || fscanf(f, "%d", &n) != 1) return 3;
  fclose(f);
  void* library = dlopen("./n.so", RTLD_NOW);
  auto* more = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "more")) : nullptr;
  if (more == nullptr) return 4;
  n += more();
  std::thread a(work, n), b(work, 100);
  a.join();
  b.join();
  printf("%d\n", shared);
}
C
"$clew" c++ -std=c++20 -O1 -g p.cpp -o p -pthread || exit 1
# The program loads code: the one thing that it reads and that is not in the recording.
library() { echo "extern \"C\" int more() { return $1; }" >n.cpp && "$clew" c++ -shared -fPIC n.cpp -o n.so; }
library 0
echo 100 >n.txt
"$clew" run --seed 3 -- ./p >/dev/null 2>&1 || exit 1
check "what is unchanged replays" run 0 replay
rm n.txt
check "without its input too" run 0 replay
for n in -1 -40 -99; do
  library $n
  check "another library ($n) departs" run 123 replay --json out.json
  check "... with the clock" says err.txt "clock "
  check "... what was expected, or where" says err.txt 'expected \|where '
  check "... what happened" says err.txt 'actual \|something before this differed\|the program calls '
  check "... and a hint" says err.txt "hint"
  check "... counted" is diverged 1
done
library 0
check "the recording is still good" run 0 replay

# What is left in its buffers has no place in the recording either: the first departure ends it.
cat >buffers.cpp <<'C'
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int main() {
  const int file = open("n.cpp", O_RDONLY);
  char text[8];
  void* library = dlopen("./n.so", RTLD_NOW);
  auto* more = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "more")) : nullptr;
  if (more == nullptr) return 4;
  printf("in the buffer\n");
  for (int i = 0; i < 3; i++)
    if (more() == 0 ? read(file, text, sizeof text) < 0 : lseek(file, 0, SEEK_CUR) < 0) return 5;
}
C
"$clew" c++ -std=c++20 -O1 -g buffers.cpp -o buffers || exit 1
"$clew" run ./buffers >/dev/null 2>&1 || exit 1
library 1
check "a departure with output in a buffer" run 123 replay
check "... names the first" says err.txt "lseek"
check "... and the line that makes the call" says err.txt 'where .*buffers.cpp:13 in main'
check "... and is not an error of clew's" bash -c '! grep -q "internal check" err.txt out.txt'

# A program that has departed writes less than it did: what lies behind its text is not shown.
cat >less.cpp <<'C'
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char**) {
  char text[] = "shown hidden\n";
  void* library = dlopen("./n.so", RTLD_NOW);
  auto* more = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "more")) : nullptr;
  int channel[2];
  if (more == nullptr || pipe(channel) != 0) return 4;
  return write(count > 1 ? channel[1] : STDOUT_FILENO, text, 5 + more()) > 0 ? 0 : 5;
}
C
"$clew" c++ -std=c++20 -O1 -g less.cpp -o less || exit 1
library 8
"$clew" run ./less >/dev/null 2>&1 || exit 1
"$clew" run -- ./less into_a_pipe >/dev/null 2>&1 || exit 1
library 0
newest=$(find .clew -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort -n | tail -1)
for recording in $((newest - 1)) "$newest"; do
  check "recording $recording: less is written than before" run 123 replay "$recording"
  check "... which is said" says err.txt "the recording has the same call with more data"
  check "... and nothing else is shown" bash -c '! grep -q hidden out.txt'
done

# The kernel and the dynamic linker store the vector registers on the program's stack: nothing that the runtime has computed,
# in a hunt other things than in a replay, may be there.
cat >vectors.cpp <<'C'
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex lock;
static int unguarded;
__attribute__((noinline)) static unsigned long unset() {
  volatile unsigned long words[64];
  unsigned long hash = 0;
  for (int i = 0; i < 64; i++) hash = hash * 31 + words[i];
  return hash;
}
static void handle(int) { std::printf("%lx\n", unset()); }
static void work(int n) {
  std::vector<char*> blocks;
  for (int i = 0; i < 20; i++) {
    blocks.push_back(new char[16 + n * 37 + i * 8]);
    std::lock_guard<std::mutex> hold(lock);
  }
  unguarded = unguarded + 1;
  for (char* block : blocks) delete[] block;
  std::raise(SIGUSR1);
}
int main() {
  std::signal(SIGUSR1, handle);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  return unguarded == 3 ? 0 : 1;
}
C
"$clew" c++ -std=c++20 -O0 -g vectors.cpp -o vectors -pthread || exit 1
for seed in 1 2; do
  check "a failing schedule (seed $seed)" run 1 hunt --seed "$seed" --no-passing --schedules 300 ./vectors
  check "... replays with what it finds on its stack" run 1 replay
done
finish
