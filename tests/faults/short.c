// Transfers that complete in part: limited by what is available, by the room there is, by a signal
// in the middle; and stdio on top.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "../conformance/help.h"
#include "fill.h"

enum { kBig = 1 << 20 };
static char buffer[kBig];
static char copy[kBig];
static int ends[2];

static void make_pipe(int flags) { EXPECT_EQ(pipe2(ends, flags), 0); }
static void make_sockets(int flags) { EXPECT_EQ(socketpair(AF_UNIX, flags, 0, ends), 0); }
static void close_ends(void) {
  close(ends[0]);
  close(ends[1]);
}
static void put_pattern(void) {
  for (int i = 0; i < kBig; ++i) buffer[i] = (char)(i * 7 + i / 251);
}

// --- what is available ---------------------------------------------------------------------------

static void less_than_wanted(void) {
  EXPECT_EQ(write(ends[1], "abcde", 5), 5);
  EXPECT_EQ(read(ends[0], copy, 100), 5);
  EXPECT_EQ(write(ends[1], "abcdefgh", 8), 8);
  char first[3], second[100];
  struct iovec parts[2] = {{first, 3}, {second, 100}};
  EXPECT_EQ(readv(ends[0], parts, 2), 8);
  EXPECT(memcmp(first, "abc", 3) == 0 && memcmp(second, "defgh", 5) == 0);
  EXPECT_EQ(write(ends[1], "abcdefgh", 8), 8);
  parts[1].iov_len = 2;
  EXPECT_EQ(readv(ends[0], parts, 2), 5);
  EXPECT_EQ(read(ends[0], copy, 100), 3);
  close(ends[1]);
  EXPECT_EQ(read(ends[0], copy, 100), 0);
  EXPECT_EQ(readv(ends[0], parts, 2), 0);
  close(ends[0]);
}
CASE(read, less_from_pipe) {
  make_pipe(0);
  less_than_wanted();
}
CASE(read, less_from_pipe_not_waiting) {
  make_pipe(O_NONBLOCK);
  EXPECT_ERRNO(read(ends[0], copy, 1), EAGAIN);
  less_than_wanted();
}
CASE(read, less_from_socket) {
  make_sockets(SOCK_STREAM);
  less_than_wanted();
}
CASE(read, less_from_socket_not_waiting) {
  make_sockets(SOCK_STREAM | SOCK_NONBLOCK);
  EXPECT_ERRNO(read(ends[0], copy, 1), EAGAIN);
  EXPECT_ERRNO(readv(ends[0], &(struct iovec){copy, 1}, 1), EAGAIN);
  less_than_wanted();
}
CASE(read, less_from_file) {
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, "abcde", 5), 5);
  EXPECT_EQ(pread(fd, copy, 100, 2), 3);
  EXPECT_EQ(pread(fd, copy, 100, 5), 0);
  struct iovec parts[2] = {{copy, 2}, {copy + 10, 10}};
  EXPECT_EQ(preadv(fd, parts, 2, 1), 4);
  EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
  EXPECT_EQ(readv(fd, parts, 2), 5);
  close(fd);
}
CASE(recv, truncated_datagram) {
  make_sockets(SOCK_DGRAM);
  EXPECT_EQ(send(ends[1], "abcdefgh", 8, 0), 8);
  EXPECT_EQ(recv(ends[0], copy, 3, 0), 3);
  EXPECT_EQ(send(ends[1], "abcdefgh", 8, 0), 8);
  EXPECT_EQ(recv(ends[0], copy, 3, MSG_TRUNC), 8);
  EXPECT_EQ(send(ends[1], "abcdefgh", 8, 0), 8);
  struct iovec part = {copy, 3};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  EXPECT_EQ(recvmsg(ends[0], &message, 0), 3);
  EXPECT((message.msg_flags & MSG_TRUNC) != 0);
  EXPECT_ERRNO(recv(ends[0], copy, 3, MSG_DONTWAIT), EAGAIN);
  close_ends();
}
// It requests a whole message, and gets it.
CASE(recv, waitall_datagram) {
  make_sockets(SOCK_DGRAM);
  EXPECT_EQ(send(ends[1], "abc", 3, 0), 3);
  EXPECT_EQ(send(ends[1], "defg", 4, 0), 4);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL), 3);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL), 4);
  close_ends();
}
CASE(recv, waitall_to_the_end) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(send(ends[1], "abc", 3, 0), 3);
  EXPECT_EQ(shutdown(ends[1], SHUT_WR), 0);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL), 3);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL), 0);
  close_ends();
}
CASE(recv, waitall_at_once) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(send(ends[1], "abc", 3, 0), 3);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL | MSG_DONTWAIT), 3);
  close_ends();
}
static void* send_slowly(void* unused) {
  for (int i = 0; i < 5; ++i) {
    nap(2);
    EXPECT_EQ(send(ends[1], "abcd", 4, 0), 4);
  }
  return unused;
}
CASE(recv, waitall_in_pieces) {
  make_sockets(SOCK_STREAM);
  pthread_t thread = start(send_slowly, NULL);
  EXPECT_EQ(recv(ends[0], copy, 20, MSG_WAITALL), 20);
  finish(thread);
  EXPECT_EQ(memcmp(copy, "abcdabcdabcdabcdabcd", 20), 0);
  close_ends();
}
CASE(recvmsg, waitall_in_pieces) {
  make_sockets(SOCK_STREAM);
  pthread_t thread = start(send_slowly, NULL);
  struct iovec parts[2] = {{copy, 3}, {copy + 3, 17}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  EXPECT_EQ(recvmsg(ends[0], &message, MSG_WAITALL), 20);
  finish(thread);
  EXPECT_EQ(memcmp(copy, "abcdabcdabcdabcdabcd", 20), 0);
  close_ends();
}
CASE(recvmmsg, waits_for_all) {
  make_sockets(SOCK_DGRAM);
  pthread_t thread = start(send_slowly, NULL);
  struct iovec parts[5];
  struct mmsghdr messages[5] = {0};
  for (int i = 0; i < 5; ++i) {
    parts[i] = (struct iovec){copy + 10 * i, 10};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  EXPECT_EQ(recvmmsg(ends[0], messages, 5, 0, NULL), 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(messages[i].msg_len, 4);
  finish(thread);
  thread = start(send_slowly, NULL);
  const int some = recvmmsg(ends[0], messages, 5, MSG_WAITFORONE, NULL);
  EXPECT(some >= 1 && some <= 5);
  finish(thread);
  EXPECT_EQ(recvmmsg(ends[0], messages, 5, MSG_DONTWAIT, NULL), 5 - some > 0 ? 5 - some : -1);
  close_ends();
}
CASE(recv, peek) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(send(ends[1], "abcd", 4, 0), 4);
  EXPECT_EQ(recv(ends[0], copy, 10, MSG_PEEK), 4);
  EXPECT_EQ(recv(ends[0], copy, 4, MSG_PEEK | MSG_WAITALL), 4);
  EXPECT_EQ(recv(ends[0], copy, 10, 0), 4);
  EXPECT_EQ(memcmp(copy, "abcd", 4), 0);
  close_ends();
}

// --- the room there is ---------------------------------------------------------------------------

static long written_until_full(long (*put)(void)) {
  long total = 0, n;
  while ((n = put()) > 0) total += n;
  EXPECT(n == -1 && errno == EAGAIN);
  return total;
}
static long read_until_empty(void) {
  long total = 0, n;
  set_blocking(ends[0], 0);
  while ((n = read(ends[0], copy, 10007)) > 0) total += n;
  EXPECT(n == -1 && errno == EAGAIN);
  return total;
}
static long put_bytes(void) { return write(ends[1], buffer, 100003); }
static long put_parts(void) {
  const struct iovec parts[3] = {{buffer, 5}, {buffer + 5, 70000}, {buffer + 70005, 29998}};
  return writev(ends[1], parts, 3);
}
static long put_message(void) {
  struct iovec parts[2] = {{buffer, 5}, {buffer + 5, 99998}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(ends[1], &message, MSG_DONTWAIT);
}
static long put_sent(void) { return send(ends[1], buffer, 100003, MSG_DONTWAIT); }
CASE(write, full_pipe) {
  make_pipe(O_NONBLOCK);
  EXPECT_EQ(written_until_full(put_bytes), 65536);
  EXPECT_EQ(read_until_empty(), 65536);
  close_ends();
}
// Up to PIPE_BUF bytes it is all or nothing.
CASE(write, atomic_to_pipe) {
  make_pipe(O_NONBLOCK);
  EXPECT_EQ(write(ends[1], buffer, 65536 - 100), 65536 - 100);
  EXPECT_ERRNO(write(ends[1], buffer, PIPE_BUF), EAGAIN);
  EXPECT_EQ(read(ends[0], copy, PIPE_BUF), PIPE_BUF);
  EXPECT_EQ(write(ends[1], buffer, PIPE_BUF), PIPE_BUF);
  close_ends();
}
CASE(writev, full_pipe) {
  make_pipe(O_NONBLOCK);
  EXPECT_EQ(written_until_full(put_parts), 65536);
  EXPECT_EQ(read_until_empty(), 65536);
  close_ends();
}
CASE(write, full_socket) {
  make_sockets(SOCK_STREAM | SOCK_NONBLOCK);
  EXPECT_EQ(written_until_full(put_bytes), read_until_empty());
  close_ends();
}
CASE(writev, full_socket) {
  make_sockets(SOCK_STREAM | SOCK_NONBLOCK);
  EXPECT_EQ(written_until_full(put_parts), read_until_empty());
  close_ends();
}
CASE(send, full_socket_dontwait) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(written_until_full(put_sent), read_until_empty());
  close_ends();
}
CASE(sendmsg, full_socket_dontwait) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(written_until_full(put_message), read_until_empty());
  close_ends();
}

// A blocking descriptor accepts everything.
static void* read_everything(void* unused) {
  long total = 0, n;
  while ((n = read(ends[0], copy + total, 7001)) > 0) total += n;
  EXPECT_EQ(n, 0);
  EXPECT_EQ(memcmp(buffer, copy, (size_t)total), 0);
  return (void*)total + 0 * (long)unused;
}
static void whole_transfer(long (*put)(void), long expected) {
  put_pattern();
  pthread_t thread = start(read_everything, NULL);
  EXPECT_EQ(put(), expected);
  close(ends[1]);
  EXPECT_EQ((long)finish(thread), expected);
  close(ends[0]);
}
static long write_all(void) { return write(ends[1], buffer, 500000); }
static long writev_all(void) {
  const struct iovec parts[4] = {
      {buffer, 1}, {buffer + 1, 0}, {buffer + 1, 300000}, {buffer + 300001, 199999}};
  return writev(ends[1], parts, 4);
}
static long send_all(void) { return send(ends[1], buffer, 500000, 0); }
static long sendmsg_all(void) {
  struct iovec parts[2] = {{buffer, 100000}, {buffer + 100000, 400000}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(ends[1], &message, 0);
}
static long sendmmsg_all(void) {
  struct iovec parts[2] = {{buffer, 200000}, {buffer + 200000, 300000}};
  struct mmsghdr messages[2] = {{{.msg_iov = &parts[0], .msg_iovlen = 1}, 0},
                                {{.msg_iov = &parts[1], .msg_iovlen = 1}, 0}};
  const int sent = sendmmsg(ends[1], messages, 2, 0);
  return sent == 2 ? messages[0].msg_len + messages[1].msg_len : sent;
}
static long vmsplice_all(void) {
  long total = 0, n;
  // It may transfer less than requested.
  while (total < 500000 &&
         (n = vmsplice(ends[1], &(struct iovec){buffer + total, (size_t)(500000 - total)}, 1, 0)) >
             0)
    total += n;
  return total;
}
static long sendfile_all(void) {
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, buffer, 500000), 500000);
  off_t at = 0;
  long total = 0, n;
  // It may transfer less than requested.
  while (total < 500000 && (n = sendfile(ends[1], fd, &at, (size_t)(500000 - total))) > 0)
    total += n;
  EXPECT_EQ(at, total);
  close(fd);
  return total;
}
static long splice_all(void) {
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, buffer, 500000), 500000);
  off_t at = 0;
  long total = 0, n;
  while (total < 500000 && (n = splice(fd, &at, ends[1], NULL, (size_t)(500000 - total), 0)) > 0)
    total += n;
  close(fd);
  return total;
}
CASE(write, all_to_pipe) { make_pipe(0), whole_transfer(write_all, 500000); }
CASE(write, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(write_all, 500000); }
CASE(writev, all_to_pipe) { make_pipe(0), whole_transfer(writev_all, 500000); }
CASE(writev, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(writev_all, 500000); }
CASE(send, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(send_all, 500000); }
CASE(sendmsg, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(sendmsg_all, 500000); }
CASE(sendmmsg, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(sendmmsg_all, 500000); }
CASE(vmsplice, all_to_pipe) { make_pipe(0), whole_transfer(vmsplice_all, 500000); }
CASE(sendfile, all_to_socket) { make_sockets(SOCK_STREAM), whole_transfer(sendfile_all, 500000); }
CASE(sendfile, all_to_pipe) { make_pipe(0), whole_transfer(sendfile_all, 500000); }
CASE(splice, all_to_pipe) { make_pipe(0), whole_transfer(splice_all, 500000); }

