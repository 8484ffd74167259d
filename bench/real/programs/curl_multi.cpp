// libcurl: two threads drive a multi handle each, with many transfers at once, a third uses easy handles that share a connection
// cache, all against a server in the same process (cpp-httplib).
// Packages: libcurl4-openssl-dev libcpp-httplib-dev. Flags: pkg:libcurl pkg:cpp-httplib -pthread. Usage: curl_multi [transfers]
#include <curl/curl.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> failures{0};

static size_t append(char* data, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

struct Transfer {
  CURL* handle = nullptr;
  std::string body;
};

static CURL* make_easy(const std::string& url, std::string* body) {
  CURL* easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 50L);
  return easy;
}

static long run_multi(const std::string& root, int transfers) {
  CURLM* multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 4L);
  std::vector<Transfer> all(transfers);
  for (int i = 0; i < transfers; i++) {
    all[i].handle = make_easy(root + "/data?n=" + std::to_string(i), &all[i].body);
    curl_multi_add_handle(multi, all[i].handle);
  }
  for (int running = 1; running > 0;) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) failures++;
    if (running > 0 && curl_multi_poll(multi, nullptr, 0, 1000, nullptr) != CURLM_OK) failures++;
  }
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE && message->data.result != CURLE_OK) failures++;
  }
  long sum = 0;
  for (int i = 0; i < transfers; i++) {
    long status = 0;
    curl_easy_getinfo(all[i].handle, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) failures++;
    if (all[i].body != std::string(100 + i * 10, static_cast<char>('a' + i % 26))) failures++;
    sum += static_cast<long>(all[i].body.size()) * (i + 1);
    curl_multi_remove_handle(multi, all[i].handle);
    curl_easy_cleanup(all[i].handle);
  }
  curl_multi_cleanup(multi);
  return sum;
}

// Easy handles in two threads that share cookies under locks of ours.
static long run_shared(const std::string& root, int transfers) {
  static std::mutex locks[CURL_LOCK_DATA_LAST];
  CURLSH* share = curl_share_init();
  curl_share_setopt(
      share, CURLSHOPT_LOCKFUNC,
      +[](CURL*, curl_lock_data data, curl_lock_access, void*) { locks[data].lock(); });
  curl_share_setopt(
      share, CURLSHOPT_UNLOCKFUNC,
      +[](CURL*, curl_lock_data data, void*) { locks[data].unlock(); });
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      std::string body;
      CURL* easy = make_easy(root + "/echo", &body);
      curl_easy_setopt(easy, CURLOPT_SHARE, share);
      curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
      for (int i = 0; i < transfers; i++) {
        const std::string fields = "value=" + std::to_string(t * 1000 + i);
        body.clear();
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fields.c_str());
        if (curl_easy_perform(easy) != CURLE_OK || body != fields) failures++;
        sum += std::atol(fields.c_str() + 6);
      }
      curl_easy_cleanup(easy);
    });
  }
  for (std::thread& thread : threads) thread.join();
  curl_share_cleanup(share);
  return sum;
}

int main(int argc, char** argv) {
  const int transfers = argc > 1 ? std::atoi(argv[1]) : 20;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::atomic<int> served{0};
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(12); };
  server.Get("/data", [&](const httplib::Request& request, httplib::Response& response) {
    const int n = std::atoi(request.get_param_value("n").c_str());
    served++;
    response.set_content(std::string(100 + n * 10, static_cast<char>('a' + n % 26)), "text/plain");
  });
  server.Post("/echo", [&](const httplib::Request& request, httplib::Response& response) {
    served++;
    response.set_header("Set-Cookie", "last=seen");
    response.set_content("value=" + request.get_param_value("value"), "text/plain");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  const std::string root = "http://127.0.0.1:" + std::to_string(port);

  long sums[3];
  std::thread first([&] { sums[0] = run_multi(root, transfers); });
  std::thread second([&] { sums[1] = run_multi(root, transfers / 2); });
  std::thread third([&] { sums[2] = run_shared(root, transfers); });
  first.join();
  second.join();
  third.join();
  server.stop();
  listener.join();
  curl_global_cleanup();
  std::printf("served %d, sums %ld %ld %ld, failures %d\n", served.load(), sums[0], sums[1],
              sums[2], failures.load());
}
