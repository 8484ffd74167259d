// Parcels are put into a heap by urgency, and two vans load them in that order. The heap's sift_down does not look at the right child
// if it is the last element, so that a less urgent parcel may leave first: a defect in ordinary code that depends on
// the parcels. Exits with 1 if a parcel was loaded before a more urgent one.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

struct Parcel {
  int number = 0;
  int urgency = 0;
  int weight = 0;
};

// The most urgent one on top.
class ParcelHeap {
 public:
  void push(const Parcel& parcel) {
    parcels_.push_back(parcel);
    sift_up(parcels_.size() - 1);
  }
  Parcel pop() {
    const Parcel top = parcels_.front();
    parcels_.front() = parcels_.back();
    parcels_.pop_back();
    if (!parcels_.empty()) {
      sift_down(0);
    }
    return top;
  }
  bool empty() const { return parcels_.empty(); }

 private:
  void exchange(std::size_t a, std::size_t b) { std::swap(parcels_[a], parcels_[b]); }
  bool is_more_urgent(std::size_t a, std::size_t b) const {
    return parcels_[a].urgency > parcels_[b].urgency;
  }
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);
  std::vector<Parcel> parcels_;
};

void ParcelHeap::sift_up(std::size_t at) {
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (!is_more_urgent(at, parent)) {
      return;
    }
    exchange(at, parent);
    at = parent;
  }
}

void ParcelHeap::sift_down(std::size_t at) {
  for (;;) {
    const std::size_t left = 2 * at + 1;
    const std::size_t right = left + 1;
    if (left >= parcels_.size()) {
      return;
    }
    std::size_t best = left;
#ifdef FIXED
    if (right < parcels_.size() && is_more_urgent(right, left)) {
#else
    if (right + 1 < parcels_.size() && is_more_urgent(right, left)) {
#endif
      best = right;
    }
    if (!is_more_urgent(best, at)) {
      return;
    }
    exchange(at, best);
    at = best;
  }
}

class Depot {
 public:
  void receive(const Parcel& parcel) {
    std::lock_guard<std::mutex> lock(mutex_);
    heap_.push(parcel);
  }
  // False: there are no more.
  bool hand_out(Parcel& parcel) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (heap_.empty()) {
      return false;
    }
    parcel = heap_.pop();
    left_.push_back(parcel);
    return true;
  }
  const std::vector<Parcel>& left() const { return left_; }

 private:
  std::mutex mutex_;
  ParcelHeap heap_;
  std::vector<Parcel> left_;
};

class Van {
 public:
  void load(Depot& depot) {
    Parcel parcel;
    while (depot.hand_out(parcel)) {
      stow(parcel);
    }
  }
  int weight() const { return weight_; }
  std::size_t count() const { return parcels_.size(); }

 private:
  void stow(const Parcel& parcel) {
    weight_ += parcel.weight;
    parcels_.push_back(parcel);
  }
  int weight_ = 0;
  std::vector<Parcel> parcels_;
};

std::vector<Parcel> random_parcels(unsigned seed) {
  std::minstd_rand random(seed * 7919u + 3u);
  random.discard(3);
  std::vector<Parcel> parcels;
  const int count = 3 + static_cast<int>(random() % 5);
  for (int i = 0; i < count; ++i) {
    parcels.push_back({i, static_cast<int>(random() % 50), 1 + static_cast<int>(random() % 9)});
  }
  return parcels;
}

bool is_in_order(const std::vector<Parcel>& parcels) {
  for (std::size_t i = 1; i < parcels.size(); ++i) {
    if (parcels[i - 1].urgency < parcels[i].urgency) {
      return false;
    }
  }
  return true;
}

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  Depot depot;
  for (const Parcel& parcel : random_parcels(seed)) {
    depot.receive(parcel);
  }
  Van vans[2];
  std::thread first(&Van::load, &vans[0], std::ref(depot));
  std::thread second(&Van::load, &vans[1], std::ref(depot));
  first.join();
  second.join();
  std::printf("%zu and %zu parcels, %d and %d kg\n", vans[0].count(), vans[1].count(),
              vans[0].weight(), vans[1].weight());
  return is_in_order(depot.left()) ? 0 : 1;
}
