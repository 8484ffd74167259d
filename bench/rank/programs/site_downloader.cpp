// Downloads a site over loopback: ten threads take addresses from a queue, fetch the pages, look for links on them and
// put what is new into the queue. As in its model, `running_` and `downloads_in_progress_` are changed and read by several
// threads without a lock: updates are lost, the program believes that nothing is left to do, and pages are
// missing. With -DINJECTED the locks in Spider::run are gone as well ("no lock"). With -DFIXED both are atomic. The server
// that the site comes from is a thread of the same program, without defects.
// Exits with 1 if a page is missing or differs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "http.h"

// A path within a site, without what does not matter.
class Url {
 public:
  Url() = default;
  explicit Url(const std::string& path) : path_(normal(path)) {}

  const std::string& path() const { return path_; }
  bool empty() const { return path_.empty(); }
  std::string folder() const {
    const std::size_t slash = path_.rfind('/');
    if (slash == std::string::npos) {
      return "/";
    }
    return path_.substr(0, slash + 1);
  }
  std::string extension() const {
    const std::size_t dot = path_.rfind('.');
    const std::size_t slash = path_.rfind('/');
    if (dot == std::string::npos) {
      return std::string();
    }
    if (slash != std::string::npos && slash > dot) {
      return std::string();
    }
    return text::lower(path_.substr(dot + 1));
  }
  // What a link on this page leads to. Empty: out of the site.
  Url join(const std::string& link) const {
    if (link.find("://") != std::string::npos || text::starts_with(link, "mailto:")) {
      return Url();
    }
    if (text::starts_with(link, "/")) {
      return Url(link);
    }
    return Url(folder() + link);
  }

 private:
  static std::string normal(const std::string& path) {
    const std::string plain = path.substr(0, path.find('#'));
    std::vector<std::string> parts;
    for (const std::string& part : text::split(plain, '/')) {
      if (part == "..") {
        if (!parts.empty()) {
          parts.pop_back();
        }
      } else if (!part.empty() && part != ".") {
        parts.push_back(part);
      }
    }
    std::string result;
    for (const std::string& part : parts) {
      result += '/';
      result += part;
    }
    if (result.empty()) {
      return "/index.html";
    }
    if (text::ends_with(plain, "/")) {
      result += "/index.html";
    }
    return result;
  }

  std::string path_;
};

// An address, and how many links lead to it from the start.
struct UrlToDownload {
  Url url;
  int depth = 0;
};

