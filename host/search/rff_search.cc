#include "host/search/rff_search.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

using abi::Place;
using abi::StepKind;

// Chosen, not measured: what is paired grows with the square.
constexpr std::size_t kMostSites = 16;  // of reads, and of writes, of one granule

struct Site {
  Place place;
  abi::ThreadKey thread;
  std::uint8_t mask;
};

// Eight bytes of memory.
struct Cell {
  std::array<std::uint32_t, 8> last{};  // number of the last write + 1, for each byte
  std::vector<Site> reads, writes;      // contended
  bool written_alone = false;           // while there was one thread
};

void add_site(std::vector<Site>& sites, const TraceStep& event, std::uint8_t mask) {
  for (Site& site : sites) {
    if (site.place != event.place || site.thread != event.thread) continue;
    site.mask |= mask;
    return;
  }
  if (sites.size() < kMostSites) sites.push_back({event.place, event.thread, mask});
}

bool reads(StepKind kind) { return kind == StepKind::kRead || kind == StepKind::kUpdate; }

class Analysis {
 public:
  explicit Analysis(std::span<const TraceStep> trace) : trace_(trace) {}

  ReadsFromPairs run() {
    const std::vector<bool> contends = contended(trace_);
    cells_.reserve(trace_.size() / 4);
    for (std::uint32_t i = 0; i < trace_.size(); ++i)
      if (abi::is_access(trace_[i].kind) && trace_[i].object != 0) access(i, contends[i]);
    for (const auto& [granule, cell] : cells_) pair_up(cell);
    return {{observed_.begin(), observed_.end()}, {possible_.begin(), possible_.end()}};
  }

 private:
  void access(std::uint32_t number, bool contends) {
    const TraceStep& event = trace_[number];
    std::uint32_t source = 0;
    for_each_granule(event, [&](std::uint64_t granule, std::uint8_t mask) {
      Cell& cell = cells_[granule];
      for (unsigned byte = 0; byte < 8; ++byte) {
        if ((mask >> byte & 1) == 0) continue;
        source = std::max(source, cell.last[byte]);
        if (event.kind != StepKind::kRead) cell.last[byte] = number + 1;
      }
      if (contends && reads(event.kind)) add_site(cell.reads, event, mask);
      if (contends && event.kind != StepKind::kRead) add_site(cell.writes, event, mask);
      cell.written_alone |= !contends && event.kind != StepKind::kRead;
    });
    if (contends && reads(event.kind))
      observed_.insert({source == 0 ? Place{0} : trace_[source - 1].place, event.place});
  }

  void pair_up(const Cell& cell) {
    for (const Site& read : cell.reads) {
      if (possible_.size() >= RffSearch::kMostPairs) return;
      if (!cell.written_alone) possible_.insert({Place{0}, read.place});
      for (const Site& write : cell.writes)
        if (write.thread != read.thread && (write.mask & read.mask) != 0)
          possible_.insert({write.place, read.place});
    }
  }

  std::span<const TraceStep> trace_;
  std::unordered_map<std::uint64_t, Cell> cells_;
  std::set<ReadsFrom> observed_, possible_;
};

std::uint64_t signature_of(const std::vector<ReadsFrom>& pairs) {
  std::uint64_t hash = pairs.size();
  for (const auto& [write, read] : pairs) hash = job_seed(job_seed(hash, write), read);
  return hash;
}

bool before(const RffConstraint& a, const RffConstraint& b) {
  return std::tie(a.write, a.read) < std::tie(b.write, b.read);
}

}  // namespace

ReadsFromPairs reads_from(std::span<const TraceStep> trace) {
  ReadsFromPairs pairs =
      Analysis(trace.first(std::min(trace.size(), RffSearch::kMostEvents))).run();
  std::vector<ReadsFrom> both;  // what was observed is possible
  std::ranges::set_union(pairs.possible, pairs.observed, std::back_inserter(both));
  pairs.possible = std::move(both);
  return pairs;
}

