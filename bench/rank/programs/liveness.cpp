// A server that serves at most a few clients at a time. A client that comes when it is busy is put on a
// stack and waits there until another leaves. Counter and stack have their locks, but a server may become
// free between the look at the counter and the push: then nobody wakes the client ("orphaned thread").
// Exits with 1 if a client was not served in the end.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Client {
  int number = 0;
  bool resumed = false;
  bool given_up = false;
  std::condition_variable wake;
};

class Server {
 public:
  explicit Server(int most) : most_(most) {}

  // Whether there was room; then the client is being served.
  bool try_enter() {
    std::lock_guard<std::mutex> lock(counter_mutex_);
    if (busy_ >= most_) {
      return false;
    }
    ++busy_;
    return true;
  }

  // The client has been served; one that waits takes its place.
  void leave() {
    {
      std::lock_guard<std::mutex> lock(counter_mutex_);
      --busy_;
    }
    std::lock_guard<std::mutex> lock(stack_mutex_);
    if (!waiting_.empty() && try_enter()) {
      Client* next = waiting_.back();
      waiting_.pop_back();
      next->resumed = true;
      next->wake.notify_one();
    }
  }

  std::mutex& stack_lock() { return stack_mutex_; }
  void push_waiting(Client& client) { waiting_.push_back(&client); }

  // All that have not finished wait, and nobody is being served who could wake them.
  bool has_only_orphans(int unfinished) {
    std::lock_guard<std::mutex> stack_lock(stack_mutex_);
    std::lock_guard<std::mutex> counter_lock(counter_mutex_);
    return busy_ == 0 && static_cast<int>(waiting_.size()) == unfinished;
  }

  // Whoever still waits will never be served: lets go of them.
  int dismiss_waiting() {
    std::lock_guard<std::mutex> lock(stack_mutex_);
    const int orphans = static_cast<int>(waiting_.size());
    for (Client* client : waiting_) {
      client->given_up = true;
      client->wake.notify_one();
    }
    waiting_.clear();
    return orphans;
  }

 private:
  const int most_;
  std::mutex counter_mutex_;
  int busy_ = 0;
  std::mutex stack_mutex_;
  std::vector<Client*> waiting_;
};

std::mutex done_mutex;
int served = 0;
int finished = 0;

void note_finished(bool was_served) {
  std::lock_guard<std::mutex> lock(done_mutex);
  ++finished;
  if (was_served) {
    ++served;
  }
}

// A client's whole life: it asks for service, waits on the stack if the server is busy, until another
// leaves, and makes room for the next.
void request_service(Server& server, Client& client) {
  bool here = server.try_enter();
  if (!here) {
    std::unique_lock<std::mutex> lock(server.stack_lock());
#ifdef FIXED
    here = server.try_enter();
#endif
    if (!here) {
      server.push_waiting(client);
      while (!client.resumed && !client.given_up) {
        client.wake.wait(lock);
      }
      here = client.resumed;
    }
  }
  int work = 0;
  for (int i = 0; here && i < client.number % 3; ++i) {
    work += i;
  }
  if (here) {
    server.leave();
  }
  note_finished(here && work >= 0);
}

// Until all have finished; those who never will are let go.
int wait_for_all(Server& server, int clients) {
  int orphans = 0;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::lock_guard<std::mutex> lock(done_mutex);
    if (finished == clients) {
      return orphans;
    }
    if (server.has_only_orphans(clients - finished)) {
      orphans += server.dismiss_waiting();
    }
  }
}

int main(int count, char** arguments) {
  const int clients = count > 1 ? std::atoi(arguments[1]) : 100;
  const int most = count > 2 ? std::atoi(arguments[2]) : 3;
  Server server(most);
  std::vector<std::unique_ptr<Client>> all;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<Client>());
    all.back()->number = i;
    threads.emplace_back(request_service, std::ref(server), std::ref(*all.back()));
  }
  const int orphans = wait_for_all(server, clients);
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("served %d of %d, orphans %d\n", served, clients, orphans);
  return served == clients ? 0 : 1;
}
