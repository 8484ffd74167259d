#!/usr/bin/env bash
# kill -9 of clew or of the program, Ctrl-C: no process stays behind, no recording is lost.
. "$(dirname "$0")/lib.sh"
cat >endless.c <<'C'
#include <pthread.h>
#include <stdio.h>
static volatile int stop;
static void* work(void* x) { while (!stop) {} return x; }
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  puts("started"); fflush(stdout);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
C
printf 'int main(void) { return 0; }\n' >short.c
"$clew" cc -O1 -g endless.c -o endless_of_clew_test -pthread && "$clew" cc short.c -o short || exit 1
"$clew" run -- ./short 2>/dev/null || exit 1
cp -r .clew/1 before

children() { pgrep -P "$1" | head -n 1; }
begin() { # starts the endless program; sets host and child
  "$clew" run --budget 900000000000 -- ./endless_of_clew_test >out.txt 2>err.txt </dev/null &
  host=$!
  for _ in $(seq 200); do child=$(children $host); [ -n "$child" ] && grep -q started out.txt && return 0; sleep 0.05; done
  echo "did not start"; return 1
}
gone() { for _ in $(seq 100); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.05; done; echo "$1 is still there"; return 1; }

begin; kill -9 "$host"; wait "$host" 2>/dev/null
check "clew killed: the program is gone" gone "$child"
check "... the unfinished recording is listed as such" bash -c '"$0" list | grep -qi incomplete' "$clew"
check "... and cannot be mistaken for a good one" run 125 replay 2
begin; kill -9 "$child"; wait "$host"; status=$?
check "the program killed: clew reports it" [ "$status" = 137 ]
check "clew is gone too" gone "$host"
begin; kill -INT "$host"; wait "$host"; status=$?
check "interrupt: status 130" [ "$status" = 130 ]
check "... the program is gone" gone "$child"
check "... the recording replays as far as it goes" run 0 replay
begin; kill -TERM "$host"; wait "$host"; status=$?
check "terminate: status 143" [ "$status" = 143 ]
check "... the program is gone" gone "$child"

# Interrupted while it waits for the outside, with output that is not written yet.
cat >waits.c <<'C'
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** arguments) {
  struct pollfd input = {0, POLLIN, 0};
  char byte;
  write(2, "started\n", 8);
  for (;;) {
    if (poll(&input, 1, count > 1 ? -1 : 100) == 1 && read(0, &byte, 1) != 1) return 3;
    printf("%s\n", arguments[0]);
  }
}
C
"$clew" cc -O1 -g waits.c -o waits || exit 1
for how in "" forever; do
  mkfifo input
  "$clew" run -- ./waits $how <input >out.txt 2>err.txt &
  host=$!
  exec 5>input
  for _ in $(seq 200); do grep -q started err.txt && break; sleep 0.05; done
  sleep 0.3
  printf x >&5  # comes while it waits
  sleep 0.5
  kill -INT "$host"; wait "$host"; status=$?
  exec 5>&-
  rm input
  check "interrupted in a wait $how: status 130" [ "$status" = 130 ]
  check "... the recording replays as far as it goes" run 0 replay --times 3
  check "... which is said" says err.txt "up to the clock where it was stopped"
done
# The program, not clew, gets a signal that it does not handle.
for signal in TERM:143 KILL:137; do
  mkfifo input
  "$clew" run -- ./waits forever <input >out.txt 2>err.txt &
  host=$!
  exec 5>input
  for _ in $(seq 200); do grep -q started err.txt && break; sleep 0.05; done
  kill -"${signal%:*}" "$(pgrep -P "$host")"; wait "$host"; status=$?
  exec 5>&-
  rm input
  check "the program is ended by ${signal%:*}: status ${signal#*:}" [ "$status" = "${signal#*:}" ]
  check "... the recording replays as far as it goes" run 0 replay --times 3
  check "... which is said" says err.txt "up to the clock where it was stopped"
done
check "earlier recordings are untouched" diff -r before .clew/1
check "... and replay" run 0 replay 1
finish
