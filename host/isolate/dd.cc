#include "host/isolate/dd.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "host/search/sampling.h"

namespace clew {

namespace {

// dd2 of figure 7 as a machine: it puts a question, is given the outcome and puts the next one. It
// can be copied, to see what it would ask.
//
// Invariant: unless done, the question lies strictly between the two sides, and both sides are
// questions whose outcome was given (or what it began with).
class Narrowing {
 public:
  Narrowing(Counts passing, Counts failing)
      : passing_(std::move(passing)), failing_(std::move(failing)) {
    begin_round();
    settle();
  }

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const Counts& question() const { return question_; }
  void answer(Verdict outcome) {
    use(outcome);
    settle();
  }

  [[nodiscard]] const Counts& passing() const { return passing_; }
  [[nodiscard]] const Counts& failing() const { return failing_; }

 private:
  // A round goes through the subsets four times. `kAdd` and `kRemove` look for rules 1 and 2, and
  // note for which subsets rules 3 and 4 hold; these are then used.
  enum class Stage : std::uint8_t { kAdd, kRemove, kKeepAdded, kKeepRemoved };

  // D_i: of the groups left_[begin..end) all that is left (depth 0), or a part of it.
  struct Subset {
    std::size_t begin, end;
    bool adding_passes = false;   // rule 3
    bool removing_fails = false;  // rule 4
  };

  void begin_round();
  void end_round();
  void settle();
  void use(Verdict outcome);
  [[nodiscard]] bool is_asked(const Subset& subset) const;
  [[nodiscard]] Counts question_for(const Subset& subset) const;
  [[nodiscard]] bool is_half(const Subset& subset) const;
  [[nodiscard]] std::uint64_t part(std::size_t group) const;

  // Rules 1 and 2.
  void restart(Counts& side) {
    side = std::move(question_);
    pieces_ = 2;
    depth_ = std::min(depth_, 1u);
    narrowed_at_ = 0;
    begin_round();
  }
  // Rules 3 and 4.
  void keep(Counts& side) {
    side = std::move(question_);
    ++narrowed_;
  }

  Counts passing_, failing_;
  std::size_t pieces_ = 2;         // n of figure 7, while whole groups are split
  unsigned depth_ = 0;             // from 1: subsets are parts of groups, 1 / 2^depth of each
  unsigned narrowed_at_ = 0;       // the depth of the round before, if that narrowed
  std::vector<std::size_t> left_;  // groups in which the sides differ, as the round began

  std::vector<Subset> subsets_;
  Stage stage_ = Stage::kAdd;
  std::size_t at_ = 0;
  std::size_t narrowed_ = 0;  // in this round
  Counts question_;
  bool done_ = false;
};

void Narrowing::begin_round() {
  left_.clear();
  for (std::size_t group = 0; group < passing_.size(); ++group)
    if (passing_[group] < failing_[group]) left_.push_back(group);
  done_ = left_.empty() || (left_.size() == 1 && failing_[left_[0]] - passing_[left_[0]] == 1);
  if (left_.size() == 1) depth_ = std::max(depth_, 1u);
  pieces_ = std::min(pieces_, left_.size());

  subsets_.clear();
  if (depth_ > 0 && left_.size() > 1) subsets_.push_back({0, left_.size()});
  const std::size_t count = depth_ > 0 ? left_.size() : pieces_;
  for (std::size_t i = 0, begin = 0; i < count; ++i) {
    const std::size_t end = begin + left_.size() / count + (i < left_.size() % count ? 1 : 0);
    subsets_.push_back({begin, end});
    begin = end;
  }
  stage_ = Stage::kAdd;
  at_ = 0;
  narrowed_ = 0;
}

void Narrowing::end_round() {
  if (depth_ == 0) {
    if (narrowed_ > 0)
      pieces_ = std::max<std::size_t>(pieces_ - std::min(pieces_, narrowed_), 2);
    else if (pieces_ < left_.size())
      pieces_ *= 2;
    else
      depth_ = 1;
  } else if (narrowed_ > 0) {
    if (std::exchange(narrowed_at_, depth_) == depth_) depth_ = std::max(depth_ - 1, 1u);
  } else {
    narrowed_at_ = 0;
    const bool single =
        std::ranges::all_of(left_, [&](std::size_t group) { return part(group) == 1; });
    if (single) {
      done_ = true;
      return;
    }
    ++depth_;
  }
  begin_round();
}

// Moves to the next question.
void Narrowing::settle() {
  while (!done_) {
    if (at_ == subsets_.size()) {
      at_ = 0;
      if (stage_ == Stage::kKeepRemoved)
        end_round();
      else
        stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
      continue;
    }
    if (is_asked(subsets_[at_])) {
      question_ = question_for(subsets_[at_]);
      if (question_ != passing_ && question_ != failing_) return;
    }
    ++at_;
  }
}

bool Narrowing::is_asked(const Subset& subset) const {
  switch (stage_) {
    case Stage::kAdd:
    case Stage::kRemove:
      return true;
    case Stage::kKeepAdded:
      return subset.adding_passes;
    case Stage::kKeepRemoved:
      return subset.removing_fails;
  }
  return false;
}

Counts Narrowing::question_for(const Subset& subset) const {
  const bool adding = stage_ == Stage::kAdd || stage_ == Stage::kKeepAdded;
  Counts counts = adding ? passing_ : failing_;
  for (std::size_t i = subset.begin; i < subset.end; ++i) {
    const std::size_t group = left_[i];
    counts[group] = adding ? passing_[group] + part(group) : failing_[group] - part(group);
  }
  return counts;
}

void Narrowing::use(Verdict outcome) {
  Subset& subset = subsets_[at_];
  if (stage_ == Stage::kAdd || stage_ == Stage::kKeepAdded) {
    if (outcome == Verdict::kFail) return restart(failing_);
    // To add one half is to remove the other.
    if (outcome == Verdict::kPass && is_half(subset)) return restart(passing_);
    if (outcome == Verdict::kPass && stage_ == Stage::kKeepAdded) keep(passing_);
    subset.adding_passes = outcome == Verdict::kPass;
  } else {
    if (outcome == Verdict::kPass) return restart(passing_);
    if (outcome == Verdict::kFail && is_half(subset)) return restart(failing_);
    if (outcome == Verdict::kFail && stage_ == Stage::kKeepRemoved) keep(failing_);
    subset.removing_fails = outcome == Verdict::kFail;
  }
  ++at_;
}

// Whether this is one of the two subsets of n = 2.
bool Narrowing::is_half(const Subset& subset) const {
  if (depth_ == 0) return subsets_.size() == 2;
  return depth_ == 1 && subset.end - subset.begin == left_.size();
}

// How many changes of a group are in one subset. Parts differ by one change at most; the larger
// one stands for all.
std::uint64_t Narrowing::part(std::size_t group) const {
  const std::uint64_t left = failing_[group] - passing_[group];
  if (depth_ == 0 || left == 0) return left;
  return depth_ < 64 ? ((left - 1) >> depth_) + 1 : 1;
}

// Foresight gives up after so many questions whose outcome is known. Chosen, not measured.
constexpr int kForesight = 64;

// Stands for counts whose outcome is known. 128 bits of a hash and not the counts
// themselves: those of thousands of tests with thousands of groups would fill the memory.
struct Fingerprint {
  std::uint64_t high = 0x636c6577, low = 0x6464;
  bool operator==(const Fingerprint&) const = default;

