// A thread that crawls.
#ifndef CRAWLER_WORKER_H_
#define CRAWLER_WORKER_H_

#include <pthread.h>

#include <cstdlib>

#include "shared.h"

namespace crawler {

class Worker {
 public:
  void start() {
    if (pthread_create(&thread_, nullptr, &Worker::run, this) != 0) std::exit(2);
  }
  void join() { pthread_join(thread_, nullptr); }

  // The bug: between the check and the call the worker may be done with the connection.
  void stop_fetching() {
    if (connection_) connection_->set_stop_flag();
  }

 private:
  static void* run(void* self) {
    static_cast<Worker*>(self)->crawl();
    return nullptr;
  }

  void crawl() {
    Url url;
    int depth = 0, retries = 0;
    while (frontier.pop(url, depth, retries)) {
      visit(url, depth, retries);
      frontier.done();
    }
  }

  void visit(const Url& url, int depth, int retries) {
    if (!robots.allows(url)) {
      statistics.count_error();
      return;
    }
    if (hosts.is_banned(url.host())) return;
    hosts.enter(url.host());
    page_.begin(url, depth);
    const bool fetched = fetch(url);
    hosts.leave(url.host());
    if (!fetched) {
      statistics.count_error();
      hosts.note_error(url.host());
      if (retries < kMostRetries) {
        statistics.count_retry();
        frontier.push(url, depth, retries + 1);
      }
      return;
    }
    statistics.count_fetch(page_.size());
    hosts.note_bytes(url.host(), page_.size());
    statistics.count_shape(depth, page_.size());
    process();
    statistics.count_page(depth);
  }

  // False: it was told to stop.
  bool fetch(const Url& url) {
    Connection* connection = pool.take(url.host());
    connection_ = connection;
    connection->receive(url, page_);
    connection_ = nullptr;
    return !pool.give_back(connection);
  }

  void process() {
    parser_.parse(page_);
    word_index.add(page_.url(), parser_);
    word_index.add_pairs(parser_);
    store.keep(page_);
    statistics.count_links(parser_.links());
    if (page_.depth() >= kMostDepth) return;
    for (int i = 0; i < parser_.links(); ++i) {
      const Url& link = parser_.link(i);
      if (!robots.allows(link)) continue;
      if (seen.add(link)) frontier.push(link, page_.depth() + 1, 0);
    }
  }

  pthread_t thread_{};
  Page page_;
  Parser parser_;
  Connection* volatile connection_ = nullptr;
};

}  // namespace crawler

#endif  // CRAWLER_WORKER_H_
