// What a thread does at an event, in words.
#ifndef CLEW_HOST_REPORT_EVENT_WORDS_H_
#define CLEW_HOST_REPORT_EVENT_WORDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "host/isolate/isolate_result.h"

namespace clew {

// "queue.cc:31 (in enqueue)", or "an unknown place"
std::string spot_text(const std::optional<Location>& at);

// Of what the runtime calls its own objects: "a signal"; empty: it is none of them
std::string_view own_object_words(std::string_view variable);

// "`head`", "a signal", "a lock", "0x4000"; empty: nothing is known about it
std::string object_of(const EventInfo& event);

// "read `head` at queue.cc:28 (in enqueue)"; `object`: what object_of() says, or another word for it
std::string past_text(const EventInfo& event, const std::string& object);
// "reads `head` at queue.cc:28 (in enqueue)"
std::string present_text(const EventInfo& event);
// "write `head` at queue.cc:47 (in dequeue)"
std::string infinitive_text(const EventInfo& event, const std::string& object);
// "has read `head`"
std::string perfect_text(EventInfo event);

// What the thread stands before: "it reads `head` at queue.cc:28 (in enqueue)", "queue.cc:28 (in
// enqueue)"; empty: not known.
std::string ahead_text(const Standpoint& standpoint);

// ", its 3rd time there"; empty for the first time, or if it is not known
std::string time_text(std::uint64_t time);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EVENT_WORDS_H_
