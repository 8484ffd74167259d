// A journal that is written by workers and rotated by another thread: the old descriptor is closed while a worker still uses the number it read
// before.
// ROOT CAUSE: journal_fd.cpp:65 (closed), journal_fd.cpp:39 (the number is read here), journal_fd.cpp:52 (used); KIND: order-violation
// SAYS: calls `write` for descriptor \d+ \(`journal.fd`\) .* after T0\.3 has closed it at journal_fd.cpp:65
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct journal {
  pthread_mutex_t lock;
  int fd;
  int generation;
  long lines;
  char name[64];
};

static struct journal journal;
static int failures;

static int open_journal(struct journal* j) {
  snprintf(j->name, sizeof j->name, "/tmp/journal_fd.%d.%d", (int)getpid(), j->generation);
  return open(j->name, O_CREAT | O_WRONLY | O_APPEND, 0600);
}

static void start_journal(struct journal* j) {
  pthread_mutex_init(&j->lock, NULL);
  j->generation = 0;
  j->fd = open_journal(j);
  if (j->fd < 0) exit(3);
  unlink(j->name);
}

static int current(struct journal* j) {
  pthread_mutex_lock(&j->lock);
  int fd = j->fd;
  pthread_mutex_unlock(&j->lock);
  return fd;
}

static int append(struct journal* j, const char* line) {
#ifdef FIXED
  pthread_mutex_lock(&j->lock);
  int fd = j->fd;
#else
  int fd = current(j);
#endif
  size_t size = strlen(line);
  ssize_t done = write(fd, line, size);
#ifdef FIXED
  pthread_mutex_unlock(&j->lock);
#endif
  if (done != (ssize_t)size) return -1;
  pthread_mutex_lock(&j->lock);
  j->lines++;
  pthread_mutex_unlock(&j->lock);
  return 0;
}

static void close_journal(struct journal* j) {
  pthread_mutex_lock(&j->lock);
  if (j->fd >= 0) close(j->fd);
  j->fd = -1;
  j->generation++;
  j->fd = open("/dev/null", O_WRONLY);
  int spare = dup(j->fd);
  close(j->fd);
  j->fd = spare;
  pthread_mutex_unlock(&j->lock);
}

static void* work(void* argument) {
  const char* name = static_cast<const char*>(argument);
  char line[64];
  for (int i = 0; i < 3; i++) {
    snprintf(line, sizeof line, "%s: record %d\n", name, i);
    if (append(&journal, line) != 0) {
      pthread_mutex_lock(&journal.lock);
      failures++;
      pthread_mutex_unlock(&journal.lock);
    }
  }
  return NULL;
}

static void* rotate(void* unused) {
  (void)unused;
  close_journal(&journal);
  return NULL;
}

int main(void) {
  pthread_t workers[2], rotator;
  start_journal(&journal);
  pthread_create(&workers[0], NULL, work, const_cast<char*>("first"));
  pthread_create(&workers[1], NULL, work, const_cast<char*>("second"));
  pthread_create(&rotator, NULL, rotate, NULL);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  pthread_join(rotator, NULL);
  if (failures != 0) {
    fprintf(stderr, "%d records lost\n", failures);
    return 1;
  }
  return 0;
}
