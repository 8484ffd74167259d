// OpenMP with LLVM's runtime: loops with every schedule, reductions, tasks with dependences, critical and ordered sections, locks,
// barriers, sections and nested teams. Waiting for tasks is in openmp_tasks.cpp.
// Package: libomp-19-dev. Flags: -fopenmp. Usage: openmp_mix [threads] [size]
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static uint32_t mix(uint32_t x) { return (x ^ (x >> 15)) * 2654435761u; }

static void loops(int size) {
  uint64_t fixed = 0, dynamic = 0, guided = 0;
#pragma omp parallel for schedule(static) reduction(+ : fixed)
  for (int i = 0; i < size; i++) fixed += mix(i);
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : dynamic)
  for (int i = 0; i < size; i++) dynamic += mix(i) >> (i % 3);
#pragma omp parallel for schedule(guided) reduction(^ : guided)
  for (int i = 0; i < size; i++) guided ^= uint64_t{mix(i)} << (i % 32);
  std::printf("loops: %llu %llu %llu\n", static_cast<unsigned long long>(fixed),
              static_cast<unsigned long long>(dynamic), static_cast<unsigned long long>(guided));
}

static void order(int size) {
  uint64_t hash = 0;
  long critical = 0, atomic = 0;
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < size; i++) {
    const uint32_t value = mix(i);
#pragma omp critical
    critical += value % 100;
#pragma omp atomic
    atomic += value % 10;
#pragma omp ordered
    hash = hash * 31 + value;
  }
  std::printf("ordered: %016llx, critical %ld, atomic %ld\n", static_cast<unsigned long long>(hash),
              critical, atomic);
}

// A relaxation in which every round reads what all threads wrote in the round before.
static void barriers(int rounds) {
  std::vector<uint32_t> cells(1000), next(1000);
  for (int i = 0; i < 1000; i++) cells[i] = mix(i);
#pragma omp parallel
  for (int round = 0; round < rounds; round++) {
#pragma omp for
    for (int i = 0; i < 1000; i++)
      next[i] = (cells[(i + 999) % 1000] >> 1) + (cells[(i + 1) % 1000] >> 1) + i;
#pragma omp single
    cells.swap(next);
  }
  uint64_t hash = 0;
  for (uint32_t cell : cells) hash = hash * 31 + cell;
  std::printf("barriers: %016llx\n", static_cast<unsigned long long>(hash));
}

static void dependences() {
  std::vector<long> chain(50);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; i++) {
    long* before = i > 0 ? &chain[i - 1] : nullptr;
    if (before == nullptr) {
#pragma omp task depend(out : chain[0])
      chain[0] = 1;
    } else {
#pragma omp task depend(in : chain[i - 1]) depend(out : chain[i]) firstprivate(before)
      chain[i] = *before * 3 % 1000003 + i;
    }
  }
  std::printf("dependences: %ld\n", chain.back());
}

static void sections_and_locks(int size) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  long shared = 0, left = 0, right = 0;
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 0; i < size; i++) {
      omp_set_lock(&lock);
      shared++;
      omp_unset_lock(&lock);
      left += i;
    }
#pragma omp section
    for (int i = 0; i < size; i++) {
      omp_set_lock(&lock);
      shared += 2;
      omp_unset_lock(&lock);
      right += i * 2L;
    }
  }
  omp_destroy_lock(&lock);
  std::printf("sections: %ld %ld %ld\n", shared, left, right);
}

static void nested() {
  long sum = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    long inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    inner += omp_get_thread_num() + 10;
    sum += inner * (omp_get_thread_num() + 1);
  }
  std::printf("nested: %ld\n", sum);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int size = argc > 2 ? std::atoi(argv[2]) : 100000;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  loops(size);
  order(size / 100);
  barriers(50);
  dependences();
  sections_and_locks(size / 100);
  nested();
}
