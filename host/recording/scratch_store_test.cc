#include "host/recording/scratch_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include <utime.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "host/recording/test_util.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

fs::path marked_folder(const fs::path& path, std::time_t changed) {
  fs::create_directories(path / "1");
  spill(path / ".in-use", "");
  const utimbuf times{changed, changed};
  EXPECT_EQ(utime((path / ".in-use").c_str(), &times), 0);
  return path;
}

// Temporary folders are made in the folder of the test.
class ScratchStoreTest : public FolderTest {
 protected:
  ScratchStoreTest() {
    if (const char* before = getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~ScratchStoreTest() override {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
  }
  std::optional<std::string> before_;
};

TEST_F(ScratchStoreTest, GoesWithItsFolder) {
  {
    ScratchStore store;
    ASSERT_TRUE(store.get());
    EXPECT_FALSE(fs::is_empty(folder_));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ScratchStoreTest, RemovesWhatWasAbandonedAndNothingElse) {
  constexpr std::time_t kLongAgo = 1'000'000'000;
  const fs::path abandoned = marked_folder(folder_ / "clew-scratch-a", kLongAgo);
  const fs::path in_use = marked_folder(folder_ / "clew-scratch-b", kLongAgo);
  const fs::path young = marked_folder(folder_ / "clew-scratch-c", std::time(nullptr));
  const fs::path other = marked_folder(folder_ / "clew-source", kLongAgo);
  const fs::path unmarked = folder_ / "clew-scratch-d";
  fs::create_directory(unmarked);
  const int user = open((in_use / ".in-use").c_str(), O_RDWR);
  ASSERT_EQ(flock(user, LOCK_EX), 0);
  ScratchStore store;
  ASSERT_TRUE(store.get());
  EXPECT_FALSE(fs::exists(abandoned));
  for (const fs::path& path : {in_use, young, other, unmarked})
    EXPECT_TRUE(fs::exists(path)) << path;
  close(user);
}

}  // namespace
}  // namespace clew
