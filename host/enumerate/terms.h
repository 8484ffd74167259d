// The terms of reads: for each read that threads share the writes that it may see (the arguments of
// its pi function; MacDonald, Chen, Novillo 2006, section 3), with what runs have shown of them.
//
// A read or write is known by thread, place and instance: the how-manieth time that the thread is
// there. The first few instances are told apart, those behind them are one. Memory is not part of
// it: a term comes up when a run is seen to read and to write the same bytes of the same object,
// and is seen when a run reads what was written.
#ifndef CLEW_HOST_ENUMERATE_TERMS_H_
#define CLEW_HOST_ENUMERATE_TERMS_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/enumerate/must_order.h"
#include "host/enumerate/order_reason.h"
#include "host/enumerate/reads_from.h"
#include "host/enumerate/rearrangement.h"
#include "host/outcome.h"
#include "host/target/job_plan.h"
#include "host/trace/trace.h"

namespace clew {

// Attempts to show a term are made from so many runs. Chosen, not measured.
inline constexpr std::uint32_t kMostBases = 4;

// Instances from this one on are one, if nothing else is asked for. Chosen, not measured.
inline constexpr std::uint32_t kLaterInstances = 4;

struct EventKey {
  abi::ThreadKey thread = 0;
  abi::Place place = 0;  // 0: no event, the initial value
  std::uint32_t instance = 0;
  auto operator<=>(const EventKey&) const = default;
};

// A run that is the start of others.
struct BaseRun {
  explicit BaseRun(Trace of) : trace(std::move(of)), model(trace.steps) {}
  Trace trace;
  TraceModel model;
};

// Of a run that has shown a term: how to make it again.
struct Witness {
  std::uint64_t runs = 0;  // that have shown it
  std::shared_ptr<const JobPlan> plan;
  std::uint64_t run = 0;  // number of the first
  // Of the read in that one.
  std::uint64_t clock = 0;
  std::uint64_t address = 0;
};

struct Term {
  EventKey read;
  EventKey write;
  // Of the bytes that were read, in all runs: what is read at a place is not always at one address.
  std::uint64_t address = 0;  // the lowest
  std::uint64_t highest = 0;
  std::uint32_t size = 0;
  Witness passing;
  Witness failing;
  // Not seen: a run has both, and nothing in it orders them.
  bool may_be = false;
  OrderReason reason;  // otherwise
  // Not seen: runs that have both, each of which orders them (MustOrder::Order::kObserved), and why
  // the first does. `free`: one does not.
  std::uint64_t ordered_runs = 0;
  OrderReason observed;
  bool one_reason = true;  // all runs have that one
  bool free = false;
  std::uint64_t attempts = 0;  // runs that were to show it
  std::uint32_t bases = 0;     // runs that attempts were made from
  bool systematic = false;     // shown by a run of those that execute every schedule

  [[nodiscard]] bool seen() const { return passing.runs + failing.runs > 0; }
  [[nodiscard]] bool local() const { return read.thread == write.thread; }
};

class Terms {
 public:
  using Number = std::uint32_t;

  // What one trace has brought: for each term that it does not show but may be forced from it, the
  // steps.
  struct Candidate {
    Number term = 0;
    Aim aim;
  };
  // Places of reads that matter; empty: all.
  explicit Terms(std::set<abi::Place> places = {}, std::uint32_t later = kLaterInstances)
      : places_(std::move(places)), later_(later) {}

  enum class Source : std::uint8_t { kSystematic, kOther };  // Wander::is_systematic
  std::vector<Candidate> learn(const Trace& trace, const JobPlan& plan, Verdict verdict,
                               std::uint64_t run, Source source);

  [[nodiscard]] std::uint32_t later_instances() const { return later_; }
  // Of the n-th time that a thread is at a place.
  [[nodiscard]] EventKey key_of(const TraceStep& step, std::uint64_t occurrence) const {
    return {step.thread, step.place,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(occurrence, later_))};
  }

  // Whether a run had another thread come to the memory of the read, one of the two writing it. Terms
  // of others are noted too: in the next run they may be shared.
  [[nodiscard]] bool is_shared(const EventKey& read) const { return shared_reads_.contains(read); }

  [[nodiscard]] const std::vector<Term>& all() const { return terms_; }
  [[nodiscard]] Term& at(Number term) { return terms_[term]; }
  // Whether a write at the place of the term's was seen by a read at the place of its read.
  [[nodiscard]] bool places_seen(const Term& term) const {
    return seen_places_.contains({term.read.place, term.write.place});
  }
  // Terms that came up without being seen.
  [[nodiscard]] std::size_t considered() const { return considered_; }
  [[nodiscard]] std::uint64_t last_new_run() const { return last_new_run_; }
  // Some terms were not noted: there are too many.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  // "T0.2"; "T?": it was never seen.
  [[nodiscard]] std::string thread_name(abi::ThreadKey thread) const;
  // The terms that each run showed, if wanted: for combinations.
  void remember_runs() { remembers_ = true; }
  [[nodiscard]] const std::vector<Number>& shown() const { return shown_; }

 private:
  struct View;  // of one trace

  Number number_of(const EventKey& read, const EventKey& write, const TraceStep& step);
  void learn_names(std::span<const TraceStep> trace);
  void note_seen(const View& view, std::span<const Sight> sights, const JobPlan& plan,
                 Verdict verdict, std::uint64_t run, Source source);
  void find_candidates(const View& view, const SharedBytes& bytes,
                       std::vector<Candidate>& candidates);
  // Whether it is worth the time to find out what orders accesses; if not, they may be in any.
  enum class Order : std::uint8_t { kSought, kNotKnown };
  static void observe(const View& view, const SharedBytes& bytes, StepNumber write, StepNumber read,
                      const std::optional<OrderReason>& hidden, Term& term);
  void consider(const View& view, const SharedBytes& bytes, StepNumber write, StepNumber read,
                Order order, std::vector<Candidate>& candidates);

  std::set<abi::Place> places_;
  std::uint32_t later_;
  std::vector<Term> terms_;
  std::map<std::pair<EventKey, EventKey>, Number> numbers_;
  std::set<EventKey> shared_reads_;
  std::set<std::pair<abi::Place, abi::Place>> seen_places_;
  std::map<abi::ThreadKey, std::string> names_;
  std::uint64_t last_new_run_ = 0;
  std::size_t considered_ = 0;
  bool is_cut_ = false;
  bool remembers_ = false;
  std::vector<Number> shown_;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_TERMS_H_
