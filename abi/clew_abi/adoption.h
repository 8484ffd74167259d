// How a child process of a recorded program becomes a run of its own.
//
// The clew that records listens on a socket whose name in the abstract namespace is kAdoptionPrefix
// and its process id; if somebody else has taken that name, with one of the endings ".1" to ".7".
// The kernel tells who listens: its process id and its user are checked. A program that begins with
// the runtime in it and finds kAskParent in its environment looks for such a socket among its
// ancestors, nearest first, and sends a Petition. The answer is one byte with a descriptor of a
// control memory. Without an answer the program runs without clew.
//
// A copy of the program that fork() made keeps running under the runtime, and keeps to itself what
// it would report. When it creates a thread it sends a Petition too, to the clew that its control
// memory names, and says where it branched off the recording of the process that it is a copy of:
// its own recording begins with all of that one up to there.
#ifndef CLEW_ABI_ADOPTION_H_
#define CLEW_ABI_ADOPTION_H_

#include <cstddef>
#include <cstdint>

#include "clew_abi/version.h"

namespace clew::abi {

inline constexpr char kAdoptionPrefix[] = "clew-";
inline constexpr int kAdoptionNames = 8;
inline constexpr std::uint64_t kPetitionMagic = 0x77656c63'6b736121;

enum class PetitionFor : std::uint32_t { kControl = 1, kCopy = 2 };

// Where a copy begins.
struct Branch {
  std::uint64_t recording = 0;   // the one that it branches off
  std::uint64_t entries = 0;     // of the schedule there, up to the fork
  std::uint64_t inputs = 0;      // bytes
  std::uint64_t threads = 0;     // created before the fork
  std::uint64_t points = 0;      // ids of yield points given out
  std::uint32_t generation = 0;  // forks since the program was started
  std::uint32_t reserved = 0;
};

struct Petition {
  std::uint64_t magic = kPetitionMagic;
  std::uint32_t version = kVersion;
  PetitionFor purpose = PetitionFor::kControl;
  Branch branch;               // kCopy
  std::uint32_t size = 0;      // of the path; kCopy has none
  char started_as[4096] = {};  // as it was given to exec(): AT_EXECFN
};

}  // namespace clew::abi

#endif  // CLEW_ABI_ADOPTION_H_
