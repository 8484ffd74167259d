// A client that asks a server thread and waits 50 ms for the answer. If the wait times out it takes the slot's old contents for the answer.
// ROOT CAUSE: request_timeout.cpp:40 (the result of the wait is not looked at); KIND: choice
// SAYS: the wait of T0 at request_timeout.cpp:\d+ .*times out
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace {

struct Request {
  int question = 0;
  int answer = -1;
  bool done = false;
};

class Server {
 public:
  Server() : thread_([this] { run(); }) {}
  ~Server() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    thread_.join();
  }

  int ask(int question) {
    std::unique_lock lock(mutex_);
    Request& request = requests_.emplace_back();
    request.question = question;
    work_.notify_one();
#ifdef FIXED
    answered_.wait(lock, [&] { return request.done; });
#else
    answered_.wait_for(lock, std::chrono::milliseconds(50), [&] { return request.done; });
#endif
    return request.answer;
  }

 private:
  Request* next() {
    for (Request& request : requests_)
      if (!request.done) return &request;
    return nullptr;
  }
  static int compute(int question) {
    int sum = 0;
    for (int i = 1; i <= question; i++) sum += i;
    return sum;
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return stopping_ || next() != nullptr; });
      Request* request = next();
      if (request == nullptr) return;
      const int question = request->question;
      lock.unlock();
      const int answer = compute(question);
      lock.lock();
      request->answer = answer;
      request->done = true;
      answered_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable answered_;
  std::deque<Request> requests_;
  bool stopping_ = false;
  std::thread thread_;
};

class Calculator {
 public:
  explicit Calculator(Server& server) : server_(server) {}
  int total(int first, int second) { return server_.ask(first) + server_.ask(second); }

 private:
  Server& server_;
};

}  // namespace

int main() {
  Server server;
  Calculator calculator(server);
  const int total = calculator.total(4, 6);
  std::printf("total %d\n", total);
  return total == 31 ? 0 : 1;
}
