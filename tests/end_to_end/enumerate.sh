#!/usr/bin/env bash
# clew enumerate: the figures of the paper, reasons, one read alone, combinations, recordings for explain.
. "$(dirname "$0")/lib.sh"
programs=$source/bench/enumerate/programs
# build PROGRAM OUTPUT OPTIONS...
build() { "$clew" cc -O1 -g "${@:3}" "$programs/$1.c" -o "$2" -pthread || exit 1; }
build figure2 figure2
build figure2 open1 -DOPEN_1
build figure2 open3 -DOPEN_3
build figure4 figure4
build figure4 sleep_first -DSLEEP_IN_FIRST
build figure4 second_first -DSECOND_FIRST
build figure4 repaired -DREPAIRED
check "help with examples" bash -c '"$0" enumerate --help | grep -qi "examples:"' "$clew"

# Terms of the only read with a choice, as "line:status", sorted; 0 is the initial value.
terms="sorted((t['write']['at']['line'] if t['write'] else 0, t['status']) for r in d['reads'] for t in r['terms'])"
line() { grep -n "$2" "$programs/$1.c" | head -n 1 | cut -d: -f1; }
one=$(line figure2 '&a = 1;') two=$(line figure2 '&a = 2;') three=$(line figure2 '&a = 3;')
check "figure 2" run 0 enumerate --seed 1 --json out.json ./figure2
check "... has three terms, and one that a lock rules out" json "$terms == [(0, 'seen'), ($one, 'impossible'), ($two, 'seen'), ($three, 'seen')]"
check "... says why" says err.txt "before the lock is released that the reader takes"
check "... every schedule was executed" json "d['exhausted'] and d['untried'] == ''"
check "... after three runs all terms are seen" json "d['last_new_run'] <= 3"
for open in open1 open3; do
  check "without a lock" run 0 enumerate --seed 1 --json out.json ./$open
  check "... there are four" json "$terms == [(0, 'seen'), ($one, 'seen'), ($two, 'seen'), ($three, 'seen')]"
done

zero=$(line figure4 'n = 0;') good=$(line figure4 'n = 3;')
wait=$(grep -n 'pthread_barrier_wait' "$programs/figure4.c" | tail -n 1 | cut -d: -f1)  # of the third thread
for variant in figure4 sleep_first second_first; do
  check "figure 4: $variant" run 1 enumerate --seed 1 --schedules 60 --json out.json ./$variant
  check "... two terms, and the initial value is ruled out by the barrier" json "$terms == [(0, 'impossible'), ($zero, 'seen'), ($good, 'seen')]"
  check "... with two runs" json "d['last_new_run'] == 2"
  check "... one fails, one passes" json "{t['write']['at']['line']: t['failing_runs'] > 0 and t['passing_runs'] == 0 for t in d['reads'][0]['terms'] if t['status'] == 'seen'} == {$zero: True, $good: False}"
  check "... says which barrier" json "[t['reason']['text'] for t in d['reads'][0]['terms'] if not t['write']] == ['overwritten at figure4.c:$good, ordered by the barrier at figure4.c:$wait']"
  failing=$(python3 -c "import json; print([t['failing'] for t in json.load(open('out.json'))['reads'][0]['terms'] if t['failing']][0])")
  check "... its recording fails again" run 136 replay "$failing"
done
check "the repaired program" run 0 enumerate --seed 1 --json out.json ./repaired
check "... has the same terms, and none fails" json "$terms == [(0, 'impossible'), ($(line figure4 'n = 7;'), 'seen'), ($good, 'seen')] and all(t['failing_runs'] == 0 for r in d['reads'] for t in r['terms'])"
check "one read" run 1 enumerate --seed 1 --schedules 60 --at "figure4.c:$(line figure4 '21 / n'):n" --json out.json ./figure4
check "... alone" json "len(d['reads']) == 1 and d['coverage'] == {'seen': 2, 'impossible': 1, 'open': 0}"
check "no read there" run 125 enumerate --at figure4.c:1 ./figure4
check "... says so" says err.txt "there is no read at figure4.c:1"
check "no place" run 124 enumerate --at figure4.c ./figure4
fail=$source/tests/programs/fail
check "the same pairs as every schedule shows" "$source/bench/enumerate/against_exhaustive" --clew "$clew" \
  "$fail/lost_update_c.c" "$fail/order_violation_null.c" "$fail/future_race.cpp" "$fail/wrong_lock.cpp"
check "as a strategy of a hunt" run 1 hunt --strategy enumerate --seed 1 --no-passing ./figure4
check "... with what it has covered" says err.txt "pairs of write and read seen"
check "a budget of one run" run 0 enumerate --seed 1 --schedules 1 --json out.json ./repaired
check "... leaves what was not tried open" json "d['coverage']['open'] == 1 and not d['exhausted']"

cat >two_flags.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int x, y, first, second;
static void *a(void *p) { x = 1; first = y; return p; }
static void *b(void *p) { y = 1; second = x; return p; }
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, a, 0);
  pthread_create(&t, 0, b, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return first == 1 && second == 1 ? 3 : 0;
}
C
"$clew" cc -O1 -g two_flags.c -o two_flags -pthread || exit 1
check "combinations of two reads" run 1 enumerate --pairs --seed 1 --json out.json ./two_flags
check "... both initial values together are impossible, both ones fail" json "d['exhausted'] and d['combinations'] == {'seen': 3, 'impossible': 1, 'open': 0} and len(d['failing_combinations']) == 1"
finish
