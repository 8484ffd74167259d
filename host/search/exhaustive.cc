#include "host/search/exhaustive.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <unordered_map>

#include "host/search/guides.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::TraceEvent;

constexpr std::uint32_t kMostThreads = 64;  // TraceEvent::enabled has no room for more
constexpr std::size_t kMostNodes = std::size_t{1} << 25;

constexpr std::uint64_t bit(std::uint32_t thread) { return std::uint64_t{1} << thread; }

std::uint64_t end_of(const TraceEvent& step) { return step.object + std::max(step.size, 1u); }

bool dependent(const TraceEvent& a, const TraceEvent& b) {
  if (a.object == 0 || b.object == 0) return false;
  if (a.kind == StepKind::kOther || b.kind == StepKind::kOther) return false;
  if (a.kind == StepKind::kRead && b.kind == StepKind::kRead) return false;
  return a.object < end_of(b) && b.object < end_of(a);
}

// Of dependent steps: whether there can be a state at which both could be next.
bool may_be_coenabled(const TraceEvent& a, const TraceEvent& b) {
  return !(a.kind == StepKind::kLock && b.kind == StepKind::kUnlock) &&
         !(a.kind == StepKind::kUnlock && b.kind == StepKind::kLock);
}

// The happens-before relation of a trace by vector clocks, and its races.
class Order {
 public:
  // `race(i, u)`: step i conflicts with the next step of u at some state after it, and does not
  // happen before it.
  using Race = std::function<void(std::size_t i, std::uint32_t u)>;

  explicit Order(std::span<const TraceEvent> trace);

  // Those of the steps from `from` on with the ones before each; the former and the threads'
  // unknown next steps when the run ended.
  void each_race(std::size_t from, const Race& race);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr int kGranule = 6;  // log2 of the bytes under one key of touched_

  // Numbers of steps of each thread; it knows of that many.
  using Clock = std::vector<std::uint32_t>;
  struct Thread {
    std::size_t last = kNone;  // its newest step, up to the current one
    Clock known;               // happened before its next step, whatever lock that takes
    Clock released;            // ... because of a lock it waited for
    bool waits = false;        // in a kWait that nothing has ended yet
  };
  using ByThread = std::vector<std::vector<std::size_t>>;  // steps, ascending

  void step(std::size_t k, const Race* race);
  void races_of(std::size_t k, const TraceEvent& next, std::uint32_t u, const Race& race) const;
  [[nodiscard]] bool could_run(std::size_t i, std::uint32_t u) const;
  [[nodiscard]] bool may_split(std::size_t k, std::uint32_t u) const;
  void touch(std::size_t k);
  void see_waking(std::size_t j);
  void cut_off(const Race& race) const;
  [[nodiscard]] std::uint32_t joined_by(const TraceEvent& step) const;
  static void merge(Clock& into, const Clock& from);
  template <class F>
  void each_touched(const TraceEvent& step, const F& f) const;

  std::span<const TraceEvent> trace_;
  std::uint32_t width_ = 0;            // threads
  std::vector<Clock> clocks_;          // what happened before or at each step
  std::vector<std::uint32_t> number_;  // of each step among its thread's, from 1
  std::vector<std::size_t> final_;     // each thread's last step of all
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, ByThread> touched_;
  std::unordered_map<std::uint64_t, std::uint32_t> created_;  // index by object of kCreate
  std::uint32_t creations_ = 0;
  std::uint64_t joined_ = 0;          // threads that are known to have ended
  Clock known_at_end_;                // to the thread of the last step, before it
  std::size_t since_at_end_ = kNone;  // the step of that thread before it
};

Order::Order(std::span<const TraceEvent> trace) : trace_(trace) {
  for (const TraceEvent& step : trace) {
    width_ = std::max(
        {width_, step.index + 1u, static_cast<std::uint32_t>(std::bit_width(step.enabled))});
  }
  final_.assign(width_, kNone);
  for (std::size_t k = 0; k < trace.size(); ++k) final_[trace[k].index] = k;
  threads_.resize(width_);
  for (Thread& thread : threads_) thread.known.resize(width_);
  clocks_.reserve(trace.size());
  number_.reserve(trace.size());
}

