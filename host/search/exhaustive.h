// Every schedule with few preemptions, up to equivalence: a search that ends with an answer.
//
// Policy. Schedules form a tree; a node is the state after a prefix of steps and its edges are the
// threads that are runnable there. A run follows a prefix and then the default (the running thread
// continues; if it is blocked, the one that has been ready longest runs). From a run's trace the
// search finds the races: a step of another thread that conflicts with what thread u does (or would
// do) next and is not ordered before it by the happens-before relation. Each is a reason to let u
// go first at that node. A switch away from a runnable thread is a preemption. Nodes are taken in
// the order of the preemptions they need, so bound 0 is done before 1 and the first failure found
// is one with the fewest; nothing is run twice, since the bounds share one tree.
//
// Reduction: bounded partial-order reduction (Coons, Musuvathi, McKinley, "Bounded Partial-Order
// Reduction", OOPSLA 2013; for the unbounded case Flanagan and Godefroid, POPL 2005). Why nothing
// within the bound is missed: without a bound it is enough to let u go before the step it races
// with. With a bound that schedule may need a preemption too many where an equivalent one, which
// lets u go before the whole block of steps of the thread it overtakes, does not. So there is
// always a second, conservative point where that block begins: letting another thread go there
// costs no more than the switch that is there already. And the continuation tried first is the
// one that costs nothing, the default. A point is kept if its own cost is within the bound.
// Where u cannot run at such a point, every thread that can is tried. Points are sought at all
// states at which the step was still to come, and for each thread that conflicts (section 4).
//  - What makes a thread wait matters too, since a switch away from a waiting thread is free: the
//    release of a lock and a thread's end count as races with a later kLock or kJoin that
//    would have waited for them (the join only if its block of steps began with something else).
//  - Tested against brute force (exhaustive_test.cc), not proved for this dependence relation.
//  - No sleep sets. They drop a schedule because an equivalent one was explored earlier, but under
//    a bound the earlier one may have been cut off. The price is that several schedules can be
//    run that are equivalent.
//  - What is explored is the least set closed under "a run's races add points". It does not depend
//    on the order of the runs, hence neither on the number of workers nor on `most`.
//
// What it relies on:
//  - All jobs have kJobAllPoints: every access is a scheduling point. Sharing is otherwise learned
//    from run to run, and the same prefix would mean different steps before and after. As it is,
//    runs with the same prefix have the same steps up to its end and one more; a run for
//    which that is not so departed, and the answer is then not complete.
//  - Steps conflict as rt::conflict() says; kOther conflicts with nothing. Taking and releasing a
//    lock are never both possible, so a try-lock is to be traced as kUpdate of the lock. A wait
//    that takes a lock again traces that as kLock. kJoin: `object` is that of the thread's kCreate,
//    or its index; if it is neither, the search is sound but tries more.
//  - Exit is traced as a step of its own (kOther) of the thread that exits; otherwise the last step
//    before it is taken for it, and joined threads may look cut off: sound, but far more runs.
//  - A run that ends while other threads are runnable (exit, a failed assertion) ends with a step
//    that conflicts with whatever they would have done next.
//  - Time and other choices (abi::ChoiceKind) are not explored: they are answered in the default
//    way.
#ifndef CLEW_HOST_SEARCH_EXHAUSTIVE_H_
#define CLEW_HOST_SEARCH_EXHAUSTIVE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

class ExhaustiveSearch final : public Search {
 public:
  // What is tried first, of schedules within the bound: those with few preemptions, or those that
  // differ from the default in few places, preemptions and choices among waiting threads alike (Emmi,
  // Qadeer, Rakamaric, "Delay-Bounded Scheduling", POPL 2011). Many threads have many orders without any
  // preemption, and one or two other choices lead to most failures. Equals are then taken at random, so
  // that a hundred neighbours are not tried one after the other.
  enum class Order : std::uint8_t { kPreemptions, kDeviations };
  struct Options {
    Order order = Order::kPreemptions;
    std::uint64_t seed = 0;             // for kDeviations
    bool short_sleeps = false;          // abi::kPrefixShortSleeps: no length of a sleep is left out
    std::size_t most_nodes = 1u << 25;  // Chosen, not measured: a limit of memory.
  };
  static constexpr std::uint32_t kNoBound = ~std::uint32_t{0};

