// A registry of converters that is made when it is first asked for. The pointer to it is published before its converters are entered, so that
// another thread finds a registry without them and throws; nobody there expects that.
// ROOT CAUSE: registry.cpp:61 (published), registry.cpp:62 (filled afterwards); KIND: order-violation or data-race
// SAYS: registry.cpp:61
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Converter = std::function<double(double)>;

class UnknownUnit : public std::runtime_error {
 public:
  explicit UnknownUnit(const std::string& unit) : std::runtime_error("unknown unit " + unit) {}
};

class Registry {
 public:
  void add(const std::string& unit, Converter converter) {
    converters_[unit] = std::move(converter);
    count_.store(static_cast<int>(converters_.size()));
  }
  const Converter& find(const std::string& unit) const {
    if (count_.load() == 0) throw UnknownUnit(unit);
    const auto found = converters_.find(unit);
    if (found == converters_.end()) throw UnknownUnit(unit);
    return found->second;
  }

 private:
  std::map<std::string, Converter> converters_;
  std::atomic<int> count_{0};
};

void fill(Registry& registry) {
  registry.add("inch", [](double x) { return x * 0.0254; });
  registry.add("foot", [](double x) { return x * 0.3048; });
  registry.add("metre", [](double x) { return x; });
}

std::mutex making;
std::atomic<Registry*> the_registry{nullptr};

Registry& registry() {
  if (Registry* made = the_registry.load()) return *made;
  std::lock_guard lock(making);
  if (Registry* made = the_registry.load()) return *made;
  auto* made = new Registry;
#ifdef FIXED
  fill(*made);
  the_registry.store(made);
#else
  the_registry.store(made);
  fill(*made);
#endif
  return *made;
}

struct Length {
  double value = 0;
  std::string unit;
};

class Plan {
 public:
  explicit Plan(std::vector<Length> lengths) : lengths_(std::move(lengths)) {}
  double metres() const {
    double sum = 0;
    for (const Length& length : lengths_) sum += convert(length);
    return sum;
  }

 private:
  static double convert(const Length& length) { return registry().find(length.unit)(length.value); }
  std::vector<Length> lengths_;
};

}  // namespace

int main() {
  const Plan ship({{100, "foot"}, {3, "metre"}});
  const Plan boat({{20, "foot"}});
  double first = 0, second = 0;
  std::thread a([&] { first = ship.metres(); });
  std::thread b([&] { second = boat.metres(); });
  a.join();
  b.join();
  std::printf("%.2f and %.2f\n", first, second);
  delete the_registry.load();
  return 0;
}
