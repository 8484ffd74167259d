/* Asynchronous I/O of the kernel (io_submit and the like, as libaio makes them): operations and
 * their results, threads that wait for events, time limits, an eventfd that is notified, errors.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

static long set_up(unsigned room, aio_context_t* context) {
  return syscall(SYS_io_setup, room, context);
}
static long submit(aio_context_t context, struct iocb* operation) {
  struct iocb* one[] = {operation};
  return syscall(SYS_io_submit, context, 1L, one);
}
static long fetch(aio_context_t context, long least, long most, struct io_event* events,
                  struct timespec* limit) {
  return syscall(SYS_io_getevents, context, least, most, events, limit);
}

static struct iocb operation(int kind, int fd, void* data, size_t size, long offset) {
  struct iocb made;
  memset(&made, 0, sizeof made);
  made.aio_lio_opcode = (uint16_t)kind;
  made.aio_fildes = (uint32_t)fd;
  made.aio_buf = (uint64_t)(uintptr_t)data;
  made.aio_nbytes = size;
  made.aio_offset = offset;
  return made;
}

static int new_file(void) {
  char name[] = "/tmp/clew_aio.XXXXXX";
  const int fd = mkstemp(name);
  CHECK(fd >= 0 && unlink(name) == 0);
  return fd;
}

static long result_of(aio_context_t context, struct iocb made) {
  struct io_event event;
  CHECK(submit(context, &made) == 1);
  CHECK(fetch(context, 1, 1, &event, NULL) == 1);
  CHECK(event.obj == (uint64_t)(uintptr_t)&made);
  return (long)event.res;
}

static void test_operations(aio_context_t context, int fd) {
  char text[] = "every thread";
  char buffer[32] = "";
  CHECK(result_of(context, operation(IOCB_CMD_PWRITE, fd, text, 12, 4)) == 12);
  CHECK(result_of(context, operation(IOCB_CMD_FSYNC, fd, NULL, 0, 0)) == 0);
  CHECK(result_of(context, operation(IOCB_CMD_FDSYNC, fd, NULL, 0, 0)) == 0);
  CHECK(result_of(context, operation(IOCB_CMD_PREAD, fd, buffer, 32, 10)) == 6);
  CHECK(memcmp(buffer, "thread", 7) == 0);
  CHECK(result_of(context, operation(IOCB_CMD_PREAD, fd, buffer, 32, 100)) == 0);
  struct iovec parts[] = {{text, 5}, {text + 6, 6}};
  CHECK(result_of(context, operation(IOCB_CMD_PWRITEV, fd, parts, 2, 0)) == 11);
  struct iovec halves[] = {{buffer, 5}, {buffer + 8, 6}};
  CHECK(result_of(context, operation(IOCB_CMD_PREADV, fd, halves, 2, 0)) == 11);
  CHECK(memcmp(buffer, "every", 5) == 0 && memcmp(buffer + 8, "thread", 6) == 0);
  CHECK(result_of(context, operation(IOCB_CMD_PREAD, fd, (void*)1, 8, 0)) == -EFAULT);
}

static void test_stream(aio_context_t context) {
  int ends[2];
  char buffer[8] = "";
  CHECK(pipe(ends) == 0);
  CHECK(result_of(context, operation(IOCB_CMD_PWRITE, ends[1], "pipe", 4, 0)) == 4);
  CHECK(result_of(context, operation(IOCB_CMD_PREAD, ends[0], buffer, 8, 0)) == 4);
  CHECK(memcmp(buffer, "pipe", 4) == 0);
  close(ends[0]);
  close(ends[1]);
}

static void test_eventfd(aio_context_t context, int fd) {
  char buffer[4];
  uint64_t told = 0;
  const int counter = eventfd(0, 0);
  struct iocb first = operation(IOCB_CMD_PREAD, fd, buffer, 4, 0);
  first.aio_data = 1;
  first.aio_flags = IOCB_FLAG_RESFD;
  first.aio_resfd = (uint32_t)counter;
  struct iocb second = first;
  second.aio_data = 2;
  struct iocb* both[] = {&first, &second};
  CHECK(syscall(SYS_io_submit, context, 2L, both) == 2);
  struct io_event events[4];
  for (int got = 0; got < 2;) {
    CHECK(read(counter, &told, sizeof told) == sizeof told && told > 0);
    const long n = fetch(context, 0, 4, events + got, &(struct timespec){0, 0});
    CHECK(n >= 0);
    got += (int)n;
  }
  CHECK(events[0].data + events[1].data == 3 && events[0].data != events[1].data);
  close(counter);
}

static void on_signal(int number) { (void)number; }

static void test_limits(aio_context_t context, int fd) {
  struct io_event events[2];
  struct timespec begin, end;
  CHECK(fetch(context, 0, 2, events, NULL) == 0);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  CHECK(fetch(context, 1, 2, events, &(struct timespec){0, 20000000}) == 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  CHECK((end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec >= 20000000);
  // Fewer than requested when the time limit expires.
  char buffer[4];
  struct iocb one = operation(IOCB_CMD_PREAD, fd, buffer, 4, 0);
  CHECK(submit(context, &one) == 1);
  CHECK(fetch(context, 2, 2, events, &(struct timespec){0, 20000000}) == 1);
  // A handler ends the wait.
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  alarm(1);
  CHECK(fetch(context, 1, 1, events, NULL) == -1 && errno == EINTR);
}

static void test_errors(aio_context_t context, int fd) {
  struct io_event event;
  char buffer[4];
  struct iocb one = operation(IOCB_CMD_PREAD, -1, buffer, 4, 0);
  CHECK(submit(context, &one) == -1 && errno == EBADF);
  one = operation(77, fd, buffer, 4, 0);
  CHECK(submit(context, &one) == -1 && errno == EINVAL);
  one = operation(IOCB_CMD_PREAD, fd, buffer, 4, 0);
  struct iocb bad = operation(IOCB_CMD_PREAD, -1, buffer, 4, 0);
  struct iocb* both[] = {&one, &bad};
  CHECK(syscall(SYS_io_submit, context, 2L, both) == 1);
  CHECK(fetch(context, 1, 1, &event, NULL) == 1);
  CHECK(submit(0, &one) == -1 && errno == EINVAL);
  CHECK(fetch(0, 0, 1, &event, NULL) == -1 && errno == EINVAL);
  CHECK(fetch(context, 2, 1, &event, NULL) == -1 && errno == EINVAL);
  CHECK(fetch(context, -1, 1, &event, NULL) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_io_submit, context, -1L, both) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_io_submit, context, 1L, NULL) == -1 && errno == EFAULT);
  CHECK(syscall(SYS_io_submit, context, 0L, NULL) == 0);
  aio_context_t other = context;
  CHECK(set_up(4, &other) == -1 && errno == EINVAL);
  other = 0;
  CHECK(set_up(0, &other) == -1 && errno == EINVAL);
  CHECK(set_up(4, NULL) == -1 && errno == EFAULT);
}

enum { kReaders = 3, kReads = 8 };
static aio_context_t shared;
static int shared_file;

static void* submit_reads(void* argument) {
  (void)argument;
  static char buffers[kReaders * kReads][8];
  static int next;
  for (int i = 0; i < kReads; ++i) {
    const int n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    struct iocb* one = malloc(sizeof *one);
    *one = operation(IOCB_CMD_PREAD, shared_file, buffers[n], 8, n * 8L);
    one->aio_data = (uint64_t)n;
    CHECK(submit(shared, one) == 1);
  }
  return NULL;
}

static void* fetch_all(void* argument) {
  (void)argument;
  struct io_event events[4];
  for (int got = 0; got < kReaders * kReads;) {
    const long n = fetch(shared, 1, 4, events, NULL);
    CHECK(n > 0);
    for (long i = 0; i < n; ++i) {
      struct iocb* one = (struct iocb*)(uintptr_t)events[i].obj;
      CHECK(events[i].res == 8 && *(long*)(uintptr_t)one->aio_buf == (long)events[i].data);
      free(one);
    }
    got += (int)n;
  }
  return NULL;
}

static void test_threads(int fd) {
  shared_file = fd;
  for (long i = 0; i < kReaders * kReads; ++i) CHECK(pwrite(fd, &i, 8, i * 8) == 8);
  CHECK(set_up(kReaders * kReads, &shared) == 0);
  pthread_t fetcher, readers[kReaders];
  pthread_create(&fetcher, NULL, fetch_all, NULL);
  for (int i = 0; i < kReaders; ++i) pthread_create(&readers[i], NULL, submit_reads, NULL);
  for (int i = 0; i < kReaders; ++i) pthread_join(readers[i], NULL);
  pthread_join(fetcher, NULL);
  CHECK(syscall(SYS_io_destroy, shared) == 0);
  CHECK(syscall(SYS_io_destroy, shared) == -1 && errno == EINVAL);
}

int main(void) {
  aio_context_t context = 0;
  CHECK(set_up(8, &context) == 0);
  const int fd = new_file();
  test_operations(context, fd);
  test_stream(context);
  test_eventfd(context, fd);
  test_limits(context, fd);
  test_errors(context, fd);
  test_threads(fd);
  CHECK(syscall(SYS_io_destroy, context) == 0);
  close(fd);
}
