#!/bin/bash
# End-to-end test of clew cc, clew c++, clew-cc and clew-c++.
# Usage: driver_test.sh BUILD_DIR CLANG CLANGXX [TEST...]
# Each test is a function test_*, run in an empty folder of its own by a shell that stops at the first command
# that fails. All are run; any failure makes the script fail.
set -euo pipefail

build=$1 clang=$2 clangxx=$3
shift 3
bin=$build/bin
lib=$build/lib/clew
work=$(mktemp -d "${TMPDIR:-/tmp}/clew-driver-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PATH=$bin:$PATH
unset CLEW_CLANG CLEW_CLANGXX

# --- what tests use ---------------------------------------------------------------------------------------

# No `COMMAND | grep -q`: grep ends at the first match, and pipefail would report it if COMMAND fails because of that.

die() { echo "  $*" >&2; exit 1; }

# expect_status N COMMAND...; output goes to ./out and ./err
expect_status() {
  local expected=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ $status == "$expected" ]] || die "status $status, not $expected: $*: $(head -5 err)"
}

# Succeeds and says nothing.
silently() {
  expect_status 0 "$@"
  [[ ! -s out && ! -s err ]] || die "not silent: $*: $(cat out err)"
}

needs_runtime() { # FILE [LIBRARY_DIR]
  grep -q 'NEEDED.*\[libclew_rt\.so\]' <<<"$(readelf -d "$1")" || die "$1 does not need libclew_rt.so"
  grep -q "RUNPATH.*\[.*${2:-$lib}[]:]" <<<"$(readelf -d "$1")" || die "$1 has no run path to ${2:-$lib}"
}

instrumented() { # an object file or program
  grep -q ' U __clew_' <<<"$(nm "$1")" || die "$1 does not refer to the runtime"
}

has_lines() { grep -q '\.debug_line' <<<"$(readelf -S --wide "$1")" || die "$1 has no line table"; }

# It says what is wrong in one line that contains TEXT, and what to do about it in another.
refused() { # STATUS TEXT COMMAND...
  local status=$1 text=$2
  shift 2
  expect_status "$status" "$@"
  [[ $(wc -l <err) == 2 ]] || die "not two lines: $(cat err)"
  [[ $(sed -n 1p err) == "clew: "*"$text"* ]] || die "does not say '$text': $(cat err)"
  [[ $(sed -n 2p err) == "hint: "* ]] || die "no hint: $(cat err)"
}

# Status and output of clew's compiler are those of clang's.
same_as_clang() {
  local status=0 clang_status=0
  "$clang" "$@" >clang.out 2>clang.err || clang_status=$?
  clew-cc "$@" >clew.out 2>clew.err || status=$?
  [[ $status == "$clang_status" ]] || die "status $status, clang's $clang_status: $*"
  cmp -s clang.out clew.out || die "output differs from clang's: $* $(diff clang.out clew.out)"
  cmp -s clang.err clew.err || die "messages differ from clang's: $* $(diff clang.err clew.err)"
}

# --- sources ----------------------------------------------------------------------------------------------

# main.c and part.c: a program with a thread that ends with status 0.
two_sources() {
  cat >main.c <<'C'
#include <pthread.h>
void *part(void *);
int shared_counter;
int main(void) {
  pthread_t t;
  if (pthread_create(&t, 0, part, 0)) return 1;
  ++shared_counter;
  pthread_join(t, 0);
  return shared_counter >= 1 ? 0 : 2;
}
C
  cat >part.c <<'C'
extern int shared_counter;
void *part(void *arg) {
  for (int i = 0; i < 3; ++i) ++shared_counter;
  return arg;
}
C
}

# --- the tests --------------------------------------------------------------------------------------------

test_single_call() {
  two_sources
  silently clew cc -O1 -Wall -Werror main.c part.c -o prog -pthread
  needs_runtime prog
  instrumented prog
  has_lines prog
  ./prog
}

test_single_call_cxx() {
  cat >a.cpp <<'C'
#include <iostream>
#include <thread>
int main() {
  std::thread t([] { std::cout << "hello\n"; });
  t.join();
}
C
  silently clew c++ -O1 -g -std=c++20 a.cpp -o a -pthread
  needs_runtime a
  [[ $(./a) == hello ]]
}

test_compile_then_link() {
  two_sources
  silently clew-cc -Werror -fPIC -c main.c part.c
  instrumented main.o
  instrumented part.o
  has_lines part.o
  silently clew-cc -Werror main.o part.o -o prog -pthread
  needs_runtime prog
  ./prog
}

