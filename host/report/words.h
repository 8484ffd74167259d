// The words for what logic has as numbers and enums: numbers, threads, source lines, stages.
#ifndef CLEW_HOST_REPORT_WORDS_H_
#define CLEW_HOST_REPORT_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "clew_abi/step.h"
#include "clew_abi/stream.h"
#include "host/isolate/isolate_result.h"
#include "host/outcome.h"
#include "host/schedule/schedule.h"
#include "host/search/hunt_result.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"
#include "host/trace/step_word.h"

namespace clew {

std::string decimal(DeltaCount number);                                // 12345, of any size
std::string with_commas(DeltaCount number);                            // 12,345
std::string counted(std::uint64_t number, std::string_view singular);  // 1 switch, 2 switches
std::string hex_hash(std::uint64_t hash);                              // 16 digits

const char* to_word(HuntStage stage);
const char* to_word(IsolateStage stage);

// "timeout", "pick T0.2", as a schedule has it
std::string choice_word(const Choice& choice);

// "queue.cc:31 in enqueue", the path relative to the current folder if it lies below it
std::string location_text(const Location& location);
std::string short_path(const std::string& path);

// In lines of at most 96 columns, as long as words allow, each with the indent.
std::string wrapped(std::string_view text, std::string_view indent);

// Cut to `columns`: what is left out is in the middle, so that the end ("queue.cc:31") stays.
std::string cut_in_middle(const std::string& text, std::size_t columns);

// A program's text must not drive the terminal: control characters become '?', and it ends after
// one line's worth.
std::string printable(std::string_view text);

const char* to_word(abi::WaitKind kind);  // "mutex"
// "mutex forks+40"; "a mutex (0x5555...)" if no variable is known; "the end of T0.1"; "time to pass"; "read of descriptor 5". Of a
// join only the thread that has to end counts.
std::string object_text(abi::WaitKind kind, std::uint64_t object, const std::string& variable,
                        const std::string& ending);
// One waits "for" a mutex, but "in" read.
const char* waiting_word(abi::WaitKind kind);
// "queue.cc:31 in enqueue" or "unknown place"
std::string place_text(Symbolizer& symbols, abi::Place place);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_WORDS_H_
