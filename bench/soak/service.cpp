// An hour of a small service: a TCP server with a thread for each connection, clients that ask and
// wait, a journal in a file, a ticker, a watchdog with timed waits, a pipe of events. Its output is
// the same under every schedule. service [SECONDS]
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

static Clock::time_point g_end;
static std::atomic<long> g_asked, g_answered, g_ticks, g_events, g_late;
static std::mutex g_mutex;
static std::condition_variable g_changed;
static long g_beat;
static bool g_over;

static void need(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(1);
}

// Its own memory, without what it shares with clew.
static long memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  return 0;
}

static bool send_all(int fd, const std::string& text) {
  return send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

static bool read_line(int fd, std::string& line) {
  line.clear();
  for (char c; recv(fd, &c, 1, 0) == 1;) {
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

static void serve(int fd, std::FILE* journal) {
  for (std::string line; read_line(fd, line);) {
    const long n = std::atol(line.c_str());
    {
      std::lock_guard lock(g_mutex);
      ++g_beat;
      std::fprintf(journal, "%ld\n", n);
    }
    g_changed.notify_all();
    if (!send_all(fd, std::to_string(n * 2) + "\n")) break;
  }
  close(fd);
}

static void client(int port, int number, int events) {
  for (long i = 0; Clock::now() < g_end; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    need(fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "connect");
    for (int k = 0; k < 10 && Clock::now() < g_end; ++k) {
      std::string line;
      ++g_asked;
      need(send_all(fd, std::to_string(i * 10 + k) + "\n") && read_line(fd, line), "answer");
      need(std::atol(line.c_str()) == (i * 10 + k) * 2, "right answer");
      ++g_answered;
      const char event = static_cast<char>('a' + number);
      need(write(events, &event, 1) == 1, "event");
      std::this_thread::sleep_for(700ms + number * 130ms);
    }
    close(fd);
  }
}

static void watch() {
  std::unique_lock lock(g_mutex);
  for (long seen = 0; !g_over;) {
    if (!g_changed.wait_for(lock, 5s, [&] { return g_beat != seen || g_over; })) ++g_late;
    seen = g_beat;
  }
}

int main(int argc, char** argv) {
  g_end = Clock::now() + std::chrono::seconds(argc > 1 ? std::atol(argv[1]) : 3600);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  need(listening >= 0 && bind(listening, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
           listen(listening, 16) == 0 &&
           getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size) == 0,
       "server");
  int events[2];
  need(pipe(events) == 0, "pipe");
  std::FILE* journal = std::tmpfile();
  need(journal != nullptr, "journal");
  std::atomic<bool> closing = false;
  std::thread server([&] {
    for (;;) {
      const int fd = accept(listening, nullptr, nullptr);
      if (closing || fd < 0) break;
      std::thread(serve, fd, journal).detach();
    }
  });
  std::thread ticker([] {
    for (auto next = Clock::now(); next < g_end; next += 250ms) {
      std::this_thread::sleep_until(next);
      ++g_ticks;
    }
  });
  std::thread watchdog(watch);
  std::thread counter([&] {
    char c;
    while (read(events[0], &c, 1) == 1) ++g_events;
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(client, ntohs(at.sin_port), i, events[1]);
  for (auto& c : clients) c.join();
  ticker.join();
  close(events[1]);
  counter.join();
  {
    std::lock_guard lock(g_mutex);
    g_over = true;
  }
  g_changed.notify_all();
  watchdog.join();
  closing = true;
  shutdown(listening, SHUT_RDWR);
  server.join();
  const bool right = g_asked == g_answered && g_events == g_answered && g_late == 0;
  std::printf("%ld ticks, %s\n", g_ticks.load(), right ? "all asked, answered and seen" : "wrong");
  std::fprintf(stderr, "%ld asked, %ld kB\n", g_asked.load(), memory());
  return right ? 0 : 1;
}
