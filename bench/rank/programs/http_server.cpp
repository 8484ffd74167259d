// An HTTP server with a pool of threads, and clients that download files from it over loopback at the same time. The
// server puts connections into a queue, and the threads of the pool take them from there. With -DINJECTED the lock
// in ServerThread::run, around looking at the first connection and dropping it, is gone ("no lock"): two threads
// may take the same connection, and the next one is dropped with it and never answered.
// Exits with 1 if a request was not answered as it should be.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "http.h"

// Options as lines "name = value".
class Config {
 public:
  void parse(const std::string& lines) {
    for (const std::string& line : text::split(lines, '\n')) {
      parse_line(text::trim(line));
    }
  }
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  int number(const std::string& name, int otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : text::to_number(found->second, otherwise);
  }
  std::string word(const std::string& name, const std::string& otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  bool flag(const std::string& name) const { return word(name, "no") == "yes"; }

 private:
  void parse_line(const std::string& line) {
    const std::size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string::npos) {
      return;
    }
    set(text::trim(line.substr(0, equals)), text::trim(line.substr(equals + 1)));
  }

  std::map<std::string, std::string> values_;
};

enum class Level { kDebug, kInfo, kWarning };

// The last lines that were written.
class Log {
 public:
  explicit Log(Level least) : least_(least) {}

  void debug(const std::string& line) { write(Level::kDebug, line); }
  void info(const std::string& line) { write(Level::kInfo, line); }
  void warning(const std::string& line) { write(Level::kWarning, line); }
  int warnings() {
    std::lock_guard<std::mutex> lock(mutex_);
    return warnings_;
  }
  std::string last() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_.empty() ? std::string() : lines_.back();
  }

 private:
  static std::string name(Level level) {
    switch (level) {
      case Level::kDebug:
        return "debug";
      case Level::kInfo:
        return "info";
      case Level::kWarning:
        return "warning";
    }
    return "?";
  }
  void write(Level level, const std::string& line) {
    if (level < least_) {
      return;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(name(level) + ": " + line);
    if (level == Level::kWarning) {
      ++warnings_;
    }
    if (lines_.size() > kMost) {
      lines_.erase(lines_.begin());
    }
  }

  static constexpr std::size_t kMost = 20;
  const Level least_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  int warnings_ = 0;
};

// What the server has done.
class Statistics {
 public:
  void count_connection() { ++connections_; }
  void count_request() { ++requests_; }
  void count_bytes(std::size_t bytes) { bytes_ += bytes; }
  void count_status(int status) {
    if (status < 300) {
      ++good_;
    } else if (status < 400) {
      ++moved_;
    } else {
      ++bad_;
    }
  }
  void count_empty() { ++empty_; }
  int requests() const { return requests_; }
  int answers() const { return good_ + moved_ + bad_; }
  std::string summary() const {
    std::string line = std::to_string(connections_) + " connections, ";
    line += std::to_string(requests_) + " requests, ";
    line += std::to_string(good_) + " good, ";
    line += std::to_string(moved_) + " moved, ";
    line += std::to_string(bad_) + " bad, ";
    line += std::to_string(empty_) + " empty";
    return line;
  }

 private:
  std::atomic<int> connections_{0};
  std::atomic<int> requests_{0};
  std::atomic<int> good_{0};
  std::atomic<int> moved_{0};
  std::atomic<int> bad_{0};
  std::atomic<int> empty_{0};
  std::atomic<std::size_t> bytes_{0};
};

// Types of documents by the ends of their names.
class MimeTypes {
 public:
  MimeTypes() {
    add(".html", "text/html");
    add(".css", "text/css");
    add(".txt", "text/plain");
    add(".png", "image/png");
  }
  void add(const std::string& end, const std::string& type) { types_[end] = type; }
  std::string of(const std::string& path) const {
    const auto found = types_.find(extension(path));
    return found == types_.end() ? "application/octet-stream" : found->second;
  }

 private:
  static std::string extension(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? std::string() : path.substr(dot);
  }

  std::map<std::string, std::string> types_;
};

