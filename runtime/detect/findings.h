// What the watches report (clew_abi/watch.h): sent to the host, and, where it counts as a failure, the
// end of the run.
#ifndef CLEW_RUNTIME_DETECT_FINDINGS_H_
#define CLEW_RUNTIME_DETECT_FINDINGS_H_

#include "clew_abi/watch.h"
#include "runtime/detect/locksets.h"

namespace clew::rt {

struct FindingSite {
  abi::FindingAction action = abi::FindingAction::kNothing;
  std::uint32_t thread = 0;
  Clock clock = 0;
  abi::Place place = 0;
  std::uintptr_t object = 0;
  std::uint64_t size = 0;
  const Lockset* locks = nullptr;
};

struct FoundSomething {
  abi::FindingKind kind = abi::FindingKind::kRace;
  abi::FindingSeverity severity = abi::FindingSeverity::kError;
  std::uintptr_t address = 0;
  std::uint64_t size = 0;
  const char* name = "";
  const char* text = "";
  FindingSite sites[abi::kMaxFindingSites] = {};
  std::uint32_t sites_count = 0;
};

enum class Counts : std::uint8_t { kAsFlagged, kAsFailure };

class Findings {
 public:
  // A job begins. `flags`: abi::Control's.
  void begin(std::uint32_t flags);
  bool watches(abi::FindingKind kind) const { return (flags_ & abi::watch_flag(kind)) != 0; }
  // Does not return if it counts as a failure.
  void report(const FoundSomething& found, Counts counts = Counts::kAsFlagged);
  // Something that keeps a watch from seeing everything.
  void note(const char* line);
  // The run ends because of one: nobody is asked for more.
  bool ending() const { return ending_; }

 private:
  void note_of_job(std::uint64_t key);

  std::uint32_t flags_ = 0;
  std::uint32_t count_ = 0;
  bool ending_ = false;
  // Of a program that is served: what was found before its jobs begin, and so belongs to each.
  std::uint64_t before_jobs_[abi::kMaxFindings] = {};
  std::uint32_t before_jobs_count_ = 0;
};

extern Findings g_findings;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_FINDINGS_H_
