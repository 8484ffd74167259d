// A web crawler like the one of Tzoref, Ur, Yom-Tov 2007 (section 4), rebuilt from the prose: 19 classes,
// and a race on a worker's connection,
//
//     if (connection) connection->set_stop_flag();
//
// which another thread sets to null in between. With SECOND_BUG there is a second, unrelated one: the
// monitor divides by an interval that is set after the monitor was started.
//
// The web is in memory: pages, links and words follow from the number of a page, so that a run needs
// nothing from outside and crawls the same pages as every other. Tables have fixed sizes, as in a crawler
// that must never run out of memory.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kPages = 10;  // to crawl at most
constexpr int kWorkers = 3;
constexpr int kHosts = 4;
constexpr int kWordsOnPage = 14;
constexpr int kLinksOnPage = 3;
constexpr int kStops = 4;  // how often a worker is told to stop what it fetches
constexpr int kPagesBetweenStops = 2;
constexpr int kMostDepth = 5;
constexpr int kPageNumbers = 50;
constexpr int kWords = 12;
constexpr int kMostRetries = 2;

// --- 1: locks ------------------------------------------------------------------------------------

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native() { return &mutex_; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// --- 2 -------------------------------------------------------------------------------------------

class Guard {
 public:
  explicit Guard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Guard() { mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Mutex& mutex_;
};

// --- 3 -------------------------------------------------------------------------------------------

class Condition {
 public:
  void wait(Mutex& mutex) { pthread_cond_wait(&condition_, mutex.native()); }
  void notify_one() { pthread_cond_signal(&condition_); }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

// --- 4 -------------------------------------------------------------------------------------------

class Url {
 public:
  Url() = default;
  Url(int host, int page) : host_(host), page_(page) {}

  int host() const { return host_; }
  int page() const { return page_; }
  int number() const { return host_ * kPageNumbers + page_; }
  bool operator==(const Url& other) const { return number() == other.number(); }

 private:
  int host_ = 0;
  int page_ = 0;
};

// --- 5: what a worker has fetched ----------------------------------------------------------------

class Page {
 public:
  static constexpr int kMostText = 512;

  void begin(const Url& url, int depth) {
    url_ = url;
    depth_ = depth;
    size_ = 0;
  }
  void add(char c) {
    if (size_ < kMostText) text_[size_++] = c;
  }
  void add(const char* text) {
    for (; *text != '\0'; ++text) add(*text);
  }
  void add_number(int number) {
    if (number >= 10) add_number(number / 10);
    add(static_cast<char>('0' + number % 10));
  }

  const Url& url() const { return url_; }
  int depth() const { return depth_; }
  int size() const { return size_; }
  char at(int i) const { return text_[i]; }

 private:
  Url url_;
  int depth_ = 0;
  int size_ = 0;
  char text_[kMostText];
};

// --- 6: the pages that there are -----------------------------------------------------------------

class Web {
 public:
  // The same page every time.
  static void write(const Url& url, Page& page) {
    std::uint32_t state = static_cast<std::uint32_t>(url.number()) * 104729u + 12345u;
    page.add("<html>");
    for (int i = 0; i < kWordsOnPage; ++i) {
      page.add(word(static_cast<int>(next(state) % kWords)));
      page.add(' ');
    }
    for (int i = 0; i < kLinksOnPage; ++i) {
      page.add("<a ");
      page.add_number(static_cast<int>(next(state) % kHosts));
      page.add('/');
      page.add_number(static_cast<int>(next(state) % kPageNumbers));
      page.add('>');
    }
    page.add("</html>");
  }
  static bool is_allowed(const Url& url) { return url.page() % 11 != 7; }
  static const char* word(int number) {
    static constexpr const char* kText[kWords]{"thread", "lock",  "race",  "queue",
                                               "page",   "link",  "crawl", "index",
                                               "noise",  "delay", "point", "score"};
    return kText[number];
  }
  // kWords: there is no such word.
  static int number_of_word(const char* text, int size) {
    for (int i = 0; i < kWords; ++i)
      if (word(i)[0] == text[0] && word(i)[1] == text[1] && length(word(i)) == size) return i;
    return kWords;
  }

 private:
  static std::uint32_t next(std::uint32_t& state) {
    state = state * 1664525u + 1013904223u;
    return state >> 12;
  }
  static int length(const char* text) {
    int size = 0;
    while (text[size] != '\0') ++size;
    return size;
  }
};

// --- 7: what is counted --------------------------------------------------------------------------

class Statistics {
 public:
  void count_fetch(int bytes) {
    const Guard guard(mutex_);
    fetches_ += 1;
    bytes_ += bytes;
  }
  void count_page(int depth) {
    const Guard guard(mutex_);
    pages_ += 1;
    if (depth > deepest_) deepest_ = depth;
    changed_.notify_all();
  }
  void count_error() {
    const Guard guard(mutex_);
    errors_ += 1;
  }
  // How pages are distributed by depth and by size.
  void count_shape(int depth, int size) {
    const Guard guard(mutex_);
    by_depth_[depth <= kMostDepth ? depth : kMostDepth] += 1;
    const int bucket = size / 64 < kSizes ? size / 64 : kSizes - 1;
    by_size_[bucket] += 1;
    if (size > largest_) largest_ = size;
    if (smallest_ == 0 || size < smallest_) smallest_ = size;
  }
  void count_retry() {
    const Guard guard(mutex_);
    retries_ += 1;
    last_retry_ = pages_;
  }
  // Bytes for each page, of the pages so far.
  int mean_size() {
    const Guard guard(mutex_);
    return pages_ > 0 ? bytes_ / pages_ : 0;
  }
  int deepest() {
    const Guard guard(mutex_);
    return deepest_;
  }
  void count_links(int links) {
    const Guard guard(mutex_);
    links_ += links;
  }
  void wait_for_pages(int pages) {
    const Guard guard(mutex_);
    while (pages_ < pages && !over_) changed_.wait(mutex_);
  }
  void end() {
    const Guard guard(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  int pages() {
    const Guard guard(mutex_);
    return pages_;
  }
  int errors() {
    const Guard guard(mutex_);
    return errors_;
  }
  void print() {
    const Guard guard(mutex_);
    std::printf("%d pages, %d fetches, %d bytes, %d links, %d errors, depth %d\n", pages_, fetches_,
                bytes_, links_, errors_, deepest_);
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int pages_ = 0;
  int fetches_ = 0;
  int errors_ = 0;
  int bytes_ = 0;
  int links_ = 0;
  int deepest_ = 0;
  static constexpr int kSizes = 8;
  int by_depth_[kMostDepth + 1] = {};
  int by_size_[kSizes] = {};
  int largest_ = 0;
  int smallest_ = 0;
  int retries_ = 0;
  int last_retry_ = 0;
  bool over_ = false;
};

// --- 8: what has been seen -----------------------------------------------------------------------

class SeenUrls {
 public:
  // Whether it is new.
  bool add(const Url& url) {
    const Guard guard(mutex_);
    if (seen_[url.number()]) {
      repeated_ += 1;
      return false;
    }
    seen_[url.number()] = true;
    count_ += 1;
    return true;
  }
  void forget(const Url& url) {
    const Guard guard(mutex_);
    seen_[url.number()] = false;
    count_ -= 1;
  }
  int count() {
    const Guard guard(mutex_);
    return count_;
  }
  int repeated() {
    const Guard guard(mutex_);
    return repeated_;
  }

 private:
  Mutex mutex_;
  bool seen_[kHosts * kPageNumbers] = {};
  int count_ = 0;
  int repeated_ = 0;
};

// --- 9: what is to be crawled --------------------------------------------------------------------

class Frontier {
 public:
  void push(const Url& url, int depth, int retries) {
    const Guard guard(mutex_);
    if (closed_ || size_ == kRoom) return;
    Entry& entry = entries_[(first_ + size_) % kRoom];
    entry.url = url;
    entry.depth = depth;
    entry.retries = retries;
    size_ += 1;
    pushed_ += 1;
    if (size_ > longest_) longest_ = size_;
    if (depth <= 1) shallow_ += 1;
    ready_.notify_one();
  }
  int longest() {
    const Guard guard(mutex_);
    return longest_;
  }
  int pushed() {
    const Guard guard(mutex_);
    return pushed_ + shallow_;
  }
  // False: there is nothing more to do.
  bool pop(Url& url, int& depth, int& retries) {
    const Guard guard(mutex_);
    while (size_ == 0 && !closed_ && busy_ > 0) ready_.wait(mutex_);
    if (size_ == 0 || closed_ || left_ == 0) {
      closed_ = true;
      ready_.notify_all();
      return false;
    }
    const Entry& entry = entries_[first_];
    url = entry.url;
    depth = entry.depth;
    retries = entry.retries;
    first_ = (first_ + 1) % kRoom;
    size_ -= 1;
    left_ -= 1;
    busy_ += 1;
    return true;
  }
  void done() {
    const Guard guard(mutex_);
    busy_ -= 1;
    if (busy_ == 0 && size_ == 0) {
      closed_ = true;
      ready_.notify_all();
    }
  }

 private:
  static constexpr int kRoom = 64;
  struct Entry {
    Url url;
    int depth = 0;
    int retries = 0;
  };
  Mutex mutex_;
  Condition ready_;
  Entry entries_[kRoom];
  int first_ = 0;
  int size_ = 0;
  int left_ = kPages;
  int busy_ = 0;
  int pushed_ = 0;
  int shallow_ = 0;
  int longest_ = 0;
  bool closed_ = false;
};

// --- 10: a connection to a host ------------------------------------------------------------------

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

  // What the host sends; false if it was stopped.
  bool receive(const Url& url, Page& page) {
    Web::write(url, page);
    received_ = received_ + page.size();
    return !stop_;
  }

 private:
  int host_ = 0;
  int uses_ = 0;
  int received_ = 0;
  volatile bool stop_ = false;
};

// --- 11 ------------------------------------------------------------------------------------------

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
  void give_back(Connection* connection) {
    const Guard guard(mutex_);
    taken_[connection - connections_] = false;
    in_use_ -= 1;
    given_back_ += 1;
    if (connection->uses() > longest_use_) longest_use_ = connection->uses();
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

// --- 12: what may be fetched ---------------------------------------------------------------------

class Robots {
 public:
  bool allows(const Url& url) {
    const Guard guard(mutex_);
    if (!known_[url.host()]) {
      known_[url.host()] = true;
      asked_ += 1;
    }
    const bool allowed = Web::is_allowed(url);
    if (!allowed) refused_ += 1;
    checks_ += 1;
    last_host_ = url.host();
    return allowed;
  }
  int checks() {
    const Guard guard(mutex_);
    return checks_ + (last_host_ < 0 ? 1 : 0);
  }
  int refused() {
    const Guard guard(mutex_);
    return refused_;
  }

 private:
  Mutex mutex_;
  bool known_[kHosts] = {};
  int asked_ = 0;
  int refused_ = 0;
  int checks_ = 0;
  int last_host_ = -1;
};

// --- 13: a host is not asked for many pages at once ----------------------------------------------

class Hosts {
 public:
  void enter(int host) {
    const Guard guard(mutex_);
    while (busy_[host] >= kMost) {
      waits_ += 1;
      free_.wait(mutex_);
    }
    busy_[host] += 1;
    visits_[host] += 1;
  }
  void leave(int host) {
    const Guard guard(mutex_);
    busy_[host] -= 1;
    free_.notify_all();
  }
  void note_bytes(int host, int bytes) {
    const Guard guard(mutex_);
    bytes_[host] += bytes;
    total_ += bytes;
  }
  void note_error(int host) {
    const Guard guard(mutex_);
    errors_[host] += 1;
    if (errors_[host] > kMostErrors) banned_[host] = true;
  }
  bool is_banned(int host) {
    const Guard guard(mutex_);
    return banned_[host];
  }
  // What a host has sent, in percent of all.
  int share(int host) {
    const Guard guard(mutex_);
    return total_ > 0 ? 100 * bytes_[host] / total_ : 0;
  }
  int busiest() {
    const Guard guard(mutex_);
    int best = 0;
    for (int i = 1; i < kHosts; ++i)
      if (visits_[i] > visits_[best]) best = i;
    return best;
  }
  int waits() {
    const Guard guard(mutex_);
    return waits_;
  }

 private:
  static constexpr int kMost = 2;
  static constexpr int kMostErrors = 50;
  Mutex mutex_;
  Condition free_;
  int bytes_[kHosts] = {};
  int errors_[kHosts] = {};
  bool banned_[kHosts] = {};
  int total_ = 0;
  int busy_[kHosts] = {};
  int visits_[kHosts] = {};
  int waits_ = 0;
};

// --- 14: the parts of a page ---------------------------------------------------------------------

class Parser {
 public:
  void parse(const Page& page) {
    for (int& count : words_) count = 0;
    links_ = 0;
    for (at_ = 0; at_ < page.size();) {
      const char c = page.at(at_);
      if (c == '<') {
        parse_tag(page);
      } else if (c >= 'a' && c <= 'z') {
        parse_word(page);
      } else {
        ++at_;
      }
    }
  }
  int links() const { return links_; }
  const Url& link(int i) const { return link_[i]; }
  int words(int number) const { return words_[number]; }

 private:
  void parse_word(const Page& page) {
    char text[16];
    int size = 0;
    while (at_ < page.size() && page.at(at_) >= 'a' && page.at(at_) <= 'z') {
      if (size < 16) text[size++] = page.at(at_);
      ++at_;
    }
    const int number = Web::number_of_word(text, size);
    if (number < kWords) ++words_[number];
  }
  void parse_tag(const Page& page) {
    ++at_;
    const bool is_link = page.at(at_) == 'a';
    int host = 0, number = 0;
    bool in_number = false;
    for (; at_ < page.size() && page.at(at_) != '>'; ++at_) {
      const char c = page.at(at_);
      if (c == '/') in_number = true;
      if (c < '0' || c > '9') continue;
      int& part = in_number ? number : host;
      part = part * 10 + (c - '0');
    }
    ++at_;
    if (is_link && links_ < kLinksOnPage)
      link_[links_++] = Url(host % kHosts, number % kPageNumbers);
  }

  int at_ = 0;
  int words_[kWords] = {};
  Url link_[kLinksOnPage];
  int links_ = 0;
};

// --- 15: which page has which word ---------------------------------------------------------------

class Index {
 public:
  void add(const Url& url, const Parser& parts) {
    for (int word = 0; word < kWords; ++word)
      if (parts.words(word) > 0) add_word(word, url, parts.words(word));
  }
  Url best(int word) {
    const Guard guard(mutex_);
    return best_[word];
  }
  // Words that stand on the same page.
  void add_pairs(const Parser& parts) {
    const Guard guard(mutex_);
    for (int a = 0; a + 1 < kWords; ++a)
      if (parts.words(a) > 0 && parts.words(a + 1) > 0) {
        together_[a] += 1;
        pairs_ += 1;
      }
  }
  int most_often_together() {
    const Guard guard(mutex_);
    int best = 0;
    for (int a = 1; a < kWords; ++a)
      if (together_[a] > together_[best]) best = a;
    return pairs_ > 0 ? best : -1;
  }
  int total() {
    const Guard guard(mutex_);
    return total_;
  }

 private:
  void add_word(int word, const Url& url, int count) {
    const Guard guard(mutex_);
    total_ += count;
    pages_[word] += 1;
    if (count <= most_[word]) return;
    most_[word] = count;
    best_[word] = url;
  }

  Mutex mutex_;
  int pages_[kWords] = {};
  int most_[kWords] = {};
  Url best_[kWords];
  int together_[kWords] = {};
  int pairs_ = 0;
  int total_ = 0;
};

// --- 16: what is kept of pages -------------------------------------------------------------------

class PageStore {
 public:
  void keep(const Page& page) {
    const std::uint32_t sum = checksum(page);
    const Guard guard(mutex_);
    for (int i = 0; i < kept_; ++i)
      if (sums_[i] == sum) duplicates_ += 1;
    if (kept_ < kPages) sums_[kept_] = sum;
    if (kept_ < kPages) kept_ += 1;
    bytes_ += page.size();
    newest_ = page.url();
    if (page.size() > longest_) {
      longest_ = page.size();
      longest_page_ = page.url();
    }
  }
  // Where the longest page is, and whether it is the newest.
  int longest(Url& url) {
    const Guard guard(mutex_);
    url = longest_page_;
    return longest_page_ == newest_ ? -longest_ : longest_;
  }
  int kept() {
    const Guard guard(mutex_);
    return kept_;
  }
  int duplicates() {
    const Guard guard(mutex_);
    return duplicates_;
  }

 private:
  static std::uint32_t checksum(const Page& page) {
    std::uint32_t sum = 2166136261u;
    for (int i = 0; i < page.size(); ++i)
      sum = (sum ^ static_cast<unsigned char>(page.at(i))) * 16777619u;
    return sum;
  }

  Mutex mutex_;
  std::uint32_t sums_[kPages] = {};
  int kept_ = 0;
  int duplicates_ = 0;
  int bytes_ = 0;
  int longest_ = 0;
  Url newest_;
  Url longest_page_;
};

// What all threads share.
Statistics statistics;
SeenUrls seen;
Frontier frontier;
ConnectionPool pool;
Robots robots;
Hosts hosts;
Index word_index;
PageStore store;

// --- 17: a thread that crawls --------------------------------------------------------------------

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

  bool fetch(const Url& url) {
    Connection* connection = pool.take(url.host());
    connection_ = connection;
    const bool received = connection->receive(url, page_);
    connection_ = nullptr;
    pool.give_back(connection);
    return received;
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

// --- 18: watches the progress --------------------------------------------------------------------

class Monitor {
 public:
  void start() {
    if (pthread_create(&thread_, nullptr, &Monitor::run, this) != 0) std::exit(2);
  }
  void set_interval(int pages) { interval_ = pages; }
  void join() { pthread_join(thread_, nullptr); }
  int lines() const { return lines_; }

 private:
  static void* run(void* self) {
    static_cast<Monitor*>(self)->watch();
    return nullptr;
  }

  void watch() {
    const int at_first = seen.count() + statistics.errors();
#ifdef SECOND_BUG
    // The second bug: the interval is set by whoever has started the monitor.
    const int interval = interval_;
    if (interval == 0) std::_Exit(4);
#else
    const int interval = 3;
#endif
    for (int pages = interval; pages <= kPages; pages += interval) {
      statistics.wait_for_pages(pages);
      take_snapshot();
      lines_ = lines_ + 1;
    }
    first_ = at_first;
  }

  // What a person at a terminal would see.
  void take_snapshot() {
    Url longest;
    shown_ += statistics.mean_size() + statistics.deepest() + frontier.longest() + robots.checks();
    shown_ += hosts.share(0) + pool.given_back() + store.longest(longest) +
              word_index.most_often_together();
    shown_ += longest.page();
  }

  pthread_t thread_{};
  volatile int interval_ = 0;
  int shown_ = 0;
  int lines_ = 0;
  int first_ = 0;
};

// --- 19: all together ----------------------------------------------------------------------------

class Crawler {
 public:
  void crawl() {
    const Url start(0, 1);
    seen.add(start);
    frontier.push(start, 0, 0);
    monitor_.start();
    monitor_.set_interval(3);
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
  Worker workers_[kWorkers];
  Monitor monitor_;
};

Crawler crawler;

}  // namespace

int main() {
  crawler.crawl();
  crawler.report();
  return 0;
}
