// Pinpointing: which program points make a failure appear (Tzoref, Ur, Yom-Tov 2007).
#ifndef CLEW_HOST_NOISE_PINPOINT_H_
#define CLEW_HOST_NOISE_PINPOINT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/noise/algorithm.h"
#include "host/noise/campaign.h"
#include "host/noise/pinpoint_result.h"
#include "host/search/hunt.h"

namespace clew {

struct PinpointOptions {
  HuntOptions hunt;  // what to run, what is a failure, limits, the seed
  SearchOptions search;
  std::uint64_t percent = 0;          // the probability of noise at a chosen point; 0: the default
  std::uint32_t runs_everywhere = 0;  // with noise at all points, to compare with; 0: the default
  // Places, FILE:LINE: no search, but how often it fails with noise at the points there alone.
  std::vector<std::string> at;
  bool resume = false;
  std::optional<std::string> resumed;  // the campaign's file; nothing: the newest of this program
  std::vector<std::string> join;       // files of further campaigns
};

class PinpointObserver {
 public:
  virtual ~PinpointObserver() = default;
  // Several times a second.
  virtual void status(const CampaignProgress& progress, double seconds) = 0;
};

// Errors are faults of the set-up or of the machine. That nothing stands out is a result.
[[nodiscard]] Result<PinpointResult> pinpoint(const PinpointOptions& options, RecordingStore& store,
                                              PinpointObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_PINPOINT_H_
