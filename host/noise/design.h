// Which subsets of the points to run (Tzoref, Ur, Yom-Tov 2007, section 4.1): of many random designs
// the one with the largest |X'X|, where X has a row for each sample and a column for each point. (The
// paper's text has X transposed; a matrix with more columns than rows would have the determinant 0.)
#ifndef CLEW_HOST_NOISE_DESIGN_H_
#define CLEW_HOST_NOISE_DESIGN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/noise/subset.h"
#include "host/search/sampling.h"

namespace clew {

inline constexpr std::size_t kDesigns = 500;  // tried, as in the paper

using Design = std::vector<Subset>;

// Each point is in each sample with probability 1/2.
[[nodiscard]] Design random_design(std::size_t points, std::size_t samples, std::uint64_t seed);
// ln |X'X|; with fewer samples than points of X'X + I, which is not singular.
[[nodiscard]] double log_determinant(const Design& design, std::size_t points);
// The best of `tried` random designs. The same for the same seed, on any number of cores.
[[nodiscard]] Design d_optimal_design(std::size_t points, std::size_t samples, std::uint64_t seed,
                                      std::size_t tried = kDesigns);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_DESIGN_H_
