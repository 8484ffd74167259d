// Downloads a site over loopback: threads take addresses off a queue, fetch the page, keep it, and put the
// links that they find into the queue. Spider::run counts the threads that run and the downloads in progress
// without a lock, as its model did: an update may be lost, the threads believe that nothing is left to do,
// and pages are missing. With -DINJECTED the lock around the queue is gone as well ("no lock"); with -DFIXED
// everything is locked. Exits with 1 if a page is missing or differs.
#include <algorithm>
#include <atomic>
#include <set>

#include "http_common.h"

// An address within a site.
class Url {
 public:
  Url() = default;
  explicit Url(const std::string& path) : path_(normal(path)) {}

  const std::string& path() const { return path_; }
  bool empty() const { return path_.empty(); }
  std::string folder() const {
    const std::size_t slash = path_.rfind('/');
    return slash == std::string::npos ? "/" : path_.substr(0, slash + 1);
  }
  // What a link on this page leads to.
  Url join(const std::string& link) const {
    return text::starts_with(link, "/") ? Url(link) : Url(folder() + link);
  }
  int depth() const { return static_cast<int>(std::count(path_.begin(), path_.end(), '/')); }

 private:
  static std::string normal(const std::string& path) {
    std::vector<std::string> parts;
    for (const std::string& part : text::split(without_fragment(path), '/')) {
      if (part == ".." && !parts.empty()) {
        parts.pop_back();
      } else if (!part.empty() && part != "." && part != "..") {
        parts.push_back(part);
      }
    }
    std::string result;
    for (const std::string& part : parts) {
      result += '/' + part;
    }
    return result.empty() ? "/index.html" : result;
  }
  static std::string without_fragment(const std::string& path) {
    return path.substr(0, path.find('#'));
  }

  std::string path_;
};

// What is wanted of a site.
class SpiderConfig {
 public:
  void set_threads(int threads) { threads_ = threads; }
  void set_most_depth(int depth) { most_depth_ = depth; }
  void set_patience(int milliseconds) { patience_ = milliseconds; }
  int threads() const { return threads_; }
  int most_depth() const { return most_depth_; }
  int patience() const { return patience_; }
  bool wants(const Url& url) const {
    return url.depth() <= most_depth_ && !is_excluded(url.path());
  }
  bool is_interesting(const Url& url) const { return text::ends_with(url.path(), ".html"); }

 private:
  bool is_excluded(const std::string& path) const { return text::starts_with(path, "/private"); }

  int threads_ = 4;
  int most_depth_ = 4;
  int patience_ = 3000;
};

// Addresses that are to be downloaded, interesting ones first. Who uses it sees to the lock.
class DownloadQueue {
 public:
  explicit DownloadQueue(const SpiderConfig& config) : config_(config) {}

  void put(const Url& url) {
    if (config_.is_interesting(url)) {
      interesting_.push_back(url);
    } else {
      others_.push_back(url);
    }
  }
  Url next() {
    std::vector<Url>& from = interesting_.empty() ? others_ : interesting_;
    if (from.empty()) {
      return Url();
    }
    const Url url = from.back();
    from.pop_back();
    return url;
  }
  std::size_t size() const { return interesting_.size() + others_.size(); }
  bool was_seen(const Url& url) const { return seen_.count(url.path()) > 0; }
  void note_seen(const Url& url) { seen_.insert(url.path()); }

 private:
  const SpiderConfig& config_;
  std::vector<Url> interesting_;
  std::vector<Url> others_;
  std::set<std::string> seen_;
};

// A page, and the links on it.
class Page {
 public:
  Page(const Url& url, const std::string& body) : url_(url), body_(body) {}

  const Url& url() const { return url_; }
  const std::string& body() const { return body_; }
  std::vector<Url> links() const {
    std::vector<Url> found;
    if (!text::ends_with(url_.path(), ".html")) {
      return found;
    }
    collect("href=\"", found);
    collect("src=\"", found);
    return found;
  }

 private:
  void collect(const std::string& attribute, std::vector<Url>& found) const {
    std::size_t at = 0;
    while ((at = body_.find(attribute, at)) != std::string::npos) {
      at += attribute.size();
      const std::size_t end = body_.find('"', at);
      if (end == std::string::npos) {
        return;
      }
      found.push_back(url_.join(body_.substr(at, end - at)));
      at = end;
    }
  }

  Url url_;
  std::string body_;
};

// What was downloaded.
class Mirror {
 public:
  void keep(const Page& page) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string& kept = pages_[page.url().path()];
    bytes_ += page.body().size() - kept.size();
    kept = page.body();
  }
  std::size_t size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return pages_.size();
  }
  // Of all pages together.
  std::size_t bytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> pages_;
  std::size_t bytes_ = 0;
};

// Fetches single pages.
class Downloader {
 public:
  Downloader(int port, int patience) : port_(port), patience_(patience) {}

  // Not open: the server cannot be reached.
  std::unique_ptr<Socket> connect() {
    auto socket = connect_to(port_);
    return socket != nullptr ? std::move(socket) : std::make_unique<Socket>(-1);
  }
  // Null: it could not be had.
  std::unique_ptr<Page> download(Socket& socket, const Url& url) {
    if (!socket.is_open() || !socket.send_all(Request::make(url.path()))) {
      return nullptr;
    }
    Response response;
    if (!response.parse(read_all(socket)) || response.status() != 200) {
      return nullptr;
    }
    return std::make_unique<Page>(url, response.body());
  }

 private:
  std::string read_all(Socket& socket) const {
    std::string data;
    while (socket.wait_readable(patience_)) {
      const std::string part = socket.receive_some();
      if (part.empty()) {
        break;
      }
      data += part;
    }
    return data;
  }

