#include "host/recording/scratch_store.h"

#include <stdlib.h>

#include <filesystem>
#include <utility>

namespace clew {

ScratchStore::~ScratchStore() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<RecordingStore*> ScratchStore::get() {
  if (!store_) {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "clew-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      return fail(ErrorCode::kSystem, "cannot make a temporary folder", "set TMPDIR to one");
    path_ = path;
    CLEW_TRY(auto store, RecordingStore::open(path));
    store_.emplace(std::move(store));
  }
  return &*store_;
}

}  // namespace clew
