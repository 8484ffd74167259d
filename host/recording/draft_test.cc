#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <random>

#include "host/recording/recording.h"
#include "host/recording/test_util.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

class DraftTest : public FolderTest {
 protected:
  RecordingStore store() { return RecordingStore::open(folder_ / ".clew").value(); }
};

TEST_F(DraftTest, BecomesARecording) {
  auto recording = record(store().create().value());
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->number, 1u);
  EXPECT_EQ(recording->meta.clew_version, CLEW_VERSION);
  EXPECT_EQ(slurp(recording->stdout_file()), "out");
  const auto loaded = store().load("1");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(format_meta(loaded->meta), format_meta(recording->meta));
  EXPECT_EQ(to_schedule(read_schedule_file(loaded->schedule_file()).value()),
            parse_schedule("3 9 20").value());
}

TEST_F(DraftTest, MaySurviveAPowerCut) {
  Draft draft = store().create().value();
  ASSERT_TRUE(draft.open_stdout().value().finish());
  ASSERT_TRUE(draft.open_stderr().value().finish());
  const auto recording = draft.commit(sample_meta(), Durability::kPowerCut);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_TRUE(store().load(""));
}

TEST_F(DraftTest, RefusesAMetaThatCouldNotBeReadBack) {
  Draft draft = store().create().value();
  ASSERT_TRUE(draft.open_stdout().value().finish());
  ASSERT_TRUE(draft.open_stderr().value().finish());
  Meta meta = sample_meta();
  meta.origin = Origin::from_line(std::string(kMaxOrigin + 1, 'x'));
  const auto refused = draft.commit(meta);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "an origin of 4097 bytes, at most 4096 are allowed");
  meta.origin = Origin::from_line(std::string(kMaxOrigin, 'x'));
  EXPECT_TRUE(draft.commit(meta));
  EXPECT_EQ(store().load("1").value().meta.origin, meta.origin);
}

TEST_F(DraftTest, NobodyElseMayRead) {
  ASSERT_TRUE(record(store().create().value()));
  const auto mode = [](const fs::path& path) {
    struct stat status{};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777;
  };
  EXPECT_EQ(mode(folder_ / ".clew"), 0700u);
  EXPECT_EQ(mode(folder_ / ".clew/1"), 0700u);
  for (const auto& file : fs::directory_iterator(folder_ / ".clew/1"))
    EXPECT_EQ(mode(file.path()), 0600u) << file.path();
}

TEST_F(DraftTest, GoesUnlessCommitted) {
  {
    Draft draft = store().create().value();
    EXPECT_TRUE(fs::exists(draft.path()));
    Draft moved = std::move(draft);
    EXPECT_TRUE(fs::exists(moved.path()));
    EXPECT_TRUE(moved.open_stdout());
  }
  EXPECT_TRUE(fs::is_empty(folder_ / ".clew"));
}

TEST_F(DraftTest, StaysWhenAForkedChildEnds) {
  Draft draft = store().create().value();
  const pid_t child = ::fork();
  if (child == 0) {
    {
      Draft mine = std::move(draft);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(fs::exists(draft.path()));
}

TEST_F(DraftTest, CapsWhatItStoresButHashesAll) {
  Draft draft = store().create().value();
  auto writer = draft.open_stdout(5).value();
  for (const char* text : {"abc", "defg", "hij"}) ASSERT_TRUE(writer.append(bytes_of(text)));
  const Captured captured = writer.finish().value();
  EXPECT_EQ(slurp(draft.path() / "stdout"), "abcde");
  EXPECT_EQ(captured, (Captured{.size = 10,
                                .hash = content_hash(bytes_of("abcdefghij")),
                                .stored = 5,
                                .stored_hash = content_hash(bytes_of("abcde"))}));
  EXPECT_EQ(draft.open_stderr().value().finish().value(), Captured{});
}

// Fills a disk with a recording and expects a plain error and no trace of the draft.
void expect_full(const fs::path& folder) {
  auto store = RecordingStore::open(folder / ".clew").value();
  ASSERT_TRUE(record(store.create().value()));
  std::optional<Error> error;
  {
    Draft draft = store.create().value();
    auto writer = draft.open_schedule().value();
    std::mt19937_64 random(13);
    const std::vector<Entry> entries = random_entries(random, 70'000);
    for (const Entry& entry : entries) {
      if (auto done = writer.append(entry); !done) {
        error = done.error();
        break;
      }
    }
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kSystem);
  EXPECT_NE(error->hint.find("make room"), std::string::npos) << error->message;
  EXPECT_FALSE(fs::exists(folder / ".clew/2"));
  EXPECT_TRUE(store.load("1"));  // intact
}

TEST_F(DraftTest, SurvivesAFullDisk) {
  if (::geteuid() != 0 || ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=128k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  expect_full(folder_);
  // No room for meta.json alone.
  auto disk = RecordingStore::open(folder_ / ".clew").value();
  {
    Draft draft = disk.create().value();
    std::ofstream(folder_ / "filler") << std::string(1 << 20, 'x');
    const auto recording = draft.commit(sample_meta());
    ASSERT_FALSE(recording);
    EXPECT_NE(recording.error().message.find("No space left"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(folder_ / ".clew/2"));
  const auto draft = disk.create();
  if (!draft) EXPECT_NE(draft.error().message.find("No space left"), std::string::npos);
  EXPECT_TRUE(disk.load(""));
  ::umount2(folder_.c_str(), MNT_DETACH);
}

TEST_F(DraftTest, SurvivesAReadOnlyDisk) {
  if (::geteuid() != 0 || ::mount("tmpfs", folder_.c_str(), "tmpfs", MS_RDONLY, "size=128k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  const auto draft = store().create();
  ASSERT_FALSE(draft);
  EXPECT_NE(draft.error().message.find("Read-only file system"), std::string::npos);
  EXPECT_FALSE(draft.error().hint.empty());
  ::umount2(folder_.c_str(), MNT_DETACH);
}

TEST_F(DraftTest, SurvivesAFileSizeLimit) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    expect_full(folder_);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace clew
