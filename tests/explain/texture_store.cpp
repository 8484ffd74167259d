// Reference counts that are lowered outside the lock: who has lowered one to zero deletes the texture although another has found it since.
// The twin lowers them under the lock.
// ROOT CAUSE: texture_store.cpp:42, texture_store.cpp:38; KIND: order-violation or atomicity-violation
// SAYS: goes by `[Tt]exture(\.|->)users`
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Texture {
  explicit Texture(std::string n) : name(std::move(n)), pixels(64, 7) {}
  ~Texture() {
    pixels.assign(pixels.size(), 0);
    alive = false;
  }
  std::string name;
  std::vector<int> pixels;
  std::atomic<int> users{0};
  bool alive = true;
};
class TextureStore {
 public:
  Texture* acquire(const std::string& name) {
    std::lock_guard lock(mutex_);
    auto found = loaded_.find(name);
    if (found == loaded_.end()) found = loaded_.emplace(name, new Texture(name)).first;
    found->second->users++;
    return found->second;
  }
  void release(Texture* texture) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (--texture->users > 0) return;
#else
    if (--texture->users > 0) return;
    std::lock_guard lock(mutex_);
#endif
    loaded_.erase(texture->name);
    delete texture;
  }
  std::size_t size() {
    std::lock_guard lock(mutex_);
    return loaded_.size();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Texture*> loaded_;
};
class Sprite {
 public:
  Sprite(TextureStore& store, const std::string& name)
      : store_(store), texture_(store.acquire(name)) {}
  ~Sprite() { store_.release(texture_); }
  int draw() const {
    int sum = 0;
    for (int pixel : texture_->pixels) sum += pixel;
    return sum;
  }

 private:
  TextureStore& store_;
  Texture* texture_;
};
static int scene(TextureStore& store, const std::string& name) {
  Sprite sprite(store, name);
  return sprite.draw();
}
int main() {
  TextureStore store;
  int a = 0, b = 0;
  std::thread one([&] { a = scene(store, "grass"); });
  std::thread two([&] { b = scene(store, "grass"); });
  one.join();
  two.join();
  if (a != 448 || b != 448) {
    std::printf("drawn %d and %d\n", a, b);
    return 1;
  }
  return store.size() == 0 ? 0 : 2;
}
