// A server that is ended by SIGTERM: it looks at the flag and then pauses. A signal that is handled between the two leaves it waiting for a second one.
// The twin blocks the signal and waits with sigsuspend.
// ROOT CAUSE: sig_stop.cpp:46, sig_stop.cpp:62; KIND: lost-wakeup
// SAYS: waits in `pause`
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

volatile sig_atomic_t stop;
pthread_t main_thread;

struct Request {
  int id;
  std::string text;
};

void on_term(int) { stop = 1; }

void install() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = on_term;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
}

class Server {
 public:
  void wait_for_end() {
#ifdef FIXED
    sigset_t blocked, old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &old);
    while (!stop) sigsuspend(&old);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
#else
    while (!stop) pause();
#endif
  }
  void start() { pthread_create(&thread_, nullptr, &Server::serve, this); }
  void join() { pthread_join(thread_, nullptr); }
  int served() const { return served_.load(); }

 private:
  static int cost(const Request& request) {
    int sum = request.id;
    for (char c : request.text) sum += c;
    return sum;
  }

  static void end() {
    std::puts("all served");
    pthread_kill(main_thread, SIGTERM);
  }

  static void* serve(void* given) {
    Server& server = *static_cast<Server*>(given);
    for (int i = 0; i < 3; i++)
      if (cost({i, "get /" + std::to_string(i)}) > 0) server.served_++;
    end();
    return nullptr;
  }

  pthread_t thread_{};
  std::atomic<int> served_{0};
};

}  // namespace

int main() {
  main_thread = pthread_self();
  install();
  Server server;
  server.start();
  server.wait_for_end();
  server.join();
  std::printf("%d served\n", server.served());
  return server.served() == 3 ? 0 : 1;
}
