// Connections to hosts.
#ifndef CRAWLER_CONNECTION_H_
#define CRAWLER_CONNECTION_H_

#include <cstdlib>

#include "locks.h"
#include "settings.h"
#include "web.h"

namespace crawler {

class Connection {
 public:
  void open(int host) {
    host_ = host;
    stop_ = false;
    uses_ = uses_ + 1;
  }
  int host() const { return host_; }
  int uses() const { return uses_; }
  void set_stop_flag() { stop_ = true; }

  bool stopped() const { return stop_; }

  // What the host sends, piece by piece.
  void receive(const Url& url, Page& page) {
    Url where = url;
    for (int hops = 0; hops < kMostHops; ++hops) {
      const Url next = Web::redirected(where);
      if (next == where) break;
      where = next;
      redirects_ = redirects_ + 1;
    }
    Web::write(where, page);
    received_ = received_ + page.size();
  }

 private:
  static constexpr int kMostHops = 3;
  int host_ = 0;
  int uses_ = 0;
  int received_ = 0;
  int redirects_ = 0;
  volatile bool stop_ = false;
};

class ConnectionPool {
 public:
  Connection* take(int host) {
    const Guard guard(mutex_);
    for (int i = 0; i < kRoom; ++i) {
      if (taken_[i]) continue;
      taken_[i] = true;
      in_use_ += 1;
      if (in_use_ > most_) most_ = in_use_;
      connections_[i].open(host);
      return &connections_[i];
    }
    std::abort();  // there are more than workers
  }
  // Whether the connection was told to stop.
  bool give_back(Connection* connection) {
    const Guard guard(mutex_);
    const bool stopped = connection->stopped();
    taken_[connection - connections_] = false;
    in_use_ -= 1;
    given_back_ += 1;
    if (connection->uses() > longest_use_) longest_use_ = connection->uses();
    return stopped;
  }
  int given_back() {
    const Guard guard(mutex_);
    return given_back_ + longest_use_;
  }
  int most() {
    const Guard guard(mutex_);
    return most_;
  }

 private:
  static constexpr int kRoom = kWorkers + 1;
  Mutex mutex_;
  Connection connections_[kRoom];
  bool taken_[kRoom] = {};
  int in_use_ = 0;
  int most_ = 0;
  int given_back_ = 0;
  int longest_use_ = 0;
};

}  // namespace crawler

#endif  // CRAWLER_CONNECTION_H_
