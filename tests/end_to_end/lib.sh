# shellcheck shell=bash
# Sourced by the tests here: $1 is the tool, $2 the source tree. Each test works in its own folder, and exits with the
# number of checks that failed.
set -uo pipefail
clew=$1
# shellcheck disable=SC2034  # the tests use it
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# check DESCRIPTION COMMAND...: the command must succeed
check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failures=$((failures + 1))
    for f in out.txt err.txt out.json; do [ -s $f ] && { echo "--- $f"; head -n 20 $f; }; done
  fi
}
# run STATUS ARGS...: clew with these arguments must exit with STATUS; output in out.txt, err.txt
run() {
  local expected=$1 status=0
  shift
  "$clew" "$@" >out.txt 2>err.txt </dev/null || status=$?
  [ "$status" = "$expected" ] && return 0
  echo "exit status $status instead of $expected: clew $*"
  return 1
}
# field NAME: the first scalar of that name in out.json
field() { sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/;T;p;q" out.json; }
is() { [ "$(field "$1")" = "$2" ] || { echo "$1 is '$(field "$1")', not '$2'"; return 1; }; }
# json CONDITION: of d, the content of out.json
json() { python3 -c '
import json, sys
d = json.load(open("out.json"))
sys.exit(0 if eval(sys.argv[1]) else "not so: " + sys.argv[1])' "$1"; }
says() { grep -qi -- "$2" "$1" || { echo "'$2' is not in $1"; return 1; }; }
lines() { [ "$(wc -l <"$1")" = "$2" ] || { echo "$1 has $(wc -l <"$1") lines, not $2"; return 1; }; }
finish() { [ "$failures" = 0 ] && echo "all checks passed" && exit 0; echo "$failures failed"; exit 1; }
