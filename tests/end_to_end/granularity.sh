#!/usr/bin/env bash
# -fclew-yield=sync|shared|line, and code kept free of yield points.
. "$(dirname "$0")/lib.sh"
cat >p.cpp <<'C'
#include <clew/clew.h>
#include <pthread.h>
#include <atomic>
int plain;
std::atomic<int> atom;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef QUIET
CLEW_NO_YIELD
#endif
static void add(int n) {
#ifdef REGION
  clew::NoYield quiet;
#endif
  for (int i = 0; i < n; i++) {
    plain = plain + 1;
    int local = i;
    local++;
  }
}
int main() {
  add(100);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  atom++;
  return 0;
}
C
clock_of() { # FLAGS...
  "$clew" c++ -std=c++20 -O0 "$@" p.cpp -o p -pthread && "$clew" run --json out.json -- ./p 2>/dev/null && field clock
}
sync=$(clock_of -fclew-yield=sync)
shared=$(clock_of)
line=$(clock_of -fclew-yield=line)
quiet=$(clock_of -DQUIET)
region=$(clock_of -DREGION)
echo "sync $sync, shared $shared, line $line, no-yield function $quiet, no-yield region $region"
check "sync counts the two calls and the atomic" [ "$sync" = 3 ]
check "shared counts each access" [ "$shared" -ge 203 ]
check "shared does not count locals" [ "$shared" -le 310 ]
check "line counts more" [ "$line" -gt "$shared" ]
check "a function can be free of points" [ "$quiet" -lt 10 ]
check "a region can be free of points" [ "$region" -lt 10 ]
check "a wrong granularity is refused" bash -c '! "$0" c++ -fclew-yield=often p.cpp -o q 2>err.txt && grep -q hint err.txt' "$clew"
finish
