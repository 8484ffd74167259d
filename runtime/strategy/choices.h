// What the strategies share: random draws, storage that grows, and the policy for choose().
//
// All draws of choose() come from a stream of their own, so that a question more or less does not
// change who is scheduled.
#ifndef CLEW_RUNTIME_STRATEGY_CHOICES_H_
#define CLEW_RUNTIME_STRATEGY_CHOICES_H_

#include <iterator>

#include "clew_abi/guides.h"
#include "runtime/arena.h"
#include "runtime/random.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return split_mix(state_); }
  // Uniform over 0..bound-1, to within bound / 2^64. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// An array without end: at(i) is T() until it is written to. T is copied when the array grows.
template <class T>
class Table {
 public:
  T& at(std::uint32_t index) {
    if (CLEW_UNLIKELY(index >= room_)) grow_slow(index);
    return items_[index];
  }
  std::uint32_t room() const { return room_; }

 private:
  CLEW_NOINLINE void grow_slow(std::uint32_t index) {
    std::uint32_t room = room_ < 8 ? 8 : room_ * 2;
    while (room <= index) room *= 2;
    T* items = static_cast<T*>(arena_alloc(std::size_t{room} * sizeof(T)));
    for (std::uint32_t i = 0; i < room; ++i) new (&items[i]) T(i < room_ ? items_[i] : T());
    items_ = items;
    room_ = room;
  }

  T* items_ = nullptr;
  std::uint32_t room_ = 0;
};

// Places, addresses and thread keys to values: open addressing, at most half full. 0 is no key.
template <class T>
class Map {
 public:
  // Null if it is not there. Valid until the next put().
  T* find(std::uint64_t key) {
    if (room_ == 0 || key == 0) return nullptr;
    Entry& entry = slot(key);
    return entry.key == key ? &entry.value : nullptr;
  }
  void put(std::uint64_t key, const T& value) {
    if (key == 0) return;
    if (CLEW_UNLIKELY(used_ * 2 >= room_)) grow_slow();
    Entry& entry = slot(key);
    if (entry.key == 0) ++used_;
    entry = {key, value};
  }
  std::size_t size() const { return used_; }

 private:
  struct Entry {
    std::uint64_t key;
    T value;
  };
  Entry& slot(std::uint64_t key) {
    std::size_t at = static_cast<std::size_t>((key * 0x9e37'79b9'7f4a'7c15) >> 20) & (room_ - 1);
    while (entries_[at].key != 0 && entries_[at].key != key) at = (at + 1) & (room_ - 1);
    return entries_[at];
  }
  CLEW_NOINLINE void grow_slow() {
    const Entry* old = entries_;
    const std::size_t old_room = room_;
    room_ = room_ == 0 ? 16 : room_ * 2;
    entries_ = static_cast<Entry*>(arena_alloc(room_ * sizeof(Entry)));
    for (std::size_t i = 0; i < old_room; ++i)
      if (old[i].key != 0) slot(old[i].key) = old[i];
  }

  Entry* entries_ = nullptr;
  std::size_t room_ = 0;
  std::size_t used_ = 0;
};

// The policy for choose(). Who is woken is uniform. What must not happen for ever, because programs
// retry, happens with probability 1/16 and at most eight times a run. Time-outs and sleeps that end
// early all do in a quarter of the runs, and with probability 1/2, 1/4 and 1/16 in the others: of bugs
// that a sleep hides many need two or three of them, which one probability for all runs makes rare
// if it is small, and hides the bugs that need none if it is large. Chosen, then measured: docs/hunt.md.
class ChoicePolicy {
 public:
  enum class Mode : std::uint8_t { kDefaults, kRandom };

  explicit ChoicePolicy(std::uint64_t seed, Mode mode = Mode::kRandom)
      : random_(seed ^ kStream), timeout_one_in_(draw_timeout_rate(random_)), mode_(mode) {}

  // For plan and prefix. Without a seed: the defaults.
  static ChoicePolicy of_parameter(const abi::Job& job) {
    const std::uint64_t seed = job.parameters[abi::kChoiceSeed];
    return ChoicePolicy(seed, seed != 0 ? Mode::kRandom : Mode::kDefaults);
  }

  Choice answer(const Question& question) {
    return Choice::position(position(question.kind, question.count));
  }

  static constexpr std::uint32_t kMost = 8;
  static constexpr std::uint64_t kOneIn = 16;
  static constexpr std::uint64_t kTimeoutOneIn[] = {1, 2, 4, 16};  // of a run, drawn uniformly

 private:
  static constexpr std::uint64_t kStream = 0x6368'6f69'6365'7321;

  static std::uint64_t draw_timeout_rate(Random& random) {
    return kTimeoutOneIn[random.below(std::size(kTimeoutOneIn))];
  }

  std::uint32_t position(abi::ChoiceKind kind, std::uint32_t count) {
    if (mode_ == Mode::kDefaults || count < 2) return 0;
    switch (kind) {
      case abi::ChoiceKind::kWake:
        return static_cast<std::uint32_t>(random_.below(count));
      case abi::ChoiceKind::kTimeout:
        return happens(timeout_one_in_);
      case abi::ChoiceKind::kSpurious:
      case abi::ChoiceKind::kTrylock:
      case abi::ChoiceKind::kCas:
        return happens(kOneIn);
      case abi::ChoiceKind::kPick:
      case abi::ChoiceKind::kCount:
        break;
    }
    return 0;
  }
  std::uint32_t happens(std::uint64_t one_in) {
    if (happened_ == kMost || random_.below(one_in) != 0) return 0;
    ++happened_;
    return 1;
  }

  Random random_;
  std::uint64_t timeout_one_in_;  // of this run
  std::uint32_t happened_ = 0;
  Mode mode_;
};

// A strategy that answers questions by that policy.
class ChoosingStrategy : public Strategy {
 public:
  Choice choose(const Question& question) override { return choices_.answer(question); }

 protected:
  ChoosingStrategy(Manner m, const ChoicePolicy& choices) : Strategy(m), choices_(choices) {}
  ~ChoosingStrategy() = default;

 private:
  ChoicePolicy choices_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_CHOICES_H_
