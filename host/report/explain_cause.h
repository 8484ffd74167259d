// A cause in words: its kind, what happened in one sentence, the values and the locks behind it.
#ifndef CLEW_HOST_REPORT_EXPLAIN_CAUSE_H_
#define CLEW_HOST_REPORT_EXPLAIN_CAUSE_H_

#include <optional>
#include <string>

#include "host/explain/explanation.h"

namespace clew {

// "data race"
[[nodiscard]] const char* kind_words(CauseKind kind);
// Who did what before or after whom, without the kind and without a full stop.
[[nodiscard]] std::string cause_sentence(const Cause& cause);
// Likewise: who waits for what, and why nobody wakes it.
[[nodiscard]] std::string wait_sentence(const WaitFact& fact);

// ", written by T0.1 at a.cc:3", of what was read; empty: not known.
[[nodiscard]] std::string origin_text(const std::optional<CauseEvent>& source);

// Indented lines: what was read in each of the runs, and who had written it; empty: they do not differ.
[[nodiscard]] std::string values_text(const Cause& cause);
// Of one thread that comes between two accesses of another: which locks they hold.
[[nodiscard]] std::string locks_text(const Cause& cause);
// What a watch has found, besides the sentence: the locks of a race, what comes of an order of locks.
[[nodiscard]] std::string found_text(const Cause& cause);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EXPLAIN_CAUSE_H_
