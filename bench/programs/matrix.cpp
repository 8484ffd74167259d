// Blocked matrix multiplication: the main thread puts a task for each block of the result into a
// bounded queue guarded by a mutex and two condition variables, and the workers take them out.
// Usage: matrix [threads] [size]; the matrices have size x size elements.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class Matrix {
 public:
  explicit Matrix(int size) : size_(size), elements_(static_cast<std::size_t>(size) * size) {}

  int size() const { return size_; }
  double* row(int r) { return &elements_[static_cast<std::size_t>(r) * size_]; }
  const double* row(int r) const { return &elements_[static_cast<std::size_t>(r) * size_]; }

  // Small whole numbers: all sums are exact, in whatever order they are formed.
  void fill(std::uint32_t seed) {
    for (double& element : elements_) {
      seed = seed * 1664525u + 1013904223u;
      element = static_cast<int>(seed >> 28) - 8;
    }
  }

 private:
  int size_;
  std::vector<double> elements_;
};

struct Task {
  int row;
  int column;
};

// A bounded queue with many takers.
class TaskQueue {
 public:
  void put(Task task) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return tasks_.size() < kCapacity; });
    tasks_.push_back(task);
    not_empty_.notify_one();
  }

  // No more tasks will come.
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

  // Empty when the queue is closed and empty.
  std::optional<Task> take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !tasks_.empty() || closed_; });
    if (tasks_.empty()) return std::nullopt;
    Task task = tasks_.front();
    tasks_.pop_front();
    not_full_.notify_one();
    return task;
  }

 private:
  static constexpr std::size_t kCapacity = 16;

  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<Task> tasks_;
  bool closed_ = false;
};

static constexpr int kBlock = 32;

// Adds to one block of the result what the inner dimension from k0 to k0 + kBlock contributes.
static void multiply_block(const Matrix& a, const Matrix& b, Matrix& result, Task task, int k0) {
  int i1 = std::min(task.row + kBlock, a.size());
  int j1 = std::min(task.column + kBlock, a.size());
  int k1 = std::min(k0 + kBlock, a.size());
  for (int i = task.row; i < i1; i++) {
    double* out = result.row(i);
    const double* left = a.row(i);
    for (int k = k0; k < k1; k++) {
      double factor = left[k];
      const double* right = b.row(k);
      for (int j = task.column; j < j1; j++) out[j] += factor * right[j];
    }
  }
}

static void work(TaskQueue* queue, const Matrix* a, const Matrix* b, Matrix* result, long* done) {
  while (std::optional<Task> task = queue->take()) {
    for (int k = 0; k < a->size(); k += kBlock) multiply_block(*a, *b, *result, *task, k);
    ++*done;
  }
}

static void multiply(const Matrix& a, const Matrix& b, Matrix& result, int thread_count,
                     long* blocks) {
  TaskQueue queue;
  std::vector<long> done(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; i++) {
    threads.emplace_back(work, &queue, &a, &b, &result, &done[i]);
  }
  for (int row = 0; row < a.size(); row += kBlock) {
    for (int column = 0; column < a.size(); column += kBlock) queue.put({row, column});
  }
  queue.close();
  for (std::thread& thread : threads) thread.join();
  for (long count : done) *blocks += count;
}

// Freivalds' check: (a b) v == a (b v), exact here because all numbers are small and whole.
static std::vector<double> times(const Matrix& matrix, const std::vector<double>& vector) {
  std::vector<double> result(vector.size());
  for (int r = 0; r < matrix.size(); r++) {
    const double* row = matrix.row(r);
    for (int c = 0; c < matrix.size(); c++) result[r] += row[c] * vector[c];
  }
  return result;
}

static bool is_product(const Matrix& a, const Matrix& b, const Matrix& result) {
  for (int trial = 1; trial <= 3; trial++) {
    std::vector<double> vector(a.size());
    for (int i = 0; i < a.size(); i++) vector[i] = i * 7 * trial % 11 - 5;
    if (times(result, vector) != times(a, times(b, vector))) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  int thread_count = argc > 1 ? std::atoi(argv[1]) : 4;
  int size = argc > 2 ? std::atoi(argv[2]) : 1400;

  Matrix a(size), b(size), result(size);
  a.fill(1);
  b.fill(2);
  long blocks = 0;
  multiply(a, b, result, thread_count, &blocks);

  long per_side = (size + kBlock - 1) / kBlock;
  bool good = blocks == per_side * per_side && is_product(a, b, result);
  std::uint64_t checksum = 0;
  for (int r = 0; r < size; r++) {
    for (int c = 0; c < size; c++) {
      checksum =
          checksum * 31 + static_cast<std::uint64_t>(static_cast<std::int64_t>(result.row(r)[c]));
    }
  }
  std::printf("checksum %016lx %s\n", checksum, good ? "ok" : "WRONG");
  return good ? 0 : 1;
}
