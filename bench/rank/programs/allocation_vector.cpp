// Two threads allocate blocks of a vector of memory and free them again. Allocating is two steps: find a free
// block, then mark it as allocated. Each step holds the lock, both together do not ("two-stage access"), so that
// two threads may be given the same block. Exits with 1 if a thread met a block in a state that it cannot be in.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

enum class BlockState { kFree, kAllocated };

class AllocationVector {
 public:
  explicit AllocationVector(int size);
  int get_free_block_index();
  void mark_as_allocated_block(int index);
  void mark_as_free_block(int index);
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  std::vector<BlockState> blocks_;
  int allocated_ = 0;
  int next_ = 0;
};

struct ThreadReport {
  int allocated = 0;
  int freed = 0;
  int without_room = 0;
  bool failed = false;
};

AllocationVector::AllocationVector(int size) {
  if (size <= 0) {
    throw std::invalid_argument("a vector needs a block at least");
  }
  blocks_.resize(static_cast<std::size_t>(size));
  for (BlockState& block : blocks_) {
    block = BlockState::kFree;
  }
}

// -1: all blocks are allocated. The search begins where the last one ended.
int AllocationVector::get_free_block_index() {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const int count = static_cast<int>(blocks_.size());
  if (allocated_ >= count) {
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    const int index = (next_ + i) % count;
    if (blocks_[static_cast<std::size_t>(index)] == BlockState::kFree) {
      next_ = index;
      return index;
    }
  }
  return -1;
}

void AllocationVector::mark_as_allocated_block(int index) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (index < 0 || index >= static_cast<int>(blocks_.size())) {
    throw std::out_of_range("there is no such block to allocate");
  }
  BlockState& block = blocks_[static_cast<std::size_t>(index)];
  if (block == BlockState::kAllocated) {
    throw std::logic_error("the block is allocated already");
  }
  block = BlockState::kAllocated;
  ++allocated_;
}

void AllocationVector::mark_as_free_block(int index) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (index < 0 || index >= static_cast<int>(blocks_.size())) {
    throw std::out_of_range("there is no such block to free");
  }
  BlockState& block = blocks_[static_cast<std::size_t>(index)];
  if (block == BlockState::kFree) {
    throw std::logic_error("the block is free already");
  }
  block = BlockState::kFree;
  --allocated_;
  if (index < next_) {
    next_ = index;
  }
}

// A thread: allocates up to `at_once` blocks and frees them, in several rounds. An exception ends it.
void allocate_and_free(AllocationVector& vector, int rounds, int at_once, ThreadReport& report) {
  std::vector<int> held;
  held.reserve(static_cast<std::size_t>(at_once));
  try {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < at_once; ++i) {
#ifdef FIXED
        std::lock_guard<std::recursive_mutex> lock(vector.mutex());
#endif
        const int index = vector.get_free_block_index();
        if (index == -1) {
          ++report.without_room;
          break;
        }
        vector.mark_as_allocated_block(index);
        held.push_back(index);
        ++report.allocated;
      }
      // Every second round backwards, so that blocks are not always free in the same order.
      if (round % 2 == 0) {
        for (std::size_t i = 0; i < held.size(); ++i) {
          vector.mark_as_free_block(held[i]);
          ++report.freed;
        }
      } else {
        for (std::size_t i = held.size(); i > 0; --i) {
          vector.mark_as_free_block(held[i - 1]);
          ++report.freed;
        }
      }
      held.clear();
    }
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "a thread ends: %s\n", error.what());
    report.failed = true;
  }
}

int main(int count, char** arguments) {
  int size = 20;
  int rounds = 4;
  int at_once = 6;
  if (count > 1) {
    size = std::atoi(arguments[1]);
  }
  if (count > 2) {
    rounds = std::atoi(arguments[2]);
  }
  if (count > 3) {
    at_once = std::atoi(arguments[3]);
  }
  if (size < 1 || rounds < 1 || at_once < 1) {
    std::fprintf(stderr, "usage: allocation_vector [SIZE [ROUNDS [AT_ONCE]]]\n");
    return 2;
  }
  AllocationVector vector(size);
  ThreadReport reports[2];
  std::thread first(allocate_and_free, std::ref(vector), rounds, at_once, std::ref(reports[0]));
  std::thread second(allocate_and_free, std::ref(vector), rounds, at_once, std::ref(reports[1]));
  first.join();
  second.join();
  bool failed = false;
  int allocated = 0;
  int freed = 0;
  int without_room = 0;
  for (const ThreadReport& report : reports) {
    failed = failed || report.failed;
    allocated += report.allocated;
    freed += report.freed;
    without_room += report.without_room;
  }
  std::printf("allocated %d, freed %d, without room %d\n", allocated, freed, without_room);
  if (failed) {
    std::printf("a block was allocated twice\n");
    return 1;
  }
  return 0;
}