CASE(splice, between_pipes) {
  make_pipe(0);
  int to[2];
  EXPECT_EQ(pipe2(to, O_NONBLOCK), 0);
  EXPECT_ERRNO(splice(ends[0], NULL, to[1], NULL, 10, SPLICE_F_NONBLOCK), EAGAIN);
  EXPECT_ERRNO(tee(ends[0], to[1], 10, SPLICE_F_NONBLOCK), EAGAIN);
  EXPECT_EQ(write(ends[1], "abcdef", 6), 6);
  EXPECT_EQ(tee(ends[0], to[1], 100, 0), 6);
  EXPECT_EQ(splice(ends[0], NULL, to[1], NULL, 4, 0), 4);
  EXPECT_EQ(read(to[0], copy, 100), 10);
  EXPECT_EQ(memcmp(copy, "abcdefabcd", 10), 0);
  EXPECT_EQ(read(ends[0], copy, 100), 2);
  EXPECT_EQ(splice(ends[0], NULL, to[1], NULL, 0, 0), 0);
  close(ends[1]);
  EXPECT_EQ(splice(ends[0], NULL, to[1], NULL, 4, 0), 0);
  EXPECT_EQ(tee(ends[0], to[1], 4, 0), 0);
  close(ends[0]);
  close(to[0]);
  close(to[1]);
}
CASE(splice, nonblock_full) {
  make_pipe(0);
  fill(ends[1]);
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, buffer, 100), 100);
  off_t at = 0;
  EXPECT_ERRNO(splice(fd, &at, ends[1], NULL, 10, SPLICE_F_NONBLOCK), EAGAIN);
  EXPECT_ERRNO(vmsplice(ends[1], &(struct iovec){buffer, 10}, 1, SPLICE_F_NONBLOCK), EAGAIN);
  close(fd);
  close_ends();
}
CASE(sendfile, past_the_end) {
  make_sockets(SOCK_STREAM);
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, "abcde", 5), 5);
  off_t at = 3;
  EXPECT_EQ(sendfile(ends[1], fd, &at, 100), 2);
  EXPECT_EQ(at, 5);
  EXPECT_EQ(sendfile(ends[1], fd, &at, 100), 0);
  EXPECT_EQ(sendfile(ends[1], fd, NULL, 0), 0);
  close(fd);
  close_ends();
}
CASE(sendfile, full_not_waiting) {
  make_sockets(SOCK_STREAM);
  fill(ends[1]);
  set_blocking(ends[1], 0);
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, "abcde", 5), 5);
  off_t at = 0;
  EXPECT_ERRNO(sendfile(ends[1], fd, &at, 5), EAGAIN);
  EXPECT_EQ(at, 0);
  EXPECT_EQ(fcntl(ends[1], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
  close(fd);
  close_ends();
}
CASE(copy_file_range, past_the_end) {
  const int from = memfd_create("from", 0);
  const int to = memfd_create("to", 0);
  EXPECT_EQ(write(from, "abcde", 5), 5);
  off_t at = 3;
  EXPECT_EQ(copy_file_range(from, &at, to, NULL, 100, 0), 2);
  EXPECT_EQ(at, 5);
  EXPECT_EQ(copy_file_range(from, &at, to, NULL, 100, 0), 0);
  close(from);
  close(to);
}

// --- interrupted in the middle -------------------------------------------------------------------

static volatile int is_done;
static volatile long result;
static long (*transfer)(void);
static void on_signal(int number) { (void)number; }
static void* transferring(void* unused) {
  result = transfer();
  is_done = 1;
  return unused;
}
// What was transferred counts, with SA_RESTART too.
static void interrupted(long (*what)(void), int flags, long least, long most) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  transfer = what;
  is_done = 0;
  pthread_t thread = start(transferring, NULL);
  for (int i = 0; i < 500 && !is_done; ++i) {
    nap(i < 5 ? 10 : 50);
    pthread_kill(thread, SIGUSR1);
  }
  if (!is_done) close(ends[0]);
  finish(thread);
  EXPECT(result >= least && result <= most);
  close_ends();
}
static long receive_some(void) { return recv(ends[0], copy, 100, MSG_WAITALL); }
static void with_part(void) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(write(ends[1], "part", 4), 4);
}
CASE(write, interrupted_pipe) { make_pipe(0), interrupted(write_all, 0, 65536, 65536); }
CASE(write, interrupted_pipe_restart) {
  make_pipe(0), interrupted(write_all, SA_RESTART, 65536, 65536);
}
CASE(writev, interrupted_pipe) { make_pipe(0), interrupted(writev_all, 0, 60000, 65536); }
CASE(write, interrupted_socket) {
  make_sockets(SOCK_STREAM), interrupted(write_all, 0, 100000, 499999);
}
CASE(write, interrupted_socket_restart) {
  make_sockets(SOCK_STREAM), interrupted(write_all, SA_RESTART, 100000, 499999);
}
CASE(send, interrupted) { make_sockets(SOCK_STREAM), interrupted(send_all, 0, 100000, 499999); }
CASE(send, interrupted_restart) {
  make_sockets(SOCK_STREAM), interrupted(send_all, SA_RESTART, 100000, 499999);
}
CASE(sendmsg, interrupted_restart) {
  make_sockets(SOCK_STREAM), interrupted(sendmsg_all, SA_RESTART, 100000, 499999);
}
CASE(recv, waitall_interrupted) { with_part(), interrupted(receive_some, 0, 4, 4); }
CASE(recv, waitall_interrupted_restart) {
  with_part(), interrupted(receive_some, SA_RESTART, 4, 4);
}