// What to download and how.
class SpiderConfig {
 public:
  // Lines "name=value". False: one of them makes no sense.
  bool parse(const std::string& lines) {
    for (const std::string& given : text::split(lines, '\n')) {
      const std::string line = text::trim(given);
      if (line.empty() || line[0] == '#') {
        continue;
      }
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) {
        std::fprintf(stderr, "no option: %s\n", line.c_str());
        return false;
      }
      const std::string name = text::trim(line.substr(0, equals));
      if (!set(name, text::trim(line.substr(equals + 1)))) {
        std::fprintf(stderr, "unknown option: %s\n", name.c_str());
        return false;
      }
    }
    return true;
  }
  bool set(const std::string& name, const std::string& value) {
    if (name == "threads") {
      threads_ = text::to_number(value, threads_);
    } else if (name == "depth") {
      most_depth_ = text::to_number(value, most_depth_);
    } else if (name == "patience") {
      patience_ = text::to_number(value, patience_);
    } else if (name == "sleep") {
      sleep_ = text::to_number(value, sleep_);
    } else if (name == "start") {
      start_ = Url(value);
    } else if (name == "interesting") {
      interesting_ = text::split(value, ',');
    } else if (name == "boring") {
      boring_ = text::split(value, ',');
    } else if (name == "exclude") {
      exclude_ = text::split(value, ',');
    } else {
      return false;
    }
    return true;
  }
  int threads() const { return threads_; }
  int patience() const { return patience_; }
  int sleep() const { return sleep_; }
  const Url& start() const { return start_; }
  bool is_deep(int depth) const { return depth > most_depth_; }
  bool is_interesting(const Url& url) const { return matches(interesting_, url); }
  bool is_boring(const Url& url) const { return matches(boring_, url); }
  bool is_excluded(const Url& url) const {
    for (const std::string& start : exclude_) {
      if (text::starts_with(url.path(), text::trim(start))) {
        return true;
      }
    }
    return false;
  }

 private:
  static bool matches(const std::vector<std::string>& words, const Url& url) {
    for (const std::string& word : words) {
      if (!word.empty() && url.path().find(text::trim(word)) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  int threads_ = 10;
  int most_depth_ = 8;
  int patience_ = 3000;
  int sleep_ = 2;
  Url start_{"/"};
  std::vector<std::string> interesting_;
  std::vector<std::string> boring_;
  std::vector<std::string> exclude_;
};

// Addresses that are to be downloaded: interesting ones first, boring ones last. Whoever uses it holds a lock.
class DownloadQueue {
 public:
  explicit DownloadQueue(const SpiderConfig& config) : config_(config) {}

  // Not again what it has had before.
  void queue_url(const UrlToDownload& wanted) {
    if (!seen_.insert(wanted.url.path()).second) {
      return;
    }
    if (config_.is_interesting(wanted.url)) {
      interesting_.push_back(wanted);
    } else if (config_.is_boring(wanted.url)) {
      boring_.push_back(wanted);
    } else {
      others_.push_back(wanted);
    }
  }
  void queue_urls(const std::vector<UrlToDownload>& wanted) {
    for (const UrlToDownload& one : wanted) {
      queue_url(one);
    }
  }
  std::size_t size() const { return interesting_.size() + others_.size() + boring_.size(); }
  // An empty address: there is none.
  UrlToDownload next_in_queue() {
    if (!interesting_.empty()) {
      return take_from(interesting_);
    }
    if (!others_.empty()) {
      return take_from(others_);
    }
    if (!boring_.empty()) {
      return take_from(boring_);
    }
    return UrlToDownload();
  }
  std::string describe() const {
    std::string line = std::to_string(interesting_.size()) + " interesting, ";
    line += std::to_string(others_.size()) + " others, ";
    line += std::to_string(boring_.size()) + " boring";
    return line;
  }

 private:
  static UrlToDownload take_from(std::vector<UrlToDownload>& list) {
    const UrlToDownload wanted = list.back();
    list.pop_back();
    return wanted;
  }

  const SpiderConfig& config_;
  std::vector<UrlToDownload> interesting_;
  std::vector<UrlToDownload> others_;
  std::vector<UrlToDownload> boring_;
  std::set<std::string> seen_;
};

// Addresses in the text of a page.
class HtmlParser {
 public:
  std::vector<Url> parse_links(const Url& page, const std::string& body) const {
    std::vector<Url> links;
    extract_attribute(page, body, "href", links);
    extract_attribute(page, body, "src", links);
    extract_attribute(page, body, "background", links);
    return links;
  }
  static bool is_html(const Response& response) {
    return text::starts_with(response.headers().get("Content-Type"), "text/html");
  }

 private:
  void extract_attribute(const Url& page, const std::string& body, const std::string& name,
                         std::vector<Url>& links) const {
    const std::string lower = text::lower(body);
    std::size_t at = 0;
    while ((at = lower.find(name, at)) != std::string::npos) {
      at = skip_blanks(lower, at + name.size());
      if (at >= lower.size() || lower[at] != '=') {
        continue;
      }
      at = skip_blanks(lower, at + 1);
      const std::string value = value_at(body, at);
      const Url url = page.join(value);
      if (!value.empty() && !url.empty()) {
        add_once(url, links);
      }
      at += value.size();
    }
  }
  static std::size_t skip_blanks(const std::string& body, std::size_t at) {
    while (at < body.size() && std::isspace(static_cast<unsigned char>(body[at])) != 0) {
      ++at;
    }
    return at;
  }
  // In quotes or without.
  static std::string value_at(const std::string& body, std::size_t at) {
    if (at >= body.size()) {
      return std::string();
    }
    if (body[at] == '"' || body[at] == '\'') {
      const std::size_t end = body.find(body[at], at + 1);
      if (end == std::string::npos) {
        return std::string();
      }
      return body.substr(at + 1, end - at - 1);
    }
    const std::size_t end = body.find_first_of(" >\t\r\n", at);
    return body.substr(at, end == std::string::npos ? end : end - at);
  }
  static void add_once(const Url& url, std::vector<Url>& links) {
    for (const Url& other : links) {
      if (other.path() == url.path()) {
        return;
      }
    }
    links.push_back(url);
  }
};

// Fetches single pages.
class UrlGetter {
 public:
  UrlGetter(const SpiderConfig& config, int port) : config_(config), port_(port) {}

  // False: it cannot be had.
  bool get(const Url& url, Response& response) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (try_once(url, response)) {
        return is_good(url, response);
      }
      ++retries_;
    }
    std::fprintf(stderr, "%s: no answer\n", url.path().c_str());
    return false;
  }
  int retries() const { return retries_; }

 private:
  static constexpr int kAttempts = 2;

  bool try_once(const Url& url, Response& response) const {
    const std::unique_ptr<Socket> socket = connect_to(port_);
    if (!socket->is_open()) {
      return false;
    }
    if (!socket->send_all(make_request(url).format())) {
      return false;
    }
    Response received;
    if (!received.parse(socket->receive_all(config_.patience()))) {
      return false;
    }
    response = received;
    return true;
  }
  static Request make_request(const Url& url) {
    Request request("GET", url.path());
    request.headers().set("Host", "localhost");
    request.headers().set("User-Agent", "downloader");
    request.headers().set("Accept", "*/*");
    return request;
  }
  static bool is_good(const Url& url, const Response& response) {
    if (response.status() == 200) {
      return true;
    }
    std::fprintf(stderr, "%s: %d\n", url.path().c_str(), response.status());
    return false;
  }

  const SpiderConfig& config_;
  const int port_;
  int retries_ = 0;
};

