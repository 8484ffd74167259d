// libevent: an HTTP server loop in one thread, clients with loops of their own in others, and bufferevents over a socket pair that two
// threads share.
// Package: libevent-dev. Flags: pkg:libevent pkg:libevent_pthreads -pthread. Usage: libevent_http [clients] [requests]
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/thread.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> failures{0};

static std::string contents(evbuffer* buffer) {
  std::string text(evbuffer_get_length(buffer), '\0');
  evbuffer_copyout(buffer, text.data(), text.size());
  return text;
}

static void serve(evhttp_request* request, void* served) {
  ++*static_cast<std::atomic<int>*>(served);
  const std::string body = contents(evhttp_request_get_input_buffer(request));
  evbuffer* answer = evbuffer_new();
  evbuffer_add_printf(answer, "%s %zu %s", evhttp_request_get_uri(request), body.size(),
                      std::string(body.rbegin(), body.rend()).c_str());
  evhttp_send_reply(request, 200, "OK", answer);
  evbuffer_free(answer);
}

// One client: requests one after the other over one connection.
struct Client {
  event_base* base;
  evhttp_connection* connection;
  int number, left;
  long bytes = 0;
  std::string expected;

  void next() {
    if (left-- == 0) {
      event_base_loopbreak(base);
      return;
    }
    const std::string path = "/" + std::to_string(number) + "/" + std::to_string(left);
    const std::string body(20 + left, static_cast<char>('a' + (number + left) % 26));
    expected = path + " " + std::to_string(body.size()) + " " + body;
    evhttp_request* request = evhttp_request_new(
        [](evhttp_request* done, void* self) {
          auto* client = static_cast<Client*>(self);
          if (done == nullptr || evhttp_request_get_response_code(done) != 200) {
            failures++;
            event_base_loopbreak(client->base);
            return;
          }
          const std::string got = contents(evhttp_request_get_input_buffer(done));
          if (got != client->expected) failures++;
          client->bytes += static_cast<long>(got.size());
          client->next();
        },
        this);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Host", "127.0.0.1");
    evbuffer_add(evhttp_request_get_output_buffer(request), body.data(), body.size());
    evhttp_make_request(connection, request, EVHTTP_REQ_POST, path.c_str());
  }
};

// Two threads write to the same bufferevent while its loop reads the other end of the pair.
static void shared_pair() {
  evutil_socket_t pair[2];
  if (evutil_socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) failures++;
  for (evutil_socket_t fd : pair) evutil_make_socket_nonblocking(fd);
  event_base* base = event_base_new();
  bufferevent* writer =
      bufferevent_socket_new(base, pair[0], BEV_OPT_CLOSE_ON_FREE | BEV_OPT_THREADSAFE);
  bufferevent* reader =
      bufferevent_socket_new(base, pair[1], BEV_OPT_CLOSE_ON_FREE | BEV_OPT_THREADSAFE);
  struct State {
    event_base* base;
    int lines = 0;
    long sum = 0;
  } state{base};
  bufferevent_setcb(
      reader,
      [](bufferevent* from, void* arg) {
        auto* s = static_cast<State*>(arg);
        while (char* line =
                   evbuffer_readln(bufferevent_get_input(from), nullptr, EVBUFFER_EOL_LF)) {
          s->sum += std::atol(line);
          s->lines++;
          std::free(line);
        }
        if (s->lines == 600) event_base_loopbreak(s->base);
      },
      nullptr, nullptr, &state);
  bufferevent_enable(reader, EV_READ);
  bufferevent_enable(writer, EV_WRITE);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([writer, t] {
      for (int i = 0; i < 300; i++) {
        const std::string line = std::to_string(i * (t + 1)) + "\n";
        bufferevent_write(writer, line.data(), line.size());
      }
    });
  }
  event_base_dispatch(base);
  for (std::thread& thread : threads) thread.join();
  bufferevent_free(writer);
  bufferevent_free(reader);
  event_base_free(base);
  std::printf("pair: %d lines, sum %ld\n", state.lines, state.sum);
}

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 4;
  const int requests = argc > 2 ? std::atoi(argv[2]) : 50;
  evthread_use_pthreads();
  std::atomic<int> served{0};
  event_base* base = event_base_new();
  evhttp* http = evhttp_new(base);
  evhttp_set_gencb(http, serve, &served);
  evhttp_bound_socket* bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
  if (bound == nullptr) {
    std::printf("cannot bind\n");
    return 1;
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address), &length);
  const int port = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  std::thread server([base] { event_base_dispatch(base); });

  std::vector<long> bytes(clients);
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; c++) {
    threads.emplace_back([&, c] {
      event_base* own = event_base_new();
      Client client{
          own,
          evhttp_connection_base_new(own, nullptr, "127.0.0.1", static_cast<ev_uint16_t>(port)), c,
          requests};
      client.next();
      event_base_dispatch(own);
      bytes[c] = client.bytes;
      evhttp_connection_free(client.connection);
      event_base_free(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  event_base_loopbreak(base);
  server.join();
  evhttp_free(http);
  event_base_free(base);
  for (int c = 0; c < clients; c++) std::printf("client %d: %ld bytes\n", c, bytes[c]);
  shared_pair();
  std::printf("served %d, failures %d\n", served.load(), failures.load());
  libevent_global_shutdown();
}
