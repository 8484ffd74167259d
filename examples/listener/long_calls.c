/* A listener that finds functions which hold a lock for long: calls, from entry to exit, that pass more
 * events than its option says while their thread holds a lock.
 *
 *   cc -shared -fPIC -o long_calls.so long_calls.c
 *   clew run --listener ./long_calls.so:1000 ./program
 *
 * Functions are told by clew run and clew replay, not in a hunt. */
#include <clew/listener.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_THREADS 64
#define MOST_CALLS 256

struct call {
  uint64_t function, clock, place;
};

static const struct clew_host* host;
static uint64_t most = 1000;
static struct call calls[MOST_THREADS][MOST_CALLS];
static uint32_t depth[MOST_THREADS], locks[MOST_THREADS];

static void enter(const struct clew_event* event) {
  uint32_t at = depth[event->thread]++;
  if (at < MOST_CALLS)
    calls[event->thread][at] = (struct call){event->address, event->clock, event->place};
}

static void leave(const struct clew_event* event) {
  uint32_t at = --depth[event->thread];
  if (at >= MOST_CALLS || locks[event->thread] == 0) return;
  const struct call* call = &calls[event->thread][at];
  if (event->clock - call->clock <= most) return;
  char text[128];
  struct clew_finding finding = {0};
  snprintf(text, sizeof text, "a call passes %llu events with a lock held, more than %llu",
           (unsigned long long)(event->clock - call->clock), (unsigned long long)most);
  finding.kind = "long-call";
  finding.text = text;
  finding.severity = CLEW_NOTE;
  finding.places_count = 1;
  finding.places[0] = (struct clew_place){event->thread, 0, call->clock, call->place};
  host->report(&finding);
}

static void on_event(const struct clew_event* event) {
  if (event->thread >= MOST_THREADS) return;
  if (event->kind == CLEW_FUNCTION_ENTERED) enter(event);
  if (event->kind == CLEW_FUNCTION_LEFT) leave(event);
  if (event->kind == CLEW_LOCK_TAKEN) ++locks[event->thread];
  if (event->kind == CLEW_LOCK_RELEASED) --locks[event->thread];
}

static const struct clew_listener listener = {
    CLEW_LISTENER_VERSION, CLEW_TOPIC_FUNCTIONS | CLEW_TOPIC_LOCKS, on_event, NULL};

const struct clew_listener* clew_listener_start(const struct clew_host* given,
                                                const char* options) {
  host = given;
  if (*options != '\0') most = strtoull(options, NULL, 10);
  return &listener;
}
