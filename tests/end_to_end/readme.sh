#!/usr/bin/env bash
# The session that the README opens with: the same commands, the same output.
. "$(dirname "$0")/lib.sh"
cp "$source/examples/int_queue/int_queue.cpp" .
awk '/^```/ { inside = !inside; block++ } inside && !/^```/ { print block "\t" $0 }' "$source/README.md" |
  awk -F'\t' '$2 ~ /^\$ clew c\+\+/ { want = $1 } $1 == want { sub(/^[0-9]+\t/, ""); print }' >session
check "the README has a session" grep -q '^\$ clew replay' session
PATH=$(dirname "$clew"):$PATH
grep '^\$ ' session | sed 's/^\$ //' | while read -r command; do
  echo "\$ $command"
  bash -c "$command" 2>&1 </dev/null || true
done >played
sed 's/ *$//' session >expected
sed 's/ *$//' played >actual
check "it is what clew prints" diff expected actual
finish
