// A question about a line of the program, and where in the runs its answer begins.
#ifndef CLEW_HOST_EXPLAIN_QUESTION_H_
#define CLEW_HOST_EXPLAIN_QUESTION_H_

#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/explain/dual_slice.h"
#include "host/explain/explanation.h"
#include "host/explain/naming.h"
#include "host/explain/traced_pair.h"

namespace clew {

// "cache.cpp:41", "cache.cpp:41:count_"
[[nodiscard]] Result<Question> parse_question(const std::string& text);
// "why cache.cpp:41:count_", "why not cache.cpp:41"
[[nodiscard]] Result<Question> parse_asked(const std::string& text);

struct QuestionPoints {
  Asked asked;
  std::vector<NodeId> points;  // of the failing run, the best first
};

// The last time that the line does something else than in the other run, or the last at all. Of a line
// that only the passing run executes: the branch by which the failing run does not come there.
[[nodiscard]] QuestionPoints find_points(TracedPair& pair, Naming& naming,
                                         const Question& question);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_QUESTION_H_
