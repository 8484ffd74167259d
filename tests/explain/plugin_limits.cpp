// Plug-ins take their limits from a registry that reads a profile. The scheduler starts them before the profile is read: the limit is 0 then, is copied
// into the plan of the plug-in, and shows two modules later as steps that are rejected.
// ROOT CAUSE: plugin_limits.cpp:37 (looked up), plugin_limits.cpp:44 (set), plugin_limits.cpp:117 (started too early); KIND: order-violation
// SAYS: T0\.1 reads `registry\.values_` at .* before T0 has written it
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace profile {
class Registry {
 public:
  void load(const std::string& text) {
    std::string key;
    long value = 0;
    bool in_value = false;
    for (char c : text) {
      if (c == '=') {
        in_value = true;
      } else if (c == ';') {
        set(key, value);
        key.clear();
        value = 0;
        in_value = false;
      } else if (in_value) {
        value = value * 10 + (c - '0');
      } else {
        key += c;
      }
    }
  }
  long get(const std::string& key) const {
    std::lock_guard<std::mutex> guard(mutex_);
    auto found = values_.find(key);
    return found == values_.end() ? 0 : found->second;
  }

 private:
  void set(const std::string& key, long value) {
    std::lock_guard<std::mutex> guard(mutex_);
    values_[key] = value;
  }
  mutable std::mutex mutex_;
  std::map<std::string, long> values_;
};
}  // namespace profile

namespace plan {
struct Step {
  std::string name;
  long memory;
};
class Plan {
 public:
  explicit Plan(long limit) : limit_(limit) {}
  bool add(const Step& step) {
    if (used_ + step.memory > limit_) return false;
    used_ += step.memory;
    steps_.push_back(step);
    return true;
  }
  std::size_t size() const { return steps_.size(); }

 private:
  long limit_;
  long used_ = 0;
  std::vector<Step> steps_;
};
}  // namespace plan

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual void prepare(const profile::Registry& registry) = 0;
  virtual bool offer(const plan::Step& step) = 0;
};

class Encoder : public Plugin {
 public:
  void prepare(const profile::Registry& registry) override {
    plan_ = std::make_unique<plan::Plan>(registry.get("memory") * 4);
  }
  bool offer(const plan::Step& step) override { return plan_->add(step); }

 private:
  std::unique_ptr<plan::Plan> plan_;
};

class Scheduler {
 public:
  Scheduler(profile::Registry& registry, Plugin& plugin) : registry_(registry), plugin_(plugin) {}
  void start() {
    thread_ = std::thread([this] {
      plugin_.prepare(registry_);
      for (long size : {3, 5, 8})
        rejected_ += plugin_.offer({"step" + std::to_string(size), size}) ? 0 : 1;
    });
  }
  int finish() {
    thread_.join();
    return rejected_;
  }

 private:
  profile::Registry& registry_;
  Plugin& plugin_;
  std::thread thread_;
  int rejected_ = 0;
};

int main() {
  profile::Registry registry;
  Encoder encoder;
  Scheduler scheduler(registry, encoder);
#ifdef FIXED
  registry.load("threads=2;memory=10;level=3;");
  scheduler.start();
#else
  scheduler.start();
  registry.load("threads=2;memory=10;level=3;");
#endif
  int rejected = scheduler.finish();
  if (rejected != 0) {
    std::printf("%d steps rejected\n", rejected);
    return 5;
  }
  return 0;
}
