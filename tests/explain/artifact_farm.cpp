// A coordinator that waits until all artifacts are there, which are noted under another lock: the last signal may come between its check and its wait.
// The twin signals under the lock of the wait.
// ROOT CAUSE: artifact_farm.cpp:58, artifact_farm.cpp:64; KIND: lost-wakeup
// SAYS: the last signal that could have woken it came before: by T0.[23] at
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace farm {

struct Artifact {
  std::string name;
  std::size_t bytes;
};

class Store {
 public:
  void put(Artifact artifact) {
    std::lock_guard<std::mutex> hold(store_mutex_);
    bytes_ += artifact.bytes;
    std::string name = artifact.name;
    artifacts_.insert_or_assign(std::move(name), std::move(artifact));
  }

  bool has(const std::string& name) const {
    std::lock_guard<std::mutex> hold(store_mutex_);
    return artifacts_.count(name) != 0;
  }

  std::size_t bytes() const {
    std::lock_guard<std::mutex> hold(store_mutex_);
    return bytes_;
  }

 private:
  mutable std::mutex store_mutex_;
  std::map<std::string, Artifact> artifacts_;
  std::size_t bytes_ = 0;
};

class Coordinator {
 public:
  explicit Coordinator(Store& store) : store_(store) {}

  void expect(const std::string& name) { wanted_.insert(name); }

  void arrived(Artifact artifact) {
    store_.put(std::move(artifact));
#ifdef FIXED
    std::lock_guard<std::mutex> hold(wait_mutex_);
#endif
    changed_.notify_all();
  }

  void wait_for_all() {
    std::unique_lock<std::mutex> hold(wait_mutex_);
    while (!complete()) {
      changed_.wait(hold);
    }
    linked_ = true;
  }

  bool linked() {
    std::lock_guard<std::mutex> hold(wait_mutex_);
    return linked_;
  }

 private:
  bool complete() const {
    for (const std::string& name : wanted_) {
      if (!store_.has(name)) {
        return false;
      }
    }
    return true;
  }

  Store& store_;
  std::set<std::string> wanted_;
  std::mutex wait_mutex_;
  std::condition_variable changed_;
  bool linked_ = false;
};

class Compiler {
 public:
  Compiler(int number, Coordinator& coordinator) : number_(number), coordinator_(coordinator) {}

  void build(const std::vector<std::string>& sources) {
    for (const std::string& source : sources) {
      coordinator_.arrived(compile(source));
      ++built_;
    }
  }

  int built() const { return built_; }

 private:
  Artifact compile(const std::string& source) const {
    std::size_t hash = static_cast<std::size_t>(number_);
    for (char c : source) {
      hash = hash * 31 + static_cast<unsigned char>(c);
    }
    std::string object = source.substr(0, source.find('.')) + ".o";
    return Artifact{object, hash % 1000};
  }

  int number_;
  Coordinator& coordinator_;
  int built_ = 0;
};

}  // namespace farm

int main() {
  farm::Store store;
  farm::Coordinator coordinator(store);
  for (const char* name : {"lexer.o", "parser.o", "emit.o"}) {
    coordinator.expect(name);
  }
  farm::Compiler one(1, coordinator);
  farm::Compiler two(2, coordinator);
  std::thread linker([&] { coordinator.wait_for_all(); });
  std::thread a([&] { one.build({"lexer.cc", "parser.cc"}); });
  std::thread b([&] { two.build({"emit.cc"}); });
  a.join();
  b.join();
  linker.join();
  std::printf("linked %d, %zu bytes\n", coordinator.linked() ? 1 : 0, store.bytes());
  return 0;
}
