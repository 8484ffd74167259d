#!/bin/bash
# Hunting in programs that use unique resources: names, a port.
. "$(dirname "$0")/lib.sh"

cat >claims.c <<'C'
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

static void need(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

static void* nothing(void* shared) {
  ++*(volatile int*)shared;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  need(bind(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr*)&port, sizeof port) == 0, "port");
  struct sockaddr_un path = {AF_UNIX, "claimed.socket"};
  need(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr*)&path, sizeof path) == 0, "path");
  need(shm_open(argv[2], O_CREAT | O_EXCL | O_RDWR, 0600) >= 0, "shared memory");
  need(sem_open(argv[3], O_CREAT | O_EXCL, 0600, 1) != SEM_FAILED, "semaphore");
  need(mq_open(argv[3], O_CREAT | O_EXCL | O_RDWR, 0600, NULL) != -1, "queue");
  static volatile int shared;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, nothing, (void*)&shared);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}
C
check "it is built" "$clew" cc -O1 -g claims.c -o claims
port=$(python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
name=/clew_test_$$
check "names and a port are taken again and again" \
  run 0 hunt --seed 1 --schedules 300 --json out.json ./claims "$port" $name $name
check "... by every schedule" json "d['schedules'] == 300 and d['unresolved'] == 0"
check "... one at a time, which is reported" says err.txt "one schedule at a time"
nothing_left() { ! ls "/dev/shm/${name#/}" "/dev/shm/sem.${name#/}" claimed.socket 2>/dev/null; }
check "... and nothing is left" nothing_left
check "... no queue either" "$clew" run --seed 1 -- ./claims "$port" $name $name
rm -f "/dev/shm/${name#/}" "/dev/shm/sem.${name#/}" claimed.socket
python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).mq_unlink(sys.argv[1].encode()))' $name
"$clew" hunt --seed 1 --schedules 300 --jobs 2 --keep-going --json out.json ./claims "$port" $name $name >out.txt 2>err.txt </dev/null
check "several at a time only if told to, which then meet" json "d['unresolved'] + len(d['failures']) > 0"

cat >owner.cpp <<'C'
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

static int owners[2];
static void own(int i) {
  if (std::filesystem::exists("owned")) return;
  std::ofstream("owned") << i;
  owners[i] = 1;
}

int main() {
  std::filesystem::remove("owned");
  std::thread other(own, 0);
  own(1);
  other.join();
  return owners[0] + owners[1] != 1;
}
C
check "it is built" "$clew" c++ -O1 -g -std=c++20 owner.cpp -o owner
check "both look for a file before one makes it" run 1 hunt --seed 1 --schedules 200 --json out.json ./owner
check "... and it is shown" bash -c '"$0" debug --time 20 -- ./owner >out.txt 2>err.txt </dev/null; grep -q "the outside (files, pipes, sockets)" out.txt err.txt' "$clew"

# A copy of the process has the lock that another thread held, and no thread that would release it.
cat >copies.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void) {
  pthread_mutex_lock(&mutex);
  n++;
  pthread_mutex_unlock(&mutex);
}
static void* work(void* unused) {
  for (int i = 0; i < 5; i++) add();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  const pid_t child = fork();
  if (child == 0) {
    add();
    _exit(0);
  }
  waitpid(child, 0, 0);
  return pthread_join(thread, 0);
}
C
check "it is built" "$clew" cc -O1 -g copies.c -o copies
check "fork while another thread has the lock" run 1 hunt --seed 1 --schedules 300 --json out.json ./copies
check "... is a hang" is kind hang
check "... of the child" says err.txt "whose threads wait for each other"
check "... and replays up to there" run 0 replay

# What the run that records the failure leaves behind is removed like that of all others: files and folders, including
# renamed, linked and nested ones.
cat >leaves.cpp <<'C'
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <thread>

static void make() {
  if (access("work", F_OK) == 0) return;
  if (mkdir("work", 0700) != 0) _exit(1);
  std::ofstream("work/a") << 1;
  rename("work/a", "work/b");
  link("work/b", "work/c");
  rename("work", "worked");
}

int main() {
  if (access("worked", F_OK) == 0) return 3;
  std::thread other(make);
  if (access("work", F_OK) != 0 && mkdir("work", 0700) != 0 && errno == EEXIST) _exit(1);
  other.join();
  return 0;
}
C
check "it is built" "$clew" c++ -O1 -g -std=c++20 leaves.cpp -o leaves
no_folder() { ! ls -d work worked 2>/dev/null; }
check "one looks, the other makes" run 1 hunt --seed 1 --schedules 500 --json out.json ./leaves
check "... the run that was recorded leaves nothing" no_folder
check "... it is replayed" run 1 replay --times 3
check "... which leaves nothing either" no_folder
check "several failures" run 1 hunt --seed 1 --schedules 500 --keep-going --json out.json ./leaves
check "... none because of what another left" json "d['failures'] and all('status 3' not in f['failure']['detail'] for f in d['failures'])"
check "debug" run 1 debug --seed 1 --json out.json ./leaves
check "... to the end" json "d['isolate']['outcome'] == 'isolated'"
check "... leaves nothing" no_folder

# --- descriptors that a run leaves open are closed before the next one, whichever call has opened them
cat >descriptors.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
static int opened(int how) {
  int pair[2];
  sigset_t set;
  FILE* file;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  switch (how) {
    case 0: return open("/dev/null", O_RDONLY);
    case 1: return dup(1);
    case 2: return fcntl(1, F_DUPFD, 40);
    case 3: return eventfd(0, 0);
    case 4: return timerfd_create(CLOCK_MONOTONIC, 0);
    case 5: return signalfd(-1, &set, 0);
    case 6: return memfd_create("m", 0);
    case 7: return pipe(pair) == 0 ? pair[1] : -1;
    case 8: return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 ? pair[1] : -1;
    case 9: return epoll_create1(0);
    case 10: return dirfd(opendir("/"));
    case 11: return (file = fopen("/dev/null", "r")) != 0 ? fileno(file) : -1;
    case 12: return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
    default: return dup2(1, 99);
  }
}
static int at_start[128];
static void* work(void* argument) {
  const long how = (long)argument;
  for (int fd = 0; fd < 128; ++fd)
    if ((fcntl(fd, F_GETFD) >= 0) != at_start[fd]) _exit(1);  // the run before has left it
  // What lies lowest may be closed again, and another number stays open.
  const int lowest = dup(1);
  const int fd = opened((int)how);
  if (fd < 0 || dup2(fd, 77) != 77) _exit(2);
  if (how % 2 == 0) close(fd);
  if (how % 3 == 0) close(lowest);
  if (how % 5 == 0) close(0);
  return 0;
}
int main(int count, char** arguments) {
  pthread_t thread;
  for (int fd = 0; fd < 128; ++fd) at_start[fd] = fcntl(fd, F_GETFD) >= 0;
  pthread_create(&thread, 0, work, (void*)(long)(count > 1 ? atoi(arguments[1]) : 0));
  pthread_join(thread, 0);
  return 0;
}
C
check "it is built" "$clew" cc -O1 -g descriptors.c -o descriptors -pthread
for how in {0..13}; do
  check "descriptors, case $how" run 0 hunt --strategy random --schedules 20 --jobs 1 --seed 1 ./descriptors "$how"
done
finish