void Order::each_race(std::size_t from, const Race& race) {
  for (std::size_t k = 0; k < trace_.size(); ++k) {
    step(k, k >= from ? &race : nullptr);
    see_waking(k);
  }
  cut_off(race);
}

void Order::step(std::size_t k, const Race* race) {
  const TraceEvent& now = trace_[k];
  Thread& thread = threads_[now.index];
  if (thread.last != kNone && trace_[thread.last].kind == StepKind::kJoin) {
    const std::uint32_t child = joined_by(trace_[thread.last]);
    if (child < width_ && final_[child] < k) {
      merge(thread.known, clocks_[final_[child]]);
      joined_ |= bit(child);
    }
  }
  if (race != nullptr) races_of(k, now, now.index, *race);
  if (k + 1 == trace_.size()) {
    known_at_end_ = thread.known;
    since_at_end_ = thread.last;
  }

  Clock clock = thread.known;
  if (now.kind == StepKind::kLock) merge(clock, thread.released);
  each_touched(now, [&](const ByThread& steps) {
    for (std::uint32_t v = 0; v < width_; ++v) {
      if (v == now.index) continue;
      for (auto i = steps[v].rbegin(); i != steps[v].rend() && number_[*i] > clock[v]; ++i) {
        if (!dependent(trace_[*i], now)) continue;
        merge(clock, clocks_[*i]);
        break;
      }
    }
  });
  number_.push_back(++clock[now.index]);
  thread.last = k;
  thread.known = clock;
  thread.released.clear();
  thread.waits = now.kind == StepKind::kWait;
  clocks_.push_back(std::move(clock));
  touch(k);
}

// At every state since u's last step `next` was to come: of each other thread all conflicting steps
// since then, and the last one before.
void Order::races_of(std::size_t k, const TraceEvent& next, std::uint32_t u,
                     const Race& race) const {
  const Thread& thread = threads_[u];
  each_touched(next, [&](const ByThread& steps) {
    for (std::uint32_t v = 0; v < width_; ++v) {
      if (v == u) continue;
      for (auto i = steps[v].rbegin(); i != steps[v].rend(); ++i) {
        if (number_[*i] <= thread.known[v]) break;
        if (!dependent(trace_[*i], next)) continue;
        const bool pending = thread.last == kNone || *i > thread.last;
        if (may_be_coenabled(trace_[*i], next)) {
          race(*i, u);
          if (!pending) break;
        } else if (could_run(*i, u)) {
          race(*i, u);
        }
      }
    }
  });
  if (next.kind != StepKind::kJoin || !may_split(k, u)) return;
  const std::uint32_t child = joined_by(next);
  for (std::uint32_t v = 0; v < width_; ++v) {
    if (v == u || (child != kMostThreads && child != v) || final_[v] >= k) continue;
    if (number_[final_[v]] > thread.known[v] && could_run(final_[v], u)) race(final_[v], u);
  }
}

bool Order::could_run(std::size_t i, std::uint32_t u) const {
  const std::size_t last = threads_[u].last;
  return (last != kNone && i < last) || (trace_[i].enabled & bit(u)) != 0;
}

// Had u come to step k earlier, it would have had to wait there: a switch that is no preemption, in
// the midst of what is now one block of steps of u. Whether that block begins with steps that
// others can notice; otherwise nothing is gained.
bool Order::may_split(std::size_t k, std::uint32_t u) const {
  while (k-- > 0 && trace_[k].index == u) {
    if (trace_[k].kind != StepKind::kJoin && trace_[k].kind != StepKind::kOther) return true;
  }
  return false;
}

void Order::touch(std::size_t k) {
  const TraceEvent& now = trace_[k];
  if (now.object == 0 || now.kind == StepKind::kOther) return;
  for (std::uint64_t g = now.object >> kGranule; g <= (end_of(now) - 1) >> kGranule; ++g) {
    ByThread& steps = touched_[g];
    steps.resize(width_);
    steps[now.index].push_back(k);
  }
}

template <class F>
void Order::each_touched(const TraceEvent& step, const F& f) const {
  if (step.object == 0 || step.kind == StepKind::kOther) return;
  for (std::uint64_t g = step.object >> kGranule; g <= (end_of(step) - 1) >> kGranule; ++g) {
    if (const auto steps = touched_.find(g); steps != touched_.end()) f(steps->second);
  }
}