// A time limit in the middle.
CASE(send, timeout_in_the_middle) {
  make_sockets(SOCK_STREAM);
  const struct timeval time = {0, 20000};
  EXPECT_EQ(setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time), 0);
  EXPECT_EQ(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
  const long sent = send(ends[1], buffer, 500000, 0);
  EXPECT(sent > 0 && sent < 500000);
  EXPECT_ERRNO(send(ends[1], buffer, 500000, 0), EAGAIN);
  long left = sent;
  while (left > 0) {
    const long n = recv(ends[0], copy, left > 10 ? (size_t)left - 10 : (size_t)left, 0);
    if (n <= 0) break;
    left -= n;
  }
  EXPECT_EQ(left, 0);
  EXPECT_ERRNO(recv(ends[0], copy, 1, 0), EAGAIN);
  EXPECT_EQ(send(ends[1], "part", 4, 0), 4);
  EXPECT_EQ(recv(ends[0], copy, 100, MSG_WAITALL), 4);
  close_ends();
}
// The reader closes its end in the middle.
static void* read_a_part(void* unused) {
  EXPECT_EQ(read(ends[0], copy, 10), 10);
  nap(10);
  close(ends[0]);
  return unused;
}
CASE(write, broken_in_the_middle) {
  signal(SIGPIPE, SIG_IGN);
  make_pipe(0);
  pthread_t thread = start(read_a_part, NULL);
  const long written = write(ends[1], buffer, 500000);
  EXPECT(written >= 65536 && written < 500000);
  EXPECT_ERRNO(write(ends[1], buffer, 1), EPIPE);
  finish(thread);
  close(ends[1]);
}
static volatile sig_atomic_t broken;
static void on_broken(int number) {
  (void)number;
  ++broken;
}
// The signal has been handled when the call returns.
CASE(write, sigpipe) {
  const struct sigaction action = {.sa_handler = on_broken};
  EXPECT_EQ(sigaction(SIGPIPE, &action, NULL), 0);
  make_pipe(0);
  close(ends[0]);
  broken = 0;
  EXPECT_ERRNO(write(ends[1], buffer, 1), EPIPE);
  EXPECT_EQ(broken, 1);
  EXPECT_ERRNO(writev(ends[1], &(struct iovec){buffer, 1}, 1), EPIPE);
  EXPECT_EQ(broken, 2);
  close(ends[1]);
  make_sockets(SOCK_STREAM);
  close(ends[0]);
  EXPECT_ERRNO(send(ends[1], buffer, 1, 0), EPIPE);
  EXPECT_EQ(broken, 3);
  EXPECT_ERRNO(send(ends[1], buffer, 1, MSG_NOSIGNAL), EPIPE);
  EXPECT_EQ(broken, 3);
  EXPECT_ERRNO(
      sendmsg(ends[1], &(struct msghdr){.msg_iov = &(struct iovec){buffer, 1}, .msg_iovlen = 1}, 0),
      EPIPE);
  EXPECT_EQ(broken, 4);
  close(ends[1]);
  signal(SIGPIPE, SIG_IGN);
}

