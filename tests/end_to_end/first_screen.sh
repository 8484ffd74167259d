#!/usr/bin/env bash
# What a person sees first: for every program of tests/programs/programs.txt that fails, the first 40 lines of `clew debug`
# say what went wrong, and hardly a template name stands in them.
. "$(dirname "$0")/lib.sh"
programs=$(dirname "$clew")/../tests/programs/fail

# symptom KIND: what must be said of such a failure
symptom() {
  case $1 in
    assert) echo 'assertion `.* failed' ;;
    deadlock) echo 'deadlock: no thread is runnable' ;;
    exception) echo 'uncaught [a-z:_]*: ' ;;
    exit) echo 'exited with status [0-9]' ;;
    sanitizer) echo 'Sanitizer: ' ;;
    signal) echo 'SIG[A-Z]* at address' ;;
  esac
}
# The last line that the failing run printed on standard error, or else on standard output, of what clew does not say itself.
last_line() {
  local file number
  number=$(sed -n 's/.*replay the failing run: clew replay \([0-9]*\)$/\1/p' all.txt)
  for file in ".clew/${number:-1}/stderr" ".clew/${number:-1}/stdout"; do
    grep -av -e '^ *$' -e ': Assertion `' -e '^terminate called' -e '^  what():' -e ': runtime error: ' "$file" | tail -n 1 | grep . && return
  done
}
screen() { # NAME KIND
  local last templates
  rm -rf .clew
  timeout 60 "$clew" debug --seed 1 --time 10 "$programs/$1" >all.txt 2>&1 </dev/null
  head -n 40 all.txt >out.txt
  # Another symptom of the same race may be found first.
  grep -q "clew: found: " out.txt || { echo "nothing found"; return 1; }
  grep -q -e "$(symptom "$2")" -e 'failed' -e 'SIG' -e 'exited' out.txt || { echo "no symptom"; return 1; }
  case $2 in
    exit)
      last=$(last_line | cut -c 1-60)
      [ -z "$last" ] || grep -qF -- "| $last" out.txt || { echo "'$last' is missing"; return 1; } ;;
  esac
  # Lines of source and of the program's output are not clew's; a smart pointer is called as the source calls it.
  templates=$(sed 's/shared_ptr<[A-Za-z_:]*>//g' out.txt | grep -v -e '^ *>* *[0-9]* |' -e '^ *| ' -e '^[* ] *[0-9]*  T0' | grep -c '[A-Za-z_]<[A-Za-z_:]')
  [ "$templates" -le 2 ] || { echo "$templates lines with template names"; return 1; }
  ! grep -q -e '__cxx11' -e 'std::__' -e 'allocator<' -e 'char_traits' -e 'start_thread' out.txt
}
while read -r verdict path kind _; do
  [ "$verdict" = fail ] || continue
  name=$(basename "${path%.*}")
  check "$name" screen "$name" "$kind"
done <"$source/tests/programs/programs.txt"
finish
