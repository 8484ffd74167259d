// A client that waits for its reply with a limit, by a std::counting_semaphore, and does not look whether it has got one. The wait is a futex's, in
// code of the C++ library that is compiled into the program.
// ROOT CAUSE: reply_channel.cpp:30 (the result is not looked at); KIND: choice
// SAYS: the wait of T0 at reply_channel\.cpp:30 .*times out
#include <cassert>
#include <chrono>
#include <cstdio>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;
struct Reply {
  int code = 0;
  std::string body;
};
class Channel {
 public:
  void answer(int code, std::string body) {
    reply_ = std::make_unique<Reply>();
    reply_->code = code;
    reply_->body = std::move(body);
    ready_.release();
  }
  const Reply& wait() {
#ifdef FIXED
    ready_.acquire();
#else
    ready_.try_acquire_for(50ms);
#endif
    return *reply_;
  }

 private:
  std::counting_semaphore<4> ready_{0};
  std::unique_ptr<Reply> reply_;
};
class Backend {
 public:
  explicit Backend(Channel& channel) : channel_(channel) {}
  void run() {
    std::string page;
    for (int i = 0; i < 3; ++i) page += render(i);
    channel_.answer(200, page);
  }

 private:
  static std::string render(int i) { return "<p>" + std::to_string(i) + "</p>"; }
  Channel& channel_;
};
int main() {
  Channel channel;
  Backend backend(channel);
  std::thread worker([&] { backend.run(); });
  const Reply& reply = channel.wait();
  std::printf("%d %zu\n", reply.code, reply.body.size());
  worker.join();
}
