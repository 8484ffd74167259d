// Every function that waits, and a signal that another thread sends once it does (signal(7),
// "Interruption of system calls and library functions by signal handlers").
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>

#include "../conformance/help.h"
#include "fill.h"

// What a signal does to the wait.
enum Effect {
  kRestarts,  // EINTR, but with SA_RESTART it continues
  kAlways,    // EINTR, whatever the flags
  kNever,     // it continues in any case
};

struct Subject {
  void (*prepare)(void);
  long (*wait)(void);
  void (*release)(void);  // lets the wait succeed
  enum Effect effect;
};

static const struct Subject* subject;
static volatile int done;
static volatile long result;
static volatile int error;
static volatile sig_atomic_t handled;

static void on_signal(int number) {
  (void)number;
  ++handled;
}

static void* wait_for_it(void* unused) {
  errno = 0;
  const long got = subject->wait();
  error = errno;
  result = got;
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  return unused;
}

static int is_done(void) { return __atomic_load_n(&done, __ATOMIC_ACQUIRE); }

static void try_with(const struct Subject* tried, int flags, int interrupts) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  subject = tried;
  done = handled = 0;
  if (tried->prepare) tried->prepare();
  pthread_t thread = start(wait_for_it, NULL);
  if (interrupts) {
    for (int i = 0; i < 500 && !is_done(); ++i) {
      nap(i < 5 ? 3 : 20);
      pthread_kill(thread, SIGUSR1);
    }
  } else {
    for (int i = 0; i < 3; ++i) {
      nap(4);
      EXPECT(!is_done());
      pthread_kill(thread, SIGUSR1);
    }
    nap(4);
    EXPECT(!is_done());
  }
  if (!is_done()) tried->release();
  finish(thread);
  EXPECT(handled > 0);
  if (interrupts) {
    EXPECT_EQ(result, -1);
    EXPECT_EQ(error, EINTR);
  } else {
    EXPECT(result >= 0);
  }
}

