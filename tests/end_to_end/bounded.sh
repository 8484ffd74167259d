#!/usr/bin/env bash
# Whatever a recording, a program or the command line contains: time, memory and what is printed are bounded.
. "$(dirname "$0")/lib.sh"
cat >p.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static volatile int shared;
static void* work(void* x) {
  int before = shared;
#line 3 "/dev/zero"
  shared = before + 1;
  return x;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  if (shared != 2) abort();
  return 0;
}
C
"$clew" cc -O1 -g p.c -o p -pthread || exit 1
"$clew" run --strategy none ./p 2>/dev/null || exit 1
# soon ...: the command ends by itself within the ten seconds that nothing of clew's may exceed on one small recording
soon() { timeout -s KILL 10 "$@"; local status=$?; [ "$status" -lt 128 ]; }
quietly() { soon "$clew" "$@" >out.txt 2>err.txt </dev/null; }
commands() {
  local c
  for c in list "show 1" "where 1 3" "replay 1"; do
    # shellcheck disable=SC2086  # a command with its arguments
    quietly $c || { echo "clew $c: $?"; return 1; }
  done
}
cp -r .clew/1 whole
python3 -c 'print("{\"a\":" + "[" * 1000000 + "]" * 1000000 + "}")' >.clew/1/meta.json
check "a meta.json that is nested a million times" commands
check "... is damaged" run 125 replay 1
check "... and why" says err.txt "nested too deeply"
truncate -s 60M .clew/1/meta.json
check "a large meta.json" commands
cp whole/meta.json .clew/1/
rm .clew/1/lock; mkfifo .clew/1/lock
check "a pipe in the place of the lock" commands
check "... is no lock" run 0 replay 1
for file in stdout schedule; do
  rm .clew/1/$file; mkfifo .clew/1/$file
  check "a pipe in the place of $file" commands
  rm .clew/1/$file; truncate -s 4T .clew/1/$file
  check "a sparse file in the place of $file" commands
  cp whole/$file .clew/1/
done
mkdir .clew/18446744073709551615
check "a folder with the last of all numbers is no recording" bash -c '"$0" run ./p 2>/dev/null; [ -d .clew/2 ]' "$clew"
rm -r .clew/18446744073709551615

check "hunt and isolate where the debug information names a device" run 1 hunt --seed 1 --schedules 50 --time 20 ./p
check "... isolate" quietly isolate --time 5
check "... where" quietly where 5

# Numbers at the ends of their ranges.
last=18446744073709551615
for option in "run --seed $last" "run --budget $last" "hunt --schedules $last" "hunt --budget $last" "hunt --seed $last" \
  "hunt --jobs 4294967295" "hunt --depth 4294967295" "hunt --bound 4294967295" "hunt --time 1e300" "hunt --sigma 1e300" \
  "isolate --tests $last" "isolate --time 1e300" "isolate --jobs 4294967295" "isolate --seed $last" "replay --times $last"; do
  # shellcheck disable=SC2086  # a command with its arguments
  check "refused: $option" run 124 $option ./p
  check "... and says what is allowed" says err.txt "is too large: the largest is"
done

# What the limits of the shell do not allow is said in words.
limited() { local limit=$1 words=$2; shift 2; (ulimit "-${limit%% *}" "${limit#* }" && run 125 "$@") && says err.txt "$words" && says err.txt "hint"; }
for c in "run ./p" "replay 1" "hunt --time 5 ./p" "isolate --time 5"; do
  # shellcheck disable=SC2086  # a command with its arguments
  check "few open files: clew $c" limited "n 64" "64 open files" $c
  # shellcheck disable=SC2086
  check "little address space: clew $c" limited "v 1000000" "MiB of address space" $c
  # shellcheck disable=SC2086
  check "a small stack: clew $c" limited "s 256" "stack of 256 KiB" $c
done

# What a program is called, and what it says, does not drive the terminal.
name=$(printf 'a\033[2J\302\233\233b')
cp p "$name"
for c in "run" "hunt --schedules 3"; do
  # shellcheck disable=SC2086  # a command with its arguments
  "$clew" $c "./$name" >out.txt 2>err.txt </dev/null
  check "no control characters: clew $c" bash -c '! grep -qaP "[\x00-\x08\x0b-\x1f\x7f]|\x9b" out.txt err.txt'
done
for c in list "list --json -" "show" "run ./nowhere$name" "replay ./nowhere$name"; do
  # shellcheck disable=SC2086  # a command with its arguments
  "$clew" $c >out.txt 2>err.txt </dev/null
  check "no control characters: clew ${c%%nowhere*}" bash -c '! grep -qaP "[\x00-\x08\x0b-\x1f\x7f]|\x9b" out.txt err.txt'
done

# Another program, which clew does not control, may wait as long as it likes.
printf '#include <unistd.h>\nint main(void) { execl("/bin/sleep", "sleep", "6", (char*)0); return 1; }\n' >waits.c
"$clew" cc waits.c -o waits || exit 1
check "a program that becomes another one that waits" run 0 run ./waits

# Hunts leave no daemons behind, neither the program's nor a judge's.
cat >daemon.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void* work(void* x) { return x; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  if (fork() == 0) {
    setsid();
    if (fork() == 0) execl("/bin/sleep", "clew_test_daemon", "300", (char*)0);
    _exit(0);
  }
  return 0;
}
C
"$clew" cc -g daemon.c -o daemon -pthread || exit 1
none_of() { ! pgrep -f "^$1 300" >/dev/null; }
check "a hunt in a program that starts daemons" run 0 hunt --seed 1 --schedules 5 --time 20 ./daemon
check "... leaves none" none_of clew_test_daemon
check "a judge that starts a daemon" run 0 hunt --seed 1 --schedules 5 --time 20 \
  --judge 'setsid bash -c "exec -a clew_test_judge sleep 300" >/dev/null 2>&1 & exit 0' /bin/true
check "... leaves none" none_of clew_test_judge

mkfifo pipe.clewcase
check "a pipe instead of a case" run 122 check pipe.clewcase
check "... is named" says out.txt "cannot read pipe.clewcase: not a file"
rm pipe.clewcase
# The program's lines are those of /dev/zero.
check "reads in a file that never ends" soon "$clew" enumerate --time 1 --jobs 1 ./p
check "functions there" soon "$clew" rank --time 1 --jobs 1 ./p
check "mutated recordings" "$source/bench/fuzz_recordings" 40 --clew "$clew"
finish
