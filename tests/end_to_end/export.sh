#!/usr/bin/env bash
# clew export and import: a recording whose program and libraries are gone, or others, replays from one file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# A program with a library beside it, and one that it loads; which version they have can be heard.
mkdir -p there/lib here
cat >there/said.c <<'C'
const char* said(void) { return VERSION; }
C
cat >there/more.c <<'C'
const char* more(void) { return VERSION " loaded"; }
C
cat >there/main.cpp <<'C'
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern "C" const char* said();
static int shared;
static void* work(void* x) {
  for (int i = 0; i < 200; ++i) ++shared;
  return x;
}
static int tell(dl_phdr_info* info, size_t, void*) {
  if (strstr(info->dlpi_name, "libclew") == nullptr && strstr(info->dlpi_name, "vdso") == nullptr) puts(info->dlpi_name);
  return 0;
}
int main(int, char** argv) {
  char exe[4096] = "";
  if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 3;
  printf("%s %s %s\n", argv[0], strrchr(exe, '/'), said());
  void* library = dlopen("libmore.so", RTLD_NOW);
  if (library == nullptr) return puts(dlerror()), 2;
  puts(reinterpret_cast<const char* (*)()>(dlsym(library, "more"))());
  dl_iterate_phdr(tell, nullptr);
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
  printf("%d, stack %p, heap %p\n", shared, static_cast<void*>(&library), malloc(10));
  fflush(stdout);
  if (shared != 400) abort();
}
C
libraries() {
  for name in said more; do
    "$clew" cc -g -O1 -shared -fPIC -DVERSION="\"$1\"" "there/$name.c" -o "there/lib/lib$name.so" || return 1
  done
}
check "libraries are built" libraries first
# shellcheck disable=SC2016  # the dynamic linker reads it
check "the program is built" "$clew" c++ -std=c++20 -g -O1 -pthread there/main.cpp -Lthere/lib -lsaid \
  -Wl,-rpath,'$ORIGIN/lib' -o there/prog
cd there || exit 1
# An address is printed: only one that is the same everywhere can be exported.
export CLEW_LOAD_AGAIN=1
check "a failing run" run 1 hunt --seed 1 --schedules 5000 -- ./prog
unset CLEW_LOAD_AGAIN
check "exported" run 0 export -o ../crash.clew
check "... says so" says out.txt 'with the program and'
check "a file that exists is not overwritten" run 125 export -o ../crash.clew
"$clew" show >../shown.txt 2>&1
"$clew" replay >../replayed.txt 2>/dev/null
mv ../replayed.txt ../output
cd ..

# Elsewhere: other libraries under the same paths, and no program.
check "libraries change" libraries second
rm -f there/prog
cd here || exit 1
check "imported" run 0 import ../crash.clew
check "... says what it means" says out.txt 'runs the program in the file, with your rights'
check "replayed" run 134 replay
check "... with the same output" cmp out.txt ../output
check "... that is the first version's" says out.txt 'first loaded'
check "replayed ten times" run 134 replay --times 10
check "shown as there" eval '"$clew" show 2>&1 | sed "s:$work/there/::" >out.txt; diff out.txt ../shown.txt'
check "a clock" run 0 where 5
check "... in the source" says out.txt 'main.cpp'
check "traced" run 0 trace --at main.cpp:11
check "isolated" run 0 isolate
check "... in the source" says out.txt 'main.cpp'
check "explained" run 0 explain
timeout -k 5 100 "$clew" replay --gdb --gdb-arg=-batch --gdb-arg=-nx --gdb-arg=-ex --gdb-arg='info sharedlibrary' \
  --gdb-arg=-ex --gdb-arg='break abort' --gdb-arg=-ex --gdb-arg=continue --gdb-arg=-ex --gdb-arg=backtrace >out.txt 2>err.txt </dev/null
check "gdb knows its libraries" says out.txt '/root/.*/libsaid.so'
check "... and its lines" says out.txt 'main.cpp:'
check "exported again" run 0 export -o ../again.clew
check "live, and recorded" run 134 replay --live
check "... that finds its own path" says out.txt '^./prog /prog first'
check "... and that is replayed" run 134 replay

# What was imported is checked.
printf x >>.clew/1/root"$work"/there/lib/libmore.so
for number in 1 ""; do
  check "a changed library is found" run 125 replay $number
  check "... and named" says err.txt 'libmore.so has changed'
done
cd ..
mkdir -p third && cd third || exit 1
check "imported again" run 0 import ../again.clew
check "... replayed" run 134 replay
cd ..

# Hostile files: each is refused in a line, and leaves nothing behind.
mkdir -p hostile && cd hostile || exit 1
size=$(stat -c %s ../crash.clew)
refused() { run 125 import "$1" && says err.txt '^clew: ' && [ -z "$(ls -A .clew 2>/dev/null)" ]; }
for cut in 0 1 15 16 17 100 $((size / 2)) $((size - 1)); do
  head -c "$cut" ../crash.clew >part.clew
  check "the first $cut bytes" refused part.clew
done
# changed AT BY: the file with that byte increased
changed() {
  python3 -c 'import sys
data = bytearray(open("../crash.clew", "rb").read())
at = int(sys.argv[1])
data[at] = (data[at] + int(sys.argv[2])) % 256
open("changed.clew", "wb").write(data)' "$1" "$2"
  # Some bits of a compressed frame mean nothing: what comes out is the same then.
  if "$clew" import changed.clew >out.txt 2>err.txt; then
    run 134 replay && cmp out.txt ../output && rm -r .clew/1
  else
    refused changed.clew
  fi
}
for i in $(seq 1 20); do check "byte $((i * size / 21)) is another" changed $((i * size / 21)) "$i"; done
mkfifo pipe
check "a pipe" refused pipe
check "no file" refused nowhere
check "not an export" refused "$source/README.md"
finish