// The functions of `INTERRUPTED(name, what, effect, prepare, wait, release)` are written in place.
#define INTERRUPTED(name, what, effect, prepare, wait, release)                        \
  static void name##_##what##_prepare(void) { prepare; }                               \
  static long name##_##what##_wait(void) { return (long)(wait); }                      \
  static void name##_##what##_release(void) { release; }                               \
  static const struct Subject name##_##what##_subject = {                              \
      name##_##what##_prepare, name##_##what##_wait, name##_##what##_release, effect}; \
  CASE(name, what) {                                                                   \
    try_with(&name##_##what##_subject, 0, effect != kNever);                           \
    tidy();                                                                            \
    try_with(&name##_##what##_subject, SA_RESTART, effect == kAlways);                 \
    tidy();                                                                            \
  }

// --- what is waited for --------------------------------------------------------------------------

static int ends[2] = {-1, -1};
static int extra[2] = {-1, -1};
static pid_t child = -1;
static char buffer[1 << 20];
static struct iovec parts[2] = {{buffer, 10}, {buffer + 10, 10}};
static struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
static struct mmsghdr messages[1] = {{{.msg_iov = parts, .msg_iovlen = 2}, 0}};

static void close_all(int* fds) {
  for (int i = 0; i < 2; ++i) {
    if (fds[i] >= 0) close(fds[i]);
    fds[i] = -1;
  }
}

static void tidy(void) {
  close_all(ends);
  close_all(extra);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  child = -1;
}

static void make_pipe(void) { EXPECT_EQ(pipe(ends), 0); }
static void make_sockets(void) { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
static void put(void) { EXPECT_EQ(write(ends[1], "x", 1), 1); }

static void drain(int fd) {
  set_blocking(fd, 0);
  for (int i = 0; i < 200; ++i)
    while (read(fd, buffer, sizeof buffer) > 0) {
    }
  set_blocking(fd, 1);
}
static void make_full_pipe(void) {
  make_pipe();
  fill(ends[1]);
}
static void make_full_sockets(void) {
  make_sockets();
  fill(ends[1]);
}
static void let_in(void) { drain(ends[0]); }

static void limit_time(int fd, int option) {
  const struct timeval time = {1000, 0};
  EXPECT_EQ(setsockopt(fd, SOL_SOCKET, option, &time, sizeof time), 0);
}

static struct sockaddr_un local;
static socklen_t local_size;
static void make_listener(void) {
  ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct sockaddr_un any = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(ends[0], (const struct sockaddr*)&any, sizeof any.sun_family), 0);
  EXPECT_EQ(listen(ends[0], 0), 0);
  local_size = sizeof local;
  EXPECT_EQ(getsockname(ends[0], (struct sockaddr*)&local, &local_size), 0);
  extra[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  extra[1] = socket(AF_UNIX, SOCK_STREAM, 0);
}
static long connect_with(int fd) { return connect(fd, (const struct sockaddr*)&local, local_size); }
static void make_full_listener(void) {
  make_listener();
  EXPECT_EQ(connect_with(extra[0]), 0);
}
static void take_connection(void) { ends[1] = accept(ends[0], NULL, NULL); }

INTERRUPTED(read, pipe, kRestarts, make_pipe(), read(ends[0], buffer, 1), put())
INTERRUPTED(read, socket, kRestarts, make_sockets(), read(ends[0], buffer, 1), put())
INTERRUPTED(readv, pipe, kRestarts, make_pipe(), readv(ends[0], parts, 2), put())
INTERRUPTED(readv, socket, kRestarts, make_sockets(), readv(ends[0], parts, 2), put())
INTERRUPTED(recv, socket, kRestarts, make_sockets(), recv(ends[0], buffer, 1, 0), put())
INTERRUPTED(recv, whole, kRestarts, make_sockets(), recv(ends[0], buffer, 1, MSG_WAITALL), put())
INTERRUPTED(recv, peek, kRestarts, make_sockets(), recv(ends[0], buffer, 1, MSG_PEEK), put())
INTERRUPTED(recvfrom, socket, kRestarts, make_sockets(),
            recvfrom(ends[0], buffer, 1, 0, NULL, NULL), put())
INTERRUPTED(recvmsg, socket, kRestarts, make_sockets(), recvmsg(ends[0], &message, 0), put())
INTERRUPTED(recvmmsg, socket, kRestarts, make_sockets(), recvmmsg(ends[0], messages, 1, 0, NULL),
            put())
INTERRUPTED(recv, with_timeout, kAlways, (make_sockets(), limit_time(ends[0], SO_RCVTIMEO)),
            recv(ends[0], buffer, 1, 0), put())
INTERRUPTED(read, with_timeout, kAlways, (make_sockets(), limit_time(ends[0], SO_RCVTIMEO)),
            read(ends[0], buffer, 1), put())
INTERRUPTED(recvmsg, with_timeout, kAlways, (make_sockets(), limit_time(ends[0], SO_RCVTIMEO)),
            recvmsg(ends[0], &message, 0), put())
INTERRUPTED(write, pipe, kRestarts, make_full_pipe(), write(ends[1], buffer, 10), let_in())
INTERRUPTED(write, socket, kRestarts, make_full_sockets(), write(ends[1], buffer, 10), let_in())
INTERRUPTED(writev, pipe, kRestarts, make_full_pipe(), writev(ends[1], parts, 2), let_in())
INTERRUPTED(writev, socket, kRestarts, make_full_sockets(), writev(ends[1], parts, 2), let_in())
INTERRUPTED(send, socket, kRestarts, make_full_sockets(), send(ends[1], buffer, 10, 0), let_in())
INTERRUPTED(sendto, socket, kRestarts, make_full_sockets(), sendto(ends[1], buffer, 10, 0, NULL, 0),
            let_in())
INTERRUPTED(sendmsg, socket, kRestarts, make_full_sockets(), sendmsg(ends[1], &message, 0),
            let_in())
INTERRUPTED(sendmmsg, socket, kRestarts, make_full_sockets(), sendmmsg(ends[1], messages, 1, 0),
            let_in())
INTERRUPTED(send, with_timeout, kAlways, (make_full_sockets(), limit_time(ends[1], SO_SNDTIMEO)),
            send(ends[1], buffer, 10, 0), let_in())
INTERRUPTED(accept, socket, kRestarts, make_listener(), accept(ends[0], NULL, NULL),
            connect_with(extra[0]))
INTERRUPTED(accept4, socket, kRestarts, make_listener(), accept4(ends[0], NULL, NULL, 0),
            connect_with(extra[0]))
INTERRUPTED(accept, with_timeout, kAlways, (make_listener(), limit_time(ends[0], SO_RCVTIMEO)),
            accept(ends[0], NULL, NULL), connect_with(extra[0]))
INTERRUPTED(connect, local, kRestarts, make_full_listener(), connect_with(extra[1]),
            take_connection())
INTERRUPTED(connect, with_timeout, kAlways,
            (make_full_listener(), limit_time(extra[1], SO_SNDTIMEO)), connect_with(extra[1]),
            take_connection())

static void make_file(void) {
  extra[0] = memfd_create("file", 0);
  EXPECT_EQ(ftruncate(extra[0], 4096), 0);
}
INTERRUPTED(splice, empty_pipe, kRestarts, (make_pipe(), extra[0] = memfd_create("file", 0)),
            splice(ends[0], NULL, extra[0], NULL, 1, 0), put())
INTERRUPTED(splice, full_pipe, kRestarts, (make_full_pipe(), make_file()),
            splice(extra[0], NULL, ends[1], NULL, 1, 0), let_in())
INTERRUPTED(tee, empty_pipe, kRestarts, (make_pipe(), pipe(extra) == 0 ? (void)0 : (void)0),
            tee(ends[0], extra[1], 1, 0), put())
INTERRUPTED(vmsplice, full_pipe, kRestarts, make_full_pipe(), vmsplice(ends[1], parts, 1, 0),
            let_in())
INTERRUPTED(sendfile, full_socket, kRestarts, (make_full_sockets(), make_file()),
            sendfile(ends[1], extra[0], NULL, 10), let_in())

static void make_terminal(void) { EXPECT_EQ(openpty(&ends[1], &ends[0], NULL, NULL, NULL), 0); }
INTERRUPTED(read, terminal, kRestarts, make_terminal(), read(ends[0], buffer, 10),
            write(ends[1], "x\n", 2))
INTERRUPTED(read, terminal_master, kRestarts, make_terminal(), read(ends[1], buffer, 10),
            write(ends[0], "x", 1))
static const uint64_t most = 0xfffffffffffffffe;
INTERRUPTED(read, eventfd, kRestarts, ends[0] = eventfd(0, 0), read(ends[0], buffer, 8),
            eventfd_write(ends[0], 1))
INTERRUPTED(write, eventfd, kRestarts, (ends[0] = eventfd(0, 0), eventfd_write(ends[0], most)),
            eventfd_write(ends[0], 1), eventfd_read(ends[0], &(eventfd_t){0}))
INTERRUPTED(write, eventfd_that_takes_less, kRestarts,
            (ends[0] = eventfd(0, 0), eventfd_write(ends[0], most - 5)), eventfd_write(ends[0], 6),
            eventfd_read(ends[0], &(eventfd_t){0}))
static void set_timer(int seconds, int nanos) {
  const struct itimerspec time = {{0, 0}, {seconds, nanos}};
  EXPECT_EQ(timerfd_settime(ends[0], 0, &time, NULL), 0);
}
INTERRUPTED(read, timerfd, kRestarts,
            (ends[0] = timerfd_create(CLOCK_MONOTONIC, 0), set_timer(1000, 0)),
            read(ends[0], buffer, 8), set_timer(0, 1))
static void make_signalfd(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  ends[0] = signalfd(-1, &set, 0);
}
INTERRUPTED(read, signalfd, kRestarts, make_signalfd(),
            read(ends[0], buffer, sizeof(struct signalfd_siginfo)), kill(getpid(), SIGUSR2))
static char place[] = "/tmp/clew_faults_XXXXXX";
static char name[sizeof place + 10];
static const char* in_place(const char* file) {
  if (strstr(place, "XXXXXX") != NULL) EXPECT(mkdtemp(place) != NULL);
  strcpy(name, place);
  strcat(name, "/");
  return strcat(name, file);
}
__attribute__((destructor)) static void remove_place(void) {
  if (strstr(place, "XXXXXX") == NULL) rmdir(place);
}
static void make_watch(void) {
  in_place("");
  ends[0] = inotify_init1(0);
  EXPECT(inotify_add_watch(ends[0], place, IN_CREATE) >= 0);
}
static void make_and_remove(void) {
  EXPECT_EQ(mkdir(in_place("made"), 0700), 0);
  EXPECT_EQ(rmdir(in_place("made")), 0);
}
INTERRUPTED(read, inotify, kRestarts, make_watch(), read(ends[0], buffer, 100), make_and_remove())
static void make_fifo(void) {
  unlink(in_place("fifo"));
  EXPECT_EQ(mkfifo(in_place("fifo"), 0600), 0);
}
static void open_other_end(int flags) {
  ends[1] = open(in_place("fifo"), flags);
  if (flags == O_WRONLY) put();
}
static long open_fifo(int flags) {
  ends[0] = open(in_place("fifo"), flags);
  const int before = errno;
  unlink(in_place("fifo"));
  errno = before;
  return ends[0];
}
INTERRUPTED(open, fifo_to_read, kRestarts, make_fifo(), open_fifo(O_RDONLY),
            open_other_end(O_WRONLY))
INTERRUPTED(open, fifo_to_write, kRestarts, make_fifo(), open_fifo(O_WRONLY),
            open_other_end(O_RDONLY | O_NONBLOCK))

// --- several descriptors -------------------------------------------------------------------------

static fd_set read_set;
static fd_set* ready_set(void) {
  FD_ZERO(&read_set);
  FD_SET(ends[0], &read_set);
  return &read_set;
}
static long select_and_look(int with_mask) {
  const long selected = with_mask ? pselect(ends[0] + 1, ready_set(), NULL, NULL, NULL, NULL)
                                  : select(ends[0] + 1, ready_set(), NULL, NULL, NULL);
  // An error leaves the sets as they were.
  EXPECT(FD_ISSET(ends[0], &read_set));
  return selected;
}
static void make_epoll(void) {
  make_pipe();
  extra[0] = epoll_create1(0);
  EXPECT_EQ(epoll_ctl(extra[0], EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN}),
            0);
}
static struct epoll_event event;
INTERRUPTED(poll, pipe, kAlways, make_pipe(), poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1),
            put())
INTERRUPTED(poll, with_timeout, kAlways, make_pipe(),
            poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 1000000), put())
