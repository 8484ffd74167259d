// A ranking of functions as text, as a table of features, and as a picture.
#ifndef CLEW_HOST_REPORT_RANK_TEXT_H_
#define CLEW_HOST_REPORT_RANK_TEXT_H_

#include <string>

#include "host/calls/rank.h"
#include "host/report/run_json.h"

namespace clew {

// At most this p-value, and the ranking is called an answer.
inline constexpr double kNoise = 0.05;

// "ranked 30 functions by 74 passing and 26 failing runs"
[[nodiscard]] std::string rank_headline(const RankResult& result);
// "failing runs are of 2 kinds ...: 22 end with exit status 1, 12 hang"; empty: they are of one.
[[nodiscard]] std::string rank_kinds(const RankResult& result);
// The ranking's first `most` functions, of each kind of failure.
[[nodiscard]] std::string rank_text(const RankResult& result, std::size_t most);
// "`work` calls `finish` at most 3 times in 26 of 26 failing runs, and at least 4 times in 74 of 74
// passing runs"; empty: there is no difference.
[[nodiscard]] std::string rank_sentence(const RankResult& result, const RankedFunction& function);
[[nodiscard]] Json rank_json(const RankResult& result);
// The feature table: a line for each run, its class last.
[[nodiscard]] std::string rank_csv(const RankResult& result);
// The call graph, coloured by score (Eichinger et al. 2010, figure 2).
[[nodiscard]] std::string rank_svg(const RankResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_RANK_TEXT_H_