struct Document {
  std::string body;
  std::string etag;
};

// The files that are served, by path.
class Documents {
 public:
  void add(const std::string& path, const std::string& body) {
    Document& document = documents_[path];
    document.body = body;
    document.etag = tag_of(body);
  }
  const Document* find(const std::string& path) const {
    const auto found = documents_.find(path);
    return found == documents_.end() ? nullptr : &found->second;
  }
  bool has_folder(const std::string& path) const {
    const auto next = documents_.lower_bound(path + "/");
    return next != documents_.end() && text::starts_with(next->first, path + "/");
  }
  std::vector<std::string> list(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& [path, document] : documents_) {
      if (text::starts_with(path, folder)) {
        names.push_back(path);
      }
    }
    return names;
  }
  std::vector<std::string> paths() const { return list("/"); }
  std::size_t size() const { return documents_.size(); }

 private:
  static std::string tag_of(const std::string& body) {
    unsigned hash = 5381;
    for (const char c : body) {
      hash = hash * 33 + static_cast<unsigned char>(c);
    }
    return std::to_string(hash);
  }

  std::map<std::string, Document> documents_;
};

// Paths as requests have them.
class Path {
 public:
  explicit Path(const std::string& given) : given_(given) {}

  std::string query() const {
    const std::size_t mark = given_.find('?');
    return mark == std::string::npos ? std::string() : given_.substr(mark + 1);
  }
  std::string clean() const {
    std::string result;
    for (const std::string& part : text::split(without_query(), '/')) {
      if (is_name(part)) {
        result += "/" + decode(part);
      }
    }
    return result.empty() ? "/" : result;
  }
  bool ends_with_slash() const { return text::ends_with(without_query(), "/"); }

 private:
  std::string without_query() const { return given_.substr(0, given_.find('?')); }
  static bool is_name(const std::string& part) {
    return !part.empty() && part != "." && part != "..";
  }
  static int hexadecimal(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
  }
  static std::string decode(const std::string& part) {
    std::string result;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == '%' && i + 2 < part.size()) {
        result += static_cast<char>(hexadecimal(part[i + 1]) * 16 + hexadecimal(part[i + 2]));
        i += 2;
      } else {
        result += part[i];
      }
    }
    return result;
  }

  std::string given_;
};

namespace html {

std::string escape(const std::string& value) {
  std::string result;
  for (const char c : value) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string page(const std::string& title, const std::string& body) {
  return "<html><title>" + escape(title) + "</title><body>" + body + "</body></html>";
}

std::string link(const std::string& path) {
  return "<a href=\"" + path + "\">" + escape(path) + "</a>";
}

}  // namespace html

class ErrorPages {
 public:
  static void bad_request(Response& response) { fill(response, 400); }
  static void not_found(Response& response) { fill(response, 404); }
  static void not_allowed(Response& response) {
    fill(response, 405);
    response.headers().set("Allow", "GET, HEAD");
  }
  static void moved(Response& response, const std::string& to) {
    fill(response, 301);
    response.headers().set("Location", to);
  }

 private:
  static void fill(Response& response, int status) {
    const std::string reason = Response::reason(status);
    response.set_status(status);
    response.set_body(html::page(reason, "<h1>" + reason + "</h1>"), "text/html");
  }
};

// Answers requests below a path.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual bool accepts(const std::string& path) const = 0;
  virtual void handle(const Request& request, Response& response) = 0;
};

class FileHandler final : public Handler {
 public:
  FileHandler(const Documents& documents, const MimeTypes& types)
      : documents_(documents), types_(types) {}

  bool accepts(const std::string&) const override { return true; }
  void handle(const Request& request, Response& response) override {
    const Path path(request.path());
    const std::string clean = path.clean();
    const Document* document = documents_.find(clean);
    if (document != nullptr) {
      serve(clean, *document, response);
    } else if (clean == "/" || documents_.has_folder(clean)) {
      serve_folder(path, clean, response);
    } else {
      ErrorPages::not_found(response);
    }
  }