INTERRUPTED(poll, nothing, kAlways, , poll(NULL, 0, 1000000), )
INTERRUPTED(ppoll, pipe, kAlways, make_pipe(),
            ppoll(&(struct pollfd){ends[0], POLLIN, 0}, 1, NULL, NULL), put())
INTERRUPTED(select, pipe, kAlways, make_pipe(), select_and_look(0), put())
INTERRUPTED(select, nothing, kAlways, , select(0, NULL, NULL, NULL, &(struct timeval){1000, 0}), )
INTERRUPTED(pselect, pipe, kAlways, make_pipe(), select_and_look(1), put())
INTERRUPTED(epoll_wait, pipe, kAlways, make_epoll(), epoll_wait(extra[0], &event, 1, -1), put())
INTERRUPTED(epoll_pwait, pipe, kAlways, make_epoll(), epoll_pwait(extra[0], &event, 1, -1, NULL),
            put())
INTERRUPTED(epoll_pwait2, pipe, kAlways, make_epoll(),
            epoll_pwait2(extra[0], &event, 1, NULL, NULL), put())

// --- time and signals ----------------------------------------------------------------------------

static const struct timespec long_time = {1000, 0};
static int as_errno(int number) {
  errno = number;
  return number == 0 ? 0 : -1;
}
static long interrupted_sleep(void) {
  struct timespec left = {0, 0};
  const int slept = nanosleep(&long_time, &left);
  const int before = errno;
  EXPECT(left.tv_sec >= 900 && left.tv_sec < 1000);
  errno = before;
  return slept;
}
static long slept_less(void) {
  const unsigned left = sleep(1000);
  errno = left > 900 && left <= 1000 ? EINTR : 0;
  return left > 0 ? -1 : 0;
}
static struct timespec far_off(clockid_t clock) { return in_ms(clock, 1000000); }
static sigset_t of(int signal) {
  sigset_t set;
  sigemptyset(&set);
  if (signal != 0) sigaddset(&set, signal);
  return set;
}
static void block_usr2(void) { pthread_sigmask(SIG_BLOCK, &(sigset_t[]){of(SIGUSR2)}[0], NULL); }
INTERRUPTED(nanosleep, long_time, kAlways, , interrupted_sleep(), )
INTERRUPTED(clock_nanosleep, relative, kAlways, ,
            as_errno(clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL)), )
