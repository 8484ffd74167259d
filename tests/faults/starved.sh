#!/usr/bin/env bash
# starved.sh CLEW PROGRAM
# When resources run short for clew itself, it says so in a line that begins with "clew", with exit status 125 or 126,
# and does not hang. PROGRAM is one that passes.
set -uo pipefail
clew=$(realpath "$1") program=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# Descriptors of whoever runs this (ctest has one more when it writes a log) would count against the limit below.
for fd in "/proc/$$/fd/"*; do
  fd=${fd##*/}
  if [ "$fd" -gt 2 ] && [ "$fd" != 255 ]; then eval "exec $fd>&-"; fi # 255: this script
done

expect() { # NAME PATTERN LIMIT...
  local name=$1 pattern=$2 status
  shift 2
  # Through a pipe, so that the limit does not apply to the message.
  (ulimit "$@" && timeout 20 "$clew" run -- "$program" </dev/null) 2>&1 >/dev/null | cat >err.txt
  status=${PIPESTATUS[0]}
  if { [ "$status" = 125 ] || [ "$status" = 126 ]; } && grep -q "^clew.*$pattern" err.txt; then
    echo "$name: ok"
  else
    echo "$name: exit status $status: $(head -n 1 err.txt)"
    failed=1
  fi
}

expect "address space for the program" "may have 976 MiB of address space" -v 1000000
expect "address space for clew" "may have 29 MiB of address space" -v 30000
expect "descriptors" "may have 5 open files" -n 5
expect "size of files" "File too large" -f 0
exit $failed
