// The cause of a failure in sentences, made from nothing but what isolation found.
#ifndef CLEW_HOST_REPORT_CAUSE_H_
#define CLEW_HOST_REPORT_CAUSE_H_

#include <optional>
#include <string>
#include <vector>

#include "host/isolate/isolate_result.h"

namespace clew {

// "T0.2"; the report introduces it as "worker (T0.2)" where it is mentioned first.
std::string label_of(const Standpoint& standpoint);

// What one difference is in the failing run and in the passing one, without a full stop: "T0.2 is
// preempted before it reads `head` at queue.cc:31 by T0.3". Empty: that run does without it.
std::string failing_side(const IsolatedSwitch& difference);
std::string passing_side(const IsolatedSwitch& difference);

// "T0.2 is preempted before queue.cc:31 by T0.3"
std::string preemption_text(const PreemptionInfo& preemption);
// "a timed wait of T0.2 at queue.cc:47 (in dequeue) times out at once"
std::string choice_text(const ChoiceInfo& choice);
// A sentence; empty if the window was not determined.
std::string window_text(const PreemptionInfo& preemption);

// Whether the only preemption is what was isolated: then the answer tells all about it.
bool is_the_answer(const IsolateResult& result);

// The answer, a paragraph each. Empty if nothing was isolated.
std::vector<std::string> cause_paragraphs(const IsolateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_CAUSE_H_
