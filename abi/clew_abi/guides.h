// Guides: what a job tells its strategy beyond parameters, as bytes (Job::guide). A guide is one
// list of items after the other; what each strategy makes of them is described with it
// (runtime/strategy/NAME.h).
//
//   surw     SurwThread..., then Place...: steps there are interesting; none: all steps are
//   rff      RffConstraint..., then Place...: the rivals
//   plan     PlanDirective...
//   prefix   for each step the index of its thread (order of creation), 32 bits
//   script   ScriptItem..., in any order
//   noise    Place...: the points with noise; no guide: all points
//   schedule is a stream (stream.h) instead
//
// A list is the number of its items and then the items; an item is its fields in the order in which
// its fields() visits them; all are varints. A guide that is not of this form is ignored by its
// strategy, which then behaves as if it had none.
#ifndef CLEW_ABI_GUIDES_H_
#define CLEW_ABI_GUIDES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "clew_abi/job.h"
#include "clew_abi/stream.h"

namespace clew::abi {

struct SurwThread {
  ThreadKey key = 0;
  std::uint64_t own = 0;      // interesting steps it executes itself
  std::uint64_t created = 0;  // those of the threads that it creates, and these create, and so on

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(self.key), visit(self.own), visit(self.created);
  }
};

enum class RffSign : std::uint8_t { kPositive = 0, kNegative = 1, kCount };
struct RffConstraint {
  Place write = 0;  // 0: the initial value
  Place read = 0;
  RffSign sign = RffSign::kPositive;
  bool operator==(const RffConstraint&) const = default;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(self.write), visit(self.read), visit(self.sign);
  }
};

enum class PlanStop : std::uint8_t { kSteps = 0, kBefore = 1, kAfter = 2, kEnd = 3, kCount };
enum PlanFlags : std::uint8_t {
  kPlanInsist = 1u << 0,
  kPlanHold = 1u << 1,
  kPlanWatch = 1u << 2,
  kPlanAllFlags = kPlanInsist | kPlanHold | kPlanWatch
};
struct PlanDirective {
  ThreadKey thread = 0;  // 0: whoever is the default
  PlanStop stop = PlanStop::kSteps;
  Place place = 0;  // kBefore, kAfter
  std::uint64_t times = 1;
  std::uint8_t flags = 0;  // PlanFlags
  bool operator==(const PlanDirective&) const = default;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(self.thread), visit(self.stop), visit(self.place), visit(self.times), visit(self.flags);
  }
};

// What a script's item is: a preemption, or an answer to a question of a kind.
using ScriptKind = std::uint8_t;
inline constexpr ScriptKind kScriptPreemption = 0;
constexpr ScriptKind script_kind(ChoiceKind kind) {
  return static_cast<ScriptKind>(1 + static_cast<unsigned>(kind));
}
inline constexpr ScriptKind kScriptKinds = script_kind(ChoiceKind::kCount);

struct ScriptItem {
  ThreadKey thread = 0;
  std::uint64_t own = 0;  // the event that it stands before, of those that it executes itself
  ScriptKind kind = kScriptPreemption;
  std::uint32_t ordinal = 0;  // of the question, or of the preemption at that event
  ThreadKey to = 0;           // 0: the next in the run queue; of choices that name no thread
  bool operator==(const ScriptItem&) const = default;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(self.thread), visit(self.own), visit(self.kind), visit(self.ordinal), visit(self.to);
  }
};

// Reads a field, or an item, that must be in the range of its type; enumerators beyond those that
// are known are for the caller to refuse. False: it is not there, or not in range.
template <class T>
bool read_field(Reader& reader, T& field) {
  if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> value{};
    const bool ok = read_field(reader, value);
    field = static_cast<T>(value);
    return ok;
  } else {
    const std::uint64_t value = reader.varint();
    field = static_cast<T>(value);
    return reader.ok() && value <= std::numeric_limits<T>::max();
  }
}
template <class Item>
bool read_item(Reader& reader, Item& item) {
  bool ok = true;
  Item::fields(item, [&](auto& field) { ok = ok && read_field(reader, field); });
  return ok;
}

// Job::parameters, by strategy.
inline constexpr std::size_t kRandomUpdateWeight = 0;
inline constexpr std::size_t kPctDepth = 0;
inline constexpr std::size_t kPctSteps = 1;
inline constexpr std::size_t kPlanLongestHold = 0;
inline constexpr std::size_t kPlanLockstep = 1;
inline constexpr std::size_t kPlanLinger = 2;
inline constexpr std::size_t kPrefixShortSleeps = 0;
inline constexpr std::size_t kRoundRobinQuantum = 0;
inline constexpr std::size_t kNoisePercent = 0;
inline constexpr std::size_t kNoiseYields = 1;
inline constexpr std::size_t kNoiseDensity = 2;
inline constexpr std::size_t kNoiseSides = 3;
inline constexpr std::size_t kChoiceSeed = 3;  // of plan and prefix

// With kNoiseSides other than 0, noise at a place comes always after the event, or always before it.
// Both sides know which, so that the host can tell what each of the two does. (The finalizer of
// SplitMix64: any bit of it is as good as a coin.)
inline bool noise_comes_after(std::uint64_t sides, std::uint64_t place) {
  std::uint64_t z = sides ^ place * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return (z >> 63) != 0;
}

}  // namespace clew::abi

#endif  // CLEW_ABI_GUIDES_H_
