// Two threads that do nothing but pass yield points: each iteration is one write to shared memory
// and one loop back edge. Run without preemptions it measures the cost of a yield point, with a
// preemption at each point the cost of a preemptive switch.
// Usage: switch_storm [iterations]
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

struct alignas(64) Slot {
  volatile long count = 0;  // volatile: one access in each iteration
};

static Slot slots[2];
static long iterations = 1000000;

static void* storm(void* arg) {
  Slot* slot = static_cast<Slot*>(arg);
  for (long i = 0; i < iterations; i++) slot->count = i + 1;
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc > 1) iterations = std::atol(argv[1]);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], nullptr, storm, &slots[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  std::printf("%ld\n", slots[0].count + slots[1].count);
  return slots[0].count == iterations && slots[1].count == iterations ? 0 : 1;
}