test_static_library() {
  two_sources
  silently clew-cc -Werror -c part.c -o part.o
  ar rcs libpart.a part.o
  silently clew-cc -Werror main.c -L. -lpart -o prog -pthread
  ./prog
}

test_shared_library_and_dlopen() {
  two_sources
  silently clew-cc -Werror -shared -fPIC part.c -o libpart.so -Wl,-z,defs -Wl,--unresolved-symbols=ignore-all
  needs_runtime libpart.so
  instrumented libpart.so
  silently clew-cc -Werror main.c -L. -lpart -Wl,-rpath,"$PWD" -o prog -pthread
  ./prog
  cat >plugin.c <<'C'
int values[4];
int answer(void) { int sum = 42; for (int i = 0; i < 4; ++i) sum += values[i]; return sum; }
C
  cat >host.c <<'C'
#include <dlfcn.h>
int main(void) {
  void *h = dlopen("./plugin.so", RTLD_NOW);
  int (*answer)(void) = h ? (int (*)(void))dlsym(h, "answer") : 0;
  return answer && answer() == 42 ? 0 : 1;
}
C
  silently clew-cc -Werror -shared -fPIC plugin.c -o plugin.so
  silently clew-cc -Werror host.c -o host -ldl
  ./host
}

test_runtime_stays_a_dependency() {
  echo 'int main(void) { return 0; }' >main.c
  printf '.globl main\nmain: xor %%eax, %%eax\nret\n.section .note.GNU-stack\n' >refers_to_nothing.s
  silently clew-cc -Wl,--as-needed refers_to_nothing.s -o as_needed
  needs_runtime as_needed
  # The loader takes pthread_create from the first library that has it.
  silently clew-cc main.c -o named -lc
  readelf -d named | grep NEEDED >needed
  grep -q libclew_rt <<<"$(grep -m 1 -E 'libclew_rt|libc\.so' needed)" || die "libc first: $(cat needed)"
  silently clew-cc -o dashes -- main.c
  needs_runtime dashes
}

test_preprocess_and_dependencies() {
  printf '#include "h.h"\n#ifndef __CLEW__\n#error\n#endif\nint x = H;\n' >a.c
  echo '#define H 7' >h.h
  same_as_clang -D__CLEW__=1 -Werror -E a.c
  same_as_clang -D__CLEW__=1 -Werror -M a.c
  same_as_clang -D__CLEW__=1 -Werror -MM a.c
  silently clew-cc -Werror -MMD -MF a.d -c a.c
  [[ $(cat a.d) == "a.o: a.c h.h" ]]
  silently clew-cc -Werror -fsyntax-only a.c
}

test_clew_header() {
  cat >a.cpp <<'C'
#include <clew/clew.h>
#ifndef __CLEW__
#error built by clew-c++
#endif
CLEW_NO_YIELD static int f(int x) { clew::NoYield region; return x; }
int main() { return f(0); }
C
  silently clew-c++ -Wall -Wextra -Werror a.cpp -o a
  ./a
  silently "$clangxx" -Werror -fsyntax-only -U__CLEW__ -DMAIN -x c++ - <<<'int main() {}'
}

test_granularity() {
  two_sources
  local g
  for g in sync shared line; do
    silently clew-cc -Werror -O1 -c part.c -fclew-yield=$g -o $g.o
    silently clew-cc -Werror -O1 -c part.c -fclew-yield=sync -fclew-yield=line -fclew-yield=$g -o last.o
    cmp $g.o last.o
  done
  silently clew-cc -Werror -O1 -c part.c -o default.o
  cmp default.o shared.o
  ! cmp -s sync.o shared.o || die "sync is shared"
  ! cmp -s line.o shared.o || die "line is shared"
  refused 124 "'word'" clew-cc -c part.c -fclew-yield=word
  refused 124 "'-fclew-x'" clew-cc -c part.c -fclew-x
}

test_response_files() {
  mkdir 'a dir'
  two_sources
  mv part.c "a dir/it's \"part\".c"
  printf '%s\n' "\"a dir/it's \\\"part\\\".c\"" -O1 >inner.rsp
  printf -- '-c @inner.rsp -o part.o' >compile.rsp
  silently clew-cc -Werror @compile.rsp
  instrumented part.o
  echo 'main.c part.o -o prog -pthread' >link.rsp
  silently clew-cc -Werror @link.rsp
  needs_runtime prog
  ./prog

  # clew's own option in a file
  silently clew-cc -O1 -c main.c -fclew-yield=line -o by_argument.o
  echo '-fclew-yield=line -O1' >own.rsp
  silently clew-cc @own.rsp -c main.c -o by_file.o
  cmp by_argument.o by_file.o
  refused 124 "'word'" clew-cc -c main.c @<(true) @/dev/null @"$(echo '-fclew-yield=word' >bad.rsp; echo bad.rsp)"

  same_as_clang @missing.rsp
  echo '@self.rsp' >self.rsp
  same_as_clang @self.rsp
}

