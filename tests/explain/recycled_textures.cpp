// A reference count that is lowered and read in two steps: both owners find zero, and the texture is recycled twice. The twin takes what the
// update itself returns.
// ROOT CAUSE: recycled_textures.cpp:42, recycled_textures.cpp:43; KIND: atomicity-violation or order-violation
// FLAGS: -O0
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gfx {

class Texture;

class Pool {
 public:
  void recycle(Texture* texture);
  std::size_t recycled() const { return free_.size(); }
  void dump() const;

 private:
  std::mutex mutex_;
  std::vector<Texture*> free_;
  friend class Cache;
};

class Texture {
 public:
  Texture(std::string name, Pool& pool) : name_(std::move(name)), pool_(pool), refs_(1) {}

  void acquire() { refs_.fetch_add(1); }

  void release() {
#ifdef FIXED
    if (refs_.fetch_sub(1) == 1) {
#else
    refs_.fetch_sub(1);
    if (refs_.load() == 0) {
#endif
      pool_.recycle(this);
    }
  }

  int refs() const { return refs_.load(); }
  const std::string& name() const { return name_; }
  unsigned sample(unsigned x) const { return texels_[x % texels_.size()]; }

 private:
  std::string name_;
  Pool& pool_;
  std::atomic<int> refs_;
  std::array<unsigned, 8> texels_{{1, 2, 3, 4, 5, 6, 7, 8}};
};

void Pool::recycle(Texture* texture) {
  std::lock_guard<std::mutex> hold(mutex_);
  free_.push_back(texture);
}

void Pool::dump() const {
  for (const Texture* texture : free_) {
    std::printf("free: %s\n", texture->name().c_str());
  }
}

class TextureRef {
 public:
  TextureRef() = default;
  explicit TextureRef(Texture* texture) : texture_(texture) {}
  TextureRef(const TextureRef& other) : texture_(other.texture_) {
    if (texture_) {
      texture_->acquire();
    }
  }
  TextureRef(TextureRef&& other) noexcept : texture_(std::exchange(other.texture_, nullptr)) {}
  TextureRef& operator=(TextureRef other) noexcept {
    std::swap(texture_, other.texture_);
    return *this;
  }
  ~TextureRef() {
    if (texture_) {
      texture_->release();
    }
  }
  const Texture* operator->() const { return texture_; }

 private:
  Texture* texture_ = nullptr;
};

class Cache {
 public:
  TextureRef load(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);
    auto found = entries_.find(name);
    if (found == entries_.end()) {
      found = entries_.emplace(name, TextureRef(new Texture(name, pool_))).first;
    }
    return found->second;
  }

  void evict(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);
    entries_.erase(name);
  }

  // Frees what is in the pool at the end of a frame.
  std::size_t collect() {
    std::vector<Texture*> gone;
    {
      std::lock_guard<std::mutex> hold(pool_.mutex_);
      gone.swap(pool_.free_);
    }
    for (Texture* texture : gone) {
      delete texture;
    }
    return gone.size();
  }

 private:
  std::mutex mutex_;
  Pool pool_;
  std::map<std::string, TextureRef> entries_;
};

class Renderer {
 public:
  Renderer(Cache& cache, std::string wanted) : cache_(cache), wanted_(std::move(wanted)) {}

  void draw(TextureRef texture) {
    for (unsigned x = 0; x < 4; ++x) {
      sum_ += texture->sample(x);
    }
  }

  unsigned sum() const { return sum_; }

 private:
  Cache& cache_;
  std::string wanted_;
  unsigned sum_ = 0;
};

}  // namespace gfx

int main() {
  gfx::Cache cache;
  gfx::Renderer left(cache, "brick");
  gfx::Renderer right(cache, "brick");
  gfx::TextureRef first = cache.load("brick");
  gfx::TextureRef second = cache.load("brick");
  cache.evict("brick");
  std::thread a([&left, texture = std::move(first)]() mutable { left.draw(std::move(texture)); });
  std::thread b(
      [&right, texture = std::move(second)]() mutable { right.draw(std::move(texture)); });
  a.join();
  b.join();
  std::size_t freed = cache.collect();
  std::printf("freed %zu, sums %u %u\n", freed, left.sum(), right.sum());
  return 0;
}
