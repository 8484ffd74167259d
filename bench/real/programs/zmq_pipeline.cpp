// ZeroMQ: a ventilator, workers and a sink over inproc, requests and replies over TCP, publishing to subscribers; its own I/O threads
// talk to ours over eventfd and epoll.
// Package: libzmq3-dev. Flags: pkg:libzmq -pthread. Usage: zmq_pipeline [workers] [items]
#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static void check(bool good, const char* what) {
  if (!good) {
    std::printf("%s: %s\n", what, zmq_strerror(zmq_errno()));
    std::exit(1);
  }
}

static void* open(void* context, int type, const char* address, bool bind) {
  void* socket = zmq_socket(context, type);
  check(socket != nullptr, "socket");
  check((bind ? zmq_bind(socket, address) : zmq_connect(socket, address)) == 0, address);
  return socket;
}

static void send(void* socket, long value) {
  check(zmq_send(socket, &value, sizeof value, 0) == sizeof value, "send");
}

static long receive(void* socket) {
  long value = 0;
  check(zmq_recv(socket, &value, sizeof value, 0) == sizeof value, "receive");
  return value;
}

static void pipeline(void* context, int workers, int items) {
  void* out = open(context, ZMQ_PUSH, "inproc://work", true);
  void* in = open(context, ZMQ_PULL, "inproc://results", true);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; w++) {
    threads.emplace_back([context, &done] {
      void* work = open(context, ZMQ_PULL, "inproc://work", false);
      void* results = open(context, ZMQ_PUSH, "inproc://results", false);
      const int wait = 10;  // milliseconds; nobody can know which worker a last message would go to
      check(zmq_setsockopt(work, ZMQ_RCVTIMEO, &wait, sizeof wait) == 0, "timeout");
      for (long value; !done;) {
        if (zmq_recv(work, &value, sizeof value, 0) == sizeof value) {
          send(results, value * value);
        } else {
          check(zmq_errno() == EAGAIN, "receive");
        }
      }
      zmq_close(work);
      zmq_close(results);
    });
  }
  std::thread ventilator([&] {
    for (int i = 0; i < items; i++) send(out, i);
  });
  long sum = 0;
  for (int i = 0; i < items; i++) sum += receive(in);
  ventilator.join();
  done = true;
  for (std::thread& thread : threads) thread.join();
  zmq_close(out);
  zmq_close(in);
  std::printf("pipeline: %ld\n", sum);
}

static void requests(void* context, int clients, int items) {
  void* server = open(context, ZMQ_REP, "tcp://127.0.0.1:*", true);
  char address[100];
  size_t length = sizeof address;
  check(zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, address, &length) == 0, "endpoint");
  std::vector<long> sums(clients);
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; c++) {
    threads.emplace_back([&, c] {
      void* socket = open(context, ZMQ_REQ, address, false);
      for (int i = 0; i < items; i++) {
        send(socket, c * 1000 + i);
        sums[c] += receive(socket);
      }
      zmq_close(socket);
    });
  }
  for (int i = 0; i < clients * items; i++) send(server, receive(server) + 1);
  for (std::thread& thread : threads) thread.join();
  zmq_close(server);
  for (int c = 0; c < clients; c++) std::printf("client %d: %ld\n", c, sums[c]);
}

// XPUB reports subscriptions, so that the publisher can wait for all of them.
static void publish(void* context, int subscribers, int items) {
  void* publisher = open(context, ZMQ_XPUB, "inproc://news", true);
  const int verbose = 1;
  check(zmq_setsockopt(publisher, ZMQ_XPUB_VERBOSE, &verbose, sizeof verbose) == 0, "verbose");
  std::vector<long> sums(subscribers);
  std::vector<std::thread> threads;
  for (int s = 0; s < subscribers; s++) {
    threads.emplace_back([&, s] {
      void* socket = open(context, ZMQ_SUB, "inproc://news", false);
      check(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0, "subscribe");
      zmq_pollitem_t item{socket, 0, ZMQ_POLLIN, 0};
      for (bool done = false; !done;) {
        check(zmq_poll(&item, 1, 30000) == 1, "poll");
        const long value = receive(socket);
        done = value < 0;
        if (!done) sums[s] += value * (s + 1);
      }
      zmq_close(socket);
    });
  }
  char subscription[16];
  for (int s = 0; s < subscribers; s++)
    check(zmq_recv(publisher, subscription, sizeof subscription, 0) >= 1, "subscription");
  for (int i = 0; i < items; i++) send(publisher, i);
  send(publisher, -1);
  for (std::thread& thread : threads) thread.join();
  zmq_close(publisher);
  for (int s = 0; s < subscribers; s++) std::printf("subscriber %d: %ld\n", s, sums[s]);
}

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 3;
  const int items = argc > 2 ? std::atoi(argv[2]) : 500;
  void* context = zmq_ctx_new();
  pipeline(context, workers, items);
  requests(context, workers, items / 10);
  publish(context, workers, items);
  zmq_ctx_term(context);
}
