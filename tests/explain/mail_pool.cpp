// A pool that sends mails. Shutting down closes the outbox first and stops the workers only then: a worker that is still at a mail finds no outbox.
// ROOT CAUSE: mail_pool.cpp:61 (closed before the workers have ended), mail_pool.cpp:80 (used after that); KIND: order-violation
// SAYS: `pool.outbox_` at .* after T0 has written it
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Outbox {
 public:
  void deliver(const std::string& mail) {
    std::lock_guard lock(mutex_);
    sent_.push_back(mail);
  }
  std::size_t sent() const { return sent_.size(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> sent_;
};

class Pool {
 public:
  explicit Pool(int workers) : outbox_(std::make_unique<Outbox>()) {
    for (int i = 0; i < workers; i++) workers_.emplace_back([this] { work(); });
  }

  void send(const std::string& mail) {
    {
      std::lock_guard lock(mutex_);
      mails_.push_back(mail);
    }
    wake_.notify_one();
  }

  std::size_t shut_down() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
#ifdef FIXED
    join();
    return close();
#else
    const std::size_t sent = close();
    join();
    return sent;
#endif
  }

 private:
  std::size_t close() {
    const std::size_t sent = outbox_->sent();
    outbox_.reset();
    return sent;
  }
  void join() {
    for (std::thread& worker : workers_) worker.join();
  }
  void work() {
    while (true) {
      std::string mail;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || !mails_.empty(); });
        if (mails_.empty()) return;
        mail = std::move(mails_.front());
        mails_.pop_front();
      }
      send_now("Dear " + mail);
    }
  }
  void send_now(const std::string& mail) { outbox_->deliver(mail + ","); }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> mails_;
  std::unique_ptr<Outbox> outbox_;
  std::vector<std::thread> workers_;
  bool stopping_ = false;
};

}  // namespace

int main() {
  Pool pool(2);
  for (int i = 0; i < 3; i++) pool.send("customer " + std::to_string(i));
  const std::size_t sent = pool.shut_down();
  std::printf("%zu sent\n", sent);
  return 0;
}
