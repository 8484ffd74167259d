#include "host/calls/feature_table.h"

#include <algorithm>
#include <map>

namespace clew {
namespace {

// A column is looked at again each time the table has grown by half; the first time with this many
// runs (chosen: before that there is little to save).
constexpr std::size_t kFirstSettling = 32;

bool is_time_to_settle(std::size_t runs) {
  for (std::size_t at = kFirstSettling; at <= runs; at += at / 2)
    if (at == runs) return true;
  return false;
}

}  // namespace

std::vector<std::uint64_t> FeatureColumn::values(std::size_t runs) const {
  std::vector<std::uint64_t> result(runs, usual_);
  for (const auto& [run, value] : others_) result[run] = value;
  return result;
}

void FeatureColumn::settle(std::uint32_t runs) {
  if (others_.size() * 2 <= runs) return;
  const std::vector<std::uint64_t> all = values(runs);
  std::unordered_map<std::uint64_t, std::size_t> times;
  for (const std::uint64_t value : all) ++times[value];
  usual_ = std::ranges::max_element(times, {}, [](const auto& entry) {
             return std::pair(entry.second, entry.first);
           })->first;
  others_.clear();
  for (std::uint32_t run = 0; run < runs; ++run) set(run, all[run]);
  others_.shrink_to_fit();
}

void FeatureTable::add(RunClass of, const RunCounts& counts) {
  const auto run = static_cast<std::uint32_t>(classes_.size());
  classes_.push_back(of);
  failing_ += of == RunClass::kFailing;
  std::vector<bool> set(columns_.size());
  for (const auto& [feature, count] : counts) {
    const auto [entry, added] = column_of_.try_emplace(feature, columns_.size());
    if (added) {
      features_.push_back(feature);
      columns_.emplace_back(run == 0 ? count : 0);
      set.push_back(false);
    }
    columns_[entry->second].set(run, count);
    set[entry->second] = true;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (!set[i]) columns_[i].set(run, 0);
  if (is_time_to_settle(classes_.size()))
    for (FeatureColumn& column : columns_) column.settle(run + 1);
}

FeatureTable FeatureTable::select(const std::vector<bool>& kept) const {
  FeatureTable part;
  std::vector<std::uint32_t> number(runs());  // of those that are kept
  for (std::size_t run = 0; run < runs(); ++run) {
    if (!kept[run]) continue;
    number[run] = static_cast<std::uint32_t>(part.classes_.size());
    part.classes_.push_back(classes_[run]);
    part.failing_ += classes_[run] == RunClass::kFailing;
  }
  part.features_ = features_;
  part.column_of_ = column_of_;
  for (const FeatureColumn& column : columns_) {
    FeatureColumn& of = part.columns_.emplace_back(column.usual());
    for (const auto& [run, value] : column.others())
      if (kept[run]) of.set(number[run], value);
    of.settle(static_cast<std::uint32_t>(part.runs()));
  }
  return part;
}

FeatureTable FeatureTable::add_up(
    const std::unordered_map<std::uint64_t, std::uint64_t>& into) const {
  FeatureTable sum = *this;
  const auto runs = static_cast<std::uint32_t>(this->runs());
  for (const auto& [from, to] : into) {
    const auto source = column_of_.find(from);
    const auto target = column_of_.find(to);
    if (source == column_of_.end() || target == column_of_.end()) continue;
    const std::vector<std::uint64_t> more = columns_[source->second].values(runs);
    std::vector<std::uint64_t> all = columns_[target->second].values(runs);
    FeatureColumn& column = sum.columns_[target->second] = FeatureColumn();
    for (std::uint32_t run = 0; run < runs; ++run) column.set(run, all[run] + more[run]);
    column.settle(runs);
    sum.columns_[source->second] = FeatureColumn();
  }
  return sum;
}

Histogram FeatureTable::histogram(std::size_t column, const ClassCounts& weight) const {
  std::map<std::uint64_t, ClassCounts> counts;
  ClassCounts usual{weight.passing * static_cast<double>(runs(RunClass::kPassing)),
                    weight.failing * static_cast<double>(runs(RunClass::kFailing))};
  for (const auto& [run, value] : columns_[column].others()) {
    const ClassCounts one = classes_[run] == RunClass::kFailing ? ClassCounts{0, weight.failing}
                                                                : ClassCounts{weight.passing, 0};
    counts[value] += one;
    usual = usual - one;
  }
  // Weights leave crumbs.
  const auto tidy = [](double of) { return of < 1e-9 ? 0 : of; };
  usual = {tidy(usual.passing), tidy(usual.failing)};
  if (usual.all() > 0) counts[columns_[column].usual()] += usual;
  Histogram result;
  for (const auto& [value, count] : counts) result.push_back({value, count});
  return result;
}

std::size_t FeatureTable::bytes() const {
  std::size_t sum = classes_.size() + columns_.size() * (sizeof(FeatureColumn) + 48);
  for (const FeatureColumn& column : columns_) sum += column.others().size() * 16;
  return sum;
}

}  // namespace clew
