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
      return false;
    }
    states_[block] = State::kFree;
    --taken_;
    return true;
  }

#ifdef FIXED
  // Both in one step.
  int take_free(int hint) {
    std::lock_guard<std::mutex> lock(mutex_);
    const int size = static_cast<int>(states_.size());
    for (int i = 0; i < size; ++i) {
      const int at = (hint + i) % size;
      if (states_[at] == State::kFree) {
        states_[at] = State::kTaken;
        ++taken_;
        return at;
      }
    }
    return -1;
  }
#endif

  // Whether what is counted is what is there, and nothing is left; says what is not so.
  bool check_and_print() {
    std::lock_guard<std::mutex> lock(mutex_);
    int taken = 0;
    int longest = 0;
    int stretch = 0;
    for (const State state : states_) {
      if (state == State::kTaken) {
        ++taken;
        stretch = 0;
      } else {
        ++stretch;
        if (stretch > longest) {
          longest = stretch;
        }
      }
    }
    if (taken != taken_) {
      std::printf("%d blocks are taken, but %d were counted\n", taken, taken_);
    }
    if (taken > 0) {
      std::printf("%d blocks are left\n", taken);
    }
    std::printf("at most %d of %zu blocks were taken; %d free in a row\n", most_taken_,
                states_.size(), longest);
    return taken == 0 && taken_ == 0;
  }

 private:
  std::mutex mutex_;
  std::vector<State> states_;
  int taken_ = 0;
  int most_taken_ = 0;
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
      const int block = blocks.take_free(hint);
#else
      int block = blocks.find_free(hint);
      if (block >= 0 && !blocks.mark_taken(block)) {
        ++report.failed;
        block = -1;
      }
#endif
      if (block >= 0) {
        mine.push_back(block);
        ++report.allocated;
      }
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
  const bool sound = blocks.check_and_print();
  return failed > 0 || !sound ? 1 : 0;
}
