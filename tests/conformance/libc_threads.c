// Threads that libc creates for itself: asynchronous input and output, queues that notify.
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static int open_file(void) {
  char name[] = "/tmp/clew-conformance-XXXXXX";
  int file = mkstemp(name);
  EXPECT(file >= 0);
  unlink(name);
  return file;
}

static void wait_for(struct aiocb* request) {
  const struct aiocb* list[] = {request};
  while (aio_error(request) == EINPROGRESS) aio_suspend(list, 1, NULL);
}

CASE(aio_write, and_read_back) {
  char text[] = "across threads", back[sizeof text] = "";
  int file = open_file();
  struct aiocb request = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = sizeof text};
  EXPECT_EQ(aio_write(&request), 0);
  wait_for(&request);
  EXPECT_EQ(aio_error(&request), 0);
  EXPECT_EQ(aio_return(&request), sizeof text);
  request.aio_buf = back;
  EXPECT_EQ(aio_read(&request), 0);
  wait_for(&request);
  EXPECT_EQ(aio_return(&request), sizeof text);
  EXPECT_EQ(strcmp(text, back), 0);
  EXPECT_EQ(aio_fsync(O_SYNC, &request), 0);
  wait_for(&request);
  EXPECT_EQ(aio_error(&request), 0);
  EXPECT_EQ(close(file), 0);
}

CASE(aio_read, waits_for_a_pipe) {
  int ends[2];
  char byte = 0;
  EXPECT_EQ(pipe(ends), 0);
  struct aiocb request = {.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1};
  EXPECT_EQ(aio_read(&request), 0);
  nap(kShortMs);
  EXPECT_EQ(aio_error(&request), EINPROGRESS);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  wait_for(&request);
  EXPECT_EQ(aio_return(&request), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(close(ends[0]), 0);
  EXPECT_EQ(close(ends[1]), 0);
}

CASE(aio_read, ebadf) {
  char byte;
  struct aiocb request = {.aio_fildes = -1, .aio_buf = &byte, .aio_nbytes = 1};
  EXPECT_EQ(aio_read(&request), 0);
  wait_for(&request);
  EXPECT_EQ(aio_error(&request), EBADF);
}

CASE(aio_suspend, timeout) {
  int ends[2];
  char byte = 0;
  EXPECT_EQ(pipe(ends), 0);
  struct aiocb request = {.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1};
  const struct aiocb* list[] = {&request};
  struct timespec time = {0, 1000000};
  EXPECT_EQ(aio_read(&request), 0);
  EXPECT_ERRNO(aio_suspend(list, 1, &time), EAGAIN);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  wait_for(&request);
  EXPECT_EQ(close(ends[0]), 0);
  EXPECT_EQ(close(ends[1]), 0);
}

enum { kRequests = 5 };

CASE(lio_listio, waits_for_all) {
  char bytes[kRequests] = "abcde", back[kRequests + 1] = "";
  int file = open_file();
  struct aiocb requests[kRequests];
  struct aiocb* list[kRequests];
  memset(requests, 0, sizeof requests);
  for (int i = 0; i < kRequests; ++i) {
    requests[i].aio_fildes = file;
    requests[i].aio_buf = &bytes[i];
    requests[i].aio_nbytes = 1;
    requests[i].aio_offset = i;
    requests[i].aio_lio_opcode = LIO_WRITE;
    list[i] = &requests[i];
  }
  EXPECT_EQ(lio_listio(LIO_WAIT, list, kRequests, NULL), 0);
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(aio_return(&requests[i]), 1);
  EXPECT_EQ(pread(file, back, kRequests, 0), kRequests);
  EXPECT_EQ(strcmp(back, "abcde"), 0);
  EXPECT_EQ(close(file), 0);
}

static sem_t notified;
static int told;

static void note(union sigval value) {
  told = value.sival_int;
  sem_post(&notified);
}

CASE(aio_write, notifies_by_a_thread) {
  int file = open_file();
  EXPECT_EQ(sem_init(&notified, 0, 0), 0);
  struct aiocb request = {.aio_fildes = file, .aio_buf = "x", .aio_nbytes = 1};
  request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  request.aio_sigevent.sigev_notify_function = note;
  request.aio_sigevent.sigev_value.sival_int = 5;
  told = 0;
  EXPECT_EQ(aio_write(&request), 0);
  EXPECT_EQ(sem_wait(&notified), 0);
  EXPECT_EQ(told, 5);
  EXPECT_EQ(close(file), 0);
}

CASE(mq_notify, by_a_thread) {
  const char* name = "/clew-conformance-notify";
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  EXPECT(queue != (mqd_t)-1);
  mq_unlink(name);
  EXPECT_EQ(sem_init(&notified, 0, 0), 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_notify_function = note;
  event.sigev_value.sival_int = 6;
  told = 0;
  EXPECT_EQ(mq_notify(queue, &event), 0);
  EXPECT_EQ(mq_send(queue, "x", 1, 0), 0);
  EXPECT_EQ(sem_wait(&notified), 0);
  EXPECT_EQ(told, 6);
  EXPECT_EQ(mq_close(queue), 0);
}

static int never[2];

static void* suspend(void* request) {
  const struct aiocb* list[] = {(struct aiocb*)request};
  aio_suspend(list, 1, NULL);
  return NULL;
}

CASE(aio_suspend, is_a_cancellation_point) {
  char byte;
  EXPECT_EQ(pipe(never), 0);
  struct aiocb request = {.aio_fildes = never[0], .aio_buf = &byte, .aio_nbytes = 1};
  EXPECT_EQ(aio_read(&request), 0);
  pthread_t thread = start(suspend, &request);
  nap(kShortMs);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(write(never[1], "x", 1), 1);
  wait_for(&request);
  EXPECT_EQ(aio_return(&request), 1);
  EXPECT_EQ(close(never[0]), 0);
  EXPECT_EQ(close(never[1]), 0);
}
