// A schedule without preemptions fails: the detached thread does not run before the end.
// clew: hunt --strategy exhaustive --bound 0 --keep-going
// shows: found
// never: schedules? with at most \d+ preemptions? pass
#include <assert.h>

#include <thread>

int x;

void resets() {
  x++;
  x = 3;
}

void adds() { x++; }

int main() {
  std::thread first(resets);
  std::thread second(adds);
  first.detach();
  second.join();
  assert(x != 1);
}
