/* A listener for a rule: no input or output while a lock is held.
 *
 *   cc -shared -fPIC -o no_io.so no_io.c
 *   clew run --listener ./no_io.so ./program
 *
 * With the option "fail" the first such call ends the run as a failure. */
#include <clew/listener.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define MOST_HELD 256

struct held {
  uint64_t lock, clock, place;
  uint32_t thread;
};

static const struct clew_host* host;
static int fails;
static struct held held[MOST_HELD];
static size_t held_count;

static void take(const struct clew_event* event) {
  if (held_count == MOST_HELD) return;
  held[held_count++] = (struct held){event->address, event->clock, event->place, event->thread};
}

static void release(const struct clew_event* event) {
  for (size_t i = held_count; i-- > 0;) {
    if (held[i].lock != event->address || held[i].thread != event->thread) continue;
    held[i] = held[--held_count];
    return;
  }
}

static const char* io_of(uint64_t call) {
  switch (call) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
      return "reads";
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return "writes";
    case SYS_fsync:
    case SYS_fdatasync:
      return "waits for the disk";
    default:
      return NULL;
  }
}

static void call(const struct clew_event* event) {
  const char* io = io_of(event->address);
  if (io == NULL) return;
  for (size_t i = 0; i < held_count; ++i) {
    if (held[i].thread != event->thread) continue;
    char text[128];
    struct clew_finding finding = {0};
    snprintf(text, sizeof text, "a thread %s (descriptor %d) while it holds a lock", io,
             (int)event->size);
    finding.kind = "io-under-lock";
    finding.text = text;
    finding.severity = CLEW_WARNING;
    finding.fails = (uint32_t)fails;
    finding.address = held[i].lock;
    finding.places_count = 2;
    finding.places[0] = (struct clew_place){held[i].thread, 0, held[i].clock, held[i].place};
    finding.places[1] = (struct clew_place){event->thread, 0, event->clock, event->place};
    host->report(&finding);
    return;
  }
}

static void on_event(const struct clew_event* event) {
  if (event->kind == CLEW_LOCK_TAKEN) take(event);
  if (event->kind == CLEW_LOCK_RELEASED) release(event);
  if (event->kind == CLEW_OUTSIDE) call(event);
}

static const struct clew_listener listener = {
    CLEW_LISTENER_VERSION, CLEW_TOPIC_LOCKS | CLEW_TOPIC_OUTSIDE, on_event, NULL};

const struct clew_listener* clew_listener_start(const struct clew_host* given,
                                                const char* options) {
  host = given;
  fails = strcmp(options, "fail") == 0;
  return &listener;
}
