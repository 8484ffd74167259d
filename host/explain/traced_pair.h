// The failing and the passing run, traced and compared.
#ifndef CLEW_HOST_EXPLAIN_TRACED_PAIR_H_
#define CLEW_HOST_EXPLAIN_TRACED_PAIR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "host/error.h"
#include "host/explain/comparison.h"
#include "host/explain/parties.h"
#include "host/explain/sync_order.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/replay.h"

namespace clew {

// Where code is in the source.
struct CodePlace {
  std::string file;  // empty: not known
  std::uint32_t line = 0;
  std::string function;
  bool user = false;    // the user's own
  bool direct = false;  // ... and not that of a library that is inlined there
  // If the function is inlined into another of the user's: where; line 0: it is not.
  std::string outer_file = {};
  std::uint32_t outer_line = 0;
  std::string outer_function = {};

  bool operator==(const CodePlace&) const = default;
};

// The ids of a run's threads, "T0.2", in order of creation.
[[nodiscard]] std::vector<std::string> thread_ids(const RunResult& run, const RunTrace& trace);
// Which thread of one run is which of the other.
[[nodiscard]] std::vector<Alignment::ThreadPair> same_threads(
    const std::vector<std::string>& failing_ids, const RunTrace& failing,
    const std::vector<std::string>& passing_ids, const RunTrace& passing);

class TracedPair {
 public:
  // Runs both. Fails with kBadInput if one of them departs from its recording or is too long.
  [[nodiscard]] static Result<std::unique_ptr<TracedPair>> trace(const Replay& failing,
                                                                 const Replay& passing,
                                                                 RunObserver& observer);

  [[nodiscard]] Comparison& comparison() { return *comparison_; }
  [[nodiscard]] const RunTrace& trace(WhichRun side) const { return *traces_[side]; }
  [[nodiscard]] const Dependences& run(WhichRun side) const { return *dependences_[side]; }
  [[nodiscard]] const Alignment& alignment() const { return *alignment_; }
  [[nodiscard]] const RunResult& result(WhichRun side) const { return results_[side]; }
  // That tracing it took.
  [[nodiscard]] double seconds(WhichRun side) const { return seconds_[side]; }
  [[nodiscard]] CodeMap& code() { return *code_; }
  [[nodiscard]] FlowGraphs& graphs() { return *graphs_; }
  [[nodiscard]] const Parties& parties(WhichRun side) const { return *parties_[side]; }
  // Made when it is first asked for.
  [[nodiscard]] const SyncOrder& order(WhichRun side, OrderedBy by = OrderedBy::kAll);
  [[nodiscard]] Symbolizer& symbols(WhichRun side) { return *symbols_[side]; }

  // Of an instruction alone: its line, in the user's code if that was inlined around it.
  [[nodiscard]] const CodePlace& place_of_code(std::uint64_t address);
  // Of an instance: in the user's code that it belongs to, or that called what it belongs to. The
  // instance there; not valid: there is none.
  [[nodiscard]] Instance user_instance(WhichRun side, Instance at);
  [[nodiscard]] const CodePlace& place(WhichRun side, Instance at);

 private:
  TracedPair() = default;
  Instance with_line(WhichRun side, Instance at);

  std::array<RunResult, 2> results_;
  std::array<double, 2> seconds_ = {};
  std::array<std::unique_ptr<RunTrace>, 2> traces_;
  std::unique_ptr<CodeMap> code_;
  std::unique_ptr<FlowGraphs> graphs_;
  std::array<std::unique_ptr<Dependences>, 2> dependences_;
  std::unique_ptr<Alignment> alignment_;
  std::unique_ptr<Comparison> comparison_;
  std::array<std::unique_ptr<Symbolizer>, 2> symbols_;
  std::array<std::unique_ptr<Parties>, 2> parties_;
  std::array<std::array<std::unique_ptr<SyncOrder>, 2>, 2> orders_;  // by OrderedBy
  std::unordered_map<std::uint64_t, CodePlace> places_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_TRACED_PAIR_H_