  int port_;
  int patience_;
};

class Spider {
 public:
  Spider(const SpiderConfig& config, int port, Mirror& mirror)
      : config_(config), downloader_(port, config.patience()), queue_(config), mirror_(mirror) {}

  void start(const Url& first) {
    enqueue(first);
    for (int i = 0; i < config_.threads(); ++i) {
      threads_.emplace_back(&Spider::run, this);
    }
  }
  // Until no thread runs any more.
  void wait() {
    while (running() == 0 && mirror_.size() == 0) {
      rest();
    }
    while (running() > 0) {
      rest();
    }
  }
  void stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  int failed() const { return failed_; }

 private:
  // A thread of the spider: downloads until nothing is left, and nobody can find anything more.
  void run() {
#ifdef FIXED
    count_running(1);
#else
    ++running_;
#endif
    while (!stopping_ && (queue_size() > 0 || in_progress() > 0)) {
      Url next;
      {
#ifndef INJECTED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        if (queue_.size() > 0) {
          next = queue_.next();
#ifdef FIXED
          ++downloads_in_progress_;
#endif
        }
      }
      if (next.empty()) {
        // A thread that rests does not count as running.
#ifdef FIXED
        count_running(-1);
        rest();
        count_running(1);
#else
        --running_;
        rest();
        ++running_;
#endif
        continue;
      }
      if (!config_.wants(next)) {
        continue;
      }
      const auto socket = downloader_.connect();
#ifndef FIXED
      ++downloads_in_progress_;
#endif
      const auto page = downloader_.download(*socket, next);
      if (page == nullptr) {
        note_failure();
      } else {
        mirror_.keep(*page);
        add_links(*page);
      }
      {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        --downloads_in_progress_;
      }
    }
#ifdef FIXED
    count_running(-1);
#else
    --running_;
#endif
  }

#ifdef FIXED
  void count_running(int change) {
    std::lock_guard<std::mutex> lock(mutex_);
    running_ += change;
  }
#endif
  int running() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    return running_;
  }
  std::size_t queue_size() {
#ifndef INJECTED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    return queue_.size();
  }
  int in_progress() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    return downloads_in_progress_;
  }
  void enqueue(const Url& url) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (config_.wants(url) && !queue_.was_seen(url)) {
      queue_.note_seen(url);
      queue_.put(url);
    }
  }
  void add_links(const Page& page) {
    for (const Url& url : page.links()) {
      enqueue(url);
    }
  }
  void note_failure() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++failed_;
  }
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

  const SpiderConfig& config_;
  Downloader downloader_;
  DownloadQueue queue_;
  Mirror& mirror_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  int running_ = 0;
  int downloads_in_progress_ = 0;
  int failed_ = 0;
};

// A server without defects: answers one connection after the other.
class TestServer {
 public:
  explicit TestServer(const Site& site) : site_(site) {}

  int start() {
    const int port = listen_somewhere(listener_);
    thread_ = std::thread(&TestServer::run, this);
    port_ = port;
    return port;
  }
  void stop() {
    stopping_ = true;
    connect_to(port_);
    thread_.join();
  }

 private:
  void run() {
    for (;;) {
      const auto socket = listener_->accept_one();
      if (stopping_) {
        return;
      }
      answer(*socket);
    }
  }
  void answer(Socket& socket) {
    Response response;
    Request request;
    if (request.parse(read_request(socket))) {
      fill(request, response);
    } else {
      response.set_status(400);
    }
    socket.send_all(response.text());
    socket.close();
  }
  static std::string read_request(Socket& socket) {
    std::string data;
    while (!Request::is_whole(data)) {
      const std::string part = socket.receive_some();
      if (part.empty()) {
        break;
      }
      data += part;
    }
    return data;
  }
  void fill(const Request& request, Response& response) const {
    const std::string* body = site_.find(request.path());
    if (body == nullptr) {
      response.set_status(404);
      response.set_body("not here", "text/plain");
      return;
    }
    response.set_status(200);
    response.set_body(*body, mime_type(request.path()));
  }

  const Site& site_;
  std::unique_ptr<Socket> listener_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  int port_ = 0;
};

std::string link_to(const std::string& path) { return "<a href=\"" + path + "\">x</a>"; }

Site make_site() {
  Site site;
  site.add("/index.html", link_to("a/index.html") + link_to("b.html") + link_to("/style.css"));
  site.add("/a/index.html", link_to("../b.html") + link_to("c.html") + link_to("#top"));
  site.add("/a/c.html", link_to("/index.html") + link_to("/d/e.html"));
  site.add("/b.html", link_to("/a/c.html") + "<img src=\"/i.png\">");
  site.add("/d/e.html", "the end");
  site.add("/i.png", std::string(50, 'i'));
  site.add("/style.css", "body {}");
  return site;
}

int main(int count, char** arguments) {
  SpiderConfig config;
  config.set_threads(count > 1 ? std::atoi(arguments[1]) : 6);
  const Site site = make_site();
  TestServer server(site);
  const int port = server.start();
  Mirror mirror;
  Spider spider(config, port, mirror);
  spider.start(Url("/"));
  spider.wait();
  const std::size_t pages = mirror.size();
  const std::size_t bytes = mirror.bytes();
  spider.stop();
  server.stop();
  const bool whole = bytes == site.bytes();
  std::printf("%zu of %zu pages, %s, %d failed\n", pages, site.size(),
              whole ? "whole" : "not whole", spider.failed());
  return whole ? 0 : 1;
}
