// A web crawler like the one of Tzoref, Ur, Yom-Tov 2007 (section 4), rebuilt from the prose: 19 classes,
// and a race on a worker's connection,
//
//     if (connection) connection->set_stop_flag();
//
// which another thread sets to null in between. With SECOND_BUG there is a second, unrelated one: the
// monitor divides by an interval that is set after the monitor was started.
//
// The web is in memory: pages, links and words follow from the number of a page, so that a run needs
// nothing from outside and every run crawls the same pages.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

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

// --- 4: what the user asked for ------------------------------------------------------------------

class Settings {
 public:
  int pages = 6;  // to crawl at most
  int workers = 2;
  int hosts = 3;
  int words_on_page = 40;
  int links_on_page = 3;
  int stop_after = 3;  // pages, then a worker is stopped
  int depth = 4;

  static Settings parse(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string name = argv[i];
      const int value = std::atoi(argv[i + 1]);
      if (name == "--pages") settings.pages = value;
      if (name == "--workers") settings.workers = value;
      if (name == "--words") settings.words_on_page = value;
      if (name == "--stop-after") settings.stop_after = value;
    }
    return settings;
  }
};

// --- 5 -------------------------------------------------------------------------------------------

class Url {
 public:
  Url() = default;
  Url(int host, int page) : host_(host), page_(page) {}

  int host() const { return host_; }
  int page() const { return page_; }
  std::string text() const {
    return "http://host" + std::to_string(host_) + ".example/page" + std::to_string(page_);
  }
  static bool parse(const std::string& text, Url& url) {
    int host = 0, page = 0;
    if (std::sscanf(text.c_str(), "http://host%d.example/page%d", &host, &page) != 2) return false;
    url = Url(host, page);
    return true;
  }
  bool operator<(const Url& other) const {
    return std::pair(host_, page_) < std::pair(other.host_, other.page_);
  }

 private:
  int host_ = 0;
  int page_ = 0;
};

// --- 6 -------------------------------------------------------------------------------------------

class Page {
 public:
  Page(Url url, std::string html, int depth) : url_(url), html_(std::move(html)), depth_(depth) {}

  const Url& url() const { return url_; }
  const std::string& html() const { return html_; }
  int depth() const { return depth_; }
  std::size_t size() const { return html_.size(); }

 private:
  Url url_;
  std::string html_;
  int depth_;
};

// --- 7: the pages that there are -----------------------------------------------------------------

class Web {
 public:
  explicit Web(const Settings& settings) : settings_(settings) {}

  // The same page every time.
  std::string html_of(const Url& url) const {
    std::uint32_t state = static_cast<std::uint32_t>(url.host() * 7919 + url.page() * 104729 + 1);
    std::string html = "<html><body>";
    for (int i = 0; i < settings_.words_on_page; ++i) {
      state = state * 1664525u + 1013904223u;
      html += word_of(state >> 16);
      html += ' ';
    }
    for (int i = 0; i < settings_.links_on_page; ++i) {
      state = state * 1664525u + 1013904223u;
      const Url link(static_cast<int>((state >> 8) % static_cast<unsigned>(settings_.hosts)),
                     static_cast<int>((state >> 16) % 97));
      html += "<a href=\"" + link.text() + "\">";
      html += word_of(state >> 12);
      html += "</a> ";
    }
    html += "</body></html>";
    return html;
  }
  bool is_allowed(const Url& url) const { return url.page() % 11 != 7; }

 private:
  static const char* word_of(std::uint32_t number) {
    static constexpr const char* kWords[]{"thread", "lock",  "race",  "queue", "page",  "link",
                                          "crawl",  "index", "noise", "delay", "point", "score"};
    return kWords[number % 12];
  }

  const Settings& settings_;
};

// --- 8: what is counted --------------------------------------------------------------------------

