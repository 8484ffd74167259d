// Memory that outlives a run: shared by a program and all processes forked from it, and left
// alone when a process is put back to where it was (snapshot/reset.h). At a fixed address.
#ifndef CLEW_RUNTIME_KEEP_H_
#define CLEW_RUNTIME_KEEP_H_

#include "runtime/rt.h"

namespace clew::rt {

inline constexpr std::uintptr_t kKeepAddress = 0x4200'0000'0000;
inline constexpr std::size_t kKeepSize = std::size_t{1} << 30;

// What is kept by name. All of it is zero at first.
struct Kept {
  std::uint64_t next;  // free memory begins here
  std::uint64_t
      mark;  // ... for the process that runs jobs; the next such process begins here again
  std::uint32_t epoch;  // number of jobs begun
  void* sharing_cells;
  std::uint32_t* seen_points;     // event/sharing.h
  std::uint8_t* found_points;     // a bit for each point; event/sharing.h
  std::uint64_t changed_signals;  // bits; the kernel has been told another action since
  bool may_have_opened;           // snapshot/new_descriptors.h
  void* engine;                   // snapshot/reset.cc
  std::uint64_t results;          // published so far
  bool in_job;                    // a process is at work on a job
  std::uint32_t lasting;          // the first such call of that job (snapshot/lasting.h); 0: none
  bool never_back;                // a job has made such a call: processes are no longer put back
  std::int64_t waited_in_vain;    // outside/poller.h
  std::uintptr_t spins_at[8];     // signal/stuck.cc; 0: none
  // Of the job under way (abi::JobResult).
  std::uint64_t threaded_children;
  std::uint64_t failed_children;
};

// Maps the memory. Once, by the first process.
void keep_init();
// Ends the run: the address space has no room for it. Set when the runtime takes over.
extern void (*g_no_room_to_keep)();
inline bool keep_ready = false;
inline Kept& kept() { return *reinterpret_cast<Kept*>(kKeepAddress); }
// The memory is zeroed, aligned to 4096 and never freed.
void* keep_alloc(std::size_t size);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_KEEP_H_
