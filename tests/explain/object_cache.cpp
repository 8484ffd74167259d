// A server's cache of responses, in the manner of Apache's mem_cache (bug 21285/21287): objects are counted by their users. Giving an object back takes one off
// its count and then looks whether nobody has it any more; two who give it back at the same time may both find that so.
// ROOT CAUSE: object_cache.cpp:78 (taken off), object_cache.cpp:79 (looked at, in a step of its own); KIND: atomicity-violation
// SAYS: updates `object->users` at .* has freed that memory
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

class Entity {
 public:
  virtual ~Entity() = default;
  virtual std::size_t size() const = 0;
  virtual std::string body() const = 0;
};

class Page final : public Entity {
 public:
  explicit Page(std::string text) : text_(std::move(text)) {}
  std::size_t size() const override { return text_.size(); }
  std::string body() const override { return text_; }

 private:
  std::string text_;
};

class Redirect final : public Entity {
 public:
  explicit Redirect(std::string target) : target_(std::move(target)) {}
  std::size_t size() const override { return target_.size() + 10; }
  std::string body() const override { return "Location: " + target_; }

 private:
  std::string target_;
};

struct CacheObject {
  std::string key;
  Entity* entity = nullptr;
  std::atomic<int> users{0};
  bool listed = true;
};

class ObjectCache {
 public:
  ~ObjectCache() {
    for (auto& [key, object] : objects_) destroy(object);
  }

  void insert(const std::string& key, Entity* entity) {
    std::lock_guard lock(mutex_);
    auto* object = new CacheObject;
    object->key = key;
    object->entity = entity;
    object->users = 1;  // the list's
    objects_[key] = object;
  }

  CacheObject* open(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return nullptr;
    found->second->users++;
    return found->second;
  }

  void close(CacheObject* object) {
#ifdef FIXED
    if (object->users.fetch_sub(1) == 1) destroy(object);
#else
    object->users.fetch_sub(1);
    if (object->users.load() == 0) destroy(object);
#endif
  }

  bool remove(const std::string& key) {
    CacheObject* object = nullptr;
    {
      std::lock_guard lock(mutex_);
      const auto found = objects_.find(key);
      if (found == objects_.end()) return false;
      object = found->second;
      object->listed = false;
      objects_.erase(found);
    }
    close(object);
    return true;
  }

 private:
  void destroy(CacheObject* object) {
    delete object->entity;
    delete object;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, CacheObject*> objects_;
};

class Handler {
 public:
  explicit Handler(ObjectCache& cache) : cache_(cache) {}
  void serve(const std::string& key) {
    CacheObject* object = cache_.open(key);
    if (object == nullptr) {
      misses_++;
      return;
    }
    sent_ += object->entity->body().size();
    cache_.close(object);
  }
  std::size_t sent() const { return sent_; }
  int misses() const { return misses_; }

 private:
  ObjectCache& cache_;
  std::size_t sent_ = 0;
  int misses_ = 0;
};

}  // namespace

int main() {
  ObjectCache cache;
  cache.insert("/", new Page("welcome"));
  cache.insert("/old", new Redirect("/new"));
  Handler first(cache), second(cache);
  std::thread server([&] {
    first.serve("/");
    first.serve("/old");
  });
  std::thread purger([&] {
    second.serve("/old");
    cache.remove("/");
  });
  server.join();
  purger.join();
  std::printf("%zu bytes, %d misses\n", first.sent() + second.sent(), first.misses());
  return 0;
}
