// Each step of a story tested by running (beyond the paper; Zeller 2002 swapped values between runs, AID 2020
// tests predicates by interventions): at the step, what the other run does there is put in, nothing else is
// changed, and the run continues.
#ifndef CLEW_HOST_EXPLAIN_EXPERIMENTS_H_
#define CLEW_HOST_EXPLAIN_EXPERIMENTS_H_

#include <cstdint>
#include <vector>

#include "host/explain/laboratory.h"
#include "host/explain/story.h"

namespace clew {

// Sets `confirmed` and `link` of the main steps. Returns whether the failing run passes with the first of them
// as in the passing run: then nothing else is needed for the failure to be gone.
bool test_steps(Laboratory& laboratory, std::vector<ToldStep>& steps);

// Several at once, each put in where the run so far comes to it. Nothing: it could not be done.
[[nodiscard]] std::optional<Verdict> run_jointly(Laboratory& laboratory, std::vector<Lever> levers);

// A step that makes no difference by itself may make one together with others: with `others` as in the passing
// run the failing one still fails, and with the step as well it passes. Then it is confirmed jointly.
void test_jointly(Laboratory& laboratory, const std::vector<Lever>& others,
                  std::vector<ToldStep>& steps);

// Of causes, each given by where it is read: the least set with which put right the failing run passes. Empty:
// also with all of them it does not, or it could not be tested. One of them is enough: it is the first.
[[nodiscard]] std::vector<std::size_t> joint_causes(Laboratory& laboratory,
                                                    const std::vector<Lever>& causes);

// Whether the failing run passes if the access, a read, gives this value once, and nothing else is changed.
[[nodiscard]] bool passes_with(Laboratory& laboratory, Instance at, std::uint32_t access,
                               std::uint64_t value);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_EXPERIMENTS_H_
