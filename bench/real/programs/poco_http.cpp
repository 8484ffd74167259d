// POCO: thread pool, notification queue, active methods, timer, and an HTTP server with its clients in the same process.
// Package: libpoco-dev. Flags: -lPocoNet -lPocoFoundation -pthread. Usage: poco_http [clients] [requests]
#include <Poco/ActiveMethod.h>
#include <Poco/Event.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/NotificationQueue.h>
#include <Poco/RWLock.h>
#include <Poco/RunnableAdapter.h>
#include <Poco/StreamCopier.h>
#include <Poco/ThreadPool.h>
#include <Poco/Timer.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Number : Poco::Notification {
  explicit Number(int n) : value(n) {}
  int value;
};

class Worker : public Poco::Runnable {
 public:
  Worker(Poco::NotificationQueue& queue, std::atomic<long>& sum) : queue_(queue), sum_(sum) {}
  void run() override {
    for (Poco::AutoPtr<Poco::Notification> note(queue_.waitDequeueNotification()); note;
         note = queue_.waitDequeueNotification()) {
      if (auto* number = dynamic_cast<Number*>(note.get())) sum_ += number->value;
    }
  }

 private:
  Poco::NotificationQueue& queue_;
  std::atomic<long>& sum_;
};

static void queue(int items) {
  Poco::NotificationQueue queue;
  Poco::ThreadPool pool(2, 4);
  std::atomic<long> sum{0};
  Worker worker(queue, sum);
  for (int i = 0; i < 4; i++) pool.start(worker);
  for (int i = 0; i < items; i++) queue.enqueueNotification(new Number(i));
  while (!queue.empty()) Poco::Thread::sleep(1);
  queue.wakeUpAll();
  while (pool.used() > 0) {  // a worker that was not waiting yet is woken the next time
    queue.wakeUpAll();
    Poco::Thread::sleep(1);
  }
  pool.joinAll();
  std::printf("notification queue: %ld\n", sum.load());
}

class Adder {
 public:
  Adder() : add(this, &Adder::do_add) {}
  Poco::ActiveMethod<long, int, Adder> add;

 private:
  long do_add(const int& n) { return n * (n + 1L) / 2; }
};

class Ticker {
 public:
  void tick(Poco::Timer& timer) {
    if (++ticks_ == 5) {
      timer.restart(0);
      done_.set();
    }
  }
  int wait() {
    done_.wait();
    return ticks_;
  }

 private:
  int ticks_ = 0;
  Poco::Event done_;
};

class Handler : public Poco::Net::HTTPRequestHandler {
 public:
  void handleRequest(Poco::Net::HTTPServerRequest& request,
                     Poco::Net::HTTPServerResponse& response) override {
    std::string body;
    Poco::StreamCopier::copyToString(request.stream(), body);
    const std::string answer = request.getMethod() + " " + request.getURI() + " " +
                               std::string(body.rbegin(), body.rend());
    response.setContentType("text/plain");
    response.sendBuffer(answer.data(), answer.size());
  }
};

struct Factory : Poco::Net::HTTPRequestHandlerFactory {
  Poco::Net::HTTPRequestHandler* createRequestHandler(
      const Poco::Net::HTTPServerRequest&) override {
    return new Handler;
  }
};

static void http(int clients, int requests) {
  Poco::ThreadPool pool(2, 8);
  Poco::Net::ServerSocket socket(Poco::Net::SocketAddress("127.0.0.1", 0));
  Poco::Net::HTTPServer server(new Factory, pool, socket, new Poco::Net::HTTPServerParams);
  server.start();
  std::atomic<int> wrong{0};
  std::vector<long> bytes(clients);
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; c++) {
    threads.emplace_back([&, c] {
      Poco::Net::HTTPClientSession session("127.0.0.1", socket.address().port());
      session.setKeepAlive(true);
      for (int i = 0; i < requests; i++) {
        const std::string path = "/client" + std::to_string(c) + "/" + std::to_string(i);
        Poco::Net::HTTPRequest request(Poco::Net::HTTPRequest::HTTP_POST, path,
                                       Poco::Net::HTTPMessage::HTTP_1_1);
        const std::string body(50 + i, static_cast<char>('a' + (c + i) % 26));
        request.setContentLength(static_cast<std::streamsize>(body.size()));
        session.sendRequest(request) << body;
        Poco::Net::HTTPResponse response;
        std::string answer;
        Poco::StreamCopier::copyToString(session.receiveResponse(response), answer);
        if (answer != "POST " + path + " " + body) wrong++;
        bytes[c] += static_cast<long>(answer.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  server.stop();
  pool.stopAll();
  long sum = 0;
  for (long n : bytes) sum += n;
  std::printf("http: %ld bytes, wrong %d\n", sum, wrong.load());
}

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 4;
  const int requests = argc > 2 ? std::atoi(argv[2]) : 25;
  queue(2000);
  Adder adder;
  std::vector<Poco::ActiveResult<long>> results;
  for (int i = 0; i < 10; i++) results.push_back(adder.add(i * 10));
  long sum = 0;
  for (auto& result : results) {
    result.wait();
    sum += result.data();
  }
  std::printf("active methods: %ld\n", sum);
  Ticker ticker;
  Poco::Timer timer(1, 2);
  timer.start(Poco::TimerCallback<Ticker>(ticker, &Ticker::tick));
  std::printf("timer: %d\n", ticker.wait());
  timer.stop();
  http(clients, requests);
}
