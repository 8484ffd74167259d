// Two connections over pipes. One is closed by the housekeeper while a sender still has its number; the next connection that is opened gets the same
// number, and the message goes to the wrong peer.
// ROOT CAUSE: descriptor_reuse.cpp:43 (closed), descriptor_reuse.cpp:57 (used after that); KIND: order-violation
// SAYS: calls `write` for descriptor \d+ .* after T0\.1 has closed (it|the other end of its pipe)
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Peer {
  int in = -1;   // what the peer reads
  int out = -1;  // where we write
  bool open = false;
};

class Switchboard {
 public:
  int connect(const std::string& name) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::lock_guard lock(mutex_);
    peers_[name] = {ends[0], ends[1], true};
    return ends[1];
  }

  void hang_up(const std::string& name) {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_.at(name);
    if (!peer.open) return;
    peer.open = false;
    ::close(peer.in);
    ::close(peer.out);
  }

  bool send(const std::string& name, const std::string& message) {
    int out = -1;
    {
      std::lock_guard lock(mutex_);
      const Peer& peer = peers_.at(name);
      if (!peer.open) return false;
      out = peer.out;
#ifdef FIXED
      return ::write(out, message.data(), message.size()) == static_cast<ssize_t>(message.size());
#endif
    }
    return ::write(out, message.data(), message.size()) == static_cast<ssize_t>(message.size());
  }

  std::string received(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = peers_.find(name);
    if (found == peers_.end()) return "";
    char buffer[256];
    const ssize_t got = ::read(found->second.in, buffer, sizeof buffer);
    return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Peer> peers_;
};

void housekeep(Switchboard& board) {
  board.hang_up("alice");
  board.connect("bob");
}

void gossip(Switchboard& board) { board.send("alice", "hello alice"); }

}  // namespace

int main() {
  Switchboard board;
  board.connect("alice");
  std::thread keeper([&] { housekeep(board); });
  std::thread sender([&] { gossip(board); });
  keeper.join();
  sender.join();
  const std::string heard = board.received("bob");
  std::printf("bob has heard '%s'\n", heard.c_str());
  return heard.empty() ? 0 : 1;
}
