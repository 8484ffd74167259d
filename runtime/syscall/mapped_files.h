// Regular files that the program has mapped, and segments of System V that it has attached. A
// replay has none: each of these is a file in memory there, which all its views share. Its content,
// and what calls of the program change in it (through any descriptor), comes from the recording.
#ifndef CLEW_RUNTIME_SYSCALL_MAPPED_FILES_H_
#define CLEW_RUNTIME_SYSCALL_MAPPED_FILES_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// Recording: the call has mapped a file at `address`. False: the file is not one whose content is
// recorded.
bool record_mapped_file(const Call& call, long address);
// Replay: maps it. 0: the recording has none here.
long replay_mapped_file(const Call& call, long recorded_address);

// For shmat. The size is that of the segment.
void record_attached(const Call& call, long address, std::size_t size);
long replay_attached(const Call& call, long recorded_address, std::size_t& size);

// A call was made, and recorded or replayed: records or repeats what it changed in the files.
void follow_change_of_files(const Call& call, long result);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_MAPPED_FILES_H_
