// How a child process of a recorded program becomes a run of its own.
//
// The clew that records listens on a socket whose name in the abstract namespace is kAdoptionPrefix
// and its process id. A program that begins with the runtime in it and finds kAskParent in its
// environment looks for such a socket among its ancestors, nearest first, and sends a Petition. The
// answer is one byte with a descriptor of a control memory, or nothing: then it runs without clew.
//
// A copy of the program that fork() made cannot be recorded, because no replay could begin in it.
// It sends a Petition for nothing but a word to the user, once it makes a thread.
#ifndef CLEW_ABI_ADOPTION_H_
#define CLEW_ABI_ADOPTION_H_

#include <cstddef>
#include <cstdint>

#include "clew_abi/version.h"

namespace clew::abi {

inline constexpr char kAdoptionPrefix[] = "clew-";
inline constexpr std::uint64_t kPetitionMagic = 0x77656c63'6b736121;

enum class PetitionFor : std::uint32_t { kControl = 1, kNote = 2 };

struct Petition {
  std::uint64_t magic = kPetitionMagic;
  std::uint32_t version = kVersion;
  PetitionFor purpose = PetitionFor::kControl;
  std::uint32_t size = 0;      // of the path; kNote has none
  char started_as[4096] = {};  // as it was given to exec(): AT_EXECFN
};

}  // namespace clew::abi

#endif  // CLEW_ABI_ADOPTION_H_