  explicit ExhaustiveSearch(std::uint32_t bound) : ExhaustiveSearch(bound, Options{}) {}
  ExhaustiveSearch(std::uint32_t bound, Options options);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;
  [[nodiscard]] std::optional<std::string> conclusion() const override;
  // The search is over and every schedule within the bound passes, whatever is answered to
  // questions and wherever there is code without yield points.
  [[nodiscard]] bool all_pass() const;
  // The search is over, and every schedule within the bound was executed, but for what untried()
  // says.
  [[nodiscard]] bool all_executed() const;
  // Whether this job is one of its own that it has not learned of yet.
  [[nodiscard]] bool waits_for(const JobPlan& plan) const;
  // The search can give no answer any more.
  [[nodiscard]] bool gave_up() const { return !no_answer_.empty(); }

  // What could have happened and was not tried, of the answers to questions and of the rest; empty:
  // nothing.
  [[nodiscard]] std::string untried() const;

 private:
  using NodeId = std::uint32_t;
  static constexpr NodeId kNoNode = ~NodeId{0};
  static constexpr std::uint16_t kNoThread = 0xffff;

  // The state after a prefix, which is the path to it.
  struct Node {
    std::uint64_t enabled = 0;
    std::uint64_t wanted = 0;  // tried, proposed or waiting to be
    NodeId parent = kNoNode;
    std::uint32_t preemptions = 0;
    std::uint32_t deviations = 0;       // from what the default chose
    std::uint16_t running = kNoThread;  // made the step that led here
    std::uint16_t first = kNoThread;    // whom the default chose here
  };
  // Let `thread` run at `node`. With kNoNode: the run without a prefix.
  struct Point {
    NodeId node = kNoNode;
    std::uint16_t thread = kNoThread;
  };
  struct Proposal {
    Point point;
    std::vector<std::uint32_t> prefix;
    JobPlan plan;
  };

  // Of each step of a run: the node before it, and the first of those that its thread made in a row.
  struct Path {
    std::vector<NodeId> nodes;
    std::vector<std::size_t> blocks;
  };

  [[nodiscard]] Proposal propose(Point point) const;
  [[nodiscard]] bool over() const;
  // Whether the run did what was known of its prefix.
  [[nodiscard]] bool followed(const Proposal& proposal, std::span<const TraceStep> trace) const;
  // The nodes before each step of the trace; those behind the prefix are new.
  [[nodiscard]] std::vector<NodeId> extend(const Proposal& proposal,
                                           std::span<const TraceStep> trace);
  // Thread u races with the step: it is to go before it, and before the block of the step.
  void race(const Path& path, std::size_t step, std::uint32_t u);
  void want(NodeId node, std::uint32_t thread);
  [[nodiscard]] static std::uint32_t preempts(const Node& node, std::uint32_t thread);

  std::uint32_t bound_;
  Options options_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Point>> waiting_;  // by preemptions or deviations needed, the newest last
  std::deque<Proposal> proposed_;            // not yet reported, in order
  bool beyond_ = false;                      // some point needs more preemptions than the bound
  std::uint64_t runs_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t unresolved_ = 0;
  std::uint64_t departed_ = 0;   // of the unresolved: left their prefix, or no trace
  std::uint32_t uncovered_ = 0;  // abi::Uncovered
  std::uint32_t questions_ = 0;  // choices beyond switches that came up
  std::string no_answer_;        // why; then the search is over
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_EXHAUSTIVE_H_
