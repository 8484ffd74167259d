// A client that sends requests over a link and waits for their replies in slots. A request that times out gives its slot back; the reply that comes late
// is then taken for the answer to whoever has the slot next, since replies carry the slot's number only.
// ROOT CAUSE: reply_slots.cpp:81 (the wait may time out), reply_slots.cpp:85 (the slot is given back), reply_slots.cpp:97 (whoever has it gets the reply); KIND: choice or order-violation
// SAYS: (times out|timed out)
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Request {
  std::size_t slot = 0;
  unsigned generation = 0;
  std::string question;
};

struct Reply {
  std::size_t slot = 0;
  unsigned generation = 0;
  std::string answer;
};

// The server's end of the link.
class Server {
 public:
  void send(Request request) {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    arrived_.notify_one();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  std::optional<Request> next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return closed_ || !requests_.empty(); });
    if (requests_.empty()) return std::nullopt;
    Request request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Request> requests_;
  bool closed_ = false;
};

class Slots {
 public:
  explicit Slots(std::size_t count) : slots_(count) {}

  std::size_t acquire() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return find_free() < slots_.size(); });
    const std::size_t index = find_free();
    slots_[index].busy = true;
    slots_[index].generation++;
    slots_[index].answer.reset();
    return index;
  }

  unsigned generation(std::size_t index) {
    std::lock_guard lock(mutex_);
    return slots_[index].generation;
  }

  // Nothing: it has timed out.
  std::optional<std::string> await(std::size_t index) {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[index];
    const bool answered = slot.ready.wait_for(lock, std::chrono::milliseconds(5),
                                              [&] { return slot.answer.has_value(); });
    std::optional<std::string> answer;
    if (answered) answer = std::move(slot.answer);
    slot.busy = false;
    freed_.notify_one();
    return answer;
  }

  void deliver(Reply reply) {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[reply.slot];
    if (!slot.busy) return;
#ifdef FIXED
    if (slot.generation != reply.generation) return;
#endif
    slot.answer = std::move(reply.answer);
    slot.ready.notify_one();
  }

 private:
  struct Slot {
    bool busy = false;
    unsigned generation = 0;
    std::optional<std::string> answer;
    std::condition_variable ready;
  };
  std::size_t find_free() const {
    std::size_t index = 0;
    while (index < slots_.size() && slots_[index].busy) index++;
    return index;
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;
};

class Client {
 public:
  Client(Server& server, Slots& slots) : server_(server), slots_(slots) {}

  std::optional<std::string> ask(const std::string& question) {
    const std::size_t slot = slots_.acquire();
    server_.send({slot, slots_.generation(slot), question});
    return slots_.await(slot);
  }

 private:
  Server& server_;
  Slots& slots_;
};

std::string answer_to(const std::string& question) { return "re:" + question; }

void serve(Server& server, Slots& slots) {
  while (auto request = server.next())
    slots.deliver({request->slot, request->generation, answer_to(request->question)});
}

struct Tally {
  int right = 0;
  int wrong = 0;
  int late = 0;
};

Tally ask_all(Client& client, const std::vector<std::string>& questions) {
  Tally tally;
  for (const std::string& question : questions) {
    const auto answer = client.ask(question);
    if (!answer)
      tally.late++;
    else if (*answer == answer_to(question))
      tally.right++;
    else
      tally.wrong++;
  }
  return tally;
}

}  // namespace

int main() {
  Server server;
  Slots slots(1);
  Client client(server, slots);
  std::thread serving([&] { serve(server, slots); });
  const Tally tally = ask_all(client, {"colour", "size"});
  server.close();
  serving.join();
  std::printf("%d right, %d late\n", tally.right, tally.late);
  return tally.wrong == 0 ? 0 : 1;
}
