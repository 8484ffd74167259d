// PERIOD: Wen, He, Wu, Xu, Qin, "Controlled Concurrency Testing via Periodical Scheduling", ICSE
// 2022. An execution is a sequence of periods, in each of which every thread runs at most once.
// Schedules with few periods are tried first, systematically; where a thread's turn ends is chosen
// among its key points, and what runs reveal of new key points is fed back.
//
// Here key points are the steps that conflict with another thread's (contended(), trace_sharing.h),
// as seen in traces. A schedule is a list of turns: a thread and the key points it passes. A turn
// that ends before the thread's last key point is a cut, which costs a preemption. So a schedule is
//  - a set of cuts, each before a key point but a thread's first (to stop a thread before that is
//    to start it later), and
//  - a word: the order of the turns. No thread has two turns in succession, for that would be one.
// Every list of turns is exactly one set of cuts and one word.
//
// Order. A level is a number of preemptions k, and within it a number of periods P <= k + 1; levels
// are taken in this order. Within a level cut sets come in the order of their least likely cut.
// Likely cuts are those close behind another key point of the thread, on the same object first: an
// interruption is to fall between accesses that belong together. Each set of cuts gets one word,
// then each a second one, and so on. Equals are ordered at random, by the seed.
//
// Equivalence. Each schedule is first played on the trace that the key points come from, locks
// included. If the order of conflicting steps is one that an earlier schedule had, it is left
// out. Cuts that brought no run with a new interleaving go to the end of later levels.
//
// A turn is carried out as so many steps of the thread (plan strategy, kSteps). Not as "until place
// p": a thread that never gets there because it waits for one held would run forever. But what
// counts as a step changes while it is being found out what threads share. Therefore the first
// rounds are calibrations: the default schedule, traced, until one meets no newly shared points (or
// two in a row have as many steps); and another follows whenever a run met newly shared points. No run ends while threads that nobody
// joins can run, unless its turns say so.
//
// Deviations:
//  - The paper takes key points from static analysis and follows them with SCHED_DEADLINE.
//  - Levels are dovetailed: after kTurn schedules of a level the next one begins, and what is left
//    of it comes later. Many threads have many orders without any preemption.
//  - Within the default strategy (Points::kAll) every access is a step, as in the exhaustive search: then any
//    run's trace says what the next one's steps are, and what other searches have run is known.
//  - At most kMostKeyPoints are played. In longer traces nothing is known to be equivalent.
//  - When kMostPlayed steps were played in vain in a round, a schedule is run without that check.
#ifndef CLEW_HOST_SEARCH_PERIOD_SEARCH_H_
#define CLEW_HOST_SEARCH_PERIOD_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clew_abi/guides.h"
#include "host/search/key_points.h"
#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

class PeriodSearch final : public Search {
 public:
  // Measured on 48 of the generated programs for tuning (docs/hunt.md), 500 schedules, eight seeds: with
  // 1,024, which many threads spend on orders without preemptions, 30 were not found by any seed; with
  // 16 these are 15.
  static constexpr std::size_t kTurn = 16;
  // Limits of memory and of idle work: chosen, not measured.
  static constexpr std::size_t kMostKeyPoints = 20'000;
  static constexpr std::size_t kMostPlayed = 10'000'000;
  static constexpr std::size_t kMostIdle = 100'000;   // sets of cuts looked at in vain
  static constexpr std::size_t kMostLooked = 50'000;  // likewise, in one round
  static constexpr unsigned kMostStalls = 8;          // levels given up in a row; then a run of pos
  static constexpr std::size_t kMostTurns = 160;      // of a schedule; so that words can be counted
  static constexpr unsigned kMostCalibrations = 4;
  static constexpr std::uint64_t kMostLinger = 100'000;  // steps of others before the program ends
  static constexpr std::uint64_t kTraceEvery = 16;

  // What counts as a step: accesses to what threads are known to share, or all accesses. With all of
  // them a trace of one run tells what the steps of the next are.
  enum class Points : std::uint8_t { kShared, kAll };
  explicit PeriodSearch(std::uint64_t seed, Points points = Points::kShared)
      : seed_(seed), points_(points) {}

