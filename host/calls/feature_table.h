// The feature table of Eichinger et al. 2010, table 1: a column for each call, a row for each run, and
// the run's class. Most calls happen as often in one run as in the next, so a column keeps its usual
// value and the runs that differ.
#ifndef CLEW_HOST_CALLS_FEATURE_TABLE_H_
#define CLEW_HOST_CALLS_FEATURE_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/calls/gain.h"

namespace clew {

enum class RunClass : std::uint8_t { kPassing, kFailing };

// How often something happened in a run, by the number of what happened.
using RunCounts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class FeatureColumn {
 public:
  // REQUIRES: runs come in ascending order.
  void set(std::uint32_t run, std::uint64_t value) {
    if (value != usual_) others_.emplace_back(run, value);
  }
  explicit FeatureColumn(std::uint64_t usual = 0) : usual_(usual) {}

  [[nodiscard]] std::uint64_t usual() const { return usual_; }
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint64_t>> others() const {
    return others_;
  }
  [[nodiscard]] std::vector<std::uint64_t> values(std::size_t runs) const;
  // The most frequent value becomes the usual one.
  void settle(std::uint32_t runs);
  bool operator==(const FeatureColumn&) const = default;

 private:
  std::uint64_t usual_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> others_;
};

class FeatureTable {
 public:
  // What is not in `counts` is 0.
  void add(RunClass of, const RunCounts& counts);

  [[nodiscard]] std::size_t runs() const { return classes_.size(); }
  [[nodiscard]] std::size_t runs(RunClass of) const {
    return of == RunClass::kFailing ? failing_ : classes_.size() - failing_;
  }
  // With those runs only that are kept, in the same order, and all columns.
  [[nodiscard]] FeatureTable select(const std::vector<bool>& kept) const;
  // With the columns of some features added to others': the key's to the value's. Those of the keys are empty then.
  [[nodiscard]] FeatureTable add_up(
      const std::unordered_map<std::uint64_t, std::uint64_t>& into) const;
  [[nodiscard]] const std::vector<RunClass>& classes() const { return classes_; }
  [[nodiscard]] const std::vector<std::uint64_t>& features() const { return features_; }
  [[nodiscard]] const FeatureColumn& column(std::size_t i) const { return columns_[i]; }
  // Of a column, with the weight of a run of each class.
  [[nodiscard]] Histogram histogram(std::size_t column, const ClassCounts& weight) const;
  // About as many bytes as the table takes.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<RunClass> classes_;
  std::size_t failing_ = 0;
  std::vector<std::uint64_t> features_;  // of each column
  std::vector<FeatureColumn> columns_;
  std::unordered_map<std::uint64_t, std::size_t> column_of_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_FEATURE_TABLE_H_