 private:
  void serve(const std::string& path, const Document& document, Response& response) const {
    response.set_status(200);
    response.set_body(document.body, types_.of(path));
    response.headers().set("ETag", document.etag);
  }
  void serve_folder(const Path& path, const std::string& clean, Response& response) const {
    if (!path.ends_with_slash()) {
      ErrorPages::moved(response, clean + "/");
      return;
    }
    const std::string folder = clean == "/" ? "" : clean;
    const Document* index = documents_.find(folder + "/index.html");
    if (index != nullptr) {
      serve(folder + "/index.html", *index, response);
    } else {
      list_folder(folder + "/", response);
    }
  }
  void list_folder(const std::string& folder, Response& response) const {
    std::string body;
    for (const std::string& name : documents_.list(folder)) {
      body += html::link(name) + "<br>";
    }
    response.set_status(200);
    response.set_body(html::page(folder, body), "text/html");
  }

  const Documents& documents_;
  const MimeTypes& types_;
};

// "/status": what the server has done so far.
class StatusHandler final : public Handler {
 public:
  explicit StatusHandler(const Statistics& statistics) : statistics_(statistics) {}

  bool accepts(const std::string& path) const override { return path == "/status"; }
  void handle(const Request&, Response& response) override {
    response.set_status(200);
    response.set_body(statistics_.summary(), "text/plain");
  }

 private:
  const Statistics& statistics_;
};

// "/echo?x": x.
class EchoHandler final : public Handler {
 public:
  bool accepts(const std::string& path) const override { return path == "/echo"; }
  void handle(const Request& request, Response& response) override {
    response.set_status(200);
    response.set_body(Path(request.path()).query(), "text/plain");
  }
};

class Router {
 public:
  void add(std::unique_ptr<Handler> handler) { handlers_.push_back(std::move(handler)); }
  void route(const Request& request, Response& response) const {
    if (!is_allowed(request.method())) {
      ErrorPages::not_allowed(response);
      return;
    }
    Handler* handler = choose(Path(request.path()).clean());
    if (handler == nullptr) {
      ErrorPages::not_found(response);
      return;
    }
    handler->handle(request, response);
    if (request.method() == "HEAD") {
      response.drop_body();
    }
  }

 private:
  static bool is_allowed(const std::string& method) { return method == "GET" || method == "HEAD"; }
  Handler* choose(const std::string& path) const {
    for (const auto& handler : handlers_) {
      if (handler->accepts(path)) {
        return handler.get();
      }
    }
    return nullptr;
  }

  std::vector<std::unique_ptr<Handler>> handlers_;
};

// A client that is connected.
class Connection {
 public:
  Connection(std::shared_ptr<Socket> socket, int number)
      : socket_(std::move(socket)), number_(number) {}

  int number() const { return number_; }
  std::string read_request(int patience) {
    std::lock_guard<std::mutex> lock(mutex_);
    return socket_->is_open() ? socket_->receive_head(patience) : std::string();
  }
  bool write_response(const Response& response) {
    std::lock_guard<std::mutex> lock(mutex_);
    return socket_->is_open() && socket_->send_all(response.format());
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    socket_->close();
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Socket> socket_;
  const int number_;
};

using ConnectionPointer = std::shared_ptr<Connection>;

// Connections that wait for a thread, first come, first served. Whoever uses it holds its lock.
class ConnectionQueue {
 public:
  explicit ConnectionQueue(int room) : room_(static_cast<std::size_t>(room)), waiting_(room_) {}

  std::mutex& mutex() { return mutex_; }
  std::condition_variable& changed() { return changed_; }
  bool empty() const { return first_ >= end_; }
  bool full() const { return end_ - first_ >= room_; }
  void push(const ConnectionPointer& connection) {
    waiting_[end_ % room_] = connection;
    ++end_;
  }
  ConnectionPointer first() const { return waiting_[first_ % room_]; }
  void drop_first() { ++first_; }
  std::size_t size() const { return end_ - first_; }

 private:
  const std::size_t room_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ConnectionPointer> waiting_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

// What all threads of the pool use.
struct Shared {
  Router router;
  ConnectionQueue queue;
  Statistics statistics;
  Log log;
  std::atomic<bool> stopping{false};
  int patience;

