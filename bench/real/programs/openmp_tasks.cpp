// OpenMP tasks with LLVM's runtime: recursive tasks that wait for their children, a task group, a
// task loop. In libomp a thread that waits for a child that another thread runs spins without any
// call. Package: libomp-19-dev. Flags: -fopenmp. Usage: openmp_tasks [threads] [n]
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static long fibonacci(int n) {
  if (n < 10) return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void merge_sort(std::vector<uint32_t>& values, std::vector<uint32_t>& spare, int begin,
                       int end) {
  if (end - begin < 500) {
    std::sort(values.begin() + begin, values.begin() + end);
    return;
  }
  const int middle = begin + (end - begin) / 2;
#pragma omp taskgroup
  {
#pragma omp task shared(values, spare)
    merge_sort(values, spare, begin, middle);
#pragma omp task shared(values, spare)
    merge_sort(values, spare, middle, end);
  }
  std::merge(values.begin() + begin, values.begin() + middle, values.begin() + middle,
             values.begin() + end, spare.begin() + begin);
  std::copy(spare.begin() + begin, spare.begin() + end, values.begin() + begin);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int n = argc > 2 ? std::atoi(argv[2]) : 20;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  long result = 0;
  std::vector<uint32_t> values(n * 2000), spare(values.size());
  for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<uint32_t>(i) * 2654435761u;
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(n);
    merge_sort(values, spare, 0, static_cast<int>(values.size()));
#pragma omp taskloop grainsize(100)
    for (int i = 0; i < n * 2000; i++) spare[i] = values[i] >> 3;
  }
  uint64_t hash = 0;
  for (uint32_t value : spare) hash = hash * 31 + value;
  std::printf("fibonacci %ld, sorted %d, hash %016llx\n", result,
              std::is_sorted(values.begin(), values.end()), static_cast<unsigned long long>(hash));
}
