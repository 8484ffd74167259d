// Prices behind a version that readers look at before they copy and not again afterwards: bid and ask may be of two publications. The twin
// looks at the version again.
// ROOT CAUSE: quote_feed.cpp:32, quote_feed.cpp:33, quote_feed.cpp:19; KIND: atomicity-violation
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
struct Prices {
  long bid = 100;
  long ask = 101;
  long volume = 0;
};
class Quote {
 public:
  void publish(long bid, long ask) {
    version_.fetch_add(1);
    bid_.store(bid);
    ask_.store(ask);
    volume_.fetch_add(1);
    version_.fetch_add(1);
  }
  Prices read() const {
    Prices copy;
    for (;;) {
      unsigned before = version_.load();
      if (before & 1) {
        std::this_thread::yield();
        continue;
      }
      copy.bid = bid_.load();
      copy.ask = ask_.load();
      copy.volume = volume_.load();
#ifdef FIXED
      if (version_.load() == before) return copy;
#else
      return copy;
#endif
    }
  }

 private:
  std::atomic<unsigned> version_{0};
  std::atomic<long> bid_{100}, ask_{101}, volume_{0};
};
class Feed {
 public:
  explicit Feed(Quote& quote) : quote_(quote) {}
  void run(int ticks) {
    for (int i = 1; i <= ticks; i++) quote_.publish(100 + 10 * i, 101 + 10 * i);
  }

 private:
  Quote& quote_;
};
class Trader {
 public:
  explicit Trader(const Quote& quote) : quote_(quote) {}
  void run(int looks) {
    for (int i = 0; i < looks; i++) {
      Prices seen = quote_.read();
      spreads_.push_back(spread(seen));
    }
  }
  long worst() const {
    long most = 0;
    for (long one : spreads_)
      if (one > most || one < 0) most = one;
    return most;
  }

 private:
  static long spread(const Prices& prices) { return prices.ask - prices.bid; }
  const Quote& quote_;
  std::vector<long> spreads_;
};
int main() {
  Quote quote;
  Feed feed(quote);
  Trader trader(quote);
  std::thread a([&] { feed.run(2); });
  std::thread b([&] { trader.run(2); });
  a.join();
  b.join();
  if (trader.worst() != 1) {
    std::fprintf(stderr, "spread %ld\n", trader.worst());
    std::abort();
  }
}
