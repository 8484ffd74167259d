// Merge sort with a budget of threads. Before it sorts a half in a thread of its own, a sorter asks how many threads
// are available, and then takes them from the counter. Both steps hold the lock, both together do not ("two-stage
// access"): two sorters that ask at the same time generate more threads than allowed. While there are too many, fewer
// than none are available, and who asks then leaves its part of the array as it is. Exits with 1 if the array is not sorted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

class MergeSort {
 public:
  MergeSort(std::vector<int>& numbers, int threads) : numbers_(numbers), most_(threads) {}
  void sorting(std::size_t begin, std::size_t end);
  bool is_sorted(const std::vector<int>& before) const;
  void print_results() const;

 private:
  int available_threads();
  void decrease_available();
  void increase_available();
  void run(std::size_t begin, std::size_t end);
  void insertion(std::size_t begin, std::size_t end);
  void merge(std::size_t begin, std::size_t middle, std::size_t end);

  std::vector<int>& numbers_;
  const int most_;
  std::mutex mutex_;
  int used_ = 0;
  int started_ = 0;
  int merges_ = 0;
};

int MergeSort::available_threads() {
  std::lock_guard<std::mutex> lock(mutex_);
  const int left = most_ - used_;
#ifdef FIXED
  used_ += std::min(left, 2);  // they are taken at once, and not again when they begin
#endif
  return left;
}

void MergeSort::decrease_available() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++started_;
#ifndef FIXED
  ++used_;
#endif
}

void MergeSort::increase_available() {
  std::lock_guard<std::mutex> lock(mutex_);
  --used_;
  if (used_ < 0) {
    std::fprintf(stderr, "more threads have ended than began\n");
    std::abort();
  }
}

// A thread that sorts a part.
void MergeSort::run(std::size_t begin, std::size_t end) {
  sorting(begin, end);
  increase_available();
}

void MergeSort::insertion(std::size_t begin, std::size_t end) {
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

void MergeSort::merge(std::size_t begin, std::size_t middle, std::size_t end) {
  std::vector<int> merged;
  merged.reserve(end - begin);
  std::size_t left = begin;
  std::size_t right = middle;
  while (left < middle && right < end) {
    if (numbers_[right] < numbers_[left]) {
      merged.push_back(numbers_[right]);
      ++right;
    } else {
      merged.push_back(numbers_[left]);
      ++left;
    }
  }
  while (left < middle) {
    merged.push_back(numbers_[left]);
    ++left;
  }
  while (right < end) {
    merged.push_back(numbers_[right]);
    ++right;
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    numbers_[begin + i] = merged[i];
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ++merges_;
}

// Sorts numbers_[begin, end): each half in a thread of its own as far as threads are available.
void MergeSort::sorting(std::size_t begin, std::size_t end) {
  const std::size_t size = end - begin;
  if (size <= 5) {
    insertion(begin, end);
    return;
  }
  const std::size_t middle = begin + size / 2;
  switch (std::min(available_threads(), 2)) {
    case 0: {
      sorting(begin, middle);
      sorting(middle, end);
      break;
    }
    case 1: {
      decrease_available();
      std::thread left(&MergeSort::run, this, begin, middle);
      sorting(middle, end);
      left.join();
      break;
    }
    case 2: {
      decrease_available();
      decrease_available();
      std::thread left(&MergeSort::run, this, begin, middle);
      std::thread right(&MergeSort::run, this, middle, end);
      left.join();
      right.join();
      break;
    }
  }
  merge(begin, middle, end);
}

bool MergeSort::is_sorted(const std::vector<int>& before) const {
  std::vector<int> expected = before;
  std::sort(expected.begin(), expected.end());
  if (expected.size() != numbers_.size()) {
    std::printf("there were %zu numbers, there are %zu\n", expected.size(), numbers_.size());
    return false;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != numbers_[i]) {
      std::printf("number %zu is %d and should be %d\n", i, numbers_[i], expected[i]);
      return false;
    }
  }
  return true;
}

void MergeSort::print_results() const {
  int falls = 0;
  for (std::size_t i = 1; i < numbers_.size(); ++i) {
    if (numbers_[i - 1] > numbers_[i]) {
      ++falls;
    }
  }
  if (!numbers_.empty()) {
    std::printf("from %d to %d, ", numbers_.front(), numbers_.back());
  }
  std::printf("%zu numbers, %d merges, %d threads, %d falls\n", numbers_.size(), merges_, started_,
              falls);
}

std::vector<int> random_array(unsigned seed, std::size_t size) {
  std::minstd_rand random(seed * 69621u + 11u);
  std::vector<int> numbers;
  numbers.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    int number = static_cast<int>(random() % 1000);
    if (random() % 10 == 0) {
      number = -number;
    }
    numbers.push_back(number);
  }
  return numbers;
}

int main(int count, char** arguments) {
  unsigned seed = 1;
  std::size_t size = 0;
  int threads = 4;
  if (count > 1) {
    seed = static_cast<unsigned>(std::atoi(arguments[1]));
  }
  if (count > 2) {
    size = static_cast<std::size_t>(std::atoi(arguments[2]));
  }
  if (count > 3) {
    threads = std::atoi(arguments[3]);
  }
  if (size == 0) {
    size = 30 + seed % 50;
  }
  if (threads < 0) {
    std::fprintf(stderr, "usage: merge_sort [SEED [SIZE [THREADS]]]\n");
    return 2;
  }
  std::vector<int> numbers = random_array(seed, size);
  const std::vector<int> before = numbers;
  MergeSort sorter(numbers, threads);
  sorter.sorting(0, numbers.size());
  sorter.print_results();
  if (!sorter.is_sorted(before)) {
    std::printf("not sorted\n");
    return 1;
  }
  return 0;
}