  // None only if every order of the key points was tried.
  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;
  [[nodiscard]] std::optional<std::string> conclusion() const override;
  // Somebody else's run met newly shared points: what counts as a step has changed.
  void recalibrate() { wants_calibration_ |= points_ == Points::kShared; }
  // With all points: somebody else's run of the default schedule, which need not be made again.
  void calibrate(const JobReport& report);
  // With all points: what somebody else's run did need not be done again.
  void has_been_run(std::span<const TraceStep> trace);
  // The program is too long to decide at all points.
  void use_shared_points();
  // Whether the program asks anything beside who runs: half of the schedules then answer at random.
  void know(bool has_questions) { has_questions_ = has_questions; }

 private:
  struct Cut {
    std::uint32_t thread = 0;
    std::uint32_t point = 0;  // before this one
    std::uint32_t score = 0;  // less is likelier
    std::uint32_t runs = 0;
    std::uint32_t new_runs = 0;  // of them: with a new interleaving
  };
  struct Level {
    std::size_t preemptions = 0;
    std::size_t periods = 1;
    std::vector<std::uint32_t> order;   // of cuts_
    std::vector<std::uint32_t> chosen;  // ascending positions in order; colexicographic
    std::uint64_t round = 0;            // the number of the word, for all sets of cuts
    bool round_over = false;
    bool round_had_words = false;
    bool exhausted = false;
  };
  struct Candidate {
    Turns turns;
    std::vector<std::uint32_t> cuts;  // numbers in cuts_
  };
  struct Running {
    std::vector<std::uint32_t> cuts;
    std::uint64_t model = 0;  // the one of models_ that the numbers belong to
    bool calibrates = false;
  };

  void rebuild(KeyPoints model);
  [[nodiscard]] std::size_t most_preemptions() const;
  bool add_level();  // whether there is another one
  [[nodiscard]] std::optional<Candidate> next_candidate();
  // The next of the level. Nothing: it is exhausted, or hardly anything has its number of periods.
  [[nodiscard]] std::optional<Candidate> step(Level& level);
  void begin_round(Level& level);
  void next_cuts(Level& level);
  [[nodiscard]] std::optional<Turns> turns_of(Level& level);
  [[nodiscard]] double pick_word(const Level& level, double count) const;
  [[nodiscard]] bool is_new(const Turns& turns);
  [[nodiscard]] JobPlan job(abi::StrategyKind strategy, Running running);
  [[nodiscard]] JobPlan job_of(Candidate candidate);
  void learn_points(KeyPoints model, bool calibrates);

  std::uint64_t seed_;
  Points points_;
  bool has_questions_ = false;
  std::uint64_t proposed_ = 0;
  bool has_trace_ = false;
  bool wants_calibration_ = true;
  bool settled_ = false;  // a calibration had the steps that the next run has
  unsigned calibrations_ = 0;
  std::size_t last_size_ = 0;
  bool model_is_default_ = true;  // made by a calibration
  bool stalled_ = false;          // hardly any set of cuts can be used
  bool over_ = false;
  std::deque<Running> running_;

  std::set<std::pair<abi::ThreadKey, abi::Place>> known_points_;
  KeyPoints model_;
  std::uint64_t models_ = 0;
  std::size_t point_count_ = 0;
  std::vector<Cut> cuts_;
  Words words_;
  std::deque<Level> levels_;
  std::size_t pass_ = 0;                     // levels up to this one are taken in turn
  std::size_t current_ = 0;                  // level
  std::size_t taken_ = 0;                    // of it, in this pass
  std::size_t played_ = 0;                   // in this round
  std::size_t looked_ = 0;                   // sets of cuts, in this round
  std::uint64_t tried_ = 0;                  // schedules of this model
  std::unordered_set<std::uint64_t> known_;  // what play() said of them
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_PERIOD_SEARCH_H_
