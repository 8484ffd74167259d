// What the findings of many runs are known by, and what listeners (watch.h) need besides.
#ifndef CLEW_ABI_FINDINGS_H_
#define CLEW_ABI_FINDINGS_H_

#include <cstdint>

#include "clew_abi/watch.h"

namespace clew::abi {

// One of Control::flags: `translation` is for the functions that a listener asks for.
inline constexpr std::uint32_t kFlagTranslateIfAsked = 1u << 24;
// One of Control::lacks: a listener asks for functions, which are not told here.
inline constexpr std::uint32_t kLacksFunctions = 1u << 2;
// In Control::waits_outside: the code of a listener runs.
inline constexpr auto kWaitsListener = static_cast<WaitsOutside>(3);

// Two findings, of one run or of two, that stand for the same error have the same key: made of the kind,
// what its sites do and where, in any order, and of the text if there is no site.
class FindingKey {
 public:
  explicit constexpr FindingKey(FindingKind kind)
      : value_(mixed(static_cast<unsigned>(kind) + 1)) {}
  constexpr void name(const char* text) {
    for (; *text != '\0'; ++text) value_ = mixed(value_ ^ static_cast<unsigned char>(*text));
  }
  constexpr void site(FindingAction action, Place place) {
    sites_ += mixed(mixed(place) + static_cast<unsigned>(action));
  }
  constexpr std::uint64_t value() const { return mixed(value_ + sites_); }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
  std::uint64_t value_;
  std::uint64_t sites_ = 0;
};

// Nobody empties the ring of a program that is served (kFlagServe). What its jobs find stands there
// instead, one after the other; Control::head is how many, as far as there is room, and the host sets
// it back when it lays out a batch.
struct FindingNote {
  std::uint32_t job;  // its position in the batch
  std::uint32_t reserved;
  std::uint64_t key;
};

}  // namespace clew::abi

#endif  // CLEW_ABI_FINDINGS_H_