// Step j is done: what other threads could not go on without it?
void Order::see_waking(std::size_t j) {
  const TraceEvent& now = trace_[j];
  if (now.kind == StepKind::kCreate) {
    const std::uint32_t child = ++creations_;
    created_[now.object] = child;
    if (child < width_) merge(threads_[child].known, clocks_[j]);
  }
  // A waiting thread needs at least the first signal after its wait (or, at a barrier, the next
  // arrival); if a later one wakes it, the first happened before that.
  if (now.kind == StepKind::kSignal || now.kind == StepKind::kWait) {
    for (std::uint32_t u = 0; u < width_; ++u) {
      Thread& thread = threads_[u];
      if (u == now.index || !thread.waits) continue;
      if ((now.enabled & bit(u)) != 0) {
        thread.waits = false;
      } else if (dependent(trace_[thread.last], now)) {
        merge(thread.known, clocks_[j]);
        thread.waits = false;
      }
    }
  }
  if (j + 1 == trace_.size()) return;
  std::uint64_t woken = trace_[j + 1].enabled & ~now.enabled & ~bit(now.index);
  for (; woken != 0; woken &= woken - 1) {
    const auto u = static_cast<std::uint32_t>(std::countr_zero(woken));
    Thread& thread = threads_[u];
    if (thread.last == kNone) continue;
    if (trace_[thread.last].kind == StepKind::kJoin && final_[now.index] == j) {
      merge(thread.known, clocks_[j]);
    } else if (now.kind == StepKind::kUnlock || now.kind == StepKind::kWait) {
      merge(thread.released, clocks_[j]);
    }
  }
}

// The run is over, but perhaps not all threads were: its last step, which ended it, conflicts with
// all that others did or would have done. If they had ended, in an order, there are no such races.
void Order::cut_off(const Race& race) const {
  if (trace_.empty()) return;
  const std::size_t end = trace_.size() - 1;
  const TraceEvent& last = trace_[end];
  // Nobody knows what those will do next that could have gone on.
  for (std::uint64_t left = last.enabled & ~bit(last.index); left != 0; left &= left - 1) {
    const auto u = static_cast<std::uint32_t>(std::countr_zero(left));
    race(end, u);
    for (std::size_t i = end; i-- > 0;) {
      const TraceEvent& step = trace_[i];
      if (step.index == u || step.kind == StepKind::kOther) continue;
      if (number_[i] > threads_[u].known[step.index]) race(i, u);
    }
  }
  std::uint64_t found = 0;  // threads of which the last such step before `since` is found
  for (std::size_t i = end; i-- > 0;) {
    const TraceEvent& step = trace_[i];
    if (step.index == last.index || step.kind == StepKind::kOther) continue;
    if ((found & bit(step.index)) != 0 || number_[i] <= known_at_end_[step.index]) continue;
    race(i, last.index);
    if (since_at_end_ != kNone && i < since_at_end_) found |= bit(step.index);
  }
  // Somebody may wait for a lock that is still held (if by a try-lock, it was an update).
  std::map<std::uint64_t, const TraceEvent*> held;
  for (const TraceEvent& step : trace_) {
    if (step.kind == StepKind::kLock || step.kind == StepKind::kUpdate) held[step.object] = &step;
    if (step.kind == StepKind::kUnlock) held.erase(step.object);
  }
  for (const auto& [object, step] : held) {
    for (std::uint32_t u = 0; u < width_; ++u) {
      if (u == last.index || ((joined_ | last.enabled) & bit(u)) != 0) continue;
      TraceEvent next = *step;
      next.kind = StepKind::kLock;
      races_of(trace_.size(), next, u, race);
    }
  }
}

std::uint32_t Order::joined_by(const TraceEvent& step) const {
  if (const auto child = created_.find(step.object); child != created_.end()) return child->second;
  return step.object < kMostThreads ? static_cast<std::uint32_t>(step.object) : kMostThreads;
}

void Order::merge(Clock& into, const Clock& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t v = 0; v < from.size(); ++v) into[v] = std::max(into[v], from[v]);
}

}  // namespace

