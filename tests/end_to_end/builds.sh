#!/bin/bash
# A program of several files, however it is built: static and shared libraries, dlopen, LTO, no debug information, stripped.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
cat >part.inc <<'END'
struct Counter {
  int limit, value;
};
extern "C" void bump(Counter* counter);
int lost(const Counter& counter);
END
cat >part.cc <<'END'
#include "part.inc"
extern "C" void bump(Counter* counter) {
  const int old = counter->value;
  if (old < counter->limit) counter->value = old + 1;
}
END
cat >check.cc <<'END'
#include "part.inc"
int lost(const Counter& counter) { return counter.limit - counter.value; }
END
cat >main.cc <<'END'
#include <dlfcn.h>

#include <cassert>
#include <thread>

#include "part.inc"
Counter counter{2, 0};
int main() {
#ifdef LOADED
  void* library = dlopen("./libpart.so", RTLD_NOW);
  const auto run = reinterpret_cast<void (*)(Counter*)>(dlsym(library, "bump"));
#else
  const auto run = bump;
#endif
  std::thread a([&] { run(&counter); }), b([&] { run(&counter); });
  a.join();
  b.join();
  assert(lost(counter) == 0);
}
END
flags=(-O1 -g -std=c++20 -pthread)
files() { "$clew" c++ "${flags[@]}" part.cc check.cc main.cc -o files; }
lto() { "$clew" c++ "${flags[@]}" -flto -fuse-ld=lld part.cc check.cc main.cc -o lto; }
archive() { for f in part check; do "$clew" c++ "${flags[@]}" -c "$f.cc" || return 1; done && ar rcs libparts.a part.o check.o && "$clew" c++ "${flags[@]}" main.cc libparts.a -o archive; }
loaded() { "$clew" c++ "${flags[@]}" -shared -fPIC part.cc -o libpart.so && "$clew" c++ "${flags[@]}" -DLOADED check.cc main.cc -ldl -o loaded; }
explained() { # PROGRAM NAME: the variable's name
  rm -rf .clew
  run 1 debug --time 20 --seed 1 --json out.json "./$1" && grep -q "\`$2\` at part.cc:4" out.txt err.txt
}
for build in files lto archive loaded; do
  check "$build is built" $build
  check "$build is explained" explained $build counter.value
done
cp files stripped && strip stripped
check "a build without debug information" "$clew" c++ -O1 -std=c++20 -pthread part.cc check.cc main.cc -o plain
check "is explained, without members" explained plain 'counter+4\|counter'
stripped() { rm -rf .clew && run 1 debug --time 20 --seed 1 ./stripped && grep -q 'part.cc:4' out.txt && grep -q 'stripped is stripped' err.txt; }
check "a stripped program is isolated, and said to be stripped" stripped
finish
