// A campaign for people: the status line while it runs, and its result.
#ifndef CLEW_HOST_REPORT_PINPOINT_TEXT_H_
#define CLEW_HOST_REPORT_PINPOINT_TEXT_H_

#include <string>

#include "host/noise/campaign.h"
#include "host/noise/pinpoint_result.h"

namespace clew {

// "sampling, 120 of 1,000 samples, 2,400 runs (4,100/s), 3.2 % fail, about 8 s left"
std::string campaign_status_text(const CampaignProgress& progress, double seconds);

// "read", "lock", ...
std::string kind_text(const NoisePoint& point);
// "server.cc:31", or the function if there is no line.
std::string short_place(const NoisePoint& point);

// The first line without "clew: ".
std::string pinpoint_headline(const PinpointResult& result);
// What follows: the answer in sentences, the points, the extreme edges, the rates.
std::string pinpoint_text(const PinpointResult& result);

// Of it: a cause in sentences, and the rates that it is compared with.
std::string cause_text(const PinpointResult& result, const NoiseCause& cause);
std::string rates_text(const PinpointResult& result);

// The line of source at a place; empty: it cannot be read.
std::string source_line(const Location& at);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_PINPOINT_TEXT_H_