  explicit Shared(const Config& config)
      : queue(config.number("room", 256)),
        log(config.flag("debug") ? Level::kDebug : Level::kInfo),
        patience(config.number("patience", 2000)) {}
};

class ServerThread {
 public:
  ServerThread(Shared& shared, int number) : shared_(shared), number_(number) {}

  void start() { thread_ = std::thread(&ServerThread::run, this); }
  void join() { thread_.join(); }
  int served() const { return served_; }

 private:
  // Takes connections from the queue and answers them, until the server stops.
  void run() {
    while (true) {
      ConnectionPointer connection;
      {
        std::unique_lock<std::mutex> lock(shared_.queue.mutex());
        while (shared_.queue.empty() && !shared_.stopping) {
          shared_.queue.changed().wait(lock);
        }
        if (shared_.queue.empty()) {
          break;
        }
#ifdef INJECTED
        lock.unlock();
#endif
        connection = shared_.queue.first();
        shared_.queue.drop_first();
      }
      if (connection != nullptr) {
        answer(*connection);
      }
    }
    shared_.log.debug("thread " + std::to_string(number_) + " has served " +
                      std::to_string(served_));
  }
  void answer(Connection& connection) {
    const std::string data = connection.read_request(shared_.patience);
    if (data.empty()) {
      shared_.statistics.count_empty();
      connection.close();
      return;
    }
    shared_.statistics.count_request();
    Response response;
    Request request;
    if (request.parse(data)) {
      shared_.router.route(request, response);
    } else {
      ErrorPages::bad_request(response);
    }
    response.headers().set("Server", "bench");
    finish(connection, request, response);
  }
  void finish(Connection& connection, const Request& request, const Response& response) {
    if (connection.write_response(response)) {
      shared_.statistics.count_status(response.status());
      shared_.statistics.count_bytes(response.body().size());
    } else {
      shared_.log.warning("connection " + std::to_string(connection.number()) + " is gone");
    }
    connection.close();
    ++served_;
    shared_.log.info(line(request, response));
  }
  static std::string line(const Request& request, const Response& response) {
    std::string result = request.method() + " " + request.path();
    result += " " + std::to_string(response.status());
    if (request.headers().has("User-Agent")) {
      result += " " + request.headers().get("User-Agent");
    }
    return result;
  }

  Shared& shared_;
  const int number_;
  std::thread thread_;
  int served_ = 0;
};

// The threads of the pool.
class ThreadPool {
 public:
  ThreadPool(Shared& shared, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.push_back(std::make_unique<ServerThread>(shared, i));
    }
  }
  void start() {
    for (const auto& thread : threads_) {
      thread->start();
    }
  }
  void join() {
    for (const auto& thread : threads_) {
      thread->join();
    }
  }
  int busiest() const {
    int most = 0;
    for (const auto& thread : threads_) {
      most = std::max(most, thread->served());
    }
    return most;
  }

 private:
  std::vector<std::unique_ptr<ServerThread>> threads_;
};

class Server {
 public:
  Server(const Config& config, const Documents& documents)
      : shared_(config), pool_(shared_, config.number("threads", 20)) {
    shared_.router.add(std::make_unique<StatusHandler>(shared_.statistics));
    shared_.router.add(std::make_unique<EchoHandler>());
    shared_.router.add(std::make_unique<FileHandler>(documents, types_));
  }
  int port() const { return listener_.port(); }
  void start() {
    pool_.start();
    accepting_ = std::thread(&Server::accept_all, this);
  }
  // Answers what has been accepted, and ends.
  void stop() {
    shared_.stopping = true;
    connect_to(port());
    accepting_.join();
    {
      std::lock_guard<std::mutex> lock(shared_.queue.mutex());
      shared_.queue.changed().notify_all();
    }
    pool_.join();
  }
  std::string report() {
    return shared_.statistics.summary() + "; busiest thread " + std::to_string(pool_.busiest()) +
           ", " + std::to_string(shared_.log.warnings()) + " warnings";
  }