INTERRUPTED(clock_nanosleep, absolute, kAlways, ,
            as_errno(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME,
                                     &(struct timespec[]){far_off(CLOCK_REALTIME)}[0], NULL)), )
INTERRUPTED(usleep, long_time, kAlways, , usleep(1000000000), )
INTERRUPTED(sleep, long_time, kAlways, , slept_less(), )
INTERRUPTED(thrd_sleep, long_time, kAlways, ,
            (thrd_sleep(&long_time, NULL) == -1 ? as_errno(EINTR) : 0), )
INTERRUPTED(pause, signal, kAlways, , pause(), )
INTERRUPTED(sigsuspend, signal, kAlways, , sigsuspend(&(sigset_t[]){of(0)}[0]), )
INTERRUPTED(sigwaitinfo, signal, kAlways, block_usr2(),
            sigwaitinfo(&(sigset_t[]){of(SIGUSR2)}[0], NULL), )
INTERRUPTED(sigtimedwait, signal, kAlways, block_usr2(),
            sigtimedwait(&(sigset_t[]){of(SIGUSR2)}[0], NULL, &long_time), )
INTERRUPTED(sigwait, signal, kNever, block_usr2(),
            as_errno(sigwait(&(sigset_t[]){of(SIGUSR2)}[0], &(int){0})), kill(getpid(), SIGUSR2))

