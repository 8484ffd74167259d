// Threads that allocate and free all the time: lists of strings that are built, handed over, and
// released by whoever gets them.
// Usage: allocations [threads] [size]; size is the number of lists, over all threads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Words = std::list<std::unique_ptr<std::string>>;

class Exchange {
 public:
  Exchange(std::size_t slots) : slots_(slots) {}

  // What was there before.
  Words swap(std::size_t at, Words words) {
    const std::lock_guard lock(mutex_);
    std::swap(slots_[at % slots_.size()], words);
    return words;
  }

 private:
  std::mutex mutex_;
  std::vector<Words> slots_;
};

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int size = argc > 2 ? std::atoi(argv[2]) : 4'000;
  constexpr int kWords = 20;
  Exchange exchange(7);
  std::vector<std::uint64_t> letters(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number)
    all.emplace_back([&, number] {
      for (int i = number; i < size; i += threads) {
        Words words;
        for (int word = 0; word < kWords; ++word)
          words.push_back(std::make_unique<std::string>(static_cast<std::size_t>(20 + word), 'x'));
        const Words others = exchange.swap(static_cast<std::size_t>(i), std::move(words));
        for (const auto& word : others) letters[static_cast<std::size_t>(number)] += word->size();
      }
    });
  for (std::thread& one : all) one.join();
  std::uint64_t total = 0;
  for (const std::uint64_t part : letters) total += part;
  for (std::size_t i = 0; i < 7; ++i)
    for (const auto& word : exchange.swap(i, {})) total += word->size();
  const std::uint64_t expected =
      static_cast<std::uint64_t>(size) * (20 * kWords + kWords * (kWords - 1) / 2);
  std::printf("%llu\n%s\n", static_cast<unsigned long long>(total),
              total == expected ? "ok" : "wrong");
  return total == expected ? 0 : 1;
}
