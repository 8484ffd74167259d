// A ring of samples whose producer moves its index before it writes the slot. The twin moves it afterwards.
// ROOT CAUSE: sample_ring.cpp:37; KIND: order-violation
// SAYS: let T0.1 come there at
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

namespace bus {

struct Sample {
  std::uint32_t sequence = 0;
  std::int32_t value = 0;
  std::uint32_t check = 0;
};

constexpr std::uint32_t seal(std::uint32_t sequence, std::int32_t value) {
  return (sequence * 2654435761u) ^ static_cast<std::uint32_t>(value);
}

template <typename T, std::size_t N>
class Ring {
 public:
  bool push(const T& item) {
    std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == N) {
      return false;
    }
#ifdef FIXED
    slots_[head % N] = item;
    head_.store(head + 1, std::memory_order_release);
#else
    head_.store(head + 1, std::memory_order_release);  // too early
    slots_[head % N] = item;
#endif
    return true;
  }

  bool pop(T& item) {
    std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) {
      return false;
    }
    item = slots_[tail % N];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  std::array<T, N> slots_{};
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
};

using SampleRing = Ring<Sample, 4>;

class Sensor {
 public:
  Sensor(SampleRing& ring, std::int32_t start) : ring_(ring), value_(start) {}

  void measure(int count) {
    for (int i = 0; i < count; ++i) {
      Sample sample = next();
      while (!ring_.push(sample)) {
        std::this_thread::yield();
      }
    }
  }

 private:
  Sample next() {
    ++sequence_;
    value_ = value_ * 3 % 101;
    return Sample{sequence_, value_, seal(sequence_, value_)};
  }

  SampleRing& ring_;
  std::uint32_t sequence_ = 0;
  std::int32_t value_;
};

class Filter {
 public:
  explicit Filter(std::size_t width) : width_(width) {}
  void feed(const Sample& sample) {
    window_.push_back(sample.value);
    if (window_.size() > width_) {
      window_.erase(window_.begin());
    }
    if (seal(sample.sequence, sample.value) != sample.check || sample.sequence == 0) {
      ++corrupt_;
    }
  }
  int mean() const {
    return std::accumulate(window_.begin(), window_.end(), 0) / static_cast<int>(window_.size());
  }
  unsigned corrupt() const { return corrupt_; }

 private:
  std::size_t width_;
  std::vector<std::int32_t> window_;
  unsigned corrupt_ = 0;
};

class Station {
 public:
  Station(SampleRing& ring, int expected) : ring_(ring), filter_(3), expected_(expected) {}
  void listen() {
    int seen = 0;
    while (seen < expected_) {
      Sample sample;
      if (!ring_.pop(sample)) {
        std::this_thread::yield();
        continue;
      }
      filter_.feed(sample);
      ++seen;
    }
  }
  const Filter& filter() const { return filter_; }

 private:
  SampleRing& ring_;
  Filter filter_;
  int expected_;
};

}  // namespace bus

int main() {
  bus::SampleRing ring;
  bus::Sensor sensor(ring, 7);
  bus::Station station(ring, 3);
  std::thread reader([&] { station.listen(); });
  std::thread writer([&] { sensor.measure(3); });
  writer.join();
  reader.join();
  std::printf("mean %d\n", station.filter().mean());
  assert(station.filter().corrupt() == 0);
  return 0;
}
