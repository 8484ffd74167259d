// A set of program points, by their positions in the campaign's list (points.h).
#ifndef CLEW_HOST_NOISE_SUBSET_H_
#define CLEW_HOST_NOISE_SUBSET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clew {

class Subset {
 public:
  Subset() = default;
  explicit Subset(std::size_t points) : points_(points), words_((points + 63) / 64) {}
  Subset(std::size_t points, std::span<const std::uint32_t> members) : Subset(points) {
    for (const std::uint32_t i : members) add(i);
  }
  [[nodiscard]] static Subset all(std::size_t points) {
    Subset result(points);
    for (std::size_t i = 0; i < points; ++i) result.add(i);
    return result;
  }

  [[nodiscard]] std::size_t points() const { return points_; }  // there are, in the set or not
  [[nodiscard]] bool has(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  [[nodiscard]] std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }
  [[nodiscard]] std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> result;
    for (std::size_t i = 0; i < points_; ++i)
      if (has(i)) result.push_back(static_cast<std::uint32_t>(i));
    return result;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
  bool operator==(const Subset&) const = default;

 private:
  std::size_t points_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_SUBSET_H_
