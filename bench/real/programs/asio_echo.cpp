// Boost.Asio: an echo server whose handlers run on three threads, with a strand for its statistics, asynchronous clients on the same
// io_context, blocking clients on threads of their own, timers, and a thread pool.
// Packages: libboost-dev, libboost-system-dev. Flags: -pthread. Usage: asio_echo [clients] [messages]
#include <atomic>
#include <boost/asio.hpp>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

static std::atomic<int> failures{0};

// The server's side of a connection: echoes lines in capital letters.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, asio::strand<asio::io_context::executor_type> statistics,
          long& echoed)
      : socket_(std::move(socket)), statistics_(std::move(statistics)), echoed_(echoed) {}
  void read() {
    asio::async_read_until(socket_, asio::dynamic_buffer(buffer_), '\n',
                           [self = shared_from_this()](error_code error, size_t n) {
                             if (!error) self->answer(n);
                           });
  }

 private:
  void answer(size_t n) {
    line_ = buffer_.substr(0, n);
    buffer_.erase(0, n);
    for (char& c : line_) c = static_cast<char>(std::toupper(c));
    asio::post(statistics_,
               [this, self = shared_from_this(), n] { echoed_ += static_cast<long>(n); });
    asio::async_write(socket_, asio::buffer(line_),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (!error) self->read();
                      });
  }
  tcp::socket socket_;
  asio::strand<asio::io_context::executor_type> statistics_;
  long& echoed_;
  std::string buffer_, line_;
};

class Server {
 public:
  explicit Server(asio::io_context& context)
      : context_(context),
        acceptor_(context, {asio::ip::address_v4::loopback(), 0}),
        statistics_(asio::make_strand(context)) {
    accept();
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  void stop() {
    asio::post(context_, [this] { acceptor_.close(); });
  }
  long echoed() const { return echoed_; }
  int accepted() const { return accepted_; }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      accepted_++;
      std::make_shared<Session>(std::move(socket), statistics_, echoed_)->read();
      accept();
    });
  }
  asio::io_context& context_;
  tcp::acceptor acceptor_;
  asio::strand<asio::io_context::executor_type> statistics_;
  long echoed_ = 0;
  int accepted_ = 0;
};

static std::string message(int client, int i) {
  return "client " + std::to_string(client) + " says " + std::to_string(i * i) + "\n";
}

static std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

static void blocking_client(tcp::endpoint endpoint, int client, int messages) {
  asio::io_context context;
  tcp::socket socket(context);
  socket.connect(endpoint);
  std::string buffer;
  for (int i = 0; i < messages; i++) {
    asio::write(socket, asio::buffer(message(client, i)));
    const size_t n = asio::read_until(socket, asio::dynamic_buffer(buffer), '\n');
    if (buffer.substr(0, n) != capitals(message(client, i))) failures++;
    buffer.erase(0, n);
  }
}

// Sends all its messages at once and reads until all answers are there.
class AsyncClient : public std::enable_shared_from_this<AsyncClient> {
 public:
  AsyncClient(asio::io_context& context, int client, int messages, std::atomic<int>& done)
      : socket_(context), done_(done) {
    for (int i = 0; i < messages; i++) sent_ += message(client, i);
    received_.resize(sent_.size());
  }
  void start(tcp::endpoint endpoint) {
    socket_.async_connect(endpoint, [self = shared_from_this()](error_code error) {
      if (error) return void(failures++);
      asio::async_write(self->socket_, asio::buffer(self->sent_),
                        [self](error_code bad, size_t) { failures += bad ? 1 : 0; });
      asio::async_read(self->socket_, asio::buffer(self->received_),
                       [self](error_code bad, size_t) {
                         if (bad || self->received_ != capitals(self->sent_)) failures++;
                         self->done_++;
                       });
    });
  }

 private:
  tcp::socket socket_;
  std::atomic<int>& done_;
  std::string sent_, received_;
};

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 4;
  const int messages = argc > 2 ? std::atoi(argv[2]) : 100;
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  Server server(context);
  std::atomic<int> async_done{0}, ticks{0};
  std::vector<std::thread> runners, threads;
  for (int i = 0; i < 3; i++) runners.emplace_back([&] { context.run(); });

  for (int c = 0; c < clients; c++)
    std::make_shared<AsyncClient>(context, c, messages, async_done)->start(server.endpoint());
  for (int c = 0; c < clients; c++)
    threads.emplace_back(blocking_client, server.endpoint(), clients + c, messages);
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  for (int i = 0; i < 5; i++) {
    timers.push_back(
        std::make_unique<asio::steady_timer>(context, std::chrono::milliseconds(5 * i)));
    timers.back()->async_wait([&](error_code error) { ticks += error ? 0 : 1; });
  }
  for (std::thread& thread : threads) thread.join();
  while (async_done < clients) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server.stop();
  work.reset();  // the runners return when all connections are closed and all timers have fired
  for (std::thread& runner : runners) runner.join();

  asio::thread_pool pool(4);
  std::atomic<long> sum{0};
  for (int i = 0; i < 1000; i++) asio::post(pool, [&sum, i] { sum += i; });
  pool.join();
  std::printf(
      "accepted %d, echoed %ld bytes, asynchronous clients %d, ticks %d, failures %d, pool %ld\n",
      server.accepted(), server.echoed(), async_done.load(), ticks.load(), failures.load(),
      sum.load());
}
