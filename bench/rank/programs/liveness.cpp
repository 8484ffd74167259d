// A server that serves a few clients at a time, and a hundred clients. A client that comes when all places are
// taken is put on a stack, from which a client that leaves takes the next. Counter and stack have a lock each, but
// between the look at the counter and the push the last place may become free: nobody is left to
// resume the client ("orphaned thread"). Exits with 1 if a client was not served in the end.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Client {
  int number = 0;
  bool resumed = false;
  bool dismissed = false;
  bool served = false;
  std::string ticket;
};

class Server {
 public:
  explicit Server(int places) : places_(places) {}
  void request(Client& client);
  int dismiss_orphans();

 private:
  bool take_place();
  void wait_on_stack(Client& client);
  void serve(Client& client);
  void leave();

  const int places_;
  std::mutex counter_mutex_;
  int taken_ = 0;
  int served_ = 0;
  std::mutex stack_mutex_;
  std::condition_variable resumed_;
  std::vector<Client*> stack_;
};

bool Server::take_place() {
  std::lock_guard<std::mutex> lock(counter_mutex_);
  if (taken_ >= places_) {
    return false;
  }
  ++taken_;
  return true;
}

void Server::wait_on_stack(Client& client) {
  // The number that it will be called by.
  for (int rest = client.number; rest > 0; rest /= 10) {
    client.ticket += static_cast<char>('0' + rest % 10);
  }
  while (client.ticket.size() < 8) {
    client.ticket += '-';
  }
  std::unique_lock<std::mutex> lock(stack_mutex_);
#ifdef FIXED
  if (take_place()) {
    client.resumed = true;
    return;
  }
#endif
  stack_.push_back(&client);
  while (!client.resumed && !client.dismissed) {
    resumed_.wait(lock);
  }
}

// The work for a client: a few sums, more for some than for others.
void Server::serve(Client& client) {
  unsigned sum = 0;
  const int steps = 3 + client.number % 5;
  for (int i = 0; i < steps; ++i) {
    sum = sum * 31 + static_cast<unsigned>(client.number + i);
    if (sum % 7 == 0) {
      sum += 3;
    }
  }
  client.served = sum != 0 || client.number >= 0;
  std::lock_guard<std::mutex> lock(counter_mutex_);
  ++served_;
}

// Makes room: for the client on top of the stack, if there is one.
void Server::leave() {
  {
    std::lock_guard<std::mutex> lock(counter_mutex_);
    --taken_;
  }
  std::lock_guard<std::mutex> lock(stack_mutex_);
  if (stack_.empty()) {
    return;
  }
  if (!take_place()) {
    return;
  }
  Client* next = stack_.back();
  stack_.pop_back();
  next->resumed = true;
  resumed_.notify_all();
}

// All of a client's visit.
void Server::request(Client& client) {
  if (!take_place()) {
    wait_on_stack(client);
    if (client.dismissed) {
      return;
    }
  }
  serve(client);
  leave();
}

// When nobody is being served and some still wait, they would wait for ever: sends them away and says how many
// they were. -1: somebody is still being served.
int Server::dismiss_orphans() {
  std::lock_guard<std::mutex> stack_lock(stack_mutex_);
  std::lock_guard<std::mutex> counter_lock(counter_mutex_);
  if (taken_ > 0) {
    return -1;
  }
  const int orphans = static_cast<int>(stack_.size());
  for (Client* client : stack_) {
    client->dismissed = true;
  }
  stack_.clear();
  if (orphans > 0) {
    resumed_.notify_all();
  }
  return orphans;
}

void run_client(Server& server, Client& client, std::mutex& mutex, int& finished) {
  server.request(client);
  std::lock_guard<std::mutex> lock(mutex);
  ++finished;
  if (client.dismissed) {
    std::printf("client %d was sent away\n", client.number);
  }
}

int main(int count, char** arguments) {
  int clients = 100;
  int places = 3;
  if (count > 1) {
    clients = std::atoi(arguments[1]);
  }
  if (count > 2) {
    places = std::atoi(arguments[2]);
  }
  if (clients < 1 || places < 1) {
    std::fprintf(stderr, "usage: liveness [CLIENTS [PLACES]]\n");
    return 2;
  }
  Server server(places);
  std::mutex mutex;
  int finished = 0;
  std::vector<std::unique_ptr<Client>> all;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<Client>());
    all.back()->number = i;
    threads.emplace_back(run_client, std::ref(server), std::ref(*all.back()), std::ref(mutex),
                         std::ref(finished));
    if (i % 5 == 4) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // they come in groups
    }
  }
  // The supervisor looks once a second whether somebody was forgotten.
  for (bool done = false; !done;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    server.dismiss_orphans();
    std::lock_guard<std::mutex> lock(mutex);
    done = finished == clients;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  int served = 0;
  for (const auto& client : all) {
    if (client->served) {
      ++served;
    }
  }
  std::printf("%d of %d clients were served\n", served, clients);
  if (served != clients) {
    return 1;
  }
  return 0;
}
