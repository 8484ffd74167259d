// Parallel merge sort of 64-bit keys: the array is cut into a run for each thread, each thread
// sorts its run by its own quicksort, and rounds of merges follow, each thread merging one piece
// of the result, with a barrier between the rounds.
// Usage: parallel_sort [threads] [size]; size is the number of keys.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using Key = std::uint64_t;

static Key scramble(Key x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void insertion_sort(Key* first, Key* last) {
  for (Key* i = first + 1; i < last; i++) {
    Key key = *i;
    Key* hole = i;
    for (; hole > first && hole[-1] > key; hole--) *hole = hole[-1];
    *hole = key;
  }
}

static void sift_down(Key* heap, std::size_t size, std::size_t node) {
  for (;;) {
    std::size_t child = 2 * node + 1;
    if (child >= size) return;
    if (child + 1 < size && heap[child] < heap[child + 1]) child++;
    if (heap[node] >= heap[child]) return;
    std::swap(heap[node], heap[child]);
    node = child;
  }
}

static void heap_sort(Key* first, Key* last) {
  std::size_t size = last - first;
  for (std::size_t node = size / 2; node-- > 0;) sift_down(first, size, node);
  while (size > 1) {
    std::swap(first[0], first[--size]);
    sift_down(first, size, 0);
  }
}

static Key median(Key a, Key b, Key c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Hoare's partition; falls back to heap sort when the depth is spent.
static void quick_sort(Key* first, Key* last, int depth) {
  while (last - first > 24) {
    if (depth-- == 0) return heap_sort(first, last);
    Key pivot = median(first[0], first[(last - first) / 2], last[-1]);
    Key* left = first;
    Key* right = last - 1;
    for (;;) {
      while (*left < pivot) left++;
      while (*right > pivot) right--;
      if (left >= right) break;
      std::swap(*left++, *right--);
    }
    Key* middle = right + 1;
    if (middle - first < last - middle) {
      quick_sort(first, middle, depth);
      first = middle;
    } else {
      quick_sort(middle, last, depth);
      last = middle;
    }
  }
  insertion_sort(first, last);
}

static int depth_limit(std::size_t size) {
  int limit = 2;
  for (; size > 1; size /= 2) limit += 2;
  return limit;
}

class Barrier {
 public:
  explicit Barrier(int members) : members_(members) {}

  void wait() {
    std::unique_lock lock(mutex_);
    int generation = generation_;
    if (++arrived_ == members_) {
      arrived_ = 0;
      generation_++;
      released_.notify_all();
      return;
    }
    released_.wait(lock, [&] { return generation != generation_; });
  }

 private:
  const int members_;
  std::mutex mutex_;
  std::condition_variable released_;
  int arrived_ = 0;
  int generation_ = 0;
};

// How many of the first `count` keys of the merged sequence come from `a`; ties come from `a`
// first.
static std::size_t split(const Key* a, std::size_t a_size, const Key* b, std::size_t b_size,
                         std::size_t count) {
  std::size_t low = count > b_size ? count - b_size : 0;
  std::size_t high = std::min(count, a_size);
  while (low < high) {
    std::size_t from_a = low + (high - low) / 2;
    std::size_t from_b = count - from_a;
    if (from_b > 0 && a[from_a] <= b[from_b - 1]) {
      low = from_a + 1;
    } else {
      high = from_a;
    }
  }
  return low;
}

static void merge(const Key* a, const Key* a_end, const Key* b, const Key* b_end, Key* out) {
  while (a < a_end && b < b_end) *out++ = *b < *a ? *b++ : *a++;
  out = std::copy(a, a_end, out);
  std::copy(b, b_end, out);
}

class ParallelSort {
 public:
  ParallelSort(std::vector<Key>& keys, int thread_count)
      : keys_(keys), buffer_(keys.size()), thread_count_(thread_count), barrier_(thread_count) {}

  void run() {
    std::vector<std::thread> threads;
    for (int id = 0; id < thread_count_; id++) threads.emplace_back([this, id] { work(id); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::size_t boundary(int run) const { return keys_.size() * run / thread_count_; }

  void work(int id) {
    Key* first = keys_.data() + boundary(id);
    Key* last = keys_.data() + boundary(id + 1);
    quick_sort(first, last, depth_limit(last - first));
    barrier_.wait();

    std::vector<Key>* from = &keys_;
    std::vector<Key>* to = &buffer_;
    for (int width = 1; width < thread_count_; width *= 2) {
      merge_share(id, width, from->data(), to->data());
      barrier_.wait();
      std::swap(from, to);
    }
    if (from != &keys_) {  // the result is in the buffer
      std::copy(from->begin() + boundary(id), from->begin() + boundary(id + 1),
                keys_.begin() + boundary(id));
    }
  }

  // Merges the pair of sequences of `width` runs that holds run `id`: this thread's equal share of
  // it.
  void merge_share(int id, int width, const Key* from, Key* to) {
    int left = id / (2 * width) * (2 * width);
    int middle = std::min(left + width, thread_count_);
    int right = std::min(left + 2 * width, thread_count_);
    const Key* a = from + boundary(left);
    const Key* b = from + boundary(middle);
    std::size_t a_size = boundary(middle) - boundary(left);
    std::size_t b_size = boundary(right) - boundary(middle);
    std::size_t start = boundary(id) - boundary(left);
    std::size_t end = boundary(id + 1) - boundary(left);
    std::size_t a_start = split(a, a_size, b, b_size, start);
    std::size_t a_end = split(a, a_size, b, b_size, end);
    merge(a + a_start, a + a_end, b + (start - a_start), b + (end - a_end), to + boundary(id));
  }

  std::vector<Key>& keys_;
  std::vector<Key> buffer_;
  const int thread_count_;
  Barrier barrier_;
};

int main(int argc, char** argv) {
  int thread_count = argc > 1 ? std::atoi(argv[1]) : 4;
  std::size_t size = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 12000000;

  std::vector<Key> keys(size);
  Key sum = 0;
  for (std::size_t i = 0; i < size; i++) {
    keys[i] = scramble(i + 1) >> (i % 5 == 0 ? 48 : 0);  // a fifth of them from a small range: ties
    sum += scramble(keys[i]);
  }
  ParallelSort(keys, thread_count).run();

  bool good = true;
  Key sorted_sum = 0, checksum = 0;
  for (std::size_t i = 0; i < size; i++) {
    if (i > 0 && keys[i - 1] > keys[i]) good = false;
    sorted_sum += scramble(keys[i]);
    checksum = checksum * 31 + keys[i];
  }
  good &= sorted_sum == sum;
  std::printf("checksum %016lx %s\n", checksum, good ? "ok" : "WRONG");
  return good ? 0 : 1;
}
