// Fuzz schedules: a schedule with another outcome, as close as possible to a given one.
//
// Choi and Zeller 2002, section 5: from T = <t_1, ..., t_n> make T' = <f(t_1), ..., f(t_n)>, where
// f is a Gaussian around t; start very narrow and widen until the outcome changes.
//
// The widening. sigma starts at kFirstSigma = 0.5 events (of a lone switch, two thirds of the
// draws stay where they are) and is multiplied by the square root of two after every
// kJobsPerSigma = 8 jobs, until it is the length of the run; 64 jobs take it from 0.5 to 8, 344
// to a million and a half. A schedule that was proposed before is drawn again, kRedraws times at
// most, and then sigma grows at once. When the outcome has changed, sigma stays as it is, so that
// further jobs look for further changes at the same distance.
//
// Details that the paper leaves open:
//  - Clocks stay in 1..run_length by reflection at both ends. So f is still most likely near t, and
//    becomes uniform when sigma is as wide as the run ("completely random schedules").
//  - Perturbed clocks are sorted: the first switch to happen stays the first. The i-th switch keeps
//    its target.
//
// Deviations:
//  - A schedule without switches cannot be perturbed. For it, jobs insert switches (to the next in
//    the run queue) at random clocks: one, and more the wider sigma is. Any other schedule is
//    given or loses a switch, too, in half of the jobs once sigma is as wide as the run: by then
//    the paper's method has nothing more to offer.
//  - Choices are not perturbed. Those before the first clock at which something changed will be
//    asked for again; about the later ones nothing is known, so half of the jobs keep them and the
//    others leave them to the default.
#ifndef CLEW_HOST_SEARCH_FUZZ_SEARCH_H_
#define CLEW_HOST_SEARCH_FUZZ_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/schedule/schedule.h"
#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

class FuzzSearch final : public Search {
 public:
  // Chosen, not measured.
  static constexpr double kFirstSigma = 0.5;
  static constexpr unsigned kJobsPerSigma = 8;
  static constexpr unsigned kRedraws = 16;

  // Looks for a run whose verdict is `looking_for`, which that of `from` is not. `run_length` is
  // the clock at the end of the run of `from`. REQUIRES: Schedule's invariant; sigma > 0.
  FuzzSearch(Schedule from, Verdict looking_for, std::uint64_t run_length, std::uint64_t seed,
             double sigma = kFirstSigma);

  // Proposes without end, unless hardly any schedule within reach is left (in tiny programs).
  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;

  // The schedule of a job that this search proposed.
  [[nodiscard]] static Schedule schedule_of(const JobPlan& plan);
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] bool found() const { return found_; }

 private:
  [[nodiscard]] std::optional<Schedule> propose();  // nothing: too many were known
  [[nodiscard]] Schedule draw();
  [[nodiscard]] Clock perturbed(Clock clock);
  void perturb_switches(Schedule& schedule);
  void insert_switches(Schedule& schedule, std::size_t count);
  void insert_or_remove(Schedule& schedule);
  void prune_choices(Schedule& schedule);
  void widen();
  [[nodiscard]] double widest() const { return static_cast<double>(run_length_); }

  Schedule from_;
  Verdict looking_for_;
  std::uint64_t run_length_;
  Random random_;
  double sigma_;
  unsigned jobs_at_sigma_ = 0;
  bool found_ = false;
  std::unordered_set<std::uint64_t> known_;  // hashes of the schedules proposed, and of from_
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_FUZZ_SEARCH_H_
