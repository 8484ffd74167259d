// The result of a hunt, as plain values.
#ifndef CLEW_HOST_SEARCH_HUNT_RESULT_H_
#define CLEW_HOST_SEARCH_HUNT_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/outcome.h"
#include "host/search/search.h"

namespace clew {

// Beyond this many, interleavings are no longer distinguished: hunting for hours must not take ever
// more memory.
inline constexpr std::size_t kMostInterleavings = std::size_t{1} << 18;

struct FoundFailure {
  Failure failure;
  int exit_status = 0;
  std::uint64_t count = 0;
  std::uint64_t first_schedule = 0;  // from 1
  std::optional<std::uint64_t>
      recording;  // nothing: recording it was interrupted, or took too long
};

// What watches and listeners have found, in whichever run.
struct CountedFinding {
  Finding finding;                   // as the first run shows it that has it
  std::uint64_t runs = 0;            // that have it
  std::uint64_t first_schedule = 0;  // from 1
};

enum class HuntStage : std::uint8_t {
  kHunting,
  kClosePassing,  // looking for a passing schedule close to the failing one that was found
  kPassing,       // looking for a passing schedule from a failing one that was given
};

struct HuntStatus {
  std::uint64_t schedules = 0;
  double seconds = 0;
  std::uint64_t interleavings = 0;  // distinct
  std::string strategy;             // in use at the moment
  HuntStage stage = HuntStage::kHunting;
  std::vector<FoundFailure> failures;
  std::optional<double> seconds_left;
};

struct HuntResult {
  std::uint64_t schedules = 0;
  std::uint64_t unresolved = 0;  // of them: neither passed nor failed
  double seconds = 0;
  std::uint64_t interleavings = 0;
  std::string strategy;
  std::uint64_t seed = 0;
  std::vector<FoundFailure> failures;           // in the order found
  std::optional<std::uint64_t> failing;         // recording of the first
  std::optional<std::uint64_t> passing;         // recording of a passing one close to it
  std::optional<std::string> passing_distance;  // "differs in 1 switch", for people
  std::optional<std::string> conclusion;        // of an exhaustive search
  std::optional<PairCoverage> coverage;         // of a search for pairs of write and read
  bool looked_for_passing = false;              // and not for a failure
  bool single_threaded = false;                 // no run had anything that a schedule could vary
  // The schedules tried, all of which fail, one without preemptions among them; 0: there is another
  // one that passes, or it was not looked for.
  std::uint64_t always_fails = 0;
  bool complete = false;                 // the search was over before the limits
  int interrupted_by = 0;                // a signal, or 0
  bool out_of_time = false;              // while it recorded a failure
  double unended_seconds = 0;            // of a schedule that was under way when the time was up
  std::vector<CountedFinding> findings;  // in the order found
  std::vector<std::string> notes;        // "the program is restarted for each schedule: ..."
};

// Neither passed nor failed: all of them.
bool nothing_resolved(const HuntResult& result);

// How far the statement that no failure was found can be relied on.
enum class Confidence : std::uint8_t {
  kFull,
  kFew,         // so few schedules that a frequent failure may have been missed
  kUnresolved,  // some schedules could not be judged
};
// REQUIRES: outcome_of(result) is kPass.
Confidence confidence_in(const HuntResult& result);

// kFail: a failure was found; kUnresolved: no schedule could be judged; kPass: nothing was found.
Outcome outcome_of(const HuntResult& result);

// 0 nothing found, 1 a failure found, 122 no schedule could be judged, 128 + n interrupted by
// signal n with nothing found (docs/exit-status.md).
int exit_status_of(const HuntResult& result);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_RESULT_H_
