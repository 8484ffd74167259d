// A gallery makes thumbnails by asynchronous tasks and gathers their futures. Whoever asks for a picture that nobody has asked for yet starts a task;
// the look into the table and the entry of the future are two critical sections, so that a picture may be made twice.
// ROOT CAUSE: thumbnails.cpp:54 (looked for), thumbnails.cpp:55 (entered, under the lock taken anew); KIND: atomicity-violation
// SAYS: between two accesses
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Picture {
  std::string name;
  int width = 0;
  int height = 0;
};

class Renderer {
 public:
  Picture shrink(const Picture& picture) {
    rendered_.fetch_add(1);
    Picture small = picture;
    while (small.width > 64 || small.height > 64) {
      small.width /= 2;
      small.height /= 2;
    }
    return small;
  }
  int rendered() const { return rendered_.load(); }

 private:
  std::atomic<int> rendered_{0};
};

class Gallery {
 public:
  explicit Gallery(Renderer& renderer) : renderer_(renderer) {}

  void add(const Picture& picture) { pictures_[picture.name] = picture; }

  std::shared_future<Picture> thumbnail(const std::string& name) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    const auto known = thumbnails_.find(name);
    if (known != thumbnails_.end()) return known->second;
    return thumbnails_[name] = begin(name);
#else
    if (const auto known = find(name)) return *known;
    return enter(name, begin(name));
#endif
  }

 private:
#ifndef FIXED
  std::optional<std::shared_future<Picture>> find(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto known = thumbnails_.find(name);
    if (known == thumbnails_.end()) return std::nullopt;
    return known->second;
  }
  std::shared_future<Picture> enter(const std::string& name, std::shared_future<Picture> made) {
    std::lock_guard lock(mutex_);
    thumbnails_[name] = made;
    return made;
  }
#endif
  std::shared_future<Picture> begin(const std::string& name) {
    const Picture& picture = pictures_.at(name);
    return std::async(std::launch::deferred, [this, picture] { return renderer_.shrink(picture); })
        .share();
  }

  Renderer& renderer_;
  std::map<std::string, Picture> pictures_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Picture>> thumbnails_;
};

int total_width(Gallery& gallery, const std::vector<std::string>& names) {
  int sum = 0;
  for (const std::string& name : names) sum += gallery.thumbnail(name).get().width;
  return sum;
}

}  // namespace

int main() {
  Renderer renderer;
  Gallery gallery(renderer);
  gallery.add({"harbour", 640, 480});
  gallery.add({"tower", 256, 1024});
  int first = 0, second = 0;
  std::thread left([&] { first = total_width(gallery, {"harbour", "tower"}); });
  std::thread right([&] { second = total_width(gallery, {"harbour"}); });
  left.join();
  right.join();
  std::printf("%d and %d, %d rendered\n", first, second, renderer.rendered());
  return renderer.rendered() == 2 ? 0 : 1;
}