// --- stdio ---------------------------------------------------------------------------------------

CASE(fread, eagain) {
  make_pipe(O_NONBLOCK);
  FILE* file = fdopen(ends[0], "r");
  EXPECT_EQ(write(ends[1], "abc", 3), 3);
  errno = 0;
  EXPECT_EQ(fread(copy, 1, 10, file), 3);
  EXPECT(ferror(file) && !feof(file) && errno == EAGAIN);
  clearerr(file);
  EXPECT_EQ(write(ends[1], "de", 2), 2);
  close(ends[1]);
  EXPECT_EQ(fread(copy, 1, 10, file), 2);
  EXPECT(!ferror(file) && feof(file));
  fclose(file);
}
CASE(fwrite, eagain) {
  make_pipe(O_NONBLOCK);
  FILE* file = fdopen(ends[1], "w");
  setvbuf(file, NULL, _IONBF, 0);
  errno = 0;
  EXPECT_EQ(fwrite(buffer, 1, 100000, file), 65536);
  EXPECT(ferror(file) && errno == EAGAIN);
  clearerr(file);
  EXPECT_EQ(read(ends[0], copy, 50000), 50000);
  EXPECT(fwrite(buffer, 1, 40000, file) == 40000 && !ferror(file));
  fclose(file);
  close(ends[0]);
}
CASE(fflush, eagain) {
  make_pipe(O_NONBLOCK);
  FILE* file = fdopen(ends[1], "w");
  while (write(ends[1], buffer, 4096) > 0) {
  }
  EXPECT(fputs("text", file) >= 0);
  EXPECT_ERRNO(fflush(file), EAGAIN);
  EXPECT(ferror(file));
  clearerr(file);
  EXPECT_EQ(read(ends[0], copy, 60000), 60000);
  EXPECT_EQ(fputs("more", file) >= 0, 1);
  EXPECT_EQ(fclose(file), 0);
  close(ends[0]);
}
CASE(getline, eof_in_the_middle) {
  make_pipe(0);
  EXPECT_EQ(write(ends[1], "line\npart", 9), 9);
  close(ends[1]);
  FILE* file = fdopen(ends[0], "r");
  char* line = NULL;
  size_t room = 0;
  EXPECT_EQ(getline(&line, &room, file), 5);
  EXPECT_EQ(getline(&line, &room, file), 4);
  EXPECT_EQ(getline(&line, &room, file), -1);
  EXPECT(feof(file) && !ferror(file));
  free(line);
  fclose(file);
}
CASE(fclose, full_device) {
  FILE* file = fopen("/dev/full", "w");
  EXPECT(fputs("text", file) >= 0);
  EXPECT_ERRNO(fflush(file), ENOSPC);
  EXPECT(ferror(file));
  clearerr(file);
  EXPECT(fputs("text", file) >= 0);
  EXPECT_ERRNO(fclose(file), ENOSPC);
  const int fd = open("/dev/full", O_WRONLY);
  EXPECT_ERRNO(write(fd, buffer, 100), ENOSPC);
  EXPECT_ERRNO(writev(fd, &(struct iovec){buffer, 10}, 1), ENOSPC);
  EXPECT_ERRNO(pwrite(fd, buffer, 10, 0), ENOSPC);
  close(fd);
}
