// A web crawler like the one of Tzoref, Ur, Yom-Tov 2007 (section 4), rebuilt from the prose: 19 classes,
// and a race on a worker's connection,
//
//     if (connection) connection->set_stop_flag();
//
// which another thread sets to null in between (worker.h). With SECOND_BUG there is a second, unrelated
// one: the monitor divides by an interval that is set after the monitor was started (monitor.h).
#include <cstdio>

#include "monitor.h"
#include "worker.h"

namespace crawler {

class Crawler {
 public:
  void crawl() {
    const Url start(0, 1);
    seen.add(start);
    frontier.push(start, 0, 0);
    monitor_.start();
    monitor_.set_interval(kInterval);
    for (Worker& worker : workers_) worker.start();
    // Whoever is slow is told to stop what it fetches, and fetches it again later.
    for (int i = 0; i < kStops; ++i) {
      statistics.wait_for_pages((i + 1) * kPagesBetweenStops);
      workers_[i % kWorkers].stop_fetching();
    }
    for (Worker& worker : workers_) worker.join();
    statistics.end();
    monitor_.join();
  }

  void report() {
    statistics.print();
    statistics.print_shapes();
    word_index.print_best(3);
    const Url best = word_index.best(2);
    std::printf("%d words, best page for race: %d/%d, %d kept, %d duplicates, %d refused\n",
                word_index.total(), best.host(), best.page(), store.kept(), store.duplicates(),
                robots.refused());
    std::printf("%d pushed, %d bytes a page, host 0 has %d %%\n", frontier.pushed(),
                statistics.mean_size(), hosts.share(0));
    std::printf("%d urls, %d again, %d connections, busiest host %d, %d waits, %d lines\n",
                seen.count(), seen.repeated(), pool.most(), hosts.busiest(), hosts.waits(),
                monitor_.lines());
  }

 private:
  static constexpr int kInterval = 3;  // pages

  Worker workers_[kWorkers];
  Monitor monitor_;
};

}  // namespace crawler

int main() {
  static crawler::Crawler all;
  all.crawl();
  all.report();
  return 0;
}