// The pages that were downloaded, as they would be on disk.
class Mirror {
 public:
  void write(const Url& url, const std::string& body) {
    const std::string name = file_name(url);
    std::lock_guard<std::mutex> lock(mutex_);
    const auto [file, added] = files_.try_emplace(name, body);
    if (!added) {
      ++overwritten_;
      file->second = body;
    }
    bytes_ += body.size();
  }
  bool has(const std::string& path, const std::string& body) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = files_.find(file_name(Url(path)));
    if (found == files_.end()) {
      return false;
    }
    return found->second == body;
  }
  std::string describe() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string line = std::to_string(files_.size()) + " files, ";
    line += std::to_string(bytes_) + " bytes";
    if (overwritten_ > 0) {
      line += ", " + std::to_string(overwritten_) + " written twice";
    }
    return line;
  }

 private:
  // Names that any file system takes.
  static std::string file_name(const Url& url) {
    std::string name;
    for (const char c : url.path()) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (plain || c == '/' || c == '.' || c == '-') {
        name += c;
      } else {
        name += '_';
      }
    }
    return "mirror" + name;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::size_t bytes_ = 0;
  int overwritten_ = 0;
};

#ifdef FIXED
using SharedCount = std::atomic<int>;
#else
using SharedCount = int;
#endif

// Downloads what can be reached from the start.
class Spider {
 public:
  Spider(const SpiderConfig& config, int port, Mirror& mirror)
      : config_(config), port_(port), mirror_(mirror), queue_(config) {}

