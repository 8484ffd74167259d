// A campaign as pictures: the control flow coloured by score (Tzoref, Ur, Yom-Tov 2007, figures 5, 7
// and 8), and the distributions of differences (figures 3 and 4). The papers' texts come without their
// pictures: these follow from what the prose says about them.
#ifndef CLEW_HOST_REPORT_PINPOINT_PICTURES_H_
#define CLEW_HOST_REPORT_PINPOINT_PICTURES_H_

#include <string>

#include "host/noise/pinpoint_result.h"

namespace clew {

// A column for each kind of thread; points in the order in which they were met; red points raise the
// odds of failure, blue ones lower them; the most extreme edges are thick, with + for a drop.
std::string flow_dot(const PinpointResult& result);
std::string flow_svg(const PinpointResult& result);

// Differences of consecutive points in black, of arbitrary pairs in grey.
std::string differences_svg(const PinpointResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_PINPOINT_PICTURES_H_
