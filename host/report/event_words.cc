#include "host/report/event_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "host/isolate/source_view.h"
#include "host/report/names.h"
#include "host/report/object_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

struct Verb {
  abi::StepKind kind;
  std::string_view infinitive;
  std::string_view present;
  std::string_view past;
  std::string_view perfect;
  std::string_view unknown;  // of an object that is not known
};
constexpr std::array<Verb, 11> kVerbs{{
    {abi::StepKind::kRead, "read", "reads", "read", "has read", "memory"},
    {abi::StepKind::kWrite, "write", "writes", "wrote", "has written", "memory"},
    // An exchange, or a comparison that may have failed.
    {abi::StepKind::kUpdate, "update", "updates or compares", "updated or compared",
     "has updated or compared", "memory"},
    {abi::StepKind::kLock, "lock", "locks", "locked", "has locked", "a lock"},
    {abi::StepKind::kUnlock, "unlock", "unlocks", "unlocked", "has unlocked", "a lock"},
    {abi::StepKind::kWait, "wait for", "waits for", "waited for", "has waited for", "something"},
    {abi::StepKind::kSignal, "signal", "signals", "signalled", "has signalled", "others"},
    {abi::StepKind::kCreate, "create", "creates", "created", "has created", "a thread"},
    {abi::StepKind::kJoin, "join", "joins", "joined", "has joined", "a thread"},
    {abi::StepKind::kFree, "free", "frees", "freed", "has freed", "memory"},
    {abi::StepKind::kDestroy, "destroy", "destroys", "destroyed", "has destroyed", "an object"},
}};

// One that has to wait does not lock yet.
constexpr Verb kBlockedLock{abi::StepKind::kLock, "try to lock",       "tries to lock",
                            "tried to lock",      "has tried to lock", "a lock"};
constexpr Verb kUnclearLock{abi::StepKind::kLock, "come to lock",     "comes to lock",
                            "came to lock",       "has come to lock", "a lock"};

// Of one without a name: nobody locks a lock.
constexpr std::array<Verb, 4> kUnnamed{{
    {abi::StepKind::kLock, "take", "takes", "took", "has taken", "a lock"},
    {abi::StepKind::kUnlock, "release", "releases", "released", "has released", "a lock"},
    {abi::StepKind::kLock, "try to take", "tries to take", "tried to take", "has tried to take",
     "a lock"},
    {abi::StepKind::kLock, "come to take", "comes to take", "came to take", "has come to take",
     "a lock"},
}};

// What the runtime calls its own objects, in words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOwnObjects{
    {{"clew_outside", "the outside (files, pipes, sockets)"}, {"clew_signals", "a signal"}}};
constexpr Verb kSend{abi::StepKind::kSignal, "send", "sends", "sent", "has sent", "a signal"};
constexpr Verb kUse{abi::StepKind::kUpdate, "use", "uses", "used", "has used", "something"};

const Verb* verb_of(const EventInfo& event) {
  if (event.kind == abi::StepKind::kSignal && event.variable == "clew_signals") return &kSend;
  // A call of the system is an update of it.
  if (event.kind == abi::StepKind::kUpdate && !own_object_words(event.variable).empty())
    return &kUse;
  const bool unnamed = event.variable.empty() && !event.name.known();
  if (event.lock == LockStep::kBlocked) return unnamed ? &kUnnamed[2] : &kBlockedLock;
  if (event.lock == LockStep::kUnclear) return unnamed ? &kUnnamed[3] : &kUnclearLock;
  if (unnamed && event.kind == abi::StepKind::kLock) return &kUnnamed[0];
  if (unnamed && event.kind == abi::StepKind::kUnlock) return &kUnnamed[1];
  const auto verb = std::ranges::find(kVerbs, event.kind, &Verb::kind);
  return verb == kVerbs.end() ? nullptr : &*verb;
}

std::string object_or(const std::string& object, std::string_view otherwise) {
  return object.empty() ? std::string(otherwise) : object;
}

}  // namespace

