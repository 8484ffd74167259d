#include "host/enumerate/terms.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "host/enumerate/occurrences.h"

namespace clew {
namespace {

// Chosen, not measured: limits of memory and of the work for one trace.
constexpr std::size_t kMostTerms = 200'000;
constexpr std::size_t kMostCandidates = 20'000;   // of one trace
constexpr std::size_t kMostCompared = 3'000'000;  // accesses to eight bytes, for orders of pairs
constexpr std::size_t kMostComparedInAll = 30'000'000;  // of one trace
constexpr std::size_t kMostReads = 256;                 // of eight bytes, told apart by key
constexpr std::size_t kLongestObserved = 100'000;       // steps of a trace
constexpr std::size_t kMostWrites = 256;

// The last of these writes that writes one of the bytes; kInitialValue: none.
StepNumber newest_of(const std::vector<const SharedBytes::Access*>& writes,
                     const SharedBytes::Access& read) {
  for (auto write = writes.rbegin(); write != writes.rend(); ++write)
    if (((*write)->mask & read.mask) != 0) return (*write)->step;
  return kInitialValue;
}

}  // namespace

struct Terms::View {
  std::span<const TraceStep> trace;
  const Terms& terms;
  const ReadsFrom& reads;
  std::vector<std::uint64_t> times;
  mutable MustOrder order;
  mutable bool observed = false;
  mutable std::size_t compared = 0;

  // Found when it is first asked for: most runs bring nothing that needs it.
  [[nodiscard]] const MustOrder& observed_order() const {
    if (!std::exchange(observed, true)) order.observe(reads.sights);
    return order;
  }

