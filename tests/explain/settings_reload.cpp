// A server reloads its settings in two steps, each under the lock: the zone, and the port that belongs to it. A request reads
// both at once, and may connect to the new zone with the old port.
// ROOT CAUSE: settings_reload.cpp:31, settings_reload.cpp:35 (each in a critical section of its own), settings_reload.cpp:60, settings_reload.cpp:61 (what belongs together); KIND: atomicity-violation
// SAYS: settings_reload.cpp:31 .* settings_reload.cpp:35 .* released in between
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Backend {
  std::string name;
  int zone = 0;
  int port = 0;
};

class Settings {
 public:
#ifdef FIXED
  void reload(int zone, int port) {
    std::lock_guard lock(mutex_);
    zone_ = zone;
    port_ = port;
  }
#else
  void set_zone(int zone) {
    std::lock_guard lock(mutex_);
    zone_ = zone;
  }
  void set_port(int port) {
    std::lock_guard lock(mutex_);
    port_ = port;
  }
#endif
  Backend backend() const {
    std::lock_guard lock(mutex_);
    Backend found;
    found.name = "zone-" + std::to_string(zone_);
    found.zone = zone_;
    found.port = port_;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  int zone_ = 1;
  int port_ = 8001;
};

Settings settings;
std::map<int, int> open_ports{{1, 8001}, {2, 8002}};  // of each zone

void reload() {
#ifdef FIXED
  settings.reload(2, 8002);
#else
  settings.set_zone(2);
  settings.set_port(8002);
#endif
}

bool connect(const Backend& backend) {
  const auto found = open_ports.find(backend.zone);
  return found != open_ports.end() && found->second == backend.port;
}

void serve(int requests) {
  std::vector<std::string> log;
  for (int i = 0; i < requests; i++) {
    const Backend backend = settings.backend();
    const bool connected = connect(backend);
    log.push_back(backend.name + (connected ? " connected" : " refused"));
    assert(connected);
  }
}

}  // namespace

int main() {
  std::thread server(serve, 3);
  std::thread operator_(reload);
  server.join();
  operator_.join();
}