std::vector<JobPlan> RffSearch::next(std::size_t most) {
  std::vector<JobPlan> jobs;
  const std::size_t count = proposed_ == 0 ? std::min<std::size_t>(most, 1) : most;
  while (jobs.size() < count) {
    running_.push_back(next_schedule());
    JobPlan job;
    job.strategy = abi::StrategyKind::kRff;
    job.flags = abi::kJobTrace;
    job.seed = job_seed(seed_, proposed_++);
    job.guide = rff_guide(running_.back(), rivals_of(running_.back()));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<Place> RffSearch::rivals_of(const AbstractSchedule& schedule) const {
  std::set<Place> reads, rivals;
  for (const RffConstraint& constraint : schedule)
    if (constraint.write == 0 && constraint.sign == RffSign::kPositive)
      reads.insert(constraint.read);
  if (reads.empty()) return {};
  for (const auto& [write, read] : pool_)
    if (write != 0 && reads.contains(read)) rivals.insert(write);
  return {rivals.begin(), rivals.end()};
}

RffSearch::AbstractSchedule RffSearch::next_schedule() {
  if (corpus_.empty() || pool_.empty()) return {};
  if (energy_ == 0) take_next_entry();
  --energy_;
  return mutate(corpus_[current_].schedule);
}

void RffSearch::take_next_entry() {
  for (std::size_t step = 1; step <= corpus_.size() && energy_ == 0; ++step) {
    const std::size_t candidate = (current_ + step) % corpus_.size();
    energy_ = energy_of(corpus_[candidate]);
    if (energy_ > 0) current_ = candidate;
  }
  if (energy_ == 0) {
    const auto rarest = std::ranges::min_element(corpus_, {}, [&](const Entry& entry) {
      return std::pair(frequency_of(entry), entry.taken);
    });
    current_ = static_cast<std::size_t>(rarest - corpus_.begin());
    energy_ = 1;
  }
  ++corpus_[current_].taken;
}

std::uint64_t RffSearch::energy_of(const Entry& entry) const {
  const double mean = static_cast<double>(runs_) / static_cast<double>(frequencies_.size());
  if (static_cast<double>(frequency_of(entry)) > mean) return 0;
  return entry.taken < 6 ? std::uint64_t{1} << entry.taken : kMostEnergy;
}

std::uint64_t RffSearch::frequency_of(const Entry& entry) const {
  const auto found = frequencies_.find(entry.signature);
  return found == frequencies_.end() ? 0 : found->second;
}

RffSearch::AbstractSchedule RffSearch::mutate(AbstractSchedule schedule) {
  enum { kInsert, kDelete, kSwap, kNegate, kCount };
  std::uint64_t mutation = schedule.empty() ? +kInsert : random_.below(kCount);
  if (mutation == kInsert && schedule.size() >= kMostConstraints) mutation = kSwap;
  if (mutation == kInsert) {
    insert_constraint(schedule);
    return schedule;
  }
  const auto at = schedule.begin() + static_cast<std::ptrdiff_t>(random_.below(schedule.size()));
  if (mutation == kNegate) {
    at->sign = at->sign == RffSign::kPositive ? RffSign::kNegative : RffSign::kPositive;
    return schedule;
  }
  schedule.erase(at);
  if (mutation == kSwap) insert_constraint(schedule);
  return schedule;
}

// One about the same pair is replaced: the two would contradict each other, or be the same.
void RffSearch::insert_constraint(AbstractSchedule& schedule) {
  const auto [write, read] = pool_[random_.below(pool_.size())];
  const RffSign sign = random_.below(2) == 0 ? RffSign::kPositive : RffSign::kNegative;
  const RffConstraint constraint{write, read, sign};
  const auto at = std::ranges::lower_bound(schedule, constraint, before);
  if (at != schedule.end() && !before(constraint, *at))
    *at = constraint;
  else
    schedule.insert(at, constraint);
}

void RffSearch::learn(const JobPlan&, const JobReport& report) {
  AbstractSchedule schedule = std::move(running_.front());
  running_.pop_front();
  if (report.trace.steps.empty()) return;
  const ReadsFromPairs pairs = reads_from(report.trace.steps);
  const std::uint64_t signature = signature_of(pairs.observed);
  const bool new_pair = note(pairs);
  const bool new_signature = ++frequencies_[signature] == 1;
  ++runs_;
  if (corpus_.empty()) corpus_.push_back({{}, signature});
  const bool interesting = new_pair || new_signature;
  if (interesting && report.verdict != Verdict::kFail) add(std::move(schedule), signature);
}

bool RffSearch::note(const ReadsFromPairs& pairs) {
  for (const ReadsFrom& pair : pairs.possible)
    if (pool_.size() < kMostPairs && offered_.insert(pair).second) pool_.push_back(pair);
  const std::size_t before = observed_.size();
  observed_.insert(pairs.observed.begin(), pairs.observed.end());
  return observed_.size() > before;
}

void RffSearch::add(AbstractSchedule schedule, std::uint64_t signature) {
  const auto known = std::ranges::find(corpus_, schedule, &Entry::schedule);
  if (known != corpus_.end()) {
    known->signature = signature;
    return;
  }
  if (corpus_.size() == kMostEntries) {
    const auto commonest = std::ranges::max_element(
        corpus_, {}, [&](const Entry& entry) { return frequency_of(entry); });
    *commonest = {std::move(schedule), signature};
    return;
  }
  corpus_.push_back({std::move(schedule), signature});
}

std::string RffSearch::using_now() const { return "rff"; }

}  // namespace clew
