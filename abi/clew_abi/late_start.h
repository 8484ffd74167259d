// One of the ControlFlags (control.h).
#ifndef CLEW_ABI_LATE_START_H_
#define CLEW_ABI_LATE_START_H_

#include <cstdint>

namespace clew::abi {

// With kFlagFromMain: jobs begin not at main but where something can first differ between them, or
// outlast them: at the first thread, the first choice, or the first system call that does more than
// read files, get memory or write to standard output and error. What comes before is run once for
// all jobs. A program that ends before it comes to such a place never begins a job.
inline constexpr std::uint32_t kFlagLateStart = 1u << 14;

}  // namespace clew::abi

#endif  // CLEW_ABI_LATE_START_H_