// --- locks, queues, children ---------------------------------------------------------------------

static void make_locked_file(void) {
  ends[0] = open(in_place("lock"), O_RDWR | O_CREAT, 0600);
  ends[1] = open(in_place("lock"), O_RDWR);
  unlink(in_place("lock"));
}
static struct flock whole(short type) {
  return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}
// A process that holds the lock, or just exists, until it is killed.
static void make_child(int locks) {
  int told[2];
  EXPECT_EQ(pipe(told), 0);
  child = fork();
  if (child == 0) {
    struct flock lock = whole(F_WRLCK);
    if (locks) fcntl(ends[1], F_SETLK, &lock);
    const ssize_t n = write(told[1], "x", 1);
    for (;;) usleep(n == 1 ? 1000000 : 1000);
  }
  EXPECT_EQ(read(told[0], buffer, 1), 1);
  close_all(told);
}
static void kill_child(void) { kill(child, SIGKILL); }
static void end_child(void) {
  kill_child();
  waitpid(child, NULL, 0);
  child = -1;
}
static long locked(int how) {
  struct flock lock = whole(F_WRLCK);
  return fcntl(ends[0], how, &lock);
}
static void unlock_other(void) {
  struct flock lock = whole(F_UNLCK);
  EXPECT_EQ(fcntl(ends[1], F_OFD_SETLK, &lock), 0);
}
static void lock_other(void) {
  struct flock lock = whole(F_WRLCK);
  EXPECT_EQ(fcntl(ends[1], F_OFD_SETLK, &lock), 0);
}
INTERRUPTED(flock, exclusive, kRestarts, (make_locked_file(), flock(ends[1], LOCK_EX)),
            flock(ends[0], LOCK_EX), flock(ends[1], LOCK_UN))
INTERRUPTED(fcntl, setlkw, kRestarts, (make_locked_file(), make_child(1)), locked(F_SETLKW),
            end_child())
