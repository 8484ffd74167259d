// As odd.c, for C++: exceptions, coroutines, virtual bases, thread_local, lambdas.
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

int shared = 1;

struct Guard {
  ~Guard() { shared++; }
};

int throws(int x) {
  Guard guard;
  if (x > 2) throw std::runtime_error("too much");
  if (x > 1) throw x;
  return shared;
}

int catches(int x) {
  try {
    Guard guard;
    return throws(x);
  } catch (const std::exception& e) {
    return shared + static_cast<int>(std::string(e.what()).size());
  } catch (...) {
    try {
      throw;
    } catch (int y) {
      return shared + y;
    }
  }
}

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  ~Generator() { handle.destroy(); }
};

Generator count(int n) {
  for (int i = 0; i < n; ++i) co_yield shared + i;
  throw std::runtime_error("end");
}

int coroutine() {
  int result = 0;
  Generator generator = count(3);
  try {
    while (generator.handle.resume(), !generator.handle.done()) result += generator.handle.promise().value;
  } catch (const std::runtime_error&) {
    result += 100;
  }
  return result;
}

struct Base {
  virtual ~Base() = default;
  int base = shared;
};
struct Left : virtual Base {};
struct Right : virtual Base {
  virtual int get() { return base; }
};
struct Both : Left, Right {
  int get() override { return base + 1; }
};

thread_local std::string name = "name";
std::atomic<int> counter;

int main() {
  std::printf("%d %d %d\n", catches(0), catches(2), catches(3));
  std::printf("%d\n", coroutine());
  Both both;
  Right* right = &both;
  std::printf("%d %s\n", right->get(), name.c_str());
  std::map<std::string, std::unique_ptr<int>> map;
  for (int i = 0; i < 20; ++i) map[std::to_string(i * 7 % 20)] = std::make_unique<int>(i);
  int sum = 0;
  for (const auto& [key, value] : map) sum = sum * 3 + *value + static_cast<int>(key.size());
  std::vector<double> doubles(10, 0.5);
  double total = 0;
  for (double d : doubles) total += d * ++counter;
  std::printf("%d %g\n", sum, total);
}
