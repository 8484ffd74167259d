#include "host/search/hunt_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "host/names/findings.h"

namespace clew {
namespace {

// Runs that are made again at most, and findings that are told apart. Chosen, not measured.
constexpr std::uint64_t kMostRuns = 100;

using Lines = std::multiset<std::tuple<std::string, std::uint32_t>>;
Lines lines_of(const Finding& finding) {
  Lines lines;
  for (const Finding::Site& site : finding.sites)
    lines.emplace(site.at ? site.at->file : "", site.at ? site.at->line : 0);
  return lines;
}
std::multiset<std::string> actions_of(const Finding& finding) {
  std::multiset<std::string> actions;
  for (const Finding::Site& site : finding.sites) actions.insert(site.action);
  return actions;
}

// Several places in the code may be the same line, and what is at an address may have another name in
// another run. Reads and writes of one variable in the same two lines are one race.
bool is_same(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.sites.size() != b.sites.size()) return false;
  if (a.sites.empty()) return a.text == b.text;
  return lines_of(a) == lines_of(b) && (a.text == b.text || actions_of(a) == actions_of(b));
}

}  // namespace

bool HuntFindings::wants_run(std::span<const std::uint64_t> keys) const {
  return asked_ < kMostRuns &&
         std::ranges::any_of(
             keys,
             [&](std::uint64_t key) { return !of_key_.contains(key) && !missing_.contains(key); });
}

std::size_t HuntFindings::place_of(const Finding& finding) {
  const auto same = std::ranges::find_if(
      found_, [&](const CountedFinding& one) { return is_same(one.finding, finding); });
  const auto place = static_cast<std::size_t>(same - found_.begin());
  if (same == found_.end()) found_.push_back({finding, 0, 0});
  return place;
}

void HuntFindings::learn(const RunResult& run) {
  ++asked_;
  for (std::size_t i = 0; i < run.reports.findings.size(); ++i)
    of_key_.try_emplace(key_of(run.reports.findings[i]), place_of(run.summary.findings.at(i)));
}

void HuntFindings::count(std::span<const std::uint64_t> keys, std::uint64_t schedule) {
  std::set<std::size_t> places;
  for (const std::uint64_t key : keys) {
    const auto known = of_key_.find(key);
    if (known != of_key_.end())
      places.insert(known->second);
    else if (asked_ < kMostRuns)
      missing_[key] = true;
    else
      too_many_ = true;
  }
  for (const std::size_t place : places) {
    CountedFinding& one = found_[place];
    if (one.runs++ == 0) one.first_schedule = schedule;
  }
}

std::string HuntFindings::lack() const {
  if (too_many_) return "there are more findings than are listed";
  if (missing_.empty()) return "";
  return fmt::format("{} finding{} did not come again in a separate process, and {} not listed",
                     missing_.size(), missing_.size() == 1 ? "" : "s",
                     missing_.size() == 1 ? "is" : "are");
}

}  // namespace clew
