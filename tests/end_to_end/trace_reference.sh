#!/bin/bash
# What traced runs of random programs read, wrote and saw of each other, against a reference that interprets them. More of it in
# bench/observe/random_programs.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
check "10 programs" "$source/bench/observe/random_programs" 10 --clew "$clew"
exit "$failures"
