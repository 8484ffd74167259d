// A server and its clients in one process: TCP, UDP, local sockets; poll, select, epoll.
// EXPECT: pass
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../check.h"

static sockaddr_in bind_to_any(int fd) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  socklen_t size = sizeof address;
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return address;
}

static void serve_one(int fd) {
  char buffer[64];
  ssize_t n;
  while ((n = recv(fd, buffer, sizeof buffer, 0)) > 0) {
    for (ssize_t i = 0; i < n; ++i) buffer[i] = static_cast<char>(toupper(buffer[i]));
    CHECK(send(fd, buffer, static_cast<size_t>(n), 0) == n);
  }
  CHECK(n == 0);
  close(fd);
}

static void test_tcp() {
  constexpr int kClients = 4;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = bind_to_any(listener);
  CHECK(listen(listener, 8) == 0);
  std::thread server([&] {
    std::vector<std::thread> workers;
    for (int i = 0; i < kClients; ++i) {
      const int fd = accept(listener, nullptr, nullptr);
      CHECK(fd >= 0);
      workers.emplace_back(serve_one, fd);
    }
    for (std::thread& worker : workers) worker.join();
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&address, i] {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
      const std::string text = "client " + std::to_string(i);
      for (int round = 0; round < 3; ++round) {
        CHECK(send(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
        char buffer[64] = {};
        CHECK(recv(fd, buffer, text.size(), MSG_WAITALL) == static_cast<ssize_t>(text.size()));
        CHECK(std::string(buffer) == "CLIENT " + std::to_string(i));
      }
      close(fd);
    });
  for (std::thread& client : clients) client.join();
  server.join();
  close(listener);
}

static void test_udp() {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in address = bind_to_any(fd);
  std::thread echo([&] {
    char buffer[32];
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const ssize_t n =
        recvfrom(fd, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&peer), &size);
    CHECK(n == 4 && size == sizeof peer);
    CHECK(sendto(fd, buffer, 4, 0, reinterpret_cast<sockaddr*>(&peer), size) == 4);
  });
  const int other = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(sendto(other, "ping", 4, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
        4);
  char buffer[32];
  CHECK(recv(other, buffer, sizeof buffer, 0) == 4 && memcmp(buffer, "ping", 4) == 0);
  echo.join();
  // Nobody answers any more.
  timeval soon{0, 5000};
  CHECK(setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0);
  CHECK(recv(other, buffer, sizeof buffer, 0) == -1 && errno == EAGAIN);
  CHECK(recv(other, buffer, sizeof buffer, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  close(fd);
  close(other);
}

// A local socket's queue of one: a sender that finds it full waits until there is room.
static void test_full_queue() {
  constexpr int kClients = 5;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)) == 0);
  socklen_t size = sizeof address;
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  CHECK(listen(listener, 1) == 0);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&address, size] {
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0);
      CHECK(write(fd, "x", 1) == 1);
      close(fd);
    });
  usleep(2000);
  for (int i = 0; i < kClients; ++i) {
    const int fd = accept(listener, nullptr, nullptr);
    char c;
    CHECK(fd >= 0 && read(fd, &c, 1) == 1 && read(fd, &c, 1) == 0);
    close(fd);
  }
  for (std::thread& client : clients) client.join();
  close(listener);
}

static void test_poll() {
  int first[2];
  int second[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, first) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, second) == 0);
  pollfd fds[2] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
  CHECK(poll(fds, 2, 0) == 0);
  CHECK(poll(fds, 2, 3) == 0);
  std::thread writer([&] { CHECK(write(second[1], "x", 1) == 1); });
  CHECK(poll(fds, 2, -1) == 1 && fds[0].revents == 0 && fds[1].revents == POLLIN);
  writer.join();

  fd_set in;
  FD_ZERO(&in);
  FD_SET(first[0], &in);
  FD_SET(second[0], &in);
  timeval soon{0, 2000};
  CHECK(select(second[0] + 1, &in, nullptr, nullptr, &soon) == 1);
  CHECK(!FD_ISSET(first[0], &in) && FD_ISSET(second[0], &in));

  const int epoll = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = first[0];
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, first[0], &event) == 0);
  CHECK(epoll_wait(epoll, &event, 1, 2) == 0);
  std::thread another([&] { CHECK(write(first[1], "y", 1) == 1); });
  CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.fd == first[0]);
  another.join();
  for (int fd : {first[0], first[1], second[0], second[1], epoll}) close(fd);
}

static void test_lookup() {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  CHECK(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0 && found != nullptr);
  freeaddrinfo(found);
}

int main() {
  test_tcp();
  test_udp();
  test_full_queue();
  test_poll();
  test_lookup();
  puts("ok");
}
