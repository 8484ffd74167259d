#!/usr/bin/env bash
# conditions.sh CLEW SOURCE CONTAIN
# What a container can lack, one after the other: clew works, or says in one line what is missing.
contain=$3
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/../end_to_end/lib.sh"
tool=$clew

"$contain" docker true || { echo "skipped: no seccomp filters here"; exit 77; }
check "a program is built" "$tool" c++ -std=c++20 -g -O1 -pthread "$source/tests/programs/fail/use_after_free_race.cpp" -o race
check "places is built" "$tool" c++ -std=c++20 -g -O1 -pthread "$source/tests/containers/places.cpp" -o places
chmod 777 .

# in_condition NAME PROGRAM COMMAND...: the tool, started by the command, runs and replays the program, hunts and isolates
in_condition() {
  local name=$1 program=$2
  shift 2
  printf '#!/bin/bash\nexec %s "%s" "$@"\n' "$*" "$tool" >condition
  chmod +x condition
  clew=$PWD/condition
  rm -rf .clew
  check "$name: run" run 0 run --strategy none -- "$program"
  check "$name: replay" run 0 replay --times 3
  check "$name: hunt" eval 'run 1 hunt --seed 1 --schedules 2000 -- ./race'
  cp err.txt hunt.txt
  check "$name: isolate" run 0 isolate
}
# noted PATTERN: the hunt said so, and the isolation
noted() { cat hunt.txt err.txt out.txt >said.txt; says said.txt "$1"; }
quiet() { ! grep -q 'note:' hunt.txt; }

in_condition "Docker" ./places "$contain" docker
check "Docker: nothing is missing" quiet
in_condition "systemd-nspawn without ptrace" ./places "$contain" nspawn
check "systemd-nspawn: nothing is missing" quiet
in_condition "Docker on an old kernel" ./places "$contain" old-docker
check "Docker on an old kernel: nothing is missing" quiet
in_condition "no system call dispatch" ./places "$contain" docker,no-dispatch
check "no system call dispatch: said" noted 'cannot catch system calls'
# Only what sbrk() returns moves there.
in_condition "no PR_SET_MM_MAP" ./race "$contain" docker,no-mm-map
check "no PR_SET_MM_MAP: said" noted 'addresses differ from run to run'
in_condition "limited address space" ./race "$contain" docker bash -c "'ulimit -v 20000000; exec \"\$0\" \"\$@\"'"
check "limited address space: said" noted 'addresses differ from run to run'
check "limited address space: a run says why" eval 'run 0 run --strategy none -- ./race; says err.txt "ulimit -v"'

clew=$tool
"$tool" hunt --seed 1 --schedules 2000 -- ./race >out.txt 2>err.txt
"$contain" no-ptrace "$tool" replay --gdb --gdb-arg=-batch >out.txt 2>err.txt </dev/null
check "no ptrace: gdb is refused in one line" says err.txt '^clew: .*ptrace: Operation not permitted'

# may COMMAND...: whether the machine allows it
may() { "$@" true >/dev/null 2>&1 || { echo "skipped: $* is not allowed here"; return 1; }; }
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
if may "${nobody[@]}" && "${nobody[@]}" test -x "$tool"; then
  in_condition "another user without capabilities" ./places "$contain" docker "${nobody[@]}"
  check "another user: nothing is missing" quiet
  rm -rf .clew
fi
in_namespace=(unshare --mount bash -c)
if may unshare --mount; then
  in_condition "small /dev/shm" ./places "${in_namespace[*]}" "'mount -t tmpfs -o size=4k none /dev/shm && exec \"\$0\" \"\$@\"'"
  in_condition "read-only root" ./places "${in_namespace[*]}" "'mount --bind . . && mount -o remount,bind,ro / && cd \"\$PWD\" && exec \"\$0\" \"\$@\"'"
  printf '#!/bin/bash\nexec unshare --mount bash -c '"'"'mount --bind . . && mount -o remount,bind,ro . && cd "$PWD" && exec "$0" "$@"'"'"' "%s" "$@"\n' "$tool" >condition
  clew=$PWD/condition
  check "read-only folder: refused" run 125 run -- ./places
  check "read-only folder: said" says err.txt 'Read-only file system'
  in_condition "no /proc" ./places "${in_namespace[*]}" "'umount -l /proc && exec \"\$0\" \"\$@\"'" "$contain" docker
  clew=$tool
fi
if may unshare --time --fork --monotonic=1; then
  # AddressSanitizer's allocator keeps a time that it reads before any constructor.
  check "a program with AddressSanitizer is built" "$tool" c++ -std=c++20 -g -O1 -pthread -fsanitize=address \
    "$source/tests/programs/pass/asan_double_free.cpp" -o sanitized
  # up_for SECONDS COMMAND...: on a machine that was started so long ago
  up_for() {
    local offset=$(($1 - $(cut -d. -f1 /proc/uptime)))
    shift
    unshare --time --fork --monotonic="$offset" --boottime="$offset" "$@"
  }
  rm -rf .clew
  check "machine started just now: run" up_for 100 "$tool" run --seed 4 ./sanitized
  check "... replayed an hour later" up_for 4000 "$tool" replay
fi
if may unshare --pid --fork --mount-proc; then
  rm -rf .clew
  twice() {
    for i in 1 2; do unshare --pid --fork --mount-proc "$tool" run -- ./places child >"out$i.txt" 2>"err$i.txt" & done
    wait
    grep -q 'clew: pass' err1.txt && grep -q 'clew: pass' err2.txt
  }
  check "the same process id twice: run" twice
  check "the same process id twice: replay" run 0 replay --times 2 1
fi
finish