test_response_file_beyond_the_limit_of_arguments() {
  two_sources
  # 3 MB, and one of clew's options: the list must be written out, and the kernel accepts no more than 2 MB
  { echo '-fclew-yield=line -c main.c'; for ((i = 0; i < 60000; ++i)); do echo "-DA_LONG_NAME_FOR_A_MACRO_OF_A_LONG_LIST_$i=\"$i\""; done; } >long.rsp
  (( $(wc -c <long.rsp) > 2500000 ))
  silently clew-cc @long.rsp -o long.o
  silently clew-cc -fclew-yield=line -c main.c -o short.o
  cmp long.o short.o
}

test_debug_information() {
  two_sources
  kind() { clew-cc -### -c "$@" part.c 2>&1 | grep -o -- '"-debug-info-kind=[^"]*"\|"-dwarf-version=[^"]*"' | tr '\n' ' ' || true; }
  [[ $(kind) == '"-debug-info-kind=line-tables-only" "-dwarf-version=5" ' ]]
  [[ $(kind -g) == '"-debug-info-kind=constructor" "-dwarf-version=5" ' ]]
  [[ $(kind -ggdb) == '"-debug-info-kind=constructor" "-dwarf-version=5" ' ]]
  [[ $(kind -gdwarf-4) == '"-debug-info-kind=constructor" "-dwarf-version=4" ' ]]
  [[ $(kind -g0) == '' ]]
}

test_no_new_warnings() {
  two_sources
  silently clew-cc -Werror -S part.c
  silently clew-cc -Werror -c part.s -o from_s.o
  printf '#ifdef __CLEW__\n.globl from_asm\nfrom_asm: ret\n#endif\n.section .note.GNU-stack\n' >asm.S
  silently clew-cc -Werror -c asm.S
  grep -q 'T from_asm' <<<"$(nm asm.o)"
  printf '.globl f\nf: ret\n' >f.txt
  silently clew-cc -Werror -c -x assembler f.txt -o f.o
  silently clew-cc -Werror -r from_s.o asm.o -o both.o
  silently clew-cc -Werror -nostdlib -no-pie -Wl,-r from_s.o asm.o -o both2.o
  silently clew-cc -Werror main.c both.o -o prog -pthread
  ./prog
  echo 'int declared(void);' >h.h
  silently clew-cc -Werror h.h
  [[ -s h.h.pch ]]
  silently clew-c++ -Werror -x c++-header h.h -o h.pch
  silently clew-cc -Werror --analyze part.c
  silently clew-cc -Werror -fno-integrated-as -c part.c
  silently clew-cc -Werror -c -emit-llvm part.c -o part.bc
  silently clew-cc -Werror -nostdlib -shared -fPIC part.c -o nostdlib.so
  silently clew-cc -Werror -ffreestanding -c part.c
  silently clew-cc -Werror -static -c part.c
}

test_lto() {
  two_sources
  local option
  for option in -flto -flto=thin; do
    silently clew-cc -Werror -O2 $option main.c part.c -o prog -pthread
    needs_runtime prog
    instrumented prog
    ./prog
    silently clew-cc -Werror -O2 $option -c main.c part.c
    silently clew-cc -Werror -O2 $option main.o part.o -o prog -pthread
    ./prog
    silently clew-cc -Werror -O2 $option -fuse-ld=lld main.o part.o -o prog_lld -pthread
    needs_runtime prog_lld
    instrumented prog_lld
    ./prog_lld
  done
}

test_messages_and_status_are_clangs() {
  printf 'int main(void) {\n  int unused;\n  return missing;\n}\n' >bad.c
  same_as_clang -Wall -c bad.c
  same_as_clang -Wall bad.c -o bad
  same_as_clang nothing.c
  same_as_clang -c nothing.c
  same_as_clang
  same_as_clang --version
  same_as_clang -v
  same_as_clang -dumpmachine
  same_as_clang -print-search-dirs
  same_as_clang -print-file-name=libc.so.6
  same_as_clang -o
  same_as_clang --no-such-option -c bad.c
  same_as_clang -Werror -c -lm bad.c
  same_as_clang -help
  echo 'int f(void); int main(void) { return f(); }' >undefined.c
  expect_status 1 clew-cc undefined.c
  grep -q "undefined reference to \`f'" err
  printf '#include <stdlib.h>\n' | "$clang" -dM -E - | sort >plain.txt
  printf '#include <stdlib.h>\n' | clew-cc -dM -E - | sort >clew.txt
  [[ $(comm -3 plain.txt clew.txt) == *'#define __CLEW__ 1' ]]
  [[ $(comm -3 plain.txt clew.txt | wc -l) == 1 ]]
}

test_refusals() {
  two_sources
  refused 124 '-static' clew-cc -static main.c part.c
  refused 124 '-static-pie' clew c++ -static-pie main.c part.c
  refused 124 '-fsanitize=thread' clew-cc -fsanitize=thread -c main.c
  refused 125 "$PWD/no/clang" env CLEW_CLANG="$PWD/no/clang" clew-cc -c main.c
  refused 125 'no-such-clang' env CLEW_CLANGXX=no-such-clang clew c++ -c main.c
  # shellcheck disable=SC2016
  printf '#!/bin/sh\necho "instead: $1"\nexit 7\n' >instead
  chmod +x instead
  expect_status 7 env CLEW_CLANG="$PWD/instead" clew cc -v
  [[ $(cat out) == 'instead: -v' ]]
}

test_help() {
  local command
  for command in 'clew cc' 'clew c++' clew-cc clew-c++; do
    # shellcheck disable=SC2086
    expect_status 0 $command --help
    grep -q -- '-fclew-yield=' out
    grep -q 'Examples:' out
    [[ ! -s err ]]
  done
}

test_spaces_and_quotes_in_paths() {
  mkdir "it's a \"folder\", really" 'in c'
  two_sources
  mv main.c "it's a \"folder\", really/ma in.c"
  echo '#define PART 1' >'in c/part.h'
  silently clew-cc -Werror "it's a \"folder\", really/ma in.c" part.c "-Iin c" -include part.h '-DTEXT="a b"' \
    -o "it's a \"folder\", really/pr og" -pthread
  "./it's a \"folder\", really/pr og"
}

test_symlink_from_path() {
  two_sources
  mkdir tools
  ln -s "$bin/clew-cc" tools/clew-cc
  ln -s "$bin/clew" tools/clew-c++
  PATH=$PWD/tools:/usr/bin:/bin
  silently clew-cc main.c part.c -o prog -pthread
  needs_runtime prog
  ./prog
  echo '#include <string>
int main() { return std::string("x").size() == 1 ? 0 : 1; }' >a.cpp
  silently clew-c++ a.cpp -o a
  ./a
}

# What an autoconf script does with $CC, and a makefile with suffix rules.
test_configure_and_make() {
  two_sources
  cat >configure <<'SH'
#!/bin/sh
set -e
: "${CC:?}"
echo 'int main(void) { return 0; }' >conftest.c
$CC $CFLAGS conftest.c -o conftest 2>conftest.err || { echo "C compiler cannot create executables"; exit 77; }
./conftest || { echo "cannot run C compiled programs"; exit 77; }
test ! -s conftest.err
for option in --version -v; do $CC $option >/dev/null 2>&1 || exit 1; done
for option in -V -qversion; do if $CC $option >/dev/null 2>&1; then exit 1; fi; done
$CC -E conftest.c | grep main >/dev/null
echo '#include <no_such_header.h>' >conftest.c
if $CC -c conftest.c 2>/dev/null; then echo "accepts a missing header"; exit 1; fi
if $CC -E conftest.c >/dev/null 2>&1; then echo "preprocesses a missing header"; exit 1; fi
echo 'char no_such_function(void); int main(void) { return no_such_function(); }' >conftest.c
if $CC conftest.c -o conftest 2>/dev/null; then echo "links a missing function"; exit 1; fi
echo 'char pthread_create(); int main(void) { return !&pthread_create; }' >conftest.c
$CC -Wno-everything conftest.c -o conftest -lpthread || { echo "no pthread_create"; exit 1; }
echo 'int main(void) { return 0; }' >conftest.c
$CC -Werror -Wl,--version >/dev/null
$CC -Werror -fvisibility=hidden -c conftest.c || exit 1
if $CC -static conftest.c -o conftest 2>/dev/null; then echo "static"; exit 1; fi
printf 'CC = %s\nCFLAGS = %s\nprog: main.o libpart.a\n\t$(CC) $(CFLAGS) -o $@ main.o libpart.a -lpthread\n' "$CC" "$CFLAGS" >Makefile
printf 'libpart.a: part.o\n\tar rcs $@ $<\n.c.o:\n\t$(CC) $(CFLAGS) -MMD -c -o $@ $<\n' >>Makefile
SH
  chmod +x configure
  CC=clew-cc CFLAGS='-g -O2' ./configure
  make -s
  needs_runtime prog
  ./prog
}

# A static library, a shared library, a C and a C++ program, checks at configure time, an installation.
test_cmake() {
  two_sources
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(sample C CXX)
include(CheckCSourceCompiles)
include(CheckIPOSupported)
find_package(Threads REQUIRED)
check_c_source_compiles("int main(void) { return 0; }" WORKS)
check_c_source_compiles("int main(void) { return no_such_name; }" BROKEN)
check_ipo_supported(RESULT IPO)
if(NOT WORKS OR BROKEN OR NOT IPO OR NOT CMAKE_C_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "WORKS=${WORKS} BROKEN=${BROKEN} IPO=${IPO} ${CMAKE_C_COMPILER_ID}")
endif()
add_compile_options(-Wall -Werror)
add_library(part STATIC part.c)
add_library(dyn SHARED part.c)
add_executable(prog main.c)
target_link_libraries(prog part Threads::Threads)
add_executable(prog_dyn main.c)
target_link_libraries(prog_dyn dyn Threads::Threads)
set_target_properties(prog dyn PROPERTIES ENABLE_EXPORTS ON)
add_executable(cxx main.cpp)
target_link_libraries(cxx part)
target_precompile_headers(cxx PRIVATE <vector>)
set_target_properties(cxx PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
install(TARGETS prog prog_dyn dyn cxx)
CMAKE
  cat >main.cpp <<'C'
#include <thread>
extern "C" void* part(void*);
extern "C" { int shared_counter; }
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(part, nullptr);
  for (auto& t : threads) t.join();
}
C
  cmake -S . -B b -G Ninja -DCMAKE_C_COMPILER=clew-cc -DCMAKE_CXX_COMPILER=clew-c++ -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PWD/installed" >cmake.log 2>&1 || die "$(tail -20 cmake.log)"
  cmake --build b -j2 >build.log 2>&1 || die "$(tail -20 build.log)"
  cmake --install b >install.log
  local program
  for program in prog prog_dyn cxx; do
    needs_runtime b/$program
    b/$program
    needs_runtime installed/bin/$program
    LD_LIBRARY_PATH=$PWD/installed/lib installed/bin/$program
  done
}

test_installation() {
  local prefix="$PWD/a prefix, elsewhere"
  cmake --install "$build" --prefix "$prefix" >install.log
  two_sources
  PATH=$prefix/bin:/usr/bin:/bin
  [[ $(type -p clew-cc) == "$prefix/bin/clew-cc" ]]
  silently clew-cc -Werror main.c part.c -o prog -pthread
  needs_runtime prog "$prefix/lib/clew"
  grep -qF "$prefix/lib/clew/libclew_rt.so" <<<"$(ldd prog)"
  ./prog
  printf '#include <clew/clew.h>\n#include <vector>\nint main() { return (int)std::vector<int>().size(); }\n' >a.cpp
  silently clew c++ -Werror a.cpp -o a
  ./a
  silently clew-c++ -MM -MF a.d a.cpp
  ! grep -q "$build" a.d || die "still uses the build tree"
  rm "$prefix/lib/clew/libclew_pass.so"
  refused 125 'libclew_pass.so' clew-cc -c main.c
}

# --- run them ---------------------------------------------------------------------------------------------

for needed in "$bin/clew" "$bin/clew-cc" "$bin/clew-c++" "$lib/libclew_pass.so" "$lib/libclew_rt.so" "$clang" "$clangxx"; do
  [[ -e $needed ]] || { echo "missing: $needed" >&2; exit 1; }
done

if (($# == 0)); then
  mapfile -t tests < <(compgen -A function test_)
else
  tests=("$@")
fi
((${#tests[@]} > 0)) || { echo "no tests" >&2; exit 1; }

failed=()
for name in "${tests[@]}"; do
  mkdir "$work/$name"
  # Not in a condition: `set -e` would have no effect there.
  set +e
  (set -eE; trap 'echo "  line $LINENO: $BASH_COMMAND" >&2' ERR; cd "$work/$name"; "$name")
  status=$?
  set -e
  if ((status == 0)); then echo "ok      $name"; else echo "FAILED  $name"; failed+=("$name"); fi
done
echo "${#tests[@]} tests, ${#failed[@]} failed"
((${#failed[@]} == 0)) || { echo "again: $0 $build $clang $clangxx ${failed[*]}"; exit 1; }
