// How far pinpointing and ranking are, for people at a terminal.
#ifndef CLEW_CLI_POPULATION_STATUS_H_
#define CLEW_CLI_POPULATION_STATUS_H_

#include <fmt/format.h>

#include "cli/status_line.h"
#include "host/calls/rank.h"
#include "host/noise/pinpoint.h"
#include "host/report/pinpoint_text.h"
#include "host/report/words.h"

namespace clew::cli {

class CampaignStatusLine final : public PinpointObserver {
 public:
  void status(const CampaignProgress& progress, double seconds) override {
    if (line_.due(seconds))
      line_.draw(fmt::format("clew: {}", campaign_status_text(progress, seconds)));
  }
  void clear() { line_.clear(); }

 private:
  StatusLine line_{0.3};
};

class RankStatusLine final : public RankObserver {
 public:
  void status(const RankStatus& status) override {
    if (!line_.due(status.seconds)) return;
    line_.draw(fmt::format("clew: {}, {}, {:.0f} s{}", counted(status.passing, "passing run"),
                           counted(status.failing, "failing run"), status.seconds,
                           status.seconds_left > 0
                               ? fmt::format(", at most {:.0f} s left", status.seconds_left)
                               : ""));
  }
  void clear() { line_.clear(); }

 private:
  StatusLine line_{0.3};
};

}  // namespace clew::cli

#endif  // CLEW_CLI_POPULATION_STATUS_H_
