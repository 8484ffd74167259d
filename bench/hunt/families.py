#!/usr/bin/env python3
"""bench/hunt/families.py SEED: prints one generated program with a concurrency bug, in C.

A program is drawn from its seed alone: the shape of the bug, its depth, the number of threads, how long they are, whether
the main thread joins them, what they share and how they wait. Programs with even seeds are for tuning the portfolio, those
with odd seeds are held out (docs/hunt.md). Every program ends under every schedule, and fails under few.
"""
import random
import sys

SHAPES = ["alternation", "atomicity", "two_variables", "order", "deadlock", "lost_wakeup", "use_after_free", "last_writer"]
ACCESSES = ["atomic", "lock", "plain"]
WAITS = ["none", "none", "sleep", "timeout", "spin"]


class Family:
    """What is drawn for a seed."""

    def __init__(self, seed):
        draw = random.Random(seed * 7919 + 17)
        self.seed = seed
        self.shape = SHAPES[seed // 2 % len(SHAPES)]  # so that both halves have all of them
        self.access = draw.choice(ACCESSES)
        self.wait = draw.choice(WAITS)
        self.bystanders = draw.choice([0, 0, 1, 2, 4])
        self.before = draw.choice([0, 1, 3, 8])   # steps of each thread before the bug
        self.between = draw.choice([0, 0, 1, 3])  # and within its window
        self.after = draw.choice([0, 2, 8])
        self.depth = draw.choice([1, 2, 2, 3])
        self.joined = draw.random() < 0.75 or self.shape in ("deadlock", "lost_wakeup")  # or nobody would notice
        self.main_works = draw.random() < 0.4

    @property
    def name(self):
        return f"g{self.seed}_{self.shape}"

    def describe(self):
        return (f"{self.shape}, depth {self.depth}, {self.access} accesses, waits: {self.wait}, {self.bystanders} bystanders, "
                f"{self.before}+{self.between}+{self.after} steps, {'joined' if self.joined else 'not joined'}"
                f"{', the main thread works too' if self.main_works else ''}")


PRELUDE = """// {description}
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t access_mutex = PTHREAD_MUTEX_INITIALIZER;
{access}
static shared_int noise[4], started;
static void work(int self, int steps) {{
  for (int i = 0; i < steps; i++) put(&noise[(self + i) % 4], get(&noise[(self + i + 1) % 4]) + 1);
}}
{wait}
"""

ACCESS = {
    "atomic": """typedef atomic_int shared_int;
static int get(shared_int* at) { return atomic_load(at); }
static void put(shared_int* at, int value) { atomic_store(at, value); }
static void add(shared_int* at, int value) { atomic_fetch_add(at, value); }""",
    "lock": """typedef int shared_int;
static int get(shared_int* at) {
  pthread_mutex_lock(&access_mutex);
  int value = *at;
  pthread_mutex_unlock(&access_mutex);
  return value;
}
static void put(shared_int* at, int value) {
  pthread_mutex_lock(&access_mutex);
  *at = value;
  pthread_mutex_unlock(&access_mutex);
}
static void add(shared_int* at, int value) {
  pthread_mutex_lock(&access_mutex);
  *at += value;
  pthread_mutex_unlock(&access_mutex);
}""",
    "plain": """typedef volatile int shared_int;
static int get(shared_int* at) { return *at; }
static void put(shared_int* at, int value) { *at = value; }
static void add(shared_int* at, int value) {
  pthread_mutex_lock(&access_mutex);
  *at += value;
  pthread_mutex_unlock(&access_mutex);
}""",
}

WAIT = {
    "none": "static void settle(void) {}",
    "sleep": "static void settle(void) { usleep(2000); }",
    "timeout": """static pthread_mutex_t settle_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;
static void settle(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 5000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
  pthread_mutex_lock(&settle_mutex);
  while (pthread_cond_timedwait(&settled, &settle_mutex, &until) != ETIMEDOUT) continue;
  pthread_mutex_unlock(&settle_mutex);
}""",
    "spin": """static void settle(void) {
  for (int i = 0; i < 200 && get(&started) == 0; i++) continue;
}""",
}


# For each shape: declarations, then the bodies of the threads that matter, in order of creation.
def alternation(f):
    """B must see A's progress at each of `depth` stages just as it is then."""
    stages = "\n".join(f"  work(1, {f.between});\n  if (get(&progress) == {i + 1}) hits++;" for i in range(f.depth))
    steps = "\n".join(f"  add(&progress, 1);\n  work(0, {f.between});" for _ in range(f.depth + 2))
    return ("static shared_int progress;",
            [f"{steps}", f"  int hits = 0;\n{stages}\n  assert(hits < {f.depth});"])


def atomicity(f):
    """Read, then write back: an update in between is lost. With a greater depth it must be so more than once."""
    update = f"  {{\n    int seen = get(&counter);\n    work(0, {f.between});\n    put(&counter, seen + 1);\n  }}"
    body = "\n".join([update] * f.depth) + "\n  add(&done, 1);"
    lost = min(f.depth, 2)
    check = f"  if (get(&done) == 2) assert(get(&counter) > {2 * f.depth - lost});"
    return "static shared_int counter, done;", [f"{body}\n{check}", f"{body}\n{check}"]


def two_variables(f):
    """Two variables that belong together; a reader between the two writes, and back before the third."""
    write = f"  put(&left, 1);\n  work(0, {f.between});\n  put(&right, 1);"
    if f.depth > 1:
        write += f"\n  work(0, {f.between});\n  put(&left, 2);\n  put(&right, 2);"
    wanted = {1: "a == 1 && b == 0", 2: "a == 2 && b == 1", 3: "a == 1 && b == 2"}[f.depth]
    return ("static shared_int left, right;",
            [write, f"  int a = get(&left);\n  work(1, {f.between});\n  int b = get(&right);\n  assert(!({wanted}));"])


def order(f):
    """Used before it is set up, though the user waits a moment."""
    sets = "\n".join(f"  put(&ready[{i}], 1);\n  work(0, {f.between});" for i in range(f.depth))
    missing = f.depth - 1
    uses = f"  settle();\n  int first = get(&ready[0]);\n  work(1, {f.between});\n  int last = get(&ready[{missing}]);"
    condition = "first == 0" if f.depth == 1 else "first == 1 && last == 0"
    return f"static shared_int ready[{f.depth}];", [sets, f"{uses}\n  (void)last;\n  assert(!({condition}));"]


def deadlock(f):
    """A cycle of depth + 1 locks."""
    count = f.depth + 1
    bodies = [f"  pthread_mutex_lock(&locks[{i}]);\n  work({i}, {f.between});\n  pthread_mutex_lock(&locks[{(i + 1) % count}]);\n"
              f"  pthread_mutex_unlock(&locks[{(i + 1) % count}]);\n  pthread_mutex_unlock(&locks[{i}]);" for i in range(count)]
    init = ", ".join(["PTHREAD_MUTEX_INITIALIZER"] * count)
    return f"static pthread_mutex_t locks[{count}] = {{{init}}};", bodies


def lost_wakeup(f):
    """The flag is looked at outside of the lock; a signal in between wakes nobody."""
    waiter = (f"  int there = get(&flag);\n  work(1, {f.between});\n  pthread_mutex_lock(&wake_mutex);\n"
              f"  if (!there && get(&flag) < {f.depth}) pthread_cond_wait(&wake, &wake_mutex);\n  pthread_mutex_unlock(&wake_mutex);")
    raiser = "\n".join("  add(&flag, 1);" for _ in range(f.depth)) + "\n  pthread_cond_signal(&wake);"
    # The lock is not held for the signal: the waiter has seen the flag down and does not wait yet.
    return ("static shared_int flag;\nstatic pthread_mutex_t wake_mutex = PTHREAD_MUTEX_INITIALIZER;\n"
            "static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;", [waiter, raiser])


def use_after_free(f):
    """A count of references that is decremented and looked at in two steps; the object is poisoned when it is given up."""
    drop = (f"  if (get(&alive) == 1 && get(&references) > 0) {{\n    work(0, {f.between});\n    add(&uses, get(&alive) == 1 ? 1 : 0);\n"
            f"    assert(get(&alive) == 1);\n  }}")
    drops = "\n".join([drop] * f.depth)
    last = f"  add(&references, -1);\n  work(1, {f.between});\n  if (get(&references) == 0 && get(&uses) >= {f.depth - 1}) put(&alive, 2);"
    return "static shared_int references = 1, alive = 1, uses;", [drops, last]


def last_writer(f):
    """The bug needs the last of three to be first, and the others in the other order."""
    bodies = [f"  work({i}, {f.between});\n  add(&place, 1);\n  put(&came[{i}], get(&place));" for i in range(3)]
    wanted = ["get(&came[2]) == 1", "get(&came[1]) == 2", "get(&came[0]) == 3"][: f.depth]
    check = f"\n  if (get(&came[0]) != 0 && get(&came[1]) != 0 && get(&came[2]) != 0) assert(!({' && '.join(wanted)}));"
    return "static shared_int place, came[3];", [body + check for body in bodies]


def source(f):
    declarations, bodies = globals()[f.shape](f)
    text = PRELUDE.format(description=f.describe(), access=ACCESS[f.access], wait=WAIT[f.wait])
    text += declarations + "\n\n"
    names = []
    for i, body in enumerate(bodies):
        names.append(f"part_{i}")
        settle = "  settle();\n" if f.wait != "none" and i == len(bodies) - 1 and f.shape != "order" else ""
        text += (f"static void* part_{i}(void* arg) {{\n  (void)arg;\n  work({i}, {f.before});\n{settle}{body}\n"
                 f"  put(&started, 1);\n  work({i}, {f.after});\n  return NULL;\n}}\n")
    text += f"static void* stand_by(void* arg) {{\n  work(2, {f.before + f.after + 1});\n  return arg;\n}}\n"
    mine = names.pop() if f.main_works else None
    all_names = names + ["stand_by"] * f.bystanders
    text += f"int main(void) {{\n  pthread_t thread[{len(all_names)}];\n  settle();\n"
    for i, name in enumerate(all_names):
        text += f"  pthread_create(&thread[{i}], NULL, {name}, NULL);\n"
    if mine:
        text += f"  {mine}(NULL);\n"
    if f.joined:
        text += f"  for (int i = 0; i < {len(all_names)}; i++) pthread_join(thread[i], NULL);\n"
    return text + "  return 0;\n}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    print(source(Family(int(sys.argv[1]))), end="")
