// Many small reads and writes between threads: pairs that play ping-pong over pipes and over socket
// pairs, and a chain that passes records on.
// Arguments: threads (pairs, default 2), size (rounds, default 40,000).
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

struct Ends {
  int read, write;
};

Ends make_pipe() {
  int fds[2];
  if (pipe(fds) != 0) abort();
  return {fds[0], fds[1]};
}

void put(int fd, std::uint64_t value) {
  if (write(fd, &value, sizeof value) != sizeof value) abort();
}

std::uint64_t get(int fd) {
  std::uint64_t value = 0;
  if (read(fd, &value, sizeof value) != sizeof value) abort();
  return value;
}

std::uint64_t ping_pong(int rounds, int out, int in) {
  std::uint64_t value = 1;
  for (int i = 0; i < rounds; ++i) {
    put(out, value);
    value = get(in);
  }
  return value;
}

void answer(int rounds, int in, int out) {
  for (int i = 0; i < rounds; ++i) put(out, get(in) * 3 + 1);
}

}  // namespace

int main(int count, char** arguments) {
  const int pairs = count > 1 ? atoi(arguments[1]) : 2;
  const int rounds = count > 2 ? atoi(arguments[2]) : 40'000;
  std::uint64_t expected = 1;
  for (int i = 0; i < rounds; ++i) expected = expected * 3 + 1;
  bool right = true;
  for (int kind = 0; kind < 2; ++kind) {
    std::vector<std::thread> threads;
    std::vector<std::uint64_t> results(static_cast<std::size_t>(pairs));
    for (int p = 0; p < pairs; ++p) {
      Ends there = make_pipe();
      Ends back = make_pipe();
      if (kind == 1) {
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) abort();
        there = {fds[1], fds[0]};
        back = {fds[0], fds[1]};
      }
      threads.emplace_back(answer, rounds, there.read, back.write);
      threads.emplace_back([&results, p, rounds, there, back] {
        results[static_cast<std::size_t>(p)] = ping_pong(rounds, there.write, back.read);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::uint64_t result : results) right &= result == expected;
  }
  printf("%016llx\n%s\n", static_cast<unsigned long long>(expected), right ? "ok" : "wrong");
  return right ? 0 : 1;
}
