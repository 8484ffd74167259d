// An HTTP server with a pool of threads, and clients that download files from it over loopback. With
// -DINJECTED the synchronisation in ServerThread::run is gone ("no lock"): two threads may take the same
// connection off the queue, and drop the next one with it, which is never answered. Exits with 1 if a request
// was not answered.
#include <atomic>
#include <deque>
#include <functional>
#include <set>

#include "http_common.h"

// A counter that several threads use.
class Counter {
 public:
  void add() { ++value_; }
  int get() const { return value_; }

 private:
  std::atomic<int> value_{0};
};

class Statistics {
 public:
  void count_request() { requests_.add(); }
  void count_answer(int status) {
    if (status == 200) {
      good_.add();
    } else {
      bad_.add();
    }
  }
  int requests() const { return requests_.get(); }
  int answers() const { return good_.get() + bad_.get(); }
  std::string summary() const {
    return std::to_string(requests()) + " requests, " + std::to_string(good_.get()) +
           " answered, " + std::to_string(bad_.get()) + " refused";
  }

 private:
  Counter requests_;
  Counter good_;
  Counter bad_;
};

// Lines for the operator, the last few of them.
class Log {
 public:
  void write(const std::string& line) {
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(line);
    if (lines_.size() > kMost) {
      lines_.pop_front();
    }
  }
  std::size_t size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_.size();
  }

 private:
  static constexpr std::size_t kMost = 16;
  std::mutex mutex_;
  std::deque<std::string> lines_;
};

struct Config {
  int threads = 6;
  int clients = 10;
  int requests = 1;
  int patience = 2000;  // milliseconds

  static Config from(int count, char** arguments) {
    Config config;
    if (count > 1) {
      config.threads = text::number(arguments[1], config.threads);
    }
    if (count > 2) {
      config.clients = text::number(arguments[2], config.clients);
    }
    return config;
  }
};

// A connection that was accepted and waits for its answer.
class Connection {
 public:
  explicit Connection(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {}

  // Whether nobody has begun with it before.
  bool begin() { return !begun_.exchange(true); }
  std::string read_request(int patience) {
    std::string data;
    while (!Request::is_whole(data)) {
      if (!socket_->wait_readable(patience)) {
        return std::string();
      }
      const std::string part = socket_->receive_some();
      if (part.empty()) {
        return std::string();
      }
      data += part;
    }
    return data;
  }
  bool write_response(const Response& response) { return socket_->send_all(response.text()); }
  void finish() { socket_->close(); }

 private:
  std::shared_ptr<Socket> socket_;
  std::atomic<bool> begun_{false};
};

using ConnectionPointer = std::shared_ptr<Connection>;

// Connections in the order in which they came. Who uses it sees to the lock.
class ConnectionQueue {
 public:
  std::mutex& mutex() { return mutex_; }
  void push(const ConnectionPointer& connection) { waiting_.push_back(connection); }
  bool empty() const { return next_ >= waiting_.size(); }
  ConnectionPointer first() const { return waiting_[next_]; }
  void drop_first() { ++next_; }
  std::size_t accepted() const { return waiting_.size(); }

 private:
  std::mutex mutex_;
  std::vector<ConnectionPointer> waiting_;
  std::size_t next_ = 0;
};

// Answers that are not files.
class ErrorPages {
 public:
  static void bad_request(Response& response) { fill(response, 400); }
  static void not_found(Response& response) { fill(response, 404); }
  static void not_allowed(Response& response) { fill(response, 405); }

 private:
  static void fill(Response& response, int status) {
    response.set_status(status);
    response.set_body(std::string("<h1>") + Response::reason(status) + "</h1>", "text/html");
  }
};

// From a request to its response.
class Handler {
 public:
  Handler(const Site& site, Log& log) : site_(site), log_(log) {}

  void handle(const std::string& data, Response& response) {
    Request request;
    if (!request.parse(data)) {
      ErrorPages::bad_request(response);
      return;
    }
    if (!is_allowed(request)) {
      ErrorPages::not_allowed(response);
      return;
    }
    serve_file(clean(request.path()), response);
    note(request, response);
  }

 private:
  static bool is_allowed(const Request& request) {
    return request.method() == "GET" || request.method() == "HEAD";
  }
  // Without what points out of the site.
  static std::string clean(const std::string& path) {
    std::string result;
    for (const std::string& part : text::split(path, '/')) {
      if (!part.empty() && part != "." && part != "..") {
        result += '/' + part;
      }
    }
    return result.empty() ? "/" : result;
  }
  void serve_file(const std::string& path, Response& response) {
    const std::string* body = site_.find(path);
    if (body == nullptr) {
      ErrorPages::not_found(response);
      return;
    }
    response.set_status(200);
    response.set_body(*body, mime_type(path));
  }
  void note(const Request& request, const Response& response) {
    log_.write(request.method() + " " + request.path() + " " + std::to_string(response.status()) +
               " " + agent(request));
  }
  static std::string agent(const Request& request) {
    return request.headers().has("User-Agent") ? request.headers().get("User-Agent") : "-";
  }

  const Site& site_;
  Log& log_;
};

class Server;

// One of the pool's threads.
class ServerThread {
 public:
  ServerThread(Server& server, Handler& handler) : server_(server), handler_(handler) {}
  void start() { thread_ = std::thread(&ServerThread::run, this); }
  void join() { thread_.join(); }

