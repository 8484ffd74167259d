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

expect() { # NAME LIMIT PATTERN
  local status
  # Through a pipe, so that the limit does not apply to the message.
  (ulimit $2 && timeout 20 "$clew" run -- "$program" </dev/null) 2>&1 >/dev/null | cat >err.txt
  status=${PIPESTATUS[0]}
  if { [ $status = 125 ] || [ $status = 126 ]; } && grep -q "^clew.*$3" err.txt; then
    echo "$1: ok"
  else
    echo "$1: exit status $status: $(head -n 1 err.txt)"
    failed=1
  fi
}

expect "address space for the program" "-v 1000000" "4 GiB of address space"
expect "address space for clew" "-v 30000" "Cannot allocate memory"
expect "descriptors" "-n 5" "Too many open files"
expect "size of files" "-f 0" "File too large"
exit $failed
