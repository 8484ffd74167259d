// A client side of a protocol: callers send requests and wait in a slot for the reply, with a time-out. A
// slot whose caller has given up is free for the next one at once; the reply to the request that was given
// up still comes, and is taken for that to the next. The reply's sequence number would tell them apart.
// ROOT CAUSE: reply_slots.cpp:123; KIND: order-violation
// PREEMPTIONS: 0
// CHOICES: 1
// EXPECT: fail assert
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct Request {
  std::uint64_t sequence = 0;
  std::size_t slot = 0;
  std::string key;
};

struct Reply {
  std::uint64_t sequence = 0;
  std::size_t slot = 0;
  std::string text;
};

template <typename Item>
class Channel {
 public:
  void send(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  std::optional<Item> receive() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};

// Answers requests, in their order.
class Server {
 public:
  Server(Channel<Request>& requests, Channel<Reply>& replies)
      : requests_(requests), replies_(replies) {}

  void serve() {
    while (std::optional<Request> request = requests_.receive()) {
      std::this_thread::sleep_for(1ms);
      ++served_;
      replies_.send({request->sequence, request->slot, "value of " + request->key});
    }
  }

  int served() const { return served_; }

 private:
  Channel<Request>& requests_;
  Channel<Reply>& replies_;
  std::atomic<int> served_ = 0;
};

class Client {
 public:
  static constexpr std::size_t kSlots = 2;

  Client(Channel<Request>& requests, Channel<Reply>& replies)
      : requests_(requests), replies_(replies) {}

  // Nothing: no reply within the time.
  std::optional<std::string> ask(const std::string& key, std::chrono::milliseconds patience) {
    const std::size_t at = reserve();
    Slot& slot = slots_[at];
    {
      const std::lock_guard lock(slot.mutex);
      slot.text.reset();
      slot.sequence = ++last_sequence_;
      requests_.send({slot.sequence, at, key});
    }
    std::optional<std::string> text = wait_in(slot, patience);
    release(at);
    return text;
  }

  // Hands the replies to those who wait for them.
  void dispatch() {
    while (std::optional<Reply> reply = replies_.receive()) {
      Slot& slot = slots_[reply->slot];
      const std::lock_guard lock(slot.mutex);
#ifdef FIXED
      if (slot.sequence != reply->sequence) continue;
#endif
      slot.text = std::move(reply->text);  // whoever waits there now
      slot.changed.notify_one();
    }
  }

  int given_up() const { return given_up_; }

 private:
  struct Slot {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::string> text;
    std::uint64_t sequence = 0;
    bool taken = false;  // under slots_mutex_
  };

  std::optional<std::string> wait_in(Slot& slot, std::chrono::milliseconds patience) {
    std::unique_lock lock(slot.mutex);
    if (!slot.changed.wait_for(lock, patience, [&] { return slot.text.has_value(); })) ++given_up_;
    return slot.text;
  }

  std::size_t reserve() {
    std::unique_lock lock(slots_mutex_);
    for (;;) {
      for (std::size_t i = 0; i < kSlots; ++i) {
        if (slots_[i].taken) continue;
        slots_[i].taken = true;
        return i;
      }
      slot_is_free_.wait(lock);
    }
  }

  void release(std::size_t at) {
    {
      const std::lock_guard lock(slots_mutex_);
      slots_[at].taken = false;
    }
    slot_is_free_.notify_one();
  }

  Channel<Request>& requests_;
  Channel<Reply>& replies_;
  std::mutex slots_mutex_;
  std::condition_variable slot_is_free_;
  std::array<Slot, kSlots> slots_;
  std::atomic<std::uint64_t> last_sequence_ = 0;
  std::atomic<int> given_up_ = 0;
};

int main(int argc, char** argv) {
  const int callers = argc > 1 ? std::atoi(argv[1]) : 3;
  const int requests = argc > 2 ? std::atoi(argv[2]) : 3;
  Channel<Request> to_server;
  Channel<Reply> to_client;
  Server server(to_server, to_client);
  Client client(to_server, to_client);
  std::thread serving([&] { server.serve(); });
  std::thread dispatching([&] { client.dispatch(); });
  std::vector<std::thread> asking;
  for (int caller = 0; caller < callers; ++caller)
    asking.emplace_back([&, caller] {
      for (int i = 0; i < requests; ++i) {
        const std::string key = std::to_string(caller) + "/" + std::to_string(i);
        const auto answer = client.ask(key, std::chrono::milliseconds(50 + 10 * i));
        if (answer) assert(*answer == "value of " + key);
      }
    });
  for (std::thread& one : asking) one.join();
  to_server.close();
  serving.join();
  to_client.close();
  dispatching.join();
  assert(server.served() == callers * requests);
}