INTERRUPTED(fcntl, ofd_setlkw, kRestarts, (make_locked_file(), lock_other()), locked(F_OFD_SETLKW),
            unlock_other())
static long reaped(pid_t got) {
  if (got > 0) child = -1;
  return got;
}
INTERRUPTED(wait, child, kRestarts, make_child(0), reaped(wait(NULL)), kill_child())
INTERRUPTED(waitpid, child, kRestarts, make_child(0), reaped(waitpid(child, NULL, 0)), kill_child())
INTERRUPTED(wait4, child, kRestarts, make_child(0), reaped(wait4(-1, NULL, 0, NULL)), kill_child())
INTERRUPTED(waitid, child, kRestarts, make_child(0),
            waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), kill_child())

static int set_of_semaphores = -1;
static int queue = -1;
static struct {
  long type;
  char text[1000];
} letter = {1, ""};
static void remove_ipc(void) {
  if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
  if (set_of_semaphores >= 0) semctl(set_of_semaphores, 0, IPC_RMID);
  queue = set_of_semaphores = -1;
}
__attribute__((destructor)) static void remove_ipc_at_end(void) { remove_ipc(); }
static void make_semaphores(void) {
  remove_ipc();
  set_of_semaphores = semget(IPC_PRIVATE, 1, 0600);
}
static long change(short by) { return semop(set_of_semaphores, &(struct sembuf){0, by, 0}, 1); }
static void make_queue(int full) {
  remove_ipc();
  queue = msgget(IPC_PRIVATE, 0600);
  while (full && msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT) == 0) {
  }
}
INTERRUPTED(semop, take, kAlways, make_semaphores(), change(-1), change(1))
INTERRUPTED(semtimedop, take, kAlways, make_semaphores(),
            semtimedop(set_of_semaphores, &(struct sembuf){0, -1, 0}, 1, &long_time), change(1))
INTERRUPTED(msgrcv, empty, kAlways, make_queue(0), msgrcv(queue, &letter, 1, 0, 0),
            msgsnd(queue, &letter, 1, 0))
INTERRUPTED(msgsnd, full, kAlways, make_queue(1), msgsnd(queue, &letter, sizeof letter.text, 0),
            msgrcv(queue, &letter, sizeof letter.text, 0, 0))

static mqd_t posix_queue(int full) {
  static char queue_name[40];
  sprintf(queue_name, "/clew_faults_%d", (int)getpid());
  const struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 10};
  const mqd_t made = mq_open(queue_name, O_RDWR | O_CREAT, 0600, &attributes);
  mq_unlink(queue_name);
  if (full) EXPECT_EQ(mq_send(made, "x", 1, 0), 0);
  return made;
}
INTERRUPTED(mq_receive, empty, kRestarts, ends[0] = posix_queue(0),
            mq_receive(ends[0], buffer, 10, NULL), mq_send(ends[0], "x", 1, 0))
INTERRUPTED(mq_send, full, kRestarts, ends[0] = posix_queue(1), mq_send(ends[0], "x", 1, 0),
            mq_receive(ends[0], buffer, 10, NULL))
INTERRUPTED(mq_timedreceive, empty, kRestarts, ends[0] = posix_queue(0),
            mq_timedreceive(ends[0], buffer, 10, NULL,
                            &(struct timespec[]){far_off(CLOCK_REALTIME)}[0]),
            mq_send(ends[0], "x", 1, 0))
INTERRUPTED(mq_timedsend, full, kRestarts, ends[0] = posix_queue(1),
            mq_timedsend(ends[0], "x", 1, 0, &(struct timespec[]){far_off(CLOCK_REALTIME)}[0]),
            mq_receive(ends[0], buffer, 10, NULL))

static sem_t semaphore;
static uint32_t word;
INTERRUPTED(sem_wait, zero, kRestarts, sem_init(&semaphore, 0, 0), sem_wait(&semaphore),
            sem_post(&semaphore))
INTERRUPTED(sem_timedwait, zero, kAlways, sem_init(&semaphore, 0, 0),
            sem_timedwait(&semaphore, &(struct timespec[]){far_off(CLOCK_REALTIME)}[0]),
            sem_post(&semaphore))
