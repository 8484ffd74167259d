// Two threads allocate and free blocks of a common vector. Each finds a free block first and takes it
// then. Both steps hold the lock, but not together ("two-stage access"): both threads may take the same
// block. Exits with 1 if a block was found to be taken twice, or freed by another.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

enum class State { kFree, kTaken };

// Blocks of memory, by number.
class AllocationVector {
 public:
  explicit AllocationVector(int size) : states_(size, State::kFree) {}

  // The number of a free block, from `hint` on; -1: there is none.
  int find_free(int hint) {
    std::lock_guard<std::mutex> lock(mutex_);
    const int size = static_cast<int>(states_.size());
    for (int i = 0; i < size; ++i) {
      const int at = (hint + i) % size;
      if (states_[at] == State::kFree) {
        return at;
      }
    }
    return -1;
  }

  // Takes a block. False: it is taken already.
  bool mark_taken(int block) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (block < 0 || block >= static_cast<int>(states_.size())) {
      return false;
    }
    if (states_[block] == State::kTaken) {
      ++conflicts_;
      return false;
    }
    states_[block] = State::kTaken;
    ++taken_;
    if (taken_ > most_taken_) {
      most_taken_ = taken_;
    }
    return true;
  }

  // Gives a block back.
  bool mark_free(int block) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (block < 0 || block >= static_cast<int>(states_.size())) {
      return false;
    }
    if (states_[block] == State::kFree) {
      ++conflicts_;
      return false;
    }
    states_[block] = State::kFree;
    --taken_;
    return true;
  }

  int conflicts() const { return conflicts_; }
  int left() const { return taken_; }
  int most() const { return most_taken_; }

 private:
  std::mutex mutex_;
  std::vector<State> states_;
  int taken_ = 0;
  int most_taken_ = 0;
  int conflicts_ = 0;
};

struct Report {
  int allocated = 0;
  int failed = 0;
  int freed = 0;
};

// What one thread does: allocates some blocks and frees them again, several times.
void allocate_and_free(AllocationVector& blocks, unsigned seed, int rounds, Report& report) {
  std::minstd_rand random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> mine;
    const int wanted = 2 + static_cast<int>(random() % 3);
    for (int i = 0; i < wanted; ++i) {
      const int hint = static_cast<int>(random() % 8);
#ifdef FIXED
      // One step: whoever is refused looks again.
      int block = blocks.find_free(hint);
      while (block >= 0 && !blocks.mark_taken(block)) {
        block = blocks.find_free(hint);
      }
      if (block >= 0) {
        mine.push_back(block);
        ++report.allocated;
      }
#else
      const int block = blocks.find_free(hint);
      if (block < 0) {
        continue;
      }
      if (!blocks.mark_taken(block)) {
        ++report.failed;
      } else {
        mine.push_back(block);
        ++report.allocated;
      }
#endif
    }
    for (const int block : mine) {
      if (blocks.mark_free(block)) {
        ++report.freed;
      } else {
        ++report.failed;
      }
    }
  }
}

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 20;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 3;
  AllocationVector blocks(size);
  Report first;
  Report second;
  std::thread a([&] { allocate_and_free(blocks, 1, rounds, first); });
  std::thread b([&] { allocate_and_free(blocks, 7, rounds, second); });
  a.join();
  b.join();
  const int failed = first.failed + second.failed;
  std::printf("allocated %d, freed %d, failed %d\n", first.allocated + second.allocated,
              first.freed + second.freed, failed);
  return failed > 0 || blocks.left() != 0 ? 1 : 0;
}
