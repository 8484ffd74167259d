// Merge sort with a budget of threads. A thread asks how many threads it may start, and tells the counter
// when it has started them. Both hold the lock, but not together ("two-stage access"): two threads may get
// the same answer, and more are started than the budget has. Who is refused a place leaves its half
// unsorted. Exits with 1 if the array is not sorted in the end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

// How many threads may be at work, and how many are.
class ThreadBudget {
 public:
  explicit ThreadBudget(int most) : most_(most) {}

  // How many more may be started now, at most two.
  int available() {
    std::lock_guard<std::mutex> lock(mutex_);
    const int left = most_ - used_;
    if (left >= 2) {
      return 2;
    }
    return left > 0 ? left : 0;
  }

  // Threads are started. False: there is no place for them.
  bool take(int threads) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (used_ + threads > most_) {
      ++refused_;
      return false;
    }
    used_ += threads;
    if (used_ > highest_) {
      highest_ = used_;
    }
    return true;
  }

#ifdef FIXED
  // Both in one step: how many were taken.
  int take_available() {
    std::lock_guard<std::mutex> lock(mutex_);
    const int left = std::max(0, std::min(2, most_ - used_));
    used_ += left;
    return left;
  }
#endif

  void give_back(int threads) {
    std::lock_guard<std::mutex> lock(mutex_);
    used_ -= threads;
  }

  int refused() const { return refused_; }
  int highest() const { return highest_; }

 private:
  std::mutex mutex_;
  const int most_;
  int used_ = 0;
  int refused_ = 0;
  int highest_ = 0;
};

class MergeSort {
 public:
  MergeSort(std::vector<int>& numbers, int threads)
      : numbers_(numbers), scratch_(numbers.size()), budget_(threads) {}

  void sort() { sort_range(0, numbers_.size()); }
  const ThreadBudget& budget() const { return budget_; }

 private:
  // Small ranges are not worth dividing.
  static constexpr std::size_t kSmall = 4;

  void sort_range(std::size_t begin, std::size_t end) {
    if (end - begin <= kSmall) {
      insertion_sort(begin, end);
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
#ifdef FIXED
    const int threads = budget_.take_available();
    const bool taken = true;
#else
    const int threads = budget_.available();
    const bool taken = threads == 0 || budget_.take(threads);
#endif
    switch (threads) {
      case 2:
        sort_with_two(begin, middle, end, taken);
        break;
      case 1:
        sort_with_one(begin, middle, end, taken);
        break;
      default:
        sort_range(begin, middle);
        sort_range(middle, end);
        break;
    }
    if (threads > 0 && taken) {
      budget_.give_back(threads);
    }
    merge(begin, middle, end);
  }

  // A thread for each half; one without a place does nothing.
  void sort_with_two(std::size_t begin, std::size_t middle, std::size_t end, bool taken) {
    if (!taken) {
      sort_range(begin, middle);
      return;
    }
    std::thread left([this, begin, middle] { sort_range(begin, middle); });
    std::thread right([this, middle, end] { sort_range(middle, end); });
    left.join();
    right.join();
  }

  // A thread for the left half; this one sorts the right.
  void sort_with_one(std::size_t begin, std::size_t middle, std::size_t end, bool taken) {
    if (!taken) {
      sort_range(middle, end);
      return;
    }
    std::thread left([this, begin, middle] { sort_range(begin, middle); });
    sort_range(middle, end);
    left.join();
  }

  void insertion_sort(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin + 1; i < end; ++i) {
      const int value = numbers_[i];
      std::size_t at = i;
      while (at > begin && numbers_[at - 1] > value) {
        numbers_[at] = numbers_[at - 1];
        --at;
      }
      numbers_[at] = value;
    }
  }

  void merge(std::size_t begin, std::size_t middle, std::size_t end) {
    std::size_t left = begin;
    std::size_t right = middle;
    std::size_t to = begin;
    while (left < middle && right < end) {
      if (numbers_[right] < numbers_[left]) {
        scratch_[to++] = numbers_[right++];
      } else {
        scratch_[to++] = numbers_[left++];
      }
    }
    while (left < middle) {
      scratch_[to++] = numbers_[left++];
    }
    while (right < end) {
      scratch_[to++] = numbers_[right++];
    }
    for (std::size_t i = begin; i < end; ++i) {
      numbers_[i] = scratch_[i];
    }
  }

  std::vector<int>& numbers_;
  std::vector<int> scratch_;
  ThreadBudget budget_;
};

std::vector<int> random_numbers(unsigned seed, std::size_t size) {
  std::minstd_rand random(seed);
  std::vector<int> numbers(size);
  for (int& number : numbers) {
    number = static_cast<int>(random() % 10000);
  }
  return numbers;
}

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const std::size_t size = 40 + seed % 40;
  std::vector<int> numbers = random_numbers(seed, size);
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  MergeSort sorter(numbers, 4);
  sorter.sort();
  const bool sorted = numbers == expected;
  std::printf("%zu numbers, at most %d threads: %s\n", size, sorter.budget().highest(),
              sorted ? "sorted" : "NOT sorted");
  return sorted ? 0 : 1;
}
