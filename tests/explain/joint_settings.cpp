// A server that checks its settings before it listens. A loader thread reads them; the checker does not wait for it, so that it
// finds neither the port nor the number of workers, and each of them alone would be enough to refuse.
// ROOT CAUSE: joint_settings.cpp:49, joint_settings.cpp:50, joint_settings.cpp:35, joint_settings.cpp:36 (read before they are loaded); KIND: order-violation
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

struct Settings {
  int port = 0;
  int workers = 0;
  std::string name;
  mutable std::mutex mutex;
};

class Loader {
 public:
  explicit Loader(Settings& to) : to_(to) {}
  void load() {
    const std::map<std::string, std::string> file{
        {"name", "front"}, {"port", "8080"}, {"workers", "4"}};
    to_.name = file.at("name");
    store(number(file.at("port")), number(file.at("workers")));
  }

 private:
  static int number(const std::string& text) {
    int value = 0;
    for (const char digit : text) value = value * 10 + (digit - '0');
    return value;
  }
  void store(int port, int workers) {
    const std::scoped_lock lock(to_.mutex);
    to_.port = port;
    to_.workers = workers;
  }

  Settings& to_;
};

class Checker {
 public:
  explicit Checker(const Settings& settings) : settings_(settings) {}
  // How many settings are out of range.
  int check() const {
    const std::scoped_lock lock(settings_.mutex);
    int wrong = 0;
    wrong += out_of_range(settings_.port, 1, 65535);
    wrong += out_of_range(settings_.workers, 1, 64);
    return wrong;
  }

 private:
  static int out_of_range(int value, int least, int most) { return value < least || value > most; }
  const Settings& settings_;
};

int main() {
  Settings settings;
  Loader loader(settings);
  Checker checker(settings);
  int refused = 0;
  std::thread loading([&] { loader.load(); });
  std::thread checking([&] { refused = checker.check(); });
  loading.join();
  checking.join();
  if (refused > 0) {
    std::fputs("refused\n", stderr);
    return 1;
  }
  return 0;
}