  explicit Fingerprint(const Counts& counts) {
    for (const std::uint64_t count : counts) {
      high = mix(high, count);
      low = mix(low, ~count);
    }
  }
};
struct FingerprintHash {
  std::size_t operator()(const Fingerprint& print) const { return print.low; }
};

class Dd {
 public:
  Dd(DdOracle& oracle, Counts passing, Counts failing)
      : oracle_(oracle),
        outcomes_{{Fingerprint(passing), Verdict::kPass}, {Fingerprint(failing), Verdict::kFail}},
        narrowing_(std::move(passing), std::move(failing)) {}

  DdResult run(std::uint64_t most_tests) {
    std::uint64_t tests = 0;
    while (!narrowing_.done()) {
      std::optional<Verdict> outcome = look_up(narrowing_.question());
      if (!outcome) {
        if (tests == most_tests || !oracle_.go_on()) break;
        announce();
        outcome = oracle_.test(narrowing_.question());
        ++tests;
        // It may be unresolved for the very reason that this is the end, which shows nothing.
        if (*outcome == Verdict::kUnresolved && !oracle_.go_on()) break;
        outcomes_.emplace(narrowing_.question(), *outcome);
      }
      narrowing_.answer(*outcome);
    }
    return {narrowing_.passing(), narrowing_.failing(), tests, narrowing_.done()};
  }

 private:
  std::optional<Verdict> look_up(const Counts& counts);
  void announce();
  void foresee(Narrowing narrowing, Verdict outcome, int levels, std::vector<Counts>& next);

  DdOracle& oracle_;
  std::unordered_map<Fingerprint, Verdict, FingerprintHash> outcomes_;
  Narrowing narrowing_;
};

std::optional<Verdict> Dd::look_up(const Counts& counts) {
  const Fingerprint print(counts);
  if (const auto found = outcomes_.find(print); found != outcomes_.end()) return found->second;
  const std::optional<Verdict> known = oracle_.known(counts);
  if (known) outcomes_.emplace(print, *known);
  return known;
}

void Dd::announce() {
  std::vector<Counts> if_pass, if_fail;
  foresee(narrowing_, Verdict::kPass, 2, if_pass);
  foresee(narrowing_, Verdict::kFail, 2, if_fail);
  oracle_.expect(narrowing_.question(), if_pass, if_fail);
}

// Appends what is asked if the question now has this outcome, and `levels - 1` times what then.
void Dd::foresee(Narrowing narrowing, Verdict outcome, int levels, std::vector<Counts>& next) {
  const Fingerprint supposed(narrowing.question());
  outcomes_.emplace(supposed, outcome);
  narrowing.answer(outcome);
  for (int i = 0; i < kForesight && !narrowing.done(); ++i) {
    if (const std::optional<Verdict> known = look_up(narrowing.question())) {
      narrowing.answer(*known);
      continue;
    }
    next.push_back(narrowing.question());
    if (levels > 1) {
      foresee(narrowing, Verdict::kPass, levels - 1, next);
      foresee(narrowing, Verdict::kFail, levels - 1, next);
    }
    break;
  }
  outcomes_.erase(supposed);
}

}  // namespace

std::optional<Verdict> DdOracle::known(const Counts& /*applied*/) { return std::nullopt; }

void DdOracle::expect(const Counts& /*tested*/, std::span<const Counts> /*if_pass*/,
                      std::span<const Counts> /*if_fail*/) {}

DdResult dd(DdOracle& oracle, Counts passing, Counts failing, std::uint64_t most_tests) {
  return Dd(oracle, std::move(passing), std::move(failing)).run(most_tests);
}

}  // namespace clew