ExhaustiveSearch::ExhaustiveSearch(std::uint32_t bound) : bound_(bound) {
  waiting_.resize(1);
  waiting_[0].push_back({});
}

std::vector<JobPlan> ExhaustiveSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (!no_answer_.empty()) return plans;
  const auto level =
      std::ranges::find_if(waiting_, [](const auto& points) { return !points.empty(); });
  if (level == waiting_.end()) return plans;
  while (plans.size() < most && !level->empty()) {
    proposed_.push_back(propose(level->back()));
    level->pop_back();
    plans.push_back(proposed_.back().plan);
  }
  return plans;
}

ExhaustiveSearch::Proposal ExhaustiveSearch::propose(Point point) const {
  Proposal proposal;
  proposal.point = point;
  if (point.node != kNoNode) {
    proposal.prefix.push_back(point.thread);
    for (NodeId at = point.node; nodes_[at].parent != kNoNode; at = nodes_[at].parent) {
      proposal.prefix.push_back(nodes_[at].running);
    }
    std::ranges::reverse(proposal.prefix);
  }
  proposal.plan.strategy = abi::StrategyKind::kPrefix;
  proposal.plan.flags = abi::kJobTrace | abi::kJobAllPoints;
  proposal.plan.guide = prefix_guide(proposal.prefix);
  return proposal;
}

void ExhaustiveSearch::learn(const JobPlan& plan, const JobReport& report) {
  const auto found = std::ranges::find(
      proposed_, plan.guide, [](const Proposal& p) -> const auto& { return p.plan.guide; });
  if (found == proposed_.end()) return;
  const Proposal proposal = std::move(*found);
  proposed_.erase(found);
  if (!no_answer_.empty()) return;

  const std::span<const TraceEvent> trace = report.trace;
  ++runs_;
  questions_ |= report.result.questions;
  handlers_wanted_ |= report.result.handlers_wanted != 0;
  if (report.verdict == Verdict::kFail) ++failed_;
  if (report.result.threads > kMostThreads ||
      std::ranges::any_of(trace,
                          [](const TraceEvent& step) { return step.index >= kMostThreads; })) {
    no_answer_ = "no answer: the program has more than 64 threads";
  } else if (trace.empty() && report.result.points > 0) {
    no_answer_ = "no answer: a run had too many steps for its trace to be kept";
  } else if (nodes_.size() + trace.size() > kMostNodes) {
    no_answer_ = "no answer: there are too many schedules to keep track of";
  } else if (!followed(proposal, trace) ||
             (trace.empty() && report.verdict == Verdict::kUnresolved)) {
    ++departed_;
    ++unresolved_;
  } else {
    if (report.verdict == Verdict::kUnresolved) ++unresolved_;
    const std::vector<NodeId> path = extend(proposal, trace);
    const std::size_t length = proposal.prefix.size();
    Order(trace).each_race(length == 0 ? 0 : length - 1,
                           [&](std::size_t step, std::uint32_t u) { race(trace, path, step, u); });
  }
}

bool ExhaustiveSearch::followed(const Proposal& proposal, std::span<const TraceEvent> trace) const {
  if (trace.size() < proposal.prefix.size()) return false;
  NodeId at = proposal.point.node;
  for (std::size_t k = proposal.prefix.size(); k-- > 0; at = nodes_[at].parent) {
    if (trace[k].index != proposal.prefix[k] || trace[k].enabled != nodes_[at].enabled)
      return false;
  }
  return true;
}

std::vector<ExhaustiveSearch::NodeId> ExhaustiveSearch::extend(const Proposal& proposal,
                                                               std::span<const TraceEvent> trace) {
  std::vector<NodeId> path(trace.size(), kNoNode);
  const std::size_t length = proposal.prefix.size();
  NodeId at = proposal.point.node;
  for (std::size_t k = length; k-- > 0; at = nodes_[at].parent) path[k] = at;
  for (std::size_t k = length; k < trace.size(); ++k) {
    Node node;
    node.enabled = trace[k].enabled;
    node.first = trace[k].index;
    node.wanted = bit(node.first);
    if (k > 0) {
      const Node& parent = nodes_[path[k - 1]];
      node.parent = path[k - 1];
      node.running = trace[k - 1].index;
      node.preemptions = parent.preemptions + preempts(parent, node.running);
    }
    path[k] = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(node);
  }
  return path;
}

