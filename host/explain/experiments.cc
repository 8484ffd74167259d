#include "host/explain/experiments.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace clew {
namespace {

Confirmed confirmed_by(const Lever& lever) {
  return lever.kind == Lever::Kind::kBranch ? Confirmed::kByBranch : Confirmed::kByValue;
}

// A main step under test.
struct Trial {
  ToldStep* told = nullptr;
  std::optional<Lever> lever;
  std::array<std::optional<std::uint64_t>, 2> reg;  // kRegister: its value in each run
  std::optional<Laboratory::Ran> cured;             // the failing run with the passing run's
  std::optional<Verdict> broken;                    // the passing run with the failing run's

  [[nodiscard]] std::optional<std::vector<RunChange>> changes(const RunsView& runs,
                                                              WhichRun side) const {
    if (!lever || (lever->kind == Lever::Kind::kRegister && !reg[other(side)])) return std::nullopt;
    return put_in(runs, side, *lever, reg[other(side)].value_or(0));
  }
};

// What registers hold is in no trace: each run is stopped there once.
void read_registers(Laboratory& laboratory, const RunsView& runs, std::vector<Trial>& trials) {
  std::vector<Laboratory::Task> tasks;
  std::vector<std::pair<Trial*, WhichRun>> of;
  for (Trial& trial : trials)
    for (const WhichRun side : {kFailing, kPassing}) {
      if (!trial.lever || trial.lever->kind != Lever::Kind::kRegister) continue;
      tasks.push_back({side, {probe(runs.trace(side), trial.lever->at[side])}});
      of.emplace_back(&trial, side);
    }
  const auto ran = laboratory.run(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (ran[i] && !ran[i]->registers.empty())
      of[i].first->reg[of[i].second] =
          ran[i]->registers.front()[static_cast<std::size_t>(of[i].first->lever->reg)];
  // The same in both: there is nothing to be put in.
  for (Trial& trial : trials)
    if (trial.lever && trial.lever->kind == Lever::Kind::kRegister && trial.reg[kFailing] &&
        trial.reg[kFailing] == trial.reg[kPassing])
      trial.lever.reset();
}

// Whether the step is, in a run with an earlier one put right, as in the passing run.
std::optional<bool> is_as_in_passing(TracedPair& pair, const Laboratory::Ran& ran,
                                     const ToldStep& told) {
  const BesidePassing beside(pair, ran);
  const RunsView runs = beside.view();
  const Dependences changed(*ran.trace, ran.threads, pair.graphs());
  Comparison comparison(changed, pair.run(kPassing), *runs.alignment);
  for (std::size_t i = told.nodes.size(); i-- > 0;) {
    const PathNode& node = told.nodes[i];
    const Instance at = instance_of(node.node);
    const Instance passing =
        node.side == kPassing ? at : pair.alignment().counterpart(kFailing, at);
    if (!passing.valid()) {
      // Only the failing run comes there: the changed one must not.
      const Parties parties(*ran.trace, pair.code());
      const Alignment with_failing(
          *ran.trace, pair.trace(kFailing), parties, pair.parties(kFailing),
          same_threads(ran.threads, *ran.trace, pair.run(kFailing).threads(), pair.trace(kFailing)),
          pair.graphs());
      return !with_failing.counterpart(kPassing, at).valid();
    }
    // Nodes that are the same in both runs tell nothing.
    if (pair.comparison().difference(kPassing, node_of(passing)) == Difference::kNone) continue;
    return runs.alignment->counterpart(kPassing, passing).valid() &&
           comparison.difference(kPassing, node_of(passing)) == Difference::kNone;
  }
  return std::nullopt;
}

// Whether the next step follows from the one of the trial, which was put right.
void test_link(TracedPair& pair, std::vector<Trial>& trials, std::size_t i) {
  auto& ran = trials[i].cured;
  if (!ran || ran->trace == nullptr) return;
  if (i + 1 < trials.size())
    if (const auto follows = is_as_in_passing(pair, *ran, *trials[i + 1].told))
      trials[i + 1].told->step.link = *follows ? Link::kConfirmed : Link::kRefuted;
  ran->trace.reset();
}

// As many at once as there are cores: a trace that is kept takes as much memory as one of the pair.
void run_side(Laboratory& laboratory, const RunsView& runs, WhichRun side,
              std::vector<Trial>& trials) {
  std::vector<Laboratory::Task> tasks;
  std::vector<std::size_t> of;
  const auto run = [&] {
    auto ran = laboratory.run(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!ran[i]) continue;
      if (side == kPassing) {
        trials[of[i]].broken = ran[i]->verdict;
        continue;
      }
      trials[of[i]].cured = *std::move(ran[i]);
      test_link(laboratory.pair(), trials, of[i]);
    }
    tasks.clear();
    of.clear();
  };
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (side == kPassing && trials[i].cured && trials[i].cured->verdict == Verdict::kPass) continue;
    auto changes = trials[i].changes(runs, side);
    if (!changes) continue;
    tasks.push_back({side, *std::move(changes), side == kFailing && laboratory.keeps_traces()});
    of.push_back(i);
    if (tasks.size() == Laboratory::cores()) run();
  }
  run();
}

}  // namespace