  [[nodiscard]] EventKey key(StepNumber step) const {
    return step == kInitialValue ? EventKey{} : terms.key_of(trace[step], times[step]);
  }
};

Terms::Number Terms::number_of(const EventKey& read, const EventKey& write, const TraceStep& step) {
  const auto [number, is_new] =
      numbers_.try_emplace({read, write}, static_cast<Number>(terms_.size()));
  if (is_new) {
    Term& term = terms_.emplace_back();
    term.read = read;
    term.write = write;
    term.address = term.highest = step.object;
    term.size = step.size;
  }
  Term& term = terms_[number->second];
  term.address = std::min(term.address, step.object);
  term.highest = std::max(term.highest, step.object);
  return number->second;
}

void Terms::learn_names(std::span<const TraceStep> trace) {
  names_.try_emplace(abi::kMainThreadKey, "T0");
  std::map<abi::ThreadKey, std::uint32_t> children;
  for (const TraceStep& step : trace) {
    if (step.kind != abi::StepKind::kCreate) continue;
    const std::uint32_t ordinal = ++children[step.thread];
    const auto parent = names_.find(step.thread);
    if (parent == names_.end()) continue;
    names_.try_emplace(abi::child_key(step.thread, ordinal),
                       parent->second + "." + std::to_string(ordinal));
  }
}

std::string Terms::thread_name(abi::ThreadKey thread) const {
  const auto found = names_.find(thread);
  return found == names_.end() ? "T?" : found->second;
}

void Terms::note_seen(const View& view, std::span<const Sight> sights, const JobPlan& plan,
                      Verdict verdict, std::uint64_t run, Source source) {
  std::shared_ptr<const JobPlan> kept;
  std::set<Number> in_this_run;
  for (const Sight& sight : sights) {
    const TraceStep& read = view.trace[sight.read];
    if (!places_.empty() && !places_.contains(read.place)) continue;
    const EventKey write = view.key(sight.write);
    const EventKey key = view.key(sight.read);
    const bool shared = is_shared(key);
    const std::size_t most = shared ? kMostTerms : kMostTerms / 2;
    if (terms_.size() >= most && !numbers_.contains({key, write})) {
      is_cut_ = true;
      continue;
    }
    const Number number = number_of(key, write, read);
    if (!in_this_run.insert(number).second) continue;
    Term& term = terms_[number];
    if (!term.seen() && shared) last_new_run_ = run;
    term.systematic |= source == Source::kSystematic;
    seen_places_.insert({term.read.place, term.write.place});
    Witness& witness = verdict == Verdict::kFail ? term.failing : term.passing;
    if (verdict == Verdict::kUnresolved) continue;
    if (witness.runs++ != 0) continue;
    if (!kept) kept = std::make_shared<const JobPlan>(plan);
    witness.plan = kept;
    witness.run = run;
    witness.clock = read.clock;
    witness.address = read.object;
  }
  if (remembers_) shown_.assign(in_this_run.begin(), in_this_run.end());
}

void Terms::consider(const View& view, const SharedBytes& bytes, StepNumber write, StepNumber read,
                     Order order, std::vector<Candidate>& candidates) {
  const EventKey read_key = view.key(read);
  const EventKey write_key = view.key(write);
  const auto known = numbers_.find({read_key, write_key});
  const bool is_known = known != numbers_.end();
  if (is_known && terms_[known->second].seen()) return;
  if (is_known && terms_[known->second].may_be && terms_[known->second].free &&
      terms_[known->second].bases >= kMostBases)
    return;
  if (!is_known && terms_.size() >= kMostTerms) {
    is_cut_ = true;
    return;
  }
  std::optional<OrderReason> hidden;
  if (order == Order::kSought) hidden = view.order.hidden(write, read, bytes.accesses);
  if (hidden && hidden->kind <= OrderReason::Kind::kCreate) return;
  // Who has joined the reader's thread writes later: nobody would think of it.
  if (hidden && hidden->kind == OrderReason::Kind::kJoin && hidden->overwritten == 0) return;
  // One pair stands for all of the later instances: what orders it need not order the others.
  const bool stands_for_others = read_key.instance == later_ || write_key.instance == later_;
  if (hidden && stands_for_others && !is_known) return;
  considered_ += is_known ? 0 : 1;
  const Number number = number_of(read_key, write_key, view.trace[read]);
  Term& term = terms_[number];
  if (!hidden) {
    term.may_be = true;
  } else if (term.reason.kind == OrderReason::Kind::kNone) {
    term.reason = *hidden;
  }
  if (order == Order::kNotKnown || stands_for_others || view.trace.size() > kLongestObserved)
    term.free = true;
  if (!term.free) observe(view, bytes, write, read, hidden, term);
  const bool by_lock = hidden && (hidden->kind == OrderReason::Kind::kSection ||
                                  hidden->kind == OrderReason::Kind::kOwnWrite);
  if (!hidden || by_lock) candidates.push_back({number, {Aim::Kind::kSees, write, read}});
}

// What a run orders by what it reads and waits for. One that is ordered by more than that counts.
void Terms::observe(const View& view, const SharedBytes& bytes, StepNumber write, StepNumber read,
                    const std::optional<OrderReason>& hidden, Term& term) {
  const auto reason = hidden ? hidden
                             : view.observed_order().hidden(write, read, bytes.accesses,
                                                            MustOrder::Order::kObserved);
  if (!reason) {
    term.free = true;
    return;
  }
  if (term.ordered_runs++ == 0) term.observed = *reason;
  term.one_reason &= term.observed == *reason;
}

void Terms::find_candidates(const View& view, const SharedBytes& bytes,
                            std::vector<Candidate>& candidates) {
  // The first access with each key stands for the others.
  struct Reader {
    const SharedBytes::Access* access;
    StepNumber own_write;  // the newest of its thread before it
  };
  std::vector<Reader> reads;
  std::vector<const SharedBytes::Access*> writes;
  std::set<EventKey> keys;
  std::unordered_map<abi::ThreadKey, std::vector<const SharedBytes::Access*>> own;  // writes
  for (const SharedBytes::Access& access : bytes.accesses) {
    const TraceStep& step = view.trace[access.step];
    const EventKey key = view.key(access.step);
    const bool counts = places_.empty() || places_.contains(step.place);
    if (keys.insert(key).second) {
      if (is_read(step.kind) && counts && reads.size() < kMostReads)
        reads.push_back({&access, newest_of(own[step.thread], access)});
      if (access.writes && writes.size() < kMostWrites) writes.push_back(&access);
      is_cut_ |= reads.size() == kMostReads || writes.size() == kMostWrites;
    }
    if (access.writes) own[step.thread].push_back(&access);
  }
  const std::size_t work = reads.size() * (writes.size() + 1) * bytes.accesses.size();
  const bool is_worth_it = work <= kMostCompared && view.compared + work <= kMostComparedInAll;
  if (is_worth_it) view.compared += work;
  const Order order = is_worth_it ? Order::kSought : Order::kNotKnown;
  for (const Reader& read : reads) {
    const abi::ThreadKey thread = view.trace[read.access->step].thread;
    bool from_others = false;
    for (const SharedBytes::Access* write : writes) {
      if (candidates.size() >= kMostCandidates) {
        is_cut_ = true;
        return;
      }
      if (write->life != read.access->life || (write->mask & read.access->mask) == 0) continue;
      if (view.trace[write->step].thread == thread) continue;
      from_others = true;
      consider(view, bytes, write->step, read.access->step, order, candidates);
    }
    if (!from_others || read.access->life != 0) continue;
    consider(view, bytes, read.own_write, read.access->step, order, candidates);
  }
}

std::vector<Terms::Candidate> Terms::learn(const Trace& trace, const JobPlan& plan, Verdict verdict,
                                           std::uint64_t run, Source source) {
  learn_names(trace.steps);
  const ReadsFrom reads = reads_from(trace.steps, Memory::kShared);
  const View view{trace.steps, *this, reads, occurrences(trace.steps), MustOrder(trace.steps)};
  const std::size_t known = shared_reads_.size();
  for (const Sight& sight : reads.sights) shared_reads_.insert(view.key(sight.read));
  if (shared_reads_.size() != known) last_new_run_ = run;
  // Also what reads see in runs in which nobody else comes to the memory.
  if (trace.steps.size() <= kLongestObserved)
    note_seen(view, reads_from(trace.steps, Memory::kAll).sights, plan, verdict, run, source);
  else
    note_seen(view, reads.sights, plan, verdict, run, source);
  std::vector<Candidate> candidates;
  // In the order of addresses, so that the search does not depend on a hash.
  std::vector<std::uint64_t> granules;
  for (const auto& [granule, bytes] : reads.shared) granules.push_back(granule);
  std::ranges::sort(granules);
  for (const std::uint64_t granule : granules)
    find_candidates(view, reads.shared.at(granule), candidates);
  return candidates;
}

}  // namespace clew
