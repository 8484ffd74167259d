// Plug-ins register a handler if they are enabled. One asks before the configuration was read, and registers nothing: its events go to the
// handler that counts what nobody wants.
// ROOT CAUSE: omitted_handler.cpp:30 (asked before it was configured), omitted_handler.cpp:52; KIND: data-race or order-violation
// OMITTED: omitted_handler.cpp:31
#include <cstdio>
#include <functional>
#include <string>
#include <thread>  // clang-format off
#include <vector>

struct Configuration {
  bool audit = false;
  int level = 0;
};
static Configuration configuration;

class Bus {
 public:
  using Handler = void (*)(Bus&, int);
  static void drop(Bus& bus, int) { ++bus.dropped; }
  static void keep(Bus& bus, int event) { bus.kept += event; }
  Handler handler = drop;
  int dropped = 0;
  int kept = 0;
};

class Audit {
 public:
  static void start(Bus& bus) {
    if (configuration.audit)
      bus.handler = Bus::keep;
  }
};

class Sender {
 public:
  explicit Sender(Bus& bus) : bus_(bus) {}
  void send(const std::vector<int>& events) {
    for (const int event : events) bus_.handler(bus_, event);
  }

 private:
  Bus& bus_;
};

int main() {
  Bus bus;
  std::thread reader([] {
    Configuration read;
    read.level = 3;
    configuration.level = read.level;
    configuration.audit = true;
  });
  std::thread plugin([&] {
    Audit::start(bus);
    Sender(bus).send({3, 4});
  });
  reader.join();
  plugin.join();
  std::printf("%d kept, %d dropped\n", bus.kept, bus.dropped);
  return bus.dropped == 0 ? 0 : 1;
}