INTERRUPTED(futex, wait, kRestarts, , syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL),
            syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1))
INTERRUPTED(futex, wait_with_timeout, kAlways, ,
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time),
            syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1))

// --- threads: never ------------------------------------------------------------------------------

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t sleeper;
static int arrived;
static long lock_and_unlock(int timed) {
  const struct timespec until = far_off(CLOCK_REALTIME);
  const int failed = timed ? pthread_mutex_timedlock(&mutex, &until) : pthread_mutex_lock(&mutex);
  if (failed == 0) pthread_mutex_unlock(&mutex);
  return -failed;
}
static long wait_for_arrival(int timed) {
  const struct timespec until = far_off(CLOCK_REALTIME);
  int failed = 0;
  pthread_mutex_lock(&mutex);
  while (!arrived && failed == 0)
    failed = timed ? pthread_cond_timedwait(&condition, &mutex, &until)
                   : pthread_cond_wait(&condition, &mutex);
  arrived = 0;
  pthread_mutex_unlock(&mutex);
  return -failed;
}
static void arrive(void) {
  pthread_mutex_lock(&mutex);
  arrived = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}
static void* until_posted(void* unused) {
  while (sem_wait(&semaphore) != 0) {
  }
  return unused;
}
static void make_sleeper(void) {
  sem_init(&semaphore, 0, 0);
  sleeper = start(until_posted, NULL);
}
static long locked_rwlock(int writes) {
  const int failed = writes ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock);
  if (failed == 0) pthread_rwlock_unlock(&rwlock);
  return -failed;
}
static long passed(int waited) { return waited == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : -waited; }
INTERRUPTED(pthread_mutex_lock, held, kNever, pthread_mutex_lock(&mutex), lock_and_unlock(0),
            pthread_mutex_unlock(&mutex))
INTERRUPTED(pthread_mutex_timedlock, held, kNever, pthread_mutex_lock(&mutex), lock_and_unlock(1),
            pthread_mutex_unlock(&mutex))
INTERRUPTED(pthread_cond_wait, unsignalled, kNever, , wait_for_arrival(0), arrive())
INTERRUPTED(pthread_cond_timedwait, unsignalled, kNever, , wait_for_arrival(1), arrive())
INTERRUPTED(pthread_rwlock_rdlock, held, kNever, pthread_rwlock_wrlock(&rwlock), locked_rwlock(0),
            pthread_rwlock_unlock(&rwlock))
INTERRUPTED(pthread_rwlock_wrlock, held, kNever, pthread_rwlock_rdlock(&rwlock), locked_rwlock(1),
            pthread_rwlock_unlock(&rwlock))
INTERRUPTED(pthread_barrier_wait, first, kNever, pthread_barrier_init(&barrier, NULL, 2),
            passed(pthread_barrier_wait(&barrier)), pthread_barrier_wait(&barrier))
INTERRUPTED(pthread_join, alive, kNever, make_sleeper(), -pthread_join(sleeper, NULL),
            sem_post(&semaphore))

// --- libc on top ---------------------------------------------------------------------------------

static long line_of(int fd) {
  FILE* file = fdopen(dup(fd), "r");
  const char* got = fgets(buffer, 10, file);
  const int before = errno;
  EXPECT_EQ(ferror(file) != 0, got == NULL);
  fclose(file);
  errno = before;
  return got != NULL ? 0 : -1;
}
INTERRUPTED(fgets, pipe, kRestarts, make_pipe(), line_of(ends[0]), write(ends[1], "x\n", 2))
static long flushed_to(int fd) {
  FILE* file = fdopen(dup(fd), "w");
  fputs("text", file);
  const int failed = fflush(file);
  const int before = errno;
  EXPECT_EQ(ferror(file) != 0, failed != 0);
  if (failed != 0) {
    drain(ends[0]);
    clearerr(file);
  }
  fclose(file);
  errno = before;
  return failed;
}
INTERRUPTED(fflush, pipe, kRestarts, make_full_pipe(), flushed_to(ends[1]), let_in())
