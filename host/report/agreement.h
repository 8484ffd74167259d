// Whether what many runs show agrees with what one pair of runs shows: pinpoint's points and rank's
// functions against the lines of an explanation.
#ifndef CLEW_HOST_REPORT_AGREEMENT_H_
#define CLEW_HOST_REPORT_AGREEMENT_H_

#include <string>

#include "host/calls/rank.h"
#include "host/explain/explanation.h"
#include "host/noise/pinpoint_result.h"
#include "host/report/run_json.h"

namespace clew {

enum class Agreement : std::uint8_t {
  kSameLine,      // one of its places is a line of the explanation
  kSameFunction,  // ... is in a function of the explanation
  kElsewhere,     // none is
  kNothing,       // nothing stands out
};

struct Agreed {
  Agreement agreement = Agreement::kNothing;
  std::string place;  // the place or the function that decides it; of kElsewhere: the first
};

[[nodiscard]] Agreed agreed(const PinpointResult& result, const Explanation& explanation);
// Of the functions that stand out, the first ones.
[[nodiscard]] Agreed agreed(const RankResult& result, const Explanation& explanation);

// A sentence.
[[nodiscard]] std::string noise_sentence(const Agreed& agreed);
[[nodiscard]] std::string calls_sentence(const Agreed& agreed);
// "line", "function", "elsewhere", "nothing"
[[nodiscard]] const char* to_word(Agreement agreement);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_AGREEMENT_H_
