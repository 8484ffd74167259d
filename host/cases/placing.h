// Finds the place that an anchor means in a program that may have been edited since.
#ifndef CLEW_HOST_CASES_PLACING_H_
#define CLEW_HOST_CASES_PLACING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/cases/anchor.h"
#include "host/cases/sites.h"
#include "host/outcome.h"

namespace clew {

enum class Fit : std::uint8_t {
  kExact,    // the same statement in the same function
  kRenamed,  // in the same function, the same but for names
  kMoved,    // the same statement, elsewhere
  kNearest,  // the most similar statement
  kNone,
};

struct Placed {
  Fit fit = Fit::kNone;
  std::vector<SiteId> sites;  // ascending; empty: kNone
  Location at;                // of the statement found; kNone: of the nearest, if there is one
  std::string text;           // of that statement
  bool executed = false;      // by one of the runs that the sites are from
  // The same function has no other statement that does what the event does.
  bool is_only_one = false;
};

[[nodiscard]] Placed place_anchor(const Anchor& anchor, const Sites& sites);
// All statements that are similar enough, the best first, up to a limit.
[[nodiscard]] std::vector<Placed> places_of_anchor(const Anchor& anchor, const Sites& sites,
                                                   std::size_t most);

}  // namespace clew

#endif  // CLEW_HOST_CASES_PLACING_H_
