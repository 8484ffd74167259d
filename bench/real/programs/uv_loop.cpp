// libuv: its thread pool, async handles fed by threads of our own, timers, file operations, and a TCP server with clients in one loop.
// Package: libuv1-dev. Flags: pkg:libuv -pthread. Usage: uv_loop [clients] [jobs]
#include <fcntl.h>
#include <uv.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

static uv_loop_t loop;
static int failures = 0;

static void check(int result, const char* what) {
  if (result < 0) {
    std::printf("%s: %s\n", what, uv_strerror(result));
    failures++;
  }
}

static void allocate(uv_handle_t*, size_t size, uv_buf_t* buffer) {
  *buffer = uv_buf_init(static_cast<char*>(std::malloc(size)), size);
}
static void free_stream(uv_handle_t* handle) { delete reinterpret_cast<uv_tcp_t*>(handle); }

// The server's side: everything read is written back in capital letters.
static uv_tcp_t server;
static long echoed = 0;

static void server_read(uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
  if (n < 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), free_stream);
    std::free(buffer->base);
    return;
  }
  echoed += n;
  for (ssize_t i = 0; i < n; i++)
    buffer->base[i] = static_cast<char>(std::toupper(buffer->base[i]));
  auto* request = new uv_write_t;
  request->data = buffer->base;
  uv_buf_t out = uv_buf_init(buffer->base, static_cast<unsigned>(n));
  check(uv_write(request, stream, &out, 1,
                 [](uv_write_t* done, int status) {
                   check(status, "write");
                   std::free(done->data);
                   delete done;
                 }),
        "uv_write");
}

static void accept_one(uv_stream_t* listener, int status) {
  check(status, "connection");
  auto* stream = new uv_tcp_t;
  uv_tcp_init(&loop, stream);
  check(uv_accept(listener, reinterpret_cast<uv_stream_t*>(stream)), "accept");
  check(uv_read_start(reinterpret_cast<uv_stream_t*>(stream), allocate, server_read), "read");
}

struct Client {
  uv_tcp_t stream;
  uv_connect_t connect;
  uv_write_t write;
  std::string sent, received;
};
static int clients_left = 0;

static void client_read(uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
  auto* client = static_cast<Client*>(stream->data);
  if (n > 0) client->received.append(buffer->base, n);
  std::free(buffer->base);
  if (n < 0) check(static_cast<int>(n), "client read");
  if (n < 0 || client->received.size() == client->sent.size()) {
    for (char& c : client->sent) c = static_cast<char>(std::toupper(c));
    if (client->received != client->sent) failures++;
    uv_close(reinterpret_cast<uv_handle_t*>(stream), nullptr);
    if (--clients_left == 0) uv_close(reinterpret_cast<uv_handle_t*>(&server), nullptr);
  }
}

static void start_client(Client* client, int number, const sockaddr* address) {
  for (int i = 0; i < 200; i++)
    client->sent += "client " + std::to_string(number) + " line " + std::to_string(i) + "\n";
  uv_tcp_init(&loop, &client->stream);
  client->stream.data = client;
  check(uv_tcp_connect(
            &client->connect, &client->stream, address,
            [](uv_connect_t* request, int status) {
              check(status, "connect");
              auto* self = static_cast<Client*>(request->handle->data);
              uv_buf_t out =
                  uv_buf_init(self->sent.data(), static_cast<unsigned>(self->sent.size()));
              check(uv_write(&self->write, request->handle, &out, 1, nullptr), "client write");
              check(uv_read_start(request->handle, allocate, client_read), "client read");
            }),
        "uv_tcp_connect");
}

struct Job {
  uv_work_t request;
  long input, result;
};
static long work_sum = 0;

static void start_job(Job* job, long input) {
  job->input = input;
  job->request.data = job;
  check(uv_queue_work(
            &loop, &job->request,
            [](uv_work_t* request) {
              auto* self = static_cast<Job*>(request->data);
              self->result = self->input;
              for (int i = 0; i < 1000; i++) self->result = (self->result * 31 + i) % 1000003;
            },
            [](uv_work_t* request, int) { work_sum += static_cast<Job*>(request->data)->result; }),
        "uv_queue_work");
}

// Threads of our own that wake the loop; wake-ups may be merged, so the numbers travel in an atomic.
static uv_async_t async;
static std::atomic<long> posted{0};
static std::atomic<int> posters{3};
static long received = 0;
static int ticks = 0;

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 5;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 200;
  uv_loop_init(&loop);

  sockaddr_in address;
  uv_ip4_addr("127.0.0.1", 0, &address);
  uv_tcp_init(&loop, &server);
  check(uv_tcp_bind(&server, reinterpret_cast<sockaddr*>(&address), 0), "bind");
  check(uv_listen(reinterpret_cast<uv_stream_t*>(&server), 16, accept_one), "listen");
  int length = sizeof address;
  uv_tcp_getsockname(&server, reinterpret_cast<sockaddr*>(&address), &length);
  std::vector<std::unique_ptr<Client>> all;
  clients_left = clients;
  for (int c = 0; c < clients; c++) {
    all.push_back(std::make_unique<Client>());
    start_client(all.back().get(), c, reinterpret_cast<sockaddr*>(&address));
  }

  std::vector<Job> work(jobs);
  for (int i = 0; i < jobs; i++) start_job(&work[i], i);

  uv_async_init(&loop, &async, [](uv_async_t* handle) {
    received += posted.exchange(0);
    if (posters == 0 && posted == 0) uv_close(reinterpret_cast<uv_handle_t*>(handle), nullptr);
  });
  uv_thread_t threads[3];
  for (uv_thread_t& thread : threads) {
    uv_thread_create(
        &thread,
        [](void*) {
          for (int i = 1; i <= 100; i++) {
            posted += i;
            uv_async_send(&async);
          }
          posters--;
          uv_async_send(&async);
        },
        nullptr);
  }

  uv_timer_t timer;
  uv_timer_init(&loop, &timer);
  uv_timer_start(
      &timer,
      [](uv_timer_t* handle) {
        if (++ticks == 5) uv_close(reinterpret_cast<uv_handle_t*>(handle), nullptr);
      },
      2, 3);

  uv_fs_t file;
  std::string text = "written by the thread pool\n";
  static long written = 0;
  uv_fs_open(&loop, &file, "uv_loop.txt", O_CREAT | O_TRUNC | O_WRONLY, 0644, nullptr);
  const uv_file descriptor = static_cast<uv_file>(file.result);
  uv_fs_req_cleanup(&file);
  uv_buf_t buffer = uv_buf_init(text.data(), static_cast<unsigned>(text.size()));
  uv_fs_write(&loop, &file, descriptor, &buffer, 1, 0,
              [](uv_fs_t* request) { written = request->result; });

  uv_run(&loop, UV_RUN_DEFAULT);
  for (uv_thread_t& thread : threads) uv_thread_join(&thread);
  uv_fs_req_cleanup(&file);
  uv_fs_close(&loop, &file, descriptor, nullptr);
  check(uv_loop_close(&loop), "loop");
  std::printf("work %ld, posted %ld, ticks %d, written %ld, echoed %ld, failures %d\n", work_sum,
              received, ticks, written, echoed, failures);
}
