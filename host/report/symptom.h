// What went wrong, as the person at the terminal would have seen it: the last lines that the failing
// run printed, and a sanitizer's report in a few lines. All of it is the program's text: untrusted.
#ifndef CLEW_HOST_REPORT_SYMPTOM_H_
#define CLEW_HOST_REPORT_SYMPTOM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/outcome.h"
#include "host/recording/recording.h"

namespace clew {

// The end of what a run printed.
struct LastWords {
  std::string output;  // standard output
  std::string errors;  // standard error
};

// Of a recording; empty if there is none of that number, or it cannot be read.
LastWords last_words(const RecordingStore& store, std::uint64_t recording);

// A report of AddressSanitizer or LeakSanitizer: its headline, the access, and of each of its stacks
// the first frame of the user's. Empty: there is none in the text.
//   AddressSanitizer: heap-use-after-free
//     WRITE of size 8 in count at cache.cpp:28
//     freed by Cache::evict at cache.cpp:61
//     allocated by main at cache.cpp:44
std::vector<std::string> sanitizer_summary(std::string_view errors);

// What follows the line that names the failure, each line indented: the sanitizer's report, or the
// assertion of a test framework (assertion.h), or the
// last lines on standard error; if there are none, on standard output. What the first line has said
// already (the assertion, the exception) is left out. Empty if the run printed nothing else.
std::string symptom_text(const Failure& failure, const LastWords& words, std::string_view indent);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_SYMPTOM_H_
