#!/usr/bin/env bash
# The sessions in the README must show the same commands and the same output. A line `...` there stands for lines that
# are left out; times are not compared.
. "$(dirname "$0")/lib.sh"
PATH=$(dirname "$clew"):$PATH
# A session is a block that builds something.
awk '/^```/ { inside = !inside; block++; next } inside { print > "block." block }' "$source/README.md"
grep -l '^\$ clew c++' block.* | sort -t. -k2n >sessions
check "the README opens with a debug session" bash -c 'grep -q "^\$ clew debug" "$(head -n 1 sessions)"'
check "... and has one of single runs" bash -c 'grep -q "^\$ clew replay" $(cat sessions)'

play() { # SESSION: its commands, with what they print
  local command
  mkdir "$1.work" && cd "$1.work" || return 1
  cp "$source"/examples/*/*.cpp .
  grep '^\$ ' "../$1" | sed 's/^\$ //' | while read -r command; do
    echo "\$ $command"
    bash -c "$command" 2>&1 </dev/null || true
  done
}
same() { # SESSION: it is what clew prints
  (play "$1") >played
  python3 - "$1" played <<'PY'
import difflib, re, sys

def lines(name):
    return [re.sub(r"\b[0-9.]+ s\b", "N s", line.rstrip()) for line in open(name)]

session, played = map(lines, sys.argv[1:])
pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in session)
if not re.fullmatch(pattern, "".join(line + "\n" for line in played)):
    sys.exit("\n".join(difflib.unified_diff(session, played, "README.md", "clew", lineterm="")))
PY
}
while read -r session; do
  check "it is what clew prints: $(grep -m 1 '^\$ clew c++' "$session")" same "$session"
done <sessions

export NO_COLOR=1
demo() { # the commands of the demo are those of the README's first session
  grep -o '^ *show clew.*' "$source/scripts/demo" | sed 's/^ *show //' | grep -E '^clew (c\+\+|debug)' >demo
  grep '^\$ ' "$(head -n 1 sessions)" | sed 's/^\$ //' | grep -E '^clew (c\+\+|debug)' | diff - demo
}
check "scripts/demo shows the same" demo
finish