 private:
  void accept_all() {
    for (int number = 1;; ++number) {
      const std::shared_ptr<Socket> socket = listener_.accept();
      if (shared_.stopping) {
        return;
      }
      if (socket->is_open()) {
        enqueue(std::make_shared<Connection>(socket, number));
      }
    }
  }
  void enqueue(const ConnectionPointer& connection) {
    std::lock_guard<std::mutex> lock(shared_.queue.mutex());
    if (shared_.queue.full()) {
      shared_.log.warning("the queue is full");
      connection->close();
      return;
    }
    shared_.statistics.count_connection();
    shared_.queue.push(connection);
    shared_.queue.changed().notify_one();
  }

  MimeTypes types_;
  Shared shared_;
  Listener listener_;
  ThreadPool pool_;
  std::thread accepting_;
};

// A script that downloads a file and looks whether it is the right one.
class Client {
 public:
  Client(int port, const std::string& path, const std::string& expected, int patience)
      : port_(port), path_(path), expected_(expected), patience_(patience) {}

  void start() { thread_ = std::thread(&Client::run, this); }
  void join() { thread_.join(); }
  bool was_answered() const { return answered_; }
  bool was_right() const { return right_; }

 private:
  void run() {
    const std::unique_ptr<Socket> socket = connect_to(port_);
    Request request("GET", path_);
    request.headers().set("User-Agent", "script");
    if (!socket->is_open() || !socket->send_all(request.format())) {
      return;
    }
    Response response;
    answered_ = response.parse(socket->receive_all(patience_));
    right_ = answered_ && response.status() == 200 && response.body() == expected_;
  }

  const int port_;
  const std::string path_;
  const std::string expected_;
  const int patience_;
  std::thread thread_;
  bool answered_ = false;
  bool right_ = false;
};

// All clients at once.
class Clients {
 public:
  Clients(int port, int count, const Documents& documents, int patience) {
    const std::vector<std::string> paths = documents.paths();
    for (int i = 0; i < count; ++i) {
      const std::string& path = paths[static_cast<std::size_t>(i) % paths.size()];
      clients_.push_back(
          std::make_unique<Client>(port, path, documents.find(path)->body, patience));
    }
  }
  void run() {
    for (const auto& client : clients_) {
      client->start();
    }
    for (const auto& client : clients_) {
      client->join();
    }
  }
  int unanswered() const {
    int count = 0;
    for (const auto& client : clients_) {
      count += client->was_answered() ? 0 : 1;
    }
    return count;
  }
  int wrong() const {
    int count = 0;
    for (const auto& client : clients_) {
      count += client->was_answered() && !client->was_right() ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<std::unique_ptr<Client>> clients_;
};

Documents make_documents() {
  Documents documents;
  documents.add("/index.html", html::page("start", html::link("/a/b.html")));
  documents.add("/a/index.html", html::page("a", html::link("/index.html")));
  documents.add("/a/b.html", html::page("b", "<p>text</p>"));
  documents.add("/style.css", "body { color: black }");
  documents.add("/notes.txt", std::string(300, 'n'));
  documents.add("/picture.png", std::string(700, 'p'));
  return documents;
}

Config make_config(int count, char** arguments) {
  Config config;
  config.parse("threads = 20\nclients = 80\n# milliseconds\npatience = 2000\n");
  if (count > 1) {
    config.set("threads", arguments[1]);
  }
  if (count > 2) {
    config.set("clients", arguments[2]);
  }
  return config;
}

int main(int count, char** arguments) {
  const Config config = make_config(count, arguments);
  const Documents documents = make_documents();
  Server server(config, documents);
  server.start();
  Clients clients(server.port(), config.number("clients", 80), documents,
                  config.number("patience", 2000));
  clients.run();
  server.stop();
  std::printf("%s\n", server.report().c_str());
  std::printf("%d not answered, %d answered wrongly\n", clients.unanswered(), clients.wrong());
  return clients.unanswered() == 0 && clients.wrong() == 0 ? 0 : 1;
}
