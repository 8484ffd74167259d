// Three painters with a deque of tiles each; who has none left steals from another. Deque::steal looks at the deque and takes the
// oldest tile in two critical sections: the owner may take that tile in between, and it is painted twice. Exits with 1 if some tile
// was not painted exactly once.
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Tile {
  int number = -1;
  int shade = 0;
  bool valid() const { return number >= 0; }
};

class Deque {
 public:
  void push(const Tile& tile) {
    std::lock_guard<std::mutex> lock(mutex_);
    tiles_.push_back(tile);
  }
  Tile pop() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tiles_.empty()) {
      return {};
    }
    const Tile tile = tiles_.back();
    tiles_.pop_back();
    return tile;
  }
  Tile steal();

 private:
  Tile oldest() {
    std::lock_guard<std::mutex> lock(mutex_);
    return tiles_.empty() ? Tile() : tiles_.front();
  }
  void remove_oldest() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!tiles_.empty()) {
      tiles_.pop_front();
    }
  }
  std::mutex mutex_;
  std::deque<Tile> tiles_;
};

Tile Deque::steal() {
#ifdef FIXED
  std::lock_guard<std::mutex> lock(mutex_);
  if (tiles_.empty()) {
    return {};
  }
  const Tile tile = tiles_.front();
  tiles_.pop_front();
  return tile;
#else
  const Tile tile = oldest();
  if (tile.valid()) {
    remove_oldest();
  }
  return tile;
#endif
}

class Canvas {
 public:
  explicit Canvas(int tiles)
      : painted_(static_cast<std::size_t>(tiles), 0),
        colours_(static_cast<std::size_t>(tiles), 0) {}
  void paint(int tile, int colour) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++painted_[static_cast<std::size_t>(tile)];
    colours_[static_cast<std::size_t>(tile)] = colour;
  }
  int faults() const {
    int faults = 0;
    for (std::size_t i = 0; i < painted_.size(); ++i) {
      faults += is_right(i) ? 0 : 1;
    }
    return faults;
  }

 private:
  bool is_right(std::size_t tile) const { return painted_[tile] == 1; }
  std::mutex mutex_;
  std::vector<int> painted_;
  std::vector<int> colours_;
};

class Shader {
 public:
  int shade(const Tile& tile) const { return clamp(mix(tile.shade, tile.number)); }

 private:
  static int mix(int shade, int number) { return shade * 31 + number * 7; }
  static int clamp(int colour) { return colour < 0 ? 0 : colour > 255 ? 255 : colour; }
};

class Painter {
 public:
  Painter(std::vector<std::unique_ptr<Deque>>& deques, std::size_t own, Canvas& canvas)
      : deques_(deques), own_(own), canvas_(canvas) {}
  void run() {
    for (Tile tile = next(); tile.valid(); tile = next()) {
      paint(tile);
    }
  }

 private:
  Tile next() {
    const Tile tile = deques_[own_]->pop();
    return tile.valid() ? tile : look_around();
  }
  Tile look_around() {
    for (std::size_t i = 1; i < deques_.size(); ++i) {
      const Tile tile = deques_[(own_ + i) % deques_.size()]->steal();
      if (tile.valid()) {
        return tile;
      }
    }
    return {};
  }
  void paint(const Tile& tile) { canvas_.paint(tile.number, shader_.shade(tile)); }
  std::vector<std::unique_ptr<Deque>>& deques_;
  std::size_t own_;
  Canvas& canvas_;
  Shader shader_;
};

class Picture {
 public:
  Picture(int tiles, std::size_t painters) : canvas_(tiles) {
    for (std::size_t i = 0; i < painters; ++i) {
      deques_.push_back(std::make_unique<Deque>());
    }
    deal(tiles);
  }
  int render() {
    std::vector<Painter> painters;
    for (std::size_t i = 0; i < deques_.size(); ++i) {
      painters.emplace_back(deques_, i, canvas_);
    }
    std::vector<std::thread> threads;
    for (Painter& painter : painters) {
      threads.emplace_back(&Painter::run, &painter);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return canvas_.faults();
  }

 private:
  // Uneven, so that there is something to steal.
  void deal(int tiles) {
    for (int i = 0; i < tiles; ++i) {
      deques_[i % 4 == 0 ? 1 : 0]->push({i, i * 3});
    }
  }
  Canvas canvas_;
  std::vector<std::unique_ptr<Deque>> deques_;
};

int main() {
  Picture picture(8, 3);
  const int faults = picture.render();
  if (faults != 0) {
    std::printf("%d tiles were not painted once\n", faults);
    return 1;
  }
  return 0;
}
