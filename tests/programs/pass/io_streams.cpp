// Reading and writing between threads: pipes, socket pairs, eventfd, named pipes, large transfers,
// vectors, message queues, standard streams on pipes.
// EXPECT: pass
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../check.h"

static void test_ping_pong() {
  int there[2];
  int back[2];
  CHECK(pipe(there) == 0 && pipe(back) == 0);
  std::thread partner([&] {
    char c;
    while (read(there[0], &c, 1) == 1) {
      ++c;
      CHECK(write(back[1], &c, 1) == 1);
    }
    close(back[1]);
  });
  for (int i = 0; i < 50; ++i) {
    char c = static_cast<char>(i);
    CHECK(write(there[1], &c, 1) == 1);
    CHECK(read(back[0], &c, 1) == 1 && c == i + 1);
  }
  close(there[1]);
  char c;
  CHECK(read(back[0], &c, 1) == 0);
  partner.join();
  close(there[0]);
  close(back[0]);
}

// More than a pipe or a socket holds: the writer waits for the reader.
static void transfer(int from, int to) {
  constexpr size_t kSize = 1 << 20;
  std::string data(kSize, '\0');
  for (size_t i = 0; i < kSize; ++i) data[i] = static_cast<char>(i * 7 >> 3);
  std::thread writer([&] {
    CHECK(write(to, data.data(), kSize / 2) == static_cast<ssize_t>(kSize / 2));
    iovec parts[2] = {{data.data() + kSize / 2, kSize / 4},
                      {data.data() + kSize * 3 / 4, kSize / 4}};
    CHECK(writev(to, parts, 2) == static_cast<ssize_t>(kSize / 2));
    close(to);
  });
  std::string got;
  char buffer[5000];
  ssize_t n;
  while ((n = read(from, buffer, sizeof buffer)) > 0) got.append(buffer, static_cast<size_t>(n));
  CHECK(n == 0 && got == data);
  writer.join();
  close(from);
}

static void test_large() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  transfer(ends[0], ends[1]);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  transfer(ends[0], ends[1]);
}

static void test_event() {
  const int event = eventfd(0, 0);
  CHECK(event >= 0);
  std::thread waiter([&] {
    uint64_t total = 0;
    while (total < 10) {
      uint64_t count = 0;
      CHECK(read(event, &count, sizeof count) == sizeof count);
      total += count;
    }
    CHECK(total == 10);
  });
  for (int i = 0; i < 10; ++i) {
    const uint64_t one = 1;
    CHECK(write(event, &one, sizeof one) == sizeof one);
  }
  waiter.join();
  close(event);
}

static void test_named_pipe() {
  char folder[] = "/tmp/io_streams_XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/pipe";
  CHECK(mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY);
    CHECK(fd >= 0);
    CHECK(write(fd, "hello", 5) == 5);
    close(fd);
  });
  const int fd = open(path.c_str(), O_RDONLY);
  CHECK(fd >= 0);
  char text[6] = {};
  CHECK(read(fd, text, 5) == 5 && strcmp(text, "hello") == 0);
  CHECK(read(fd, text, 5) == 0);
  close(fd);
  writer.join();
  CHECK(unlink(path.c_str()) == 0 && rmdir(folder) == 0);
}

// Both ends wait for each other, and every message arrives exactly once.
static void test_message_queue() {
  constexpr int kCount = 12;
  const std::string name = "/io_streams_" + std::to_string(getpid());
  mq_attr attributes{};
  attributes.mq_maxmsg = 2;
  attributes.mq_msgsize = 8;
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &attributes);
  CHECK(queue >= 0 && mq_unlink(name.c_str()) == 0);
  std::thread sender([queue] {
    for (char i = 0; i < kCount; ++i) CHECK(mq_send(queue, &i, 1, 0) == 0);
  });
  char message[8];
  for (int i = 0; i < kCount; ++i)
    CHECK(mq_receive(queue, message, sizeof message, nullptr) == 1 && message[0] == i);
  sender.join();
  CHECK(mq_close(queue) == 0);
}

// Blocks inside libc, with the stream's lock held; another thread wants the lock.
static void test_stdio() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  FILE* in = fdopen(ends[0], "r");
  std::thread readers[2];
  int sums[2] = {};
  for (int i = 0; i < 2; ++i)
    readers[i] = std::thread([in, &sum = sums[i]] {
      char line[64];
      while (fgets(line, sizeof line, in) != nullptr) sum += atoi(line);
    });
  FILE* out = fdopen(ends[1], "w");
  for (int i = 1; i <= 100; ++i) {
    fprintf(out, "%d\n", i);
    if (i % 10 == 0) fflush(out);
  }
  fclose(out);
  for (std::thread& reader : readers) reader.join();
  CHECK(sums[0] + sums[1] == 5050);
  fclose(in);
}

int main() {
  test_ping_pong();
  test_large();
  test_event();
  test_named_pipe();
  test_message_queue();
  test_stdio();
  puts("ok");
}