 private:
  void run();
  void answer(Connection& connection);
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

  Server& server_;
  Handler& handler_;
  std::thread thread_;
};

class Server {
 public:
  Server(const Site& site, const Config& config) : config_(config), handler_(site, log_) {}

  int open() { return listen_somewhere(listener_); }
  void start() {
    for (int i = 0; i < config_.threads; ++i) {
      threads_.push_back(std::make_unique<ServerThread>(*this, handler_));
      threads_.back()->start();
    }
  }
  // Accepts so many connections.
  void accept_all(int connections) {
    for (int i = 0; i < connections; ++i) {
      const auto socket = listener_->accept_one();
      if (!socket->is_open()) {
        break;
      }
      enqueue(std::make_shared<Connection>(socket));
    }
    closing_ = true;
  }
  void stop() {
    for (const auto& thread : threads_) {
      thread->join();
    }
    listener_->close();
  }
  bool is_closing() const { return closing_; }
  ConnectionQueue& queue() { return queue_; }
  Statistics& statistics() { return statistics_; }
  const Config& config() const { return config_; }

 private:
  void enqueue(const ConnectionPointer& connection) {
    statistics_.count_request();
    std::lock_guard<std::mutex> lock(queue_.mutex());
    queue_.push(connection);
  }

  const Config& config_;
  Log log_;
  Handler handler_;
  std::unique_ptr<Socket> listener_;
  ConnectionQueue queue_;
  Statistics statistics_;
  std::vector<std::unique_ptr<ServerThread>> threads_;
  std::atomic<bool> closing_{false};
};

// Takes connections off the queue and answers them, until there are no more.
void ServerThread::run() {
  ConnectionQueue& queue = server_.queue();
  for (;;) {
    ConnectionPointer connection;
    const bool closing = server_.is_closing();
    {
#ifndef INJECTED
      std::lock_guard<std::mutex> lock(queue.mutex());
#endif
      if (!queue.empty()) {
        connection = queue.first();
        queue.drop_first();
      }
    }
    if (connection == nullptr) {
      if (closing) {
        break;
      }
      rest();
      continue;
    }
    if (connection->begin()) {
      answer(*connection);
    }
  }
}

void ServerThread::answer(Connection& connection) {
  Response response;
  handler_.handle(connection.read_request(server_.config().patience), response);
  connection.write_response(response);
  server_.statistics().count_answer(response.status());
  connection.finish();
}

// A client that downloads one file after the other.
class Client {
 public:
  Client(int number, int port, const Site& site, const Config& config)
      : number_(number), port_(port), site_(site), config_(config) {}
  void start() { thread_ = std::thread(&Client::run, this); }
  void join() { thread_.join(); }
  int unanswered() const { return unanswered_; }
  int wrong() const { return wrong_; }

 private:
  void run() {
    for (int i = 0; i < config_.requests; ++i) {
      download(choose(i));
    }
  }
  std::string choose(int i) const {
    const std::vector<std::string> all = site_.paths();
    return all[static_cast<std::size_t>(number_ * 7 + i) % all.size()];
  }
  void download(const std::string& path) {
    const auto socket = connect_to(port_);
    if (socket == nullptr || !socket->send_all(Request::make(path))) {
      ++unanswered_;
      return;
    }
    Response response;
    if (!response.parse(read_all(*socket))) {
      ++unanswered_;
      return;
    }
    check(path, response);
  }
  std::string read_all(Socket& socket) const {
    std::string data;
    while (socket.wait_readable(config_.patience)) {
      const std::string part = socket.receive_some();
      if (part.empty()) {
        break;
      }
      data += part;
    }
    return data;
  }
  void check(const std::string& path, const Response& response) {
    const std::string* expected = site_.find(path);
    if (expected == nullptr || response.status() != 200 || response.body() != *expected) {
      ++wrong_;
    }
  }

  const int number_;
  const int port_;
  const Site& site_;
  const Config& config_;
  std::thread thread_;
  int unanswered_ = 0;
  int wrong_ = 0;
};

Site make_site() {
  Site site;
  site.add("/index.html", "<html><a href=\"/a.html\">a</a></html>");
  site.add("/a.html", "<html>a page</html>");
  site.add("/style.css", "body { color: black }");
  site.add("/readme.txt", "nothing to see");
  site.add("/data.bin", std::string(100, 'x'));
  return site;
}

int main(int count, char** arguments) {
  const Config config = Config::from(count, arguments);
  const Site site = make_site();
  Server server(site, config);
  const int port = server.open();
  server.start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < config.clients; ++i) {
    clients.push_back(std::make_unique<Client>(i, port, site, config));
    clients.back()->start();
  }
  server.accept_all(config.clients * config.requests);
  int unanswered = 0;
  int wrong = 0;
  for (const auto& client : clients) {
    client->join();
    unanswered += client->unanswered();
    wrong += client->wrong();
  }
  server.stop();
  std::printf("%s; %d unanswered, %d wrong\n", server.statistics().summary().c_str(), unanswered,
              wrong);
  return unanswered + wrong == 0 ? 0 : 1;
}
