// The ports of a sequencer's client (after a use after free in a sound driver, CVE-2017-15265): the
// port is created and entered in the list under the lock, and filled in afterwards, when another
// request may have deleted it. A deleted port is poisoned, so that its use shows.
// ROOT CAUSE: ports.c:66; KIND: order-violation or data-race
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kAlive = 0x600d, kDead = 0xdead, kMostPorts = 16 };

struct Port {
  int magic;
  int number;
  int capability;
  int type;
  struct Port* next;
};

static pthread_mutex_t ports_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Port* ports;
static int ports_count;
static struct Port storage[kMostPorts];  // never given back, so that the poison stays
static int storage_used;
static int requests = 4;

static struct Port* new_port(void) {
  struct Port* port = &storage[storage_used++];
  port->magic = kAlive;
  return port;
}

static int free_number(void) {
  int number = 0;
  for (struct Port* port = ports; port != NULL; port = port->next)
    if (port->number >= number) number = port->number + 1;
  return number;
}

static void fill_in(struct Port* port, int type) {
  assert(port->magic == kAlive);
  port->capability = 3;
  port->type = type;
}

static int create_port(int type) {
  pthread_mutex_lock(&ports_mutex);
  if (storage_used == kMostPorts) {
    pthread_mutex_unlock(&ports_mutex);
    return -1;
  }
  struct Port* port = new_port();
  port->number = free_number();
  int number = port->number;
  port->next = ports;
  ports = port;
  ports_count++;
#ifdef FIXED
  fill_in(port, type);
#endif
  pthread_mutex_unlock(&ports_mutex);
#ifndef FIXED
  // From here on others can find it.
  fill_in(port, type);
#endif
  return number;
}

static int delete_port(int number) {
  pthread_mutex_lock(&ports_mutex);
  struct Port** link = &ports;
  while (*link != NULL && (*link)->number != number) link = &(*link)->next;
  struct Port* port = *link;
  if (port != NULL) {
    *link = port->next;
    ports_count--;
    port->magic = kDead;
  }
  pthread_mutex_unlock(&ports_mutex);
  return port != NULL;
}

static void* create(void* arg) {
  (void)arg;
  for (int i = 0; i < requests; i++) create_port(i);
  return NULL;
}

static void* delete(void* arg) {
  (void)arg;
  for (int i = requests; i-- > 0;) delete_port(i);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) requests = atoi(argv[1]);
  pthread_t creator, deleter;
  pthread_create(&creator, NULL, create, NULL);
  pthread_create(&deleter, NULL, delete, NULL);
  pthread_join(creator, NULL);
  pthread_join(deleter, NULL);
  return 0;
}
