/* Listeners: shared libraries that are told what happens while a program runs under clew.
 *
 *   clew run --listener ./my_listener.so[:OPTIONS] ./program      (also: clew replay, clew hunt)
 *
 * A listener defines clew_listener_start, in C or with C linkage. It runs inside the program's process,
 * but apart from the program: it is loaded into a namespace of its own (dlmopen), with a C library and a
 * heap of its own at addresses that the program does not use, and it is called on a stack of its own,
 * always by the same thread. So it may call whatever it likes, except: start threads, fork, or wait for
 * anything. Listening changes nothing about the run: a recording can be replayed with listeners that it
 * was made without.
 *
 * In a hunt, the process is put back between runs, and the listener's memory with it: each run finds the
 * listener as clew_listener_start has left it. What it writes to files stays. */
#ifndef CLEW_LISTENER_H_
#define CLEW_LISTENER_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this file. A listener of another version is refused. */
#define CLEW_LISTENER_VERSION 1

/* What a listener wants to be told; the others cost nothing. */
enum clew_topic {
  CLEW_TOPIC_THREADS = 1,    /* CLEW_THREAD_... */
  CLEW_TOPIC_LOCKS = 2,      /* CLEW_LOCK_... */
  CLEW_TOPIC_ORDER = 4,      /* CLEW_RELEASES, CLEW_ACQUIRES, CLEW_FENCE, CLEW_WAIT, CLEW_WAKE */
  CLEW_TOPIC_ACCESSES = 8,   /* CLEW_READ, ...: of code that was built with clew */
  CLEW_TOPIC_MEMORY = 16,    /* CLEW_ALLOCATED, CLEW_FREED */
  CLEW_TOPIC_FUNCTIONS = 32, /* CLEW_FUNCTION_...: in clew run and clew replay, not in a hunt. The
                               program's code is translated for it while it runs, which takes time. */
  CLEW_TOPIC_OUTSIDE = 64    /* CLEW_OUTSIDE */
};

enum clew_event_kind {
  CLEW_THREAD_CREATED = 1, /* `thread` is the new one, `other` its creator */
  CLEW_THREAD_JOINED,      /* `other` has ended and was joined by `thread` */
  CLEW_THREAD_ENDED,

  CLEW_LOCK_REQUESTED = 16, /* told before the thread waits for it, if it has to */
  CLEW_LOCK_TAKEN,          /* `shared`: the read side of a lock for readers and writers */
  CLEW_LOCK_RELEASED,

  CLEW_RELEASES = 32, /* what the thread did happens before what those do who acquire the object */
  CLEW_ACQUIRES,      /* (semaphores, barriers, once, futexes, descriptors) */
  CLEW_FENCE,         /* `order` */
  CLEW_WAIT,          /* it calls a function that may wait for the object */
  CLEW_WAKE,          /* it calls one that may wake others */

  /* Told right before they happen; nothing comes in between. */
  CLEW_READ = 48,
  CLEW_WRITE,
  CLEW_ATOMIC_READ, /* `order` */
  CLEW_ATOMIC_WRITE,
  CLEW_ATOMIC_UPDATE, /* read-modify-write, compare-exchange */

  /* `place` is the code that calls malloc, free and the like: of new and delete, in the C++ library. */
  CLEW_ALLOCATED = 64,
  CLEW_FREED, /* told before it is */

  /* Of functions in the program's own sources, as they were compiled: not of those that were inlined.
   * `address` and `place` are the function's. One that an exception or longjmp leaves is told as left
   * when the thread next enters or leaves a function. */
  CLEW_FUNCTION_ENTERED = 80,
  CLEW_FUNCTION_LEFT,

  /* Told before a system call that reaches files, descriptors, other processes or the memory map, by
   * whichever library: printf() comes to write when its buffer is full. Not of those that clew answers
   * itself: locks, time, signals. `address` is its number (<sys/syscall.h>), `size` its first argument, of
   * most of them the descriptor. */
  CLEW_OUTSIDE = 96
};

/* As in C11's memory_order. */
enum clew_order {
  CLEW_ORDER_NOT_KNOWN = 0,
  CLEW_ORDER_RELAXED,
  CLEW_ORDER_ACQUIRE,
  CLEW_ORDER_RELEASE,
  CLEW_ORDER_ACQ_REL,
  CLEW_ORDER_SEQ_CST
};

struct clew_event {
  uint32_t kind;   /* clew_event_kind */
  uint32_t thread; /* in order of creation, from 0 for main */
  uint32_t other;
  uint8_t order; /* clew_order */
  uint8_t shared;
  uint8_t counted; /* the clock counts it */
  uint8_t reserved;
  uint64_t clock;   /* events that all threads have passed, this one included if it is counted */
  uint64_t address; /* of the access, the lock, the object, the block or the function */
  uint64_t size;    /* of the access or the block, in bytes */
  uint64_t place;   /* where in the code; for clew_place, not an address. 0: not known */
};

struct clew_place {
  uint32_t thread;
  uint32_t reserved;
  uint64_t clock; /* 0: not known */
  uint64_t place;
};

enum clew_severity { CLEW_NOTE = 0, CLEW_WARNING, CLEW_ERROR };

/* What a listener has found. clew prints it as it prints its own findings, with source lines for the
 * places, in text, JSON and JUnit XML, and keeps it in the recording. */
struct clew_finding {
  const char* kind;  /* a word: "lock-held-too-long" */
  const char* text;  /* one line */
  uint32_t severity; /* clew_severity */
  uint32_t fails;    /* not 0: the run ends here, as a failure */
  uint64_t address;  /* of the variable or lock, which is named if it has a name; 0: none */
  uint64_t size;
  uint32_t places_count; /* at most 2 */
  uint32_t reserved;
  struct clew_place places[2];
};

/* What clew offers to a listener. */
struct clew_host {
  uint32_t version; /* CLEW_LISTENER_VERSION of clew */
  uint32_t reserved;
  /* Does not return if the finding fails the run. */
  void (*report)(const struct clew_finding* finding);
};

struct clew_listener {
  uint32_t version; /* CLEW_LISTENER_VERSION */
  uint32_t topics;  /* clew_topic, added up */
  void (*event)(const struct clew_event* event);
  void (*end)(void); /* the run ends; may be null */
};

/* Called once, before main. `options` is what came after the colon, or "". Returns null to refuse. */
const struct clew_listener* clew_listener_start(const struct clew_host* host, const char* options);

#ifdef __cplusplus
}
#endif

#endif /* CLEW_LISTENER_H_ */