// The default lets the running thread go on if it can: where it did not, no switch is a preemption.
std::uint32_t ExhaustiveSearch::preempts(const Node& node, std::uint32_t thread) {
  return node.first == node.running && thread != node.running ? 1 : 0;
}

void ExhaustiveSearch::race(std::span<const TraceEvent> trace, const std::vector<NodeId>& path,
                            std::size_t step, std::uint32_t u) {
  want(path[step], u);
  std::size_t block = step;
  while (block > 0 && trace[block - 1].index == trace[step].index) --block;
  if (block != step) want(path[block], u);
}

void ExhaustiveSearch::want(NodeId id, std::uint32_t thread) {
  Node& node = nodes_[id];
  std::uint64_t threads = (node.enabled & bit(thread)) != 0 ? bit(thread) : node.enabled;
  threads &= ~node.wanted;
  node.wanted |= threads;
  for (; threads != 0; threads &= threads - 1) {
    const auto t = static_cast<std::uint16_t>(std::countr_zero(threads));
    const std::uint32_t preemptions = node.preemptions + preempts(node, t);
    if (preemptions > bound_) {
      beyond_ = true;
      continue;
    }
    if (waiting_.size() <= preemptions) waiting_.resize(preemptions + 1);
    waiting_[preemptions].push_back({id, t});
  }
}

std::string ExhaustiveSearch::using_now() const { return "exhaustive"; }

bool ExhaustiveSearch::over() const {
  return proposed_.empty() &&
         std::ranges::all_of(waiting_, [](const auto& p) { return p.empty(); });
}

namespace {

// What else could have happened at the choices beyond switches that came up.
std::string untried_answers(std::uint32_t questions) {
  std::string text;
  for (const auto& [kind, words] :
       {std::pair{abi::ChoiceKind::kWake, "waking another than the longest waiting thread"},
        {abi::ChoiceKind::kSpurious, "spurious wake-ups"},
        {abi::ChoiceKind::kTimeout, "early timeouts"},
        {abi::ChoiceKind::kTrylock, "failing trylocks"},
        {abi::ChoiceKind::kCas, "failing weak compare-exchanges"}}) {
    if ((questions & 1u << static_cast<unsigned>(kind)) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(words);
  }
  return text;
}

}  // namespace

std::string ExhaustiveSearch::untried() const {
  std::string text = untried_answers(questions_);
  if (handlers_wanted_)
    text += (text.empty() ? "" : ", ") + std::string("signals that come at other points");
  return text;
}

bool ExhaustiveSearch::all_pass() const {
  return no_answer_.empty() && over() && failed_ == 0 && unresolved_ == 0 && departed_ == 0 &&
         untried().empty();
}

std::optional<std::string> ExhaustiveSearch::conclusion() const {
  if (!no_answer_.empty()) return no_answer_;
  if (!over()) return std::nullopt;
  const auto count = [](std::uint64_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
  };
  const std::string within = " with at most " + count(bound_, "preemption");
  std::string text;
  if (failed_ > 0) {
    text = std::to_string(failed_) + " of " + count(runs_, "schedule") + within +
           (failed_ == 1 ? " fails" : " fail");
  } else if (unresolved_ > 0) {
    text = "no failure in " + count(runs_, "schedule") + within;
  } else if (runs_ == 1) {
    text = "the 1 schedule" + within + " passes";
  } else {
    text = "all " + count(runs_, "schedule") + within + " pass";
  }
  if (unresolved_ > 0) text += "; " + std::to_string(unresolved_) + " unresolved";
  if (departed_ > 0) {
    text += (unresolved_ > 0 ? ", " : "; ") + std::to_string(departed_) +
            " of them because the run departed from its schedule: there may be others that were "
            "not tried";
  }
  const std::string others = untried();
  if (!others.empty()) text += ", apart from " + others + ", which are not tried";
  if (failed_ + unresolved_ == 0 && !handlers_wanted_) {
    text += beyond_ ? " (any other of them is equivalent to "
                    : " (any other, also with more preemptions, is equivalent to ";
    text += runs_ == 1 ? "it)" : "one of these)";
  }
  return text;
}

}  // namespace clew
