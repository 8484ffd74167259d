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
finish
