/* What a program learns from outside: files, folders, the environment, its process id, random
 * bytes; a file in memory.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../check.h"

static char path[64];

static void* hold_lock(void* ready) {
  const int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
  CHECK(write(*(int*)ready, "l", 1) == 1);
  usleep(1000);
  CHECK(flock(fd, LOCK_UN) == 0);
  close(fd);
  return NULL;
}

int main(void) {
  char folder[] = "/tmp/inputs_XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/file", folder);
  FILE* out = fopen(path, "w");
  CHECK(out != NULL);
  for (int i = 0; i < 1000; ++i) fprintf(out, "line %d\n", i);
  CHECK(fclose(out) == 0);

  struct stat status;
  CHECK(stat(path, &status) == 0 && status.st_size > 5000);
  const int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  char* mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(mapped != MAP_FAILED && memcmp(mapped, "line 0\nline 1\n", 14) == 0);
  long lines = 0;
  for (long i = 0; i < status.st_size; ++i) lines += mapped[i] == '\n';
  CHECK(lines == 1000);
  CHECK(munmap(mapped, (size_t)status.st_size) == 0);
  char text[8];
  CHECK(pread(fd, text, 6, 7) == 6 && memcmp(text, "line 1", 6) == 0);
  CHECK(lseek(fd, 0, SEEK_END) == status.st_size);
  close(fd);

  int names = 0;
  DIR* listing = opendir(folder);
  CHECK(listing != NULL);
  for (struct dirent* entry; (entry = readdir(listing)) != NULL;) ++names;
  closedir(listing);
  CHECK(names == 3);

  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, hold_lock, &ends[1]) == 0);
  CHECK(read(ends[0], text, 1) == 1);
  const int mine = open(path, O_RDWR);
  CHECK(flock(mine, LOCK_EX) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  close(mine);

  uint64_t number = 0;
  const int random = open("/dev/urandom", O_RDONLY);
  CHECK(random >= 0 && read(random, &number, sizeof number) == sizeof number);
  close(random);
  struct utsname system_name;
  CHECK(uname(&system_name) == 0);
  char where[512];
  CHECK(getcwd(where, sizeof where) != NULL);
  printf("%d %llx %s %ld\n", getpid(), (unsigned long long)number, system_name.release,
         (long)status.st_mtim.tv_nsec);
  CHECK(setenv("CLEW_TEST", "x", 1) == 0 && strcmp(getenv("CLEW_TEST"), "x") == 0);
  CHECK(unlink(path) == 0 && rmdir(folder) == 0);
  puts("ok");
  return 0;
}