bool test_steps(Laboratory& laboratory, std::vector<ToldStep>& steps) {
  TracedPair& pair = laboratory.pair();
  const RunsView runs = view_of(pair);
  std::vector<Trial> trials;
  for (ToldStep& told : steps)
    if (told.step.main) trials.push_back({&told, find_lever(runs, told), {}, {}, {}});
  read_registers(laboratory, runs, trials);
  run_side(laboratory, runs, kFailing, trials);
  run_side(laboratory, runs, kPassing, trials);
  for (Trial& trial : trials) {
    Confirmed& confirmed = trial.told->step.confirmed;
    const bool testable = trial.changes(runs, kFailing) || trial.changes(runs, kPassing);
    const auto cured = trial.cured ? std::optional(trial.cured->verdict) : std::nullopt;
    if (!testable) {
      if (laboratory.may_go_on()) confirmed = Confirmed::kNotTestable;
    } else if (cured == Verdict::kPass || trial.broken == Verdict::kFail) {
      confirmed = confirmed_by(*trial.lever);
    } else if (cured == Verdict::kFail && trial.broken == Verdict::kPass) {
      confirmed = Confirmed::kRefuted;
    }
  }
  return !trials.empty() && trials.front().cured && trials.front().cured->verdict == Verdict::kPass;
}

std::optional<Verdict> run_jointly(Laboratory& laboratory, std::vector<Lever> levers) {
  TracedPair& pair = laboratory.pair();
  std::ranges::sort(levers, {}, [](const Lever& lever) { return lever.at[kFailing]; });
  std::vector<RunChange> changes;
  std::uint64_t changed_at = 0;  // the first of the last lever's
  std::optional<Laboratory::Ran> ran;
  for (std::size_t i = 0; i < levers.size(); ++i) {
    // Where the run comes to it depends on what was changed before.
    std::optional<std::vector<RunChange>> more;
    std::optional<Lever> here = levers[i];
    if (ran) {
      const BesidePassing beside(pair, *ran);
      here = moved(beside.view(), levers[i]);
      if (here) more = put_in(beside.view(), kFailing, *here, 0);
    } else {
      more = put_in(view_of(pair), kFailing, *here, 0);
    }
    if (!here) continue;  // it does not come there any more
    if (!more || more->front().offset < changed_at) return std::nullopt;
    changed_at = more->front().offset;
    for (RunChange& one : *more)
      changes.insert(std::ranges::upper_bound(changes, one.offset, {}, &RunChange::offset), one);
    const bool last = i + 1 == levers.size();
    ran = laboratory.run({kFailing, changes, !last});
    if (!ran || (!last && ran->trace == nullptr)) return std::nullopt;
  }
  return ran ? std::optional(ran->verdict) : std::nullopt;
}

std::vector<std::size_t> joint_causes(Laboratory& laboratory, const std::vector<Lever>& causes) {
  if (!laboratory.keeps_traces()) return {};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < causes.size(); ++i) kept.push_back(i);
  const auto verdict = [&](const std::vector<std::size_t>& these) {
    std::vector<Lever> levers;
    for (const std::size_t i : these) levers.push_back(causes[i]);
    return run_jointly(laboratory, std::move(levers));
  };
  if (verdict(kept) != Verdict::kPass) return {};
  // The last ones first: the first is the one that is told anyway.
  for (std::size_t i = causes.size(); i-- > 0 && kept.size() > 1;) {
    std::vector<std::size_t> fewer;
    for (const std::size_t one : kept)
      if (one != i) fewer.push_back(one);
    const auto without = verdict(fewer);
    // That it is needed must have been seen.
    if (!without || without == Verdict::kUnresolved) return {};
    if (without == Verdict::kPass) kept = std::move(fewer);
  }
  return kept;
}

void test_jointly(Laboratory& laboratory, const std::vector<Lever>& others,
                  std::vector<ToldStep>& steps) {
  if (!laboratory.keeps_traces()) return;
  const RunsView runs = view_of(laboratory.pair());
  std::vector<Lever> together = others;
  std::vector<ToldStep*> refuted;
  for (ToldStep& told : steps) {
    if (!told.step.main || told.step.confirmed != Confirmed::kRefuted) continue;
    const auto lever = find_lever(runs, told);
    if (!lever || lever->kind == Lever::Kind::kRegister) continue;
    if (!others.empty()) {
      std::vector<Lever> with = others;
      with.push_back(*lever);
      if (run_jointly(laboratory, std::move(with)) == Verdict::kPass) {
        told.step.confirmed = Confirmed::kJointly;
        continue;
      }
    }
    together.push_back(*lever);
    refuted.push_back(&told);
  }
  // All that are left, at once: if they make no difference either, they are no part of the chain.
  if (refuted.size() > 1 && run_jointly(laboratory, std::move(together)) == Verdict::kPass)
    for (ToldStep* told : refuted) told->step.confirmed = Confirmed::kJointly;
}

bool passes_with(Laboratory& laboratory, Instance at, std::uint32_t access, std::uint64_t value) {
  auto changes = put_value(laboratory.pair().trace(kFailing), at, access, value);
  if (!changes || !laboratory.may_go_on()) return false;
  const auto ran = laboratory.run({kFailing, *std::move(changes)});
  return ran && ran->verdict == Verdict::kPass;
}

}  // namespace clew
