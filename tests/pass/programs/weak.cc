// Weak compare-exchanges of all widths. Each must succeed or change nothing but what was expected;
// prints how many failed.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static int failed = 0, tried = 0;

template <class T>
[[gnu::noinline]] void attempt(T& location, T from, T to, T filler) {
  __atomic_store_n(&location, from, __ATOMIC_RELAXED);
  T expected = from;
  const bool done = __atomic_compare_exchange_n(&location, &expected, to, /*weak=*/true,
                                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  const T found = __atomic_load_n(&location, __ATOMIC_RELAXED);
  ++tried;
  failed += !done;
  if (found != (done ? to : from) || expected != from) std::abort();
  // Values that differ: it fails in any case, with the current value.
  expected = filler;
  if (__atomic_compare_exchange_n(&location, &expected, to, /*weak=*/false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST))
    std::abort();
  if (expected != found) std::abort();
}

std::uint8_t byte;
std::uint16_t half;
std::uint32_t word;
std::uint64_t wide;
unsigned __int128 widest;
int* pointer;
volatile int noisy;
int cells[4];

int main() {
  for (int i = 0; i < 100; i++) {
    attempt<std::uint8_t>(byte, i, i + 1, 200);
    attempt<std::uint16_t>(half, i, 0xffff, 300);
    attempt<std::uint32_t>(word, ~0u, i, 300);
    attempt<std::uint64_t>(wide, std::uint64_t{1} << 63 | i, i, 300);
    attempt<unsigned __int128>(widest, static_cast<unsigned __int128>(i) << 64 | 1, i, 300);
    attempt<int*>(pointer, i % 2 ? &cells[i % 4] : nullptr, &cells[(i + 1) % 4], cells + 4);
    int expected = i;
    noisy = i;
    ++tried;
    failed += !__atomic_compare_exchange_n(&noisy, &expected, -1, true, __ATOMIC_SEQ_CST,
                                           __ATOMIC_RELAXED);
  }
  std::printf("%d of %d\n", failed, tried);
}
