/* A file in memory, seen through several mappings, and changed through mappings and by calls.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../check.h"

enum { kPage = 4096 };

static char* view(int fd, size_t size, int kind, off_t offset) {
  const int rights = kind == MAP_SHARED ? PROT_READ | PROT_WRITE : PROT_READ;
  char* at = mmap(NULL, size, rights, kind, fd, offset);
  CHECK(at != MAP_FAILED);
  return at;
}

static void views_of_memory(void) {
  const int fd = memfd_create("views", 0);
  CHECK(fd >= 0 && ftruncate(fd, 2 * kPage) == 0);
  char* all = view(fd, 2 * kPage, MAP_SHARED, 0);
  char* second = view(fd, kPage, MAP_SHARED, kPage);
  strcpy(second, "alias");
  CHECK(strcmp(all + kPage, "alias") == 0);
  close(fd);
  strcpy(all + kPage, "back");
  CHECK(strcmp(second, "back") == 0);
}

static void calls(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, 2 * kPage) == 0);
  const char* shared = view(fd, 2 * kPage, MAP_SHARED, 0);
  const char* own = view(fd, 2 * kPage, MAP_PRIVATE, 0);
  CHECK(pwrite(fd, "pwrite", 6, 100) == 6);
  CHECK(memcmp(shared + 100, "pwrite", 6) == 0 && memcmp(own + 100, "pwrite", 6) == 0);
  CHECK(write(fd, "write", 5) == 5 && memcmp(shared, "write", 5) == 0);
  struct iovec parts[] = {{"wri", 3}, {"", 0}, {"tev", 3}};
  CHECK(writev(fd, parts, 3) == 6 && memcmp(own + 5, "writev", 6) == 0);
  CHECK(pwritev(fd, parts, 3, kPage) == 6 && memcmp(shared + kPage, "writev", 6) == 0);

  // Through other descriptors of the same file, one of which cannot read.
  FILE* stream = fopen(path, "r+");
  CHECK(stream != NULL && fseek(stream, 300, SEEK_SET) == 0 && fputs("stdio", stream) >= 0);
  CHECK(fclose(stream) == 0 && memcmp(shared + 300, "stdio", 5) == 0);
  const int end = open(path, O_WRONLY | O_APPEND);
  CHECK(end >= 0 && ftruncate(fd, kPage) == 0 && pwrite(end, "end", 3, 0) == 3);
  CHECK(memcmp(shared + kPage, "end", 4) == 0);
  close(end);

  // From another file.
  const int from = memfd_create("from", 0);
  const int to = open(path, O_WRONLY);
  CHECK(from >= 0 && to >= 0 && write(from, "copied over", 11) == 11);
  CHECK(lseek(from, 0, SEEK_SET) == 0 && lseek(to, 500, SEEK_SET) == 500);
  CHECK(sendfile(to, from, NULL, 11) == 11 && memcmp(shared + 500, "copied over", 12) == 0);
  close(to);
  close(from);

  // Shorter and longer.
  CHECK(truncate(path, 502) == 0 && memcmp(shared + 500, "co\0", 3) == 0);
  CHECK(fallocate(fd, 0, 0, 2 * kPage) == 0 && shared[kPage] == 0);
  CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kPage) == 0);
  CHECK(shared[0] == 0 && own[100] == 0);
  const int emptied = open(path, O_RDWR | O_TRUNC);
  CHECK(emptied >= 0 && ftruncate(emptied, 3) == 0 && shared[0] == 0);
  close(emptied);
  close(fd);
}

static void growing(const char* path) {
  const int fd = open(path, O_RDWR | O_TRUNC);
  CHECK(fd >= 0 && ftruncate(fd, 2 * kPage) == 0 && pwrite(fd, "second", 6, kPage) == 6);
  char* at = view(fd, kPage, MAP_SHARED, 0);
  at = mremap(at, kPage, 2 * kPage, MREMAP_MAYMOVE);  // what was there before
  CHECK(at != MAP_FAILED && memcmp(at + kPage, "second", 6) == 0);
  CHECK(ftruncate(fd, 4 * kPage) == 0);
  at = mremap(at, 2 * kPage, 4 * kPage, MREMAP_MAYMOVE);  // what is added
  CHECK(at != MAP_FAILED);
  at[3 * kPage] = '!';
  CHECK(view(fd, kPage, MAP_PRIVATE, 3 * kPage)[0] == '!');
  close(fd);
}

int main(void) {
  char folder[] = "/tmp/mapped_XXXXXX";
  char path[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/file", folder);
  views_of_memory();
  calls(path);
  growing(path);
  CHECK(unlink(path) == 0 && rmdir(folder) == 0);
  puts("ok");
  return 0;
}
