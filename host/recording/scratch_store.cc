#include "host/recording/scratch_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

namespace clew {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "clew-scratch-";
// In each folder a file that is locked as long as the folder is in use, however its process ends.
constexpr const char* kMark = ".in-use";
// Seconds. A file that is younger may not have its lock yet. Chosen, not measured.
constexpr std::time_t kYoungest = 60;

// -1: it is not there, or somebody has it.
int lock_file(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return -1;
}

bool is_old_and_own(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && status.st_uid == geteuid() &&
         status.st_mtime + kYoungest < std::time(nullptr);
}

// Those of processes that were killed.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    const int mark = lock_file(it->path() / kMark, 0);
    if (mark < 0) continue;
    std::error_code ignored;
    if (is_old_and_own(mark)) fs::remove_all(it->path(), ignored);
    close(mark);
  }
}

}  // namespace

ScratchStore::~ScratchStore() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

Result<RecordingStore*> ScratchStore::get() {
  if (!store_) {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (!error) remove_abandoned(parent);
    std::string path = (parent / (std::string(kPrefix) + "XXXXXX")).string();
    if (mkdtemp(path.data()) == nullptr)
      return fail(ErrorCode::kSystem, "cannot make a temporary folder", "set TMPDIR to one");
    path_ = path;
    lock_ = lock_file(fs::path(path_) / kMark, O_CREAT | O_EXCL);
    CLEW_TRY(auto store, RecordingStore::open(path));
    store_.emplace(std::move(store));
  }
  return &*store_;
}

}  // namespace clew
