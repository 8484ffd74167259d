// The result of pinpointing, as plain values.
#ifndef CLEW_HOST_NOISE_PINPOINT_RESULT_H_
#define CLEW_HOST_NOISE_PINPOINT_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/noise/algorithm.h"
#include "host/noise/delays.h"
#include "host/noise/edges.h"
#include "host/noise/points.h"
#include "host/noise/stretches.h"
#include "host/search/hunt_result.h"

namespace clew {

struct PinpointResult {
  std::string algorithm;
  std::uint64_t seed = 0;
  std::vector<NoisePoint> points;
  Scores scores;                  // of the failure of the first cause, or of all
  DelayScores delays;             // likewise
  std::vector<ScoredEdge> edges;  // the most extreme first
  Differences differences;
  KolmogorovSmirnov ks;
  std::vector<FoundFailure> failures;
  std::vector<Stretch> stretches;
  std::vector<NoiseCause> causes;
  Rate without, everywhere;  // of any failure
  std::size_t samples = 0;
  std::uint64_t runs = 0;      // of the samples, those that were kept before included
  std::uint64_t runs_now = 0;  // that were made now, discovery included
  std::uint64_t discovery_runs = 0;
  std::uint64_t discovery_failures = 0;
  double seconds = 0;
  bool finished = false;  // the algorithm came to its end
  bool single_threaded = false;
  bool out_of_time = false;
  int interrupted_by = 0;
  std::string campaign;  // its file
  std::vector<std::string> notes;

  // A point of which the statistics, or the rates of an answer, say that it matters.
  [[nodiscard]] bool anything_stands_out() const;
  [[nodiscard]] bool anything_failed() const { return !failures.empty(); }
};

// 1: points stand out; 0: nothing stands out; 128 + n: interrupted by signal n before that.
[[nodiscard]] int exit_status_of(const PinpointResult& result);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_PINPOINT_RESULT_H_
