// cpp-httplib: a server with its thread pool and several clients, keep-alive and not, in one process.
// Package: libcpp-httplib-dev. Flags: pkg:cpp-httplib -pthread. Usage: httplib_server [clients] [requests]
#include <httplib.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 4;
  const int requests = argc > 2 ? std::atoi(argv[2]) : 25;
  std::map<std::string, int> votes;
  std::mutex votes_mutex;
  std::atomic<int> served{0};

  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(4); };
  server.Get("/square", [&](const httplib::Request& request, httplib::Response& response) {
    const long n = std::atol(request.get_param_value("n").c_str());
    served++;
    response.set_content(std::to_string(n * n), "text/plain");
  });
  server.Post(R"(/vote/(\w+))", [&](const httplib::Request& request, httplib::Response& response) {
    const int weight = std::atoi(request.body.c_str());
    served++;
    std::lock_guard<std::mutex> guard(votes_mutex);
    votes[request.matches[1]] += weight;
    response.set_content("thanks", "text/plain");
  });
  server.Get("/stream", [&](const httplib::Request&, httplib::Response& response) {
    served++;
    response.set_chunked_content_provider("text/plain", [](size_t offset, httplib::DataSink& sink) {
      const std::string piece = "piece " + std::to_string(offset) + "\n";
      sink.write(piece.data(), piece.size());
      if (offset > 500) sink.done();
      return true;
    });
  });

  const int port = server.bind_to_any_port("127.0.0.1");
  if (port < 0) {
    std::printf("cannot bind\n");
    return 1;
  }
  std::thread listener([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();

  std::vector<long> sums(clients);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int c = 0; c < clients; c++) {
    threads.emplace_back([&, c] {
      httplib::Client client("127.0.0.1", port);
      client.set_keep_alive(c % 2 == 0);
      for (int i = 0; i < requests; i++) {
        if (auto got = client.Get("/square?n=" + std::to_string(c * 100 + i))) {
          sums[c] += std::atol(got->body.c_str());
        } else {
          failures++;
        }
        auto post = client.Post("/vote/candidate" + std::to_string((c + i) % 3), std::to_string(i),
                                "text/plain");
        if (!post || post->body != "thanks") failures++;
        if (i % 10 == 0) {
          auto stream = client.Get("/stream");
          if (!stream) {
            failures++;
          } else {
            sums[c] += static_cast<long>(stream->body.size());
          }
        }
      }
      auto missing = client.Get("/nowhere");
      if (!missing || missing->status != 404) failures++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  server.stop();
  listener.join();
  std::printf("served %d, failures %d\n", served.load(), failures.load());
  for (int c = 0; c < clients; c++) std::printf("client %d: %ld\n", c, sums[c]);
  for (const auto& [name, sum] : votes) std::printf("%s: %d\n", name.c_str(), sum);
}
