// Files and other names that a run has made, so that they are gone before the next. Kept in memory
// that survives the run (keep.h): the process that made them may die. A run that is not one of many
// in a process tells the host (abi::kFlagTellCreated), which removes them.
//
// Only what a job made is ever removed, and only while it is the same file (device and inode).
// What it did to files that were there before cannot be undone; the first of them is named to the
// host (abi::Control::changed_file).
#ifndef CLEW_RUNTIME_SNAPSHOT_CREATED_FILES_H_
#define CLEW_RUNTIME_SNAPSHOT_CREATED_FILES_H_

#include "clew_abi/stream.h"
#include "runtime/rt.h"

namespace clew::rt {

inline constexpr std::size_t kMaxPath = 4096;

// Before the first job; nothing is noted without it.
void created_files_init();
// This process no longer belongs to the program: what it makes is not noted.
void created_files_leave();
bool notes_created_files();

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// `path` is absolute and without symbolic links, unless it is a queue's name. What does not fit is
// not remembered.
void note_created(abi::CreatedKind kind, const char* path, const FileIdentity& file);
bool was_created(const FileIdentity& file);
// The job's own file, or folder with all that is in it, has a new name; null: it took the place of
// a file that was there before, and stays.
void note_renamed(const char* from, const char* to);
void note_changed(const char* path);
// The job has something that only one job at a time can have and that ends with it, like a port.
void note_claimed();

// Files are numbered in the order of creation; those of a run that resumes from a checkpoint follow
// those of the run up to it.
std::uint32_t created_count();
// Removes all from number `first` on, the newest first.
void remove_created(std::uint32_t first);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_CREATED_FILES_H_
