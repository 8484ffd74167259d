// Builds targets that depend on each other, in a pool of threads. A target is ready when all that it needs is
// built. Whoever finishes a target counts down what waits for it: BuildGraph::finish lowers the count in one
// critical section and looks whether it has become zero in another one. Two threads that finish the last two needs
// of a target at the same time both see zero, and the target is built twice. Exits with 1 if a target was not
// built exactly once.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Target {
  std::string name;
  std::vector<std::string> needs;
  std::vector<Target*> wanted_by;
  int missing = 0;
  int cost = 1;
};

// What was built, in which order.
class BuildLog {
 public:
  void begin(const Target& target) {
    std::lock_guard<std::mutex> lock(mutex_);
    order_.push_back(target.name);
  }
  void end(const Target& target, unsigned checksum) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++built_[target.name];
    checksums_[target.name] = checksum;
  }
  int times(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = built_.find(name);
    return found == built_.end() ? 0 : found->second;
  }
  std::string describe() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string line;
    for (const std::string& name : order_) {
      line += name + " ";
    }
    return line;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> order_;
  std::map<std::string, int> built_;
  std::map<std::string, unsigned> checksums_;
};

// Targets that can be built now.
class ReadyQueue {
 public:
  void push(Target* target) {
    std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back(target);
    changed_.notify_one();
  }
  // Null: nothing will come any more.
  Target* pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (ready_.empty() && !closed_) {
      changed_.wait(lock);
    }
    if (ready_.empty()) {
      return nullptr;
    }
    Target* target = ready_.front();
    ready_.pop_front();
    return target;
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Target*> ready_;
  bool closed_ = false;
};

class BuildGraph {
 public:
  Target& add(const std::string& name, const std::vector<std::string>& needs, int cost) {
    auto target = std::make_unique<Target>();
    target->name = name;
    target->needs = needs;
    target->cost = cost;
    Target& added = *target;
    targets_[name] = std::move(target);
    return added;
  }
  // False: something is needed that there is no rule for.
  bool connect() {
    for (const auto& [name, target] : targets_) {
      for (const std::string& need : target->needs) {
        const auto found = targets_.find(need);
        if (found == targets_.end()) {
          std::fprintf(stderr, "%s needs %s, which nothing makes\n", name.c_str(), need.c_str());
          return false;
        }
        found->second->wanted_by.push_back(target.get());
        ++target->missing;
      }
    }
    return true;
  }
  void queue_leaves(ReadyQueue& queue) {
    for (const auto& [name, target] : targets_) {
      if (target->missing == 0) {
        queue.push(target.get());
      }
    }
  }
  // The target is built: what waits for it may be ready now. True: it was the last of all.
  bool finish(Target& target, ReadyQueue& queue) {
    for (Target* next : target.wanted_by) {
#ifdef FIXED
      if (count_down(*next) == 0) {
        queue.push(next);
      }
#else
      count_down(*next);
      if (is_ready(*next)) {
        queue.push(next);
      }
#endif
    }
    std::lock_guard<std::mutex> lock(mutex_);
    ++finished_;
    return finished_ == targets_.size();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, target] : targets_) {
      names.push_back(name);
    }
    return names;
  }

 private:
  int count_down(Target& target) {
    std::lock_guard<std::mutex> lock(mutex_);
    return --target.missing;
  }
  bool is_ready(const Target& target) {
    std::lock_guard<std::mutex> lock(mutex_);
    return target.missing == 0;
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Target>> targets_;
  std::size_t finished_ = 0;
};

class Builder {
 public:
  Builder(BuildGraph& graph, ReadyQueue& queue, BuildLog& log)
      : graph_(graph), queue_(queue), log_(log) {}
  void start() { thread_ = std::thread(&Builder::work, this); }
  void join() { thread_.join(); }

 private:
  void work() {
    while (Target* target = queue_.pop()) {
      log_.begin(*target);
      log_.end(*target, compile(*target));
      if (graph_.finish(*target, queue_)) {
        queue_.close();
      }
    }
  }
  static unsigned compile(const Target& target) {
    unsigned sum = 17;
    for (int pass = 0; pass < target.cost; ++pass) {
      for (const char c : target.name) {
        sum = sum * 31 + static_cast<unsigned char>(c);
      }
      std::this_thread::yield();
    }
    return sum;
  }

  BuildGraph& graph_;
  ReadyQueue& queue_;
  BuildLog& log_;
  std::thread thread_;
};

void read_rules(BuildGraph& graph) {
  graph.add("config.h", {}, 1);
  graph.add("text.o", {"config.h"}, 2);
  graph.add("net.o", {"config.h"}, 2);
  graph.add("db.o", {"config.h"}, 3);
  graph.add("libbase.a", {"text.o", "net.o"}, 1);
  graph.add("main.o", {"config.h"}, 1);
  graph.add("server", {"main.o", "libbase.a", "db.o"}, 2);
  graph.add("manual", {}, 2);
  graph.add("package", {"server", "manual"}, 1);
}

int check(const BuildGraph& graph, BuildLog& log) {
  int wrong = 0;
  for (const std::string& name : graph.names()) {
    const int times = log.times(name);
    if (times != 1) {
      std::printf("%s was built %d times\n", name.c_str(), times);
      ++wrong;
    }
  }
  return wrong;
}

int main() {
  BuildGraph graph;
  read_rules(graph);
  if (!graph.connect()) {
    return 2;
  }
  ReadyQueue queue;
  BuildLog log;
  graph.queue_leaves(queue);
  std::vector<std::unique_ptr<Builder>> builders;
  for (int i = 0; i < 3; ++i) {
    builders.push_back(std::make_unique<Builder>(graph, queue, log));
  }
  for (const auto& builder : builders) {
    builder->start();
  }
  for (const auto& builder : builders) {
    builder->join();
  }
  std::printf("%s\n", log.describe().c_str());
  return check(graph, log) == 0 ? 0 : 1;
}