std::string spot_text(const std::optional<Location>& at) {
  if (!at || (at->file.empty() && at->function.empty())) return "an unknown place";
  if (at->file.empty()) return printable(function_text(at->function));
  // The whole path stands in the backtrace.
  const std::string line =
      location_text({std::filesystem::path(at->file).filename().string(), at->line, ""});
  return at->function.empty() ? line
                              : fmt::format("{} ({})", line, printable(in_function(at->function)));
}

std::string_view own_object_words(std::string_view variable) {
  for (const auto& [name, words] : kOwnObjects)
    if (variable == name) return words;
  return "";
}

std::string object_of(const EventInfo& event) {
  if (const std::string_view own = own_object_words(event.variable); !own.empty())
    return std::string(own);
  if (event.kind == abi::StepKind::kJoin) return printable(event.variable);
  // Where its handle is kept says less than "a thread".
  if (event.kind == abi::StepKind::kCreate) return "";
  // Names with two underscores are the library's own, also those of its functions' variables.
  if (event.variable.starts_with("std::__") || event.variable.starts_with("__"))
    return "data of the C++ library";
  if (event.name.known()) return object_words(event.name, event.thread);
  if (!event.variable.empty()) return fmt::format("`{}`", printable(short_type(event.variable)));
  // The sentence says where it is taken, which tells a reader more than its address.
  if (event.kind == abi::StepKind::kLock || event.kind == abi::StepKind::kUnlock)
    return event.object != 0 ? "a lock" : "";
  return event.object != 0 ? fmt::format("memory at {:#x}", event.object) : "";
}

std::string past_text(const EventInfo& event, const std::string& object) {
  const Verb* verb = verb_of(event);
  if (verb == nullptr) return fmt::format("passed {}", spot_text(event.at));
  return fmt::format("{} {} at {}", verb->past, object_or(object, verb->unknown),
                     spot_text(event.at));
}

std::string present_text(const EventInfo& event) {
  const Verb* verb = verb_of(event);
  if (verb == nullptr) return fmt::format("passes {}", spot_text(event.at));
  return fmt::format("{} {} at {}", verb->present, object_or(object_of(event), verb->unknown),
                     spot_text(event.at));
}

std::string infinitive_text(const EventInfo& event, const std::string& object) {
  const Verb* verb = verb_of(event);
  if (verb == nullptr) return fmt::format("pass {}", spot_text(event.at));
  return fmt::format("{} {} at {}", verb->infinitive, object_or(object, verb->unknown),
                     spot_text(event.at));
}

std::string perfect_text(EventInfo event) {
  // It went on: it has the lock.
  if (event.lock != LockStep::kNone) event.lock = LockStep::kObtained;
  const Verb* verb = verb_of(event);
  if (verb == nullptr) return fmt::format("has passed {}", spot_text(event.at));
  return fmt::format("{} {}", verb->perfect, object_or(object_of(event), verb->unknown));
}

std::string ahead_text(const Standpoint& standpoint) {
  if (!standpoint.step) return standpoint.at ? spot_text(standpoint.at) : "";
  EventInfo step = *standpoint.step;
  // What a library does inside is told by the line that calls it, and not at all if its object has
  // no name.
  if (!step.at || !is_user_location(*step.at)) {
    if (!standpoint.at) return "";
    if (step.variable.empty() && !step.name.known() && abi::is_access(step.kind))
      return fmt::format("a step inside the call at {}", spot_text(standpoint.at));
    step.at = standpoint.at;
  }
  return "it " + present_text(step);
}

std::string time_text(std::uint64_t time) {
  if (time < 2) return "";
  const std::uint64_t last = time % 10;
  const bool teen = time % 100 >= 11 && time % 100 <= 13;
  const char* ending = teen || last > 3 || last == 0 ? "th"
                       : last == 1                   ? "st"
                       : last == 2                   ? "nd"
                                                     : "rd";
  return fmt::format(", its {}{} time there", with_commas(time), ending);
}

}  // namespace clew
