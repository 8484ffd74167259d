#!/usr/bin/env bash
# Every way a program can end, and what clew reports.
. "$(dirname "$0")/lib.sh"
cat >p.cpp <<'C'
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <atomic>
std::mutex first, second;
std::atomic<bool> flag;
static void fall(volatile int* p) { *p = 1; }                         // line 13
static int deep(int n) { volatile char pad[512]; pad[0] = (char)n; return deep(n + 1) + pad[0]; }
static void boom() { throw std::runtime_error("boom"); }              // line 15
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "exit")) return 7;
  if (!strcmp(how, "signal")) std::thread([] { fall(nullptr); }).join();
  if (!strcmp(how, "overflow")) std::thread([] { printf("%d\n", deep(0)); }).join();
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "assert")) std::thread([] { assert(1 + 1 == 3); }).join();  // line 22
  if (!strcmp(how, "exception")) std::thread(boom).join();
  if (!strcmp(how, "divide")) { volatile int zero = 0; printf("%d\n", 1 / zero); }
  if (!strcmp(how, "deadlock")) {
    std::thread t([] {
      std::lock_guard<std::mutex> a(first);   // line 27
      while (!flag) std::this_thread::yield();
      std::lock_guard<std::mutex> b(second);  // line 29
    });
    std::lock_guard<std::mutex> b(second);    // line 31
    flag = true;
    std::this_thread::yield();
    std::lock_guard<std::mutex> a(first);     // line 34
    t.join();
  }
  if (!strcmp(how, "spin")) while (!flag) {}
  if (!strcmp(how, "leave")) { printf("before\n"); syscall(SYS_exit, 0); }
  if (!strcmp(how, "network")) {
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char c;
    if (bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) (void)!read(s, &c, 1);
  }
  if (!strcmp(how, "pipe")) { int p[2]; char c; if (pipe(p) == 0) (void)!read(p[0], &c, 1); }
  if (!strcmp(how, "stdiopipe")) { int p[2]; if (pipe(p) == 0) (void)fgetc(fdopen(p[0], "r")); }
  printf("done\n");
  return 0;
}
C
"$clew" c++ -std=c++20 -O0 -g -include netinet/in.h -include sys/syscall.h p.cpp -o p -pthread || exit 1

# outcome STATUS OUTCOME KIND ARGUMENT [MORE clew arguments]
outcome() {
  local status=$1 outcome=$2 kind=$3 how=$4
  shift 4
  run "$status" run --json out.json "$@" -- ./p "$how" && is outcome "$outcome" &&
    { [ "$kind" = - ] || is kind "$kind"; }
}
check "pass" outcome 0 pass - ""
check "exit status passes through" outcome 7 fail exit exit
check "SIGSEGV" outcome 139 fail signal signal
check "... with thread" is thread T0.1
check "... and line" is line 13
check "... which is not one of the stack's end" eval '! says err.txt "end of the stack"'
check "stack overflow" outcome 139 fail signal overflow
check "... said" says err.txt 'SIGSEGV at address 0x[0-9a-f]*, beyond the end of the stack'
check "abort" outcome 134 fail signal abort
check "division by zero" outcome 136 fail signal divide
check "... at its line" is line 24
check "assertion" outcome 134 fail assert assert
check "... at its line" is line 22
check "exception" outcome 134 fail exception exception
check "... with what()" says out.json 'boom'
check "... at the throw" is line 15
check "deadlock" outcome 120 fail deadlock deadlock --seed 1
for line in 27 29 31 34; do check "the report names line $line" says err.txt "p.cpp:$line"; done
check "... and the threads" says err.txt "T0.1"
check "every failure says how to replay it" says err.txt "clew replay"
check "hang" outcome 121 hang hang spin --budget 1000000
check "what clew cannot do is refused" outcome 122 unresolved unsupported leave
check "... by name" says err.txt "the exit system call of a single thread"
check "... and what was printed before is there" says out.txt before
check "a read that only the program itself could end is a deadlock" outcome 120 fail deadlock pipe
check "... and says so" says err.txt "read of descriptor"
check "... inside of libc too" outcome 120 fail deadlock stdiopipe
check "what never comes from outside is named" outcome 122 unresolved blocked network
check "... with thread and call" says err.txt "T0 in read of descriptor"
for how in exit signal assert exception deadlock; do
  "$clew" run --seed 3 -- ./p $how >/dev/null 2>&1
  check "a failure by $how replays" bash -c "'$clew' replay --times 5 --json out.json >out.txt 2>err.txt; grep -q '\"diverged\": 0' out.json"
done

# The program lacks the standard descriptors that clew lacks.
cat >std.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char c;
  const int in = read(0, &c, 1) < 0 ? errno : 0;
  const int out = write(1, "out\n", 4) < 0 ? errno : 0;
  const int err = write(2, "", 0) < 0 ? errno : 0;
  return in == EBADF && out == EBADF && err == 0 && open("/dev/null", O_RDONLY) == 0 ? 5 : 6;
}
C
"$clew" cc -g std.c -o std || exit 1
closed() { local status=0; "$clew" run ./std <&- >&- 2>err.txt || status=$?; [ "$status" = 5 ]; }
check "closed standard input and output are closed for the program" closed
check "... replays where they are open" run 5 replay
check "... and where they are not" bash -c '"$0" replay <&- >&- 2>err.txt; [ $? = 5 ]' "$clew"

# Processes that the program leaves running can continue to write.
printf '#include <stdlib.h>\nint main(void) { return system("(sleep 2; echo late; echo $? >late.txt) &"); }\n' >late.c
"$clew" cc -g late.c -o late || exit 1
check "a background process's output comes, whoever reads waits for it" bash -c '"$0" run ./late 2>err.txt </dev/null | grep -qx late' "$clew"
rm -f late.txt
"$clew" run ./late >out.txt 2>err.txt </dev/null
check "... clew itself does not wait" [ ! -s out.txt ]
for _ in $(seq 60); do [ -s late.txt ] && break; sleep 0.1; done
check "... and its writing succeeds" grep -qx 0 late.txt
check "... and comes" says out.txt late
finish