  void start() {
    queue_.queue_url({config_.start(), 0});
    for (int i = 0; i < config_.threads(); ++i) {
      ++running_;
      threads_.emplace_back(&Spider::run, this);
    }
  }
  bool is_running() const { return running_ > 0; }
  void stop() {
    quit_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }
  std::string describe() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string line = std::to_string(downloaded_) + " downloaded, ";
    line += std::to_string(failed_) + " failed, ";
    line += std::to_string(ignored_) + " ignored; queue: ";
    line += queue_.describe();
    return line;
  }

 private:
  // A thread of the spider.
  void run() {
    HtmlParser parser;
    UrlGetter getter(config_, port_);
    while ((queue_size() > 0 || downloads_in_progress_ > 0) && !quit_) {
      if (queue_size() == 0) {
        // The others may find more.
        rest();
        continue;
      }
      UrlToDownload next;
      {
#ifndef INJECTED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        next = queue_.next_in_queue();
        ++downloads_in_progress_;
      }
      if (next.url.empty()) {
        // Somebody else was faster.
        --downloads_in_progress_;
        continue;
      }
      const std::vector<Url> links = download(next, getter, parser);
      const std::vector<UrlToDownload> wanted = filter(links, next.depth + 1);
      {
#ifndef INJECTED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        queue_.queue_urls(wanted);
        --downloads_in_progress_;
      }
    }
    note_retries(getter.retries());
    --running_;
  }
  std::size_t queue_size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return queue_.size();
  }
  // Stores a page. The links on it.
  std::vector<Url> download(const UrlToDownload& wanted, UrlGetter& getter,
                            const HtmlParser& parser) {
    Response response;
    if (!getter.get(wanted.url, response)) {
      note_download(false);
      return {};
    }
    mirror_.write(wanted.url, response.body());
    note_download(true);
    if (!HtmlParser::is_html(response)) {
      return {};
    }
    return parser.parse_links(wanted.url, response.body());
  }
  // Those of the links that are to be followed.
  std::vector<UrlToDownload> filter(const std::vector<Url>& links, int depth) {
    std::vector<UrlToDownload> wanted;
    int ignored = 0;
    for (const Url& url : links) {
      if (config_.is_deep(depth) || config_.is_excluded(url)) {
        ++ignored;
      } else {
        wanted.push_back({url, depth});
      }
    }
    if (ignored > 0) {
      note_ignored(ignored);
    }
    return wanted;
  }
  void note_download(bool succeeded) {
    std::lock_guard<std::mutex> lock(notes_mutex_);
    if (succeeded) {
      ++downloaded_;
    } else {
      ++failed_;
    }
  }
  void note_ignored(int count) {
    std::lock_guard<std::mutex> lock(notes_mutex_);
    ignored_ += count;
  }
  void note_retries(int count) {
    std::lock_guard<std::mutex> lock(notes_mutex_);
    retries_ += count;
    if (count > 0) {
      std::fprintf(stderr, "%d attempts in vain\n", count);
    }
  }
  void rest() const { std::this_thread::sleep_for(std::chrono::milliseconds(config_.sleep())); }

  const SpiderConfig& config_;
  const int port_;
  Mirror& mirror_;
  std::mutex mutex_;
  DownloadQueue queue_;
  std::vector<std::thread> threads_;
  std::atomic<bool> quit_{false};
  SharedCount running_{0};
  SharedCount downloads_in_progress_{0};
  std::mutex notes_mutex_;
  int downloaded_ = 0;
  int failed_ = 0;
  int ignored_ = 0;
  int retries_ = 0;
};

