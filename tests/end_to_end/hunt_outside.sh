#!/bin/bash
# Hunting programs that take what there is only one of: names, a port.
. "$(dirname "$0")/lib.sh"

cat >claims.c <<'C'
#include <arpa/inet.h>
#include <fcntl.h>
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
check "... one at a time, which is told" says err.txt "one schedule at a time"
nothing_left() { ! ls /dev/shm/${name#/} /dev/shm/sem.${name#/} claimed.socket 2>/dev/null; }
check "... and nothing is left" nothing_left
check "several at a time only if told to" run 1 hunt --seed 1 --schedules 300 --jobs 2 --keep-going ./claims "$port" $name $name

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
finish
