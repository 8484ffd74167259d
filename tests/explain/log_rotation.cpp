// A log that is rotated: a writer takes the number of the file under the lock and writes to it without, while the rotator closes that file and opens the next one,
// which gets the same number. Only who writes in between loses a record.
// ROOT CAUSE: log_rotation.cpp:64 (written without the lock), log_rotation.cpp:80 (closed); KIND: order-violation or atomicity-violation
// SAYS: calls `write` for descriptor 3
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITERS 2
#define RECORDS 3

struct log {
  int fd;
  int generation;
  long written;
  char dir[64];
  pthread_mutex_t lock;
};

static int open_generation(struct log* log, int generation) {
  char path[128];
  snprintf(path, sizeof path, "%s/log.%d", log->dir, generation);
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (fd < 0) {
    perror(path);
    exit(2);
  }
  return fd;
}

static int log_open(struct log* log, const char* dir) {
  snprintf(log->dir, sizeof log->dir, "%s", dir);
  pthread_mutex_init(&log->lock, NULL);
  log->fd = open_generation(log, 0);
  return log->fd;
}

[[maybe_unused]] static int current_fd(struct log* log) {
  pthread_mutex_lock(&log->lock);
  int fd = log->fd;
  pthread_mutex_unlock(&log->lock);
  return fd;
}

static void account(struct log* log, long n) {
  pthread_mutex_lock(&log->lock);
  log->written += n;
  pthread_mutex_unlock(&log->lock);
}

static int log_record(struct log* log, const char* who, int number) {
  char line[64];
  const int n = snprintf(line, sizeof line, "%s %d\n", who, number);
#ifdef FIXED
  pthread_mutex_lock(&log->lock);
  ssize_t done = write(log->fd, line, n);
  pthread_mutex_unlock(&log->lock);
#else
  int fd = current_fd(log);
  ssize_t done = write(fd, line, n);
#endif
  if (done != n) {
    fprintf(stderr, "log: record '%s %d' lost: %s\n", who, number,
            done < 0 ? strerror(errno) : "short write");
    return -1;
  }
  account(log, done);
  return 0;
}

static void log_rotate(struct log* log) {
  pthread_mutex_lock(&log->lock);
  int old = log->fd;
  log->generation++;
  log->fd = -1;
  close(old);
  log->fd = open_generation(log, log->generation);
  pthread_mutex_unlock(&log->lock);
}

struct writer {
  struct log* log;
  char name[16];
  int lost;
};

static void* writer_main(void* arg) {
  auto* w = static_cast<struct writer*>(arg);
  for (int i = 0; i < RECORDS; i++)
    if (log_record(w->log, w->name, i) != 0) w->lost++;
  return NULL;
}

static void* rotator_main(void* arg) {
  auto* log = static_cast<struct log*>(arg);
  /* the file of the next generation may not get the old one's number: hold a descriptor */
  int spare = dup(2);
  log_rotate(log);
  close(spare);
  return NULL;
}

int main(void) {
  struct log log = {};
  char dir[] = "/tmp/rotateXXXXXX";
  if (!mkdtemp(dir)) return 2;
  log_open(&log, dir);
  pthread_t t[WRITERS], r;
  struct writer w[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    w[i].log = &log;
    w[i].lost = 0;
    snprintf(w[i].name, sizeof w[i].name, "writer%d", i);
    pthread_create(&t[i], NULL, writer_main, &w[i]);
  }
  pthread_create(&r, NULL, rotator_main, &log);
  int lost = 0;
  for (int i = 0; i < WRITERS; i++) {
    pthread_join(t[i], NULL);
    lost += w[i].lost;
  }
  pthread_join(r, NULL);
  char cmd[128];
  snprintf(cmd, sizeof cmd, "%s/log.0", dir);
  unlink(cmd);
  snprintf(cmd, sizeof cmd, "%s/log.1", dir);
  unlink(cmd);
  rmdir(dir);
  if (lost) {
    printf("%d records lost\n", lost);
    return 1;
  }
  return 0;
}