// The documents of the site.
class Site {
 public:
  void add(const std::string& path, const std::string& body) { documents_[path] = body; }
  const std::map<std::string, std::string>& documents() const { return documents_; }
  std::size_t size() const { return documents_.size(); }
  Response answer(const Request& request) const {
    Response response;
    const auto found = documents_.find(request.path());
    if (request.method() != "GET") {
      response.set_status(405);
      response.set_body("only GET", "text/plain");
    } else if (found == documents_.end()) {
      response.set_status(404);
      response.set_body("not here", "text/plain");
    } else {
      response.set_status(200);
      response.set_body(found->second, type_of(found->first));
    }
    return response;
  }
  static std::string type_of(const std::string& path) {
    const std::string extension = Url(path).extension();
    if (extension == "html") {
      return "text/html";
    }
    if (extension == "css") {
      return "text/css";
    }
    if (extension == "png") {
      return "image/png";
    }
    if (extension == "txt") {
      return "text/plain";
    }
    return "application/octet-stream";
  }

 private:
  std::map<std::string, std::string> documents_;
};

// Answers one connection after the other.
class TestServer {
 public:
  explicit TestServer(const Site& site) : site_(site) {}

  int port() const { return listener_.port(); }
  void start() { thread_ = std::thread(&TestServer::run, this); }
  void stop() {
    stopping_ = true;
    connect_to(port());
    thread_.join();
  }

 private:
  void run() {
    while (true) {
      const std::shared_ptr<Socket> socket = listener_.accept();
      if (stopping_) {
        return;
      }
      Request request;
      if (request.parse(socket->receive_head(3000))) {
        socket->send_all(site_.answer(request).format());
      }
      socket->close();
    }
  }

  const Site& site_;
  Listener listener_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

std::string link_to(const std::string& path) {
  return "<a href=\"" + path + "\">" + path + "</a>\n";
}

Site make_site() {
  Site site;
  site.add("/index.html", link_to("a/index.html") + link_to("b.html") +
                              "<link rel=stylesheet href=/style.css>" +
                              link_to("http://elsewhere/"));
  site.add("/a/index.html", link_to("../b.html") + link_to("c.html") + link_to("#top"));
  site.add("/a/c.html", link_to("/index.html") + link_to("/d/e.html") + link_to("mailto:us"));
  site.add("/b.html", link_to("/a/c.html") + "<img src='/i.png'>" + link_to("f.html"));
  site.add("/d/e.html", link_to("g.html") + link_to("/secret/h.html"));
  site.add("/d/g.html", "the end");
  site.add("/f.html", "<body background=\"/j.png\">" + link_to("/d/g.html"));
  site.add("/i.png", std::string(120, 'i'));
  site.add("/j.png", std::string(90, 'j'));
  site.add("/style.css", "body {}");
  return site;
}

// Whether all pages are there, as they are on the server.
bool compare(const Site& site, Mirror& mirror) {
  int missing = 0;
  for (const auto& [path, body] : site.documents()) {
    if (!mirror.has(path, body)) {
      std::printf("missing: %s\n", path.c_str());
      ++missing;
    }
  }
  if (missing > 0) {
    std::printf("%d of %zu pages are missing\n", missing, site.size());
  } else {
    std::printf("all %zu pages are there\n", site.size());
  }
  return missing == 0;
}

int main(int count, char** arguments) {
  SpiderConfig config;
  const std::string options =
      "# what to download\n"
      "threads = 10\n"
      "depth = 8\n"
      "start = /index.html\n"
      "interesting = .html\n"
      "boring = .png\n"
      "exclude = /secret\n";
  if (!config.parse(options)) {
    return 2;
  }
  if (count > 1 && !config.set("threads", arguments[1])) {
    return 2;
  }
  if (config.threads() < 1 || config.threads() > 100) {
    std::fprintf(stderr, "usage: site_downloader [THREADS]\n");
    return 2;
  }
  const Site site = make_site();
  TestServer server(site);
  server.start();
  Mirror mirror;
  Spider spider(config, server.port(), mirror);
  spider.start();
  while (spider.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const bool whole = compare(site, mirror);
  spider.stop();
  server.stop();
  std::printf("%s\n", mirror.describe().c_str());
  std::printf("%s\n", spider.describe().c_str());
  return whole ? 0 : 1;
}
