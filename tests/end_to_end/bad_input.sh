#!/usr/bin/env bash
# Bad input of every kind gives one clear line and a hint; nothing is lost, nothing crashes.
. "$(dirname "$0")/lib.sh"
cat >p.c <<'C'
#include <pthread.h>
static volatile int shared;
static void* work(void* x) { for (int i = 0; i < 2000; i++) shared++; return x; }
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
C
"$clew" cc -O1 -g p.c -o p -pthread || exit 1
"$clew" run --seed 4 -- ./p 2>/dev/null || exit 1

# clear STATUS ARGS...: that exit status, a message that begins with "clew: ", a hint
clear() { run "$@" && says err.txt "^clew: " && says err.txt "hint" && [ "$(grep -c '^clew: ' err.txt)" = 1 ]; }
check "unsorted clocks" clear 124 run --schedule "9,5" -- ./p
check "malformed schedule" clear 124 run --schedule "5:Q1" -- ./p
check "clock 0" clear 124 run --schedule "0" -- ./p
check "unknown thread" run 122 run --schedule "5:T0.9" -- ./p
check "... named" says err.txt "T0.9"
check "clocks past the end" run 122 run --schedule "99999999" -- ./p
check "... named" says err.txt "99999999"
check "no such program" clear 125 run -- ./nowhere
printf '#!/bin/sh\n' >script; chmod +x script
check "a script" clear 125 run -- ./script
check "a folder" clear 125 run -- ./.clew
head -c 5000 p >cut_short; chmod +x cut_short
check "half a program" clear 125 run -- ./cut_short
check "no recording of that number" clear 124 replay 77
check "not a recording" clear 124 replay ./p
check "nothing recorded here" bash -c 'mkdir -p empty && cd empty && ! "$0" replay >../out.txt 2>../err.txt && grep -q hint ../err.txt' "$clew"

cp -r .clew/1 damaged
for file in schedule meta.json; do
  size=$(stat -c %s .clew/1/$file)
  for cut in 0 1 $((size / 2)) $((size - 2)); do
    cp .clew/1/* damaged/; head -c "$cut" .clew/1/$file >damaged/$file
    check "$file cut to $cut bytes" clear 125 replay ./damaged
  done
done
cp .clew/1/* damaged/
for at in 0 9 40 $(($(stat -c %s .clew/1/schedule) / 2)); do
  cp .clew/1/schedule damaged/schedule
  printf '\377\376' | dd of=damaged/schedule bs=1 seek="$at" conv=notrunc 2>/dev/null
  check "schedule with bytes changed at $at" clear 125 replay ./damaged
done
rm -f damaged/schedule
check "schedule missing" clear 125 replay ./damaged

mv p p.old; sed 's/2000/2001/' p.c >p2.c; "$clew" cc -O1 -g p2.c -o p -pthread
check "rebuilt since the recording" clear 125 replay 1
mv p.old p
check "the recording is still good" run 0 replay 1

if [ "$(id -u)" = 0 ]; then
  # Root may write anywhere: a file in the way stands in for a folder that may not be written.
  mkdir blocked && touch blocked/.clew
else
  mkdir blocked && chmod 555 blocked
fi
check ".clew not writable" bash -c 'cd blocked && "$0" run -- ../p >../out.txt 2>../err.txt; [ $? = 125 ] && grep -q hint ../err.txt' "$clew"
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
  (cd small && head -c 60000 /dev/zero >fill; "$clew" run -- ../p >../out.txt 2>../err.txt; echo $? >../status)
  umount small
  check "a full disk" grep -qx 125 status
  check "... is named" says err.txt "space"
else
  echo "skipped: a full disk needs a mount"
fi

# clew reports what it cannot write.
full() { local status=0; "$clew" "${@:2}" >/dev/full 2>err.txt </dev/null || status=$?; [ "$status" = "$1" ]; }
printf '#include <stdio.h>\nint main(void) { puts("output"); return 3; }\n' >puts.c
"$clew" cc -g puts.c -o puts || exit 1
check "no room for the program's output: its own status" full 3 run -- ./puts
check "... but the loss is reported" says err.txt "output could not all be written: No space left"
check "... and it is in the recording" bash -c '"$0" replay 2>/dev/null | grep -qx output' "$clew"
check "... likewise in a replay" full 3 replay
check "... told" says err.txt "output could not all be written: No space left"
for c in "run --json - ./puts" "replay --json -" list "list --json -" show "where 1" --version --help; do
  # shellcheck disable=SC2086  # a command with its arguments
  check "no room for the result of: clew $c" full 125 $c
  check "... told" says err.txt "cannot write standard output: No space left"
done
check "a reader that has gone is no error" bash -c '"$0" list --json - 2>err.txt | true; [ "${PIPESTATUS[0]}" = 0 ] && [ ! -s err.txt ]' "$clew"
finish
