/* A listener that finds locks which are held for long: through more events than its option says.
 *
 *   cc -shared -fPIC -o long_locks.so long_locks.c
 *   clew run --listener ./long_locks.so:1000 ./program
 *
 * With "fail" behind the number ("1000 fail") the first such lock ends the run as a failure, so that
 * clew hunt looks for a schedule with one. */
#include <clew/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HELD 256

struct held {
  uint64_t lock, clock, place;
  uint32_t thread;
};

static const struct clew_host* host;
static uint64_t most = 1000;
static int fails;
static struct held held[MOST_HELD];
static size_t held_count;

static void take(const struct clew_event* event) {
  if (held_count == MOST_HELD) return;
  held[held_count++] = (struct held){event->address, event->clock, event->place, event->thread};
}

static void report(const struct held* taken, const struct clew_event* released) {
  char text[128];
  struct clew_finding finding = {0};
  snprintf(text, sizeof text, "a lock is held for %llu events, more than %llu",
           (unsigned long long)(released->clock - taken->clock), (unsigned long long)most);
  finding.kind = "long-lock";
  finding.text = text;
  finding.severity = CLEW_WARNING;
  finding.fails = (uint32_t)fails;
  finding.address = taken->lock;
  finding.places_count = 2;
  finding.places[0] = (struct clew_place){taken->thread, 0, taken->clock, taken->place};
  finding.places[1] = (struct clew_place){released->thread, 0, released->clock, released->place};
  host->report(&finding);
}

static void release(const struct clew_event* event) {
  for (size_t i = held_count; i-- > 0;) {
    struct held taken = held[i];
    if (taken.lock != event->address || taken.thread != event->thread) continue;
    held[i] = held[--held_count];
    if (event->clock - taken.clock > most) report(&taken, event);
    return;
  }
}

static void on_event(const struct clew_event* event) {
  if (event->kind == CLEW_LOCK_TAKEN) take(event);
  if (event->kind == CLEW_LOCK_RELEASED) release(event);
}

static const struct clew_listener listener = {CLEW_LISTENER_VERSION, CLEW_TOPIC_LOCKS, on_event,
                                              NULL};

const struct clew_listener* clew_listener_start(const struct clew_host* given,
                                                const char* options) {
  host = given;
  if (*options != '\0') most = strtoull(options, NULL, 10);
  fails = strstr(options, "fail") != NULL;
  return &listener;
}