class Statistics {
 public:
  void count_fetch(std::size_t bytes) {
    const Guard guard(mutex_);
    ++fetches_;
    bytes_ += bytes;
  }
  void count_page() {
    const Guard guard(mutex_);
    ++pages_;
    changed_.notify_all();
  }
  void count_error() {
    const Guard guard(mutex_);
    ++errors_;
  }
  void count_links(std::size_t links) {
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
  std::string text() {
    const Guard guard(mutex_);
    return std::to_string(pages_) + " pages, " + std::to_string(fetches_) + " fetches, " +
           std::to_string(bytes_) + " bytes, " + std::to_string(links_) + " links, " +
           std::to_string(errors_) + " errors";
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int pages_ = 0;
  int fetches_ = 0;
  int errors_ = 0;
  std::size_t bytes_ = 0;
  std::size_t links_ = 0;
  bool over_ = false;
};

// --- 9: what has been seen -----------------------------------------------------------------------

class SeenUrls {
 public:
  // Whether it is new.
  bool add(const Url& url) {
    const Guard guard(mutex_);
    return seen_.insert(url).second;
  }
  std::size_t size() {
    const Guard guard(mutex_);
    return seen_.size();
  }

 private:
  Mutex mutex_;
  std::set<Url> seen_;
};

// --- 10: what is to be crawled -------------------------------------------------------------------

class Frontier {
 public:
  explicit Frontier(int most) : left_(most) {}

  void push(const Url& url, int depth) {
    const Guard guard(mutex_);
    if (closed_) return;
    urls_.push_back({url, depth});
    ready_.notify_one();
  }
  // False: there is nothing more to do.
  bool pop(Url& url, int& depth) {
    const Guard guard(mutex_);
    while (urls_.empty() && !closed_ && busy_ > 0) ready_.wait(mutex_);
    if (urls_.empty() || closed_ || left_ == 0) {
      closed_ = true;
      ready_.notify_all();
      return false;
    }
    url = urls_.front().first;
    depth = urls_.front().second;
    urls_.pop_front();
    --left_;
    ++busy_;
    return true;
  }
  void done() {
    const Guard guard(mutex_);
    --busy_;
    if (busy_ == 0 && urls_.empty()) {
      closed_ = true;
      ready_.notify_all();
    }
  }
  void close() {
    const Guard guard(mutex_);
    closed_ = true;
    ready_.notify_all();
  }

 private:
  Mutex mutex_;
  Condition ready_;
  std::deque<std::pair<Url, int>> urls_;
  int left_;
  int busy_ = 0;
  bool closed_ = false;
};

// --- 11: a connection to a host ------------------------------------------------------------------

class Connection {
 public:
  explicit Connection(int host) : host_(host) {}

  int host() const { return host_; }
  void set_stop_flag() { stop_ = true; }
  bool is_stopped() const { return stop_; }
  void reuse() {
    stop_ = false;
    ++uses_;
  }
  int uses() const { return uses_; }

  // What the host sends; nothing if it was stopped.
  bool receive(const Web& web, const Url& url, std::string& html) {
    if (stop_) return false;
    html = web.html_of(url);
    received_ += html.size();
    return true;
  }

 private:
  int host_;
  int uses_ = 0;
  std::size_t received_ = 0;
  volatile bool stop_ = false;
};

// --- 12 ------------------------------------------------------------------------------------------

class ConnectionPool {
 public:
  Connection* take(int host) {
    const Guard guard(mutex_);
    auto& idle = idle_[host];
    if (idle.empty()) {
      all_.push_back(std::make_unique<Connection>(host));
      ++opened_;
      return all_.back().get();
    }
    Connection* connection = idle.back();
    idle.pop_back();
    connection->reuse();
    return connection;
  }
  void give_back(Connection* connection) {
    const Guard guard(mutex_);
    idle_[connection->host()].push_back(connection);
  }
  int opened() {
    const Guard guard(mutex_);
    return opened_;
  }

 private:
  Mutex mutex_;
  std::map<int, std::vector<Connection*>> idle_;
  std::vector<std::unique_ptr<Connection>> all_;
  int opened_ = 0;
};

// --- 13: what may be fetched ---------------------------------------------------------------------

class Robots {
 public:
  explicit Robots(const Web& web) : web_(web) {}

  bool allows(const Url& url) {
    const Guard guard(mutex_);
    const auto known = known_.find(url);
    if (known != known_.end()) return known->second;
    const bool allowed = web_.is_allowed(url);
    known_[url] = allowed;
    if (!allowed) ++refused_;
    return allowed;
  }
  int refused() {
    const Guard guard(mutex_);
    return refused_;
  }

 private:
  Mutex mutex_;
  const Web& web_;
  std::map<Url, bool> known_;
  int refused_ = 0;
};

// --- 14: the parts of a page ---------------------------------------------------------------------

class Parser {
 public:
  struct Parts {
    std::vector<std::string> words;
    std::vector<Url> links;
  };

  static Parts parse(const Page& page) {
    Parts parts;
    const std::string& html = page.html();
    std::string word;
    for (std::size_t i = 0; i < html.size(); ++i) {
      const char c = html[i];
      if (c == '<') {
        i = parse_tag(html, i, parts);
        end_word(word, parts);
      } else if (c >= 'a' && c <= 'z') {
        word += c;
      } else {
        end_word(word, parts);
      }
    }
    end_word(word, parts);
    return parts;
  }

 private:
  static void end_word(std::string& word, Parts& parts) {
    if (!word.empty()) parts.words.push_back(word);
    word.clear();
  }
  // The position of the end of the tag.
  static std::size_t parse_tag(const std::string& html, std::size_t begin, Parts& parts) {
    const std::size_t end = html.find('>', begin);
    if (end == std::string::npos) return html.size();
    const std::string tag = html.substr(begin, end - begin);
    const std::size_t href = tag.find("href=\"");
    if (href != std::string::npos) {
      const std::size_t from = href + 6;
      const std::size_t to = tag.find('"', from);
      Url url;
      if (to != std::string::npos && Url::parse(tag.substr(from, to - from), url))
        parts.links.push_back(url);
    }
    return end;
  }
};

// --- 15: which page has which word ---------------------------------------------------------------

class Index {
 public:
  void add(const Page& page, const std::vector<std::string>& words) {
    std::map<std::string, int> counts;
    for (const std::string& word : words) ++counts[word];
    const Guard guard(mutex_);
    for (const auto& [word, count] : counts) {
      entries_[word].push_back({page.url(), count});
      total_ += count;
    }
  }
  // The page with the most of a word.
  bool best(const std::string& word, Url& url) {
    const Guard guard(mutex_);
    const auto found = entries_.find(word);
    if (found == entries_.end()) return false;
    const auto most =
        std::max_element(found->second.begin(), found->second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    url = most->first;
    return true;
  }
  int total() {
    const Guard guard(mutex_);
    return total_;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::vector<std::pair<Url, int>>> entries_;
  int total_ = 0;
};

// --- 16: what is kept of pages -------------------------------------------------------------------

class PageStore {
 public:
  void keep(const Page& page) {
    const std::uint32_t sum = checksum(page.html());
    const Guard guard(mutex_);
    sums_[page.url()] = sum;
    if (++by_sum_[sum] > 1) ++duplicates_;
  }
  int duplicates() {
    const Guard guard(mutex_);
    return duplicates_;
  }

 private:
  static std::uint32_t checksum(const std::string& text) {
    std::uint32_t sum = 2166136261u;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
    return sum;
  }

  Mutex mutex_;
  std::map<Url, std::uint32_t> sums_;
  std::map<std::uint32_t, int> by_sum_;
  int duplicates_ = 0;
};

// What workers share.
struct Parts {
  explicit Parts(const Settings& given)
      : settings(given), web(given), frontier(given.pages), robots(web) {}

  const Settings& settings;
  Web web;
  Statistics statistics;
  SeenUrls seen;
  Frontier frontier;
  ConnectionPool pool;
  Robots robots;
  Index index;
  PageStore store;
};

// --- 17: a thread that crawls --------------------------------------------------------------------

class Worker {
 public:
  explicit Worker(Parts& parts) : parts_(parts) {}

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
    int depth = 0;
    while (parts_.frontier.pop(url, depth)) {
      visit(url, depth);
      parts_.frontier.done();
    }
  }

  void visit(const Url& url, int depth) {
    if (!parts_.robots.allows(url)) {
      parts_.statistics.count_error();
      return;
    }
    std::string html;
    if (!fetch(url, html)) {
      parts_.statistics.count_error();
      return;
    }
    const Page page(url, std::move(html), depth);
    parts_.statistics.count_fetch(page.size());
    process(page);
    parts_.statistics.count_page();
  }

  bool fetch(const Url& url, std::string& html) {
    Connection* connection = parts_.pool.take(url.host());
    connection_ = connection;
    const bool received = connection->receive(parts_.web, url, html);
    connection_ = nullptr;
    parts_.pool.give_back(connection);
    return received;
  }

  void process(const Page& page) {
    const Parser::Parts found = Parser::parse(page);
    parts_.index.add(page, found.words);
    parts_.store.keep(page);
    parts_.statistics.count_links(found.links.size());
    if (page.depth() >= parts_.settings.depth) return;
    for (const Url& link : found.links) {
      if (!parts_.robots.allows(link)) continue;
      if (parts_.seen.add(link)) parts_.frontier.push(link, page.depth() + 1);
    }
  }

  Parts& parts_;
  pthread_t thread_{};
  Connection* volatile connection_ = nullptr;
};

// --- 18: watches the progress --------------------------------------------------------------------

class Monitor {
 public:
  explicit Monitor(Parts& parts) : parts_(parts) {}

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
    const int seen = static_cast<int>(parts_.seen.size());
    const int errors = parts_.statistics.errors();
#ifdef SECOND_BUG
    // The second bug: the interval is set by whoever has started the monitor.
    const int steps = parts_.settings.pages / interval_;
#else
    const int steps = parts_.settings.pages / 2;
#endif
    for (int step = 1; step <= steps; ++step) {
      parts_.statistics.wait_for_pages(step * 2);
      lines_ = lines_ + 1;
    }
    last_ = seen + errors;
  }

  Parts& parts_;
  pthread_t thread_{};
  volatile int interval_ = 0;
  int lines_ = 0;
  int last_ = 0;
};

// --- 19: all together ----------------------------------------------------------------------------

class Crawler {
 public:
  explicit Crawler(const Settings& settings) : settings_(settings), parts_(settings) {
    for (int i = 0; i < settings.workers; ++i) workers_.push_back(std::make_unique<Worker>(parts_));
  }

  void crawl() {
    const Url start(0, 1);
    parts_.seen.add(start);
    parts_.frontier.push(start, 0);
    Monitor monitor(parts_);
    monitor.start();
    monitor.set_interval(2);
    for (const auto& worker : workers_) worker->start();
    parts_.statistics.wait_for_pages(settings_.stop_after);
    // Enough of the first worker's host: what it fetches now is not waited for.
    workers_.front()->stop_fetching();
    for (const auto& worker : workers_) worker->join();
    parts_.statistics.end();
    monitor.join();
    lines_ = monitor.lines();
  }

  void report() {
    std::printf("%s\n", parts_.statistics.text().c_str());
    Url best;
    const bool found = parts_.index.best("race", best);
    std::printf(
        "%d words, best page for race: %s, %d duplicates, %d refused, %d connections, %d lines\n",
        parts_.index.total(), found ? best.text().c_str() : "none", parts_.store.duplicates(),
        parts_.robots.refused(), parts_.pool.opened(), lines_);
  }

 private:
  const Settings& settings_;
  Parts parts_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int lines_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = Settings::parse(argc, argv);
  Crawler crawler(settings);
  crawler.crawl();
  crawler.report();
  return 0;
}
