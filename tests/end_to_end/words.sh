#!/usr/bin/env bash
# What clew says to people who mistype, and how it names things: refused before anything runs, with a suggestion.
. "$(dirname "$0")/lib.sh"
"$clew" c++ -std=c++20 -O1 -g "$source/tests/programs/fail/check_then_act.cpp" -o p -pthread || exit 1
touch plain

# refused MESSAGE HINT ARGS...: a usage error with that message and hint; nothing was run
refused() {
  local message=$1 hint=$2
  shift 2
  run 124 "$@" && says err.txt "$message" && says err.txt "$hint" && [ ! -e .clew ]
}
check "no command: a short help" refused "name a command" "clew debug ./queue"
check "a mistyped command" refused "there is no command 'hnut'" "did you mean clew hunt?" hnut
check "a word that is close to none" refused "there is no command 'xyzzy'" "clew --help" xyzzy
check "a mistyped option" refused "clew hunt has no option --sed" "did you mean --seed?" hunt --sed 3 ./p
check "... of clew itself" refused "clew has no option --verson" "did you mean --version?" --verson
check "... of a command without program" refused "clew replay has no option --josn" "did you mean --json?" replay 3 --josn x
check "the program's own options are not looked at" bash -c '"$0" run ./p --sed 3 >/dev/null 2>&1; [ -e .clew/1 ] && rm -r .clew' "$clew"
check "no program" refused "name the program to run: clew hunt ./prog" "clew hunt --help" hunt
check "... of run" refused "name the program to run: clew run ./prog" "clew run --help" run --seed 3
check "... of debug" refused "name the program to run: clew debug ./prog" "clew debug --help" debug
check "no clock" refused "name a clock: clew where 120" "clew show" where
check "a negative seed" refused "\-\-seed: '-1' is not a whole number, 0 or greater" "hint" hunt --seed -1 ./p
check "a seed that is no number" refused "\-\-seed: 'x' is not a whole number" "hint" run --seed x ./p
check "a seed that is too large" refused "99999999999999999999 is too large" "hint" run --seed 99999999999999999999 ./p
check "a budget of nothing" refused "\-\-budget: '0' is not a whole number greater than 0" "hint" run --budget 0 ./p
check "JSON into a folder that does not exist" refused "\-\-json: cannot write '/nonexistent/x.json': No such file" "hint" hunt --json /nonexistent/x.json ./p
check "JSON onto a folder" refused "\-\-json: '/tmp' is a directory" "hint" debug --json /tmp ./p
check "JUnit likewise" refused "\-\-junit: cannot write '/nonexistent/x.xml'" "hint" hunt --junit /nonexistent/x.xml ./p
check "not executable" bash -c '"$0" run ./plain 2>err.txt; [ $? = 125 ] && grep -q "it is not executable" err.txt && grep -q "hint: chmod +x ./plain" err.txt' "$clew"
check "a folder" bash -c '"$0" run . 2>err.txt; [ $? = 125 ] && grep -q "cannot run .: it is a directory" err.txt' "$clew"
finish
