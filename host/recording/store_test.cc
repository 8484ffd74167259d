#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <set>

#include "host/recording/recording.h"
#include "host/recording/test_util.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

class StoreTest : public FolderTest {
 protected:
  StoreTest() : path_(folder_ / ".clew"), store_(RecordingStore::open(path_).value()) {}

  void record_some(int count) {
    while (count-- > 0) ASSERT_TRUE(record(store_.create().value()));
  }
  // As a clew process that was killed leaves it.
  std::uint64_t leave_incomplete() {
    const pid_t child = ::fork();
    if (child == 0) {
      auto draft = store_.create();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return store_.list().value().front().number;
  }
  std::string load_error(std::string_view selector) {
    const auto recording = store_.load(selector);
    if (recording) return "loaded";
    EXPECT_FALSE(recording.error().hint.empty()) << recording.error().message;
    return recording.error().message;
  }

  fs::path path_;
  RecordingStore store_;
};

TEST_F(StoreTest, OpeningAndListingCreateNothing) {
  EXPECT_TRUE(store_.list().value().empty());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(load_error(""), "there are no recordings in " + path_.string());
  EXPECT_EQ(store_.load("").error().hint, "record one with clew run -- PROG");
  EXPECT_EQ(load_error("1"), "there are no recordings in " + path_.string());
}

TEST_F(StoreTest, SelectsByNumberPathOrNewest) {
  record_some(3);
  EXPECT_EQ(store_.load("")->number, 3u);
  EXPECT_EQ(store_.load("2")->number, 2u);
  EXPECT_EQ(store_.load((path_ / "1").string())->number, 1u);
  EXPECT_EQ(store_.load((path_ / "1/").string())->number, 1u);
  fs::rename(path_ / "1", folder_ / "kept");
  EXPECT_EQ(store_.load((folder_ / "kept").string())->number, 0u);
  const fs::path old = fs::current_path();
  fs::current_path(path_ / "2");
  EXPECT_EQ(RecordingStore::open().value().load("../3")->number, 3u);
  fs::current_path(old);
}

TEST_F(StoreTest, RefusesWhatIsNotThere) {
  record_some(1);
  EXPECT_EQ(load_error("7"), "there is no recording 7 in " + path_.string() + " (the newest is 1)");
  for (const char* selector : {"0", "01", "-1", "x", "99999999999999999999", "/nowhere/1"})
    EXPECT_NE(load_error(selector).find("there is no recording '"), std::string::npos) << selector;
  EXPECT_NE(load_error(path_.string()).find("is not a recording"), std::string::npos);
  EXPECT_NE(load_error("/dev/null").find("is not a recording"), std::string::npos);
}

TEST_F(StoreTest, NumbersGoOnAndSkipWhatIsInTheWay) {
  record_some(2);
  ASSERT_TRUE(store_.remove(1));
  EXPECT_EQ(store_.create()->number(), 3u);
  spill(path_ / "3", "a file");
  EXPECT_EQ(store_.create()->number(), 4u);
}

TEST_F(StoreTest, ListsNewestFirstWithStates) {
  record_some(1);
  const std::uint64_t incomplete = leave_incomplete();
  record_some(1);
  spill(path_ / "3/meta.json", "{");
  const Draft running = store_.create().value();
  const auto listed = store_.list().value();
  ASSERT_EQ(listed.size(), 4u);
  EXPECT_EQ(incomplete, 2u);
  EXPECT_EQ(listed[0].number, 4u);
  EXPECT_EQ(listed[0].state, RecordingState::kRunning);
  EXPECT_EQ(listed[1].state, RecordingState::kDamaged);
  EXPECT_NE(listed[1].problem->message.find("meta.json is damaged"), std::string::npos);
  EXPECT_EQ(listed[2].state, RecordingState::kIncomplete);
  EXPECT_GT(listed[2].created_ns, 1'600'000'000'000'000'000);
  EXPECT_EQ(listed[3].state, RecordingState::kComplete);
  EXPECT_EQ(listed[3].meta->program, "/home/me/a b/prog");
  EXPECT_GT(listed[3].bytes, 1000u);

  EXPECT_NE(load_error("4").find("still being recorded"), std::string::npos);
  EXPECT_NE(load_error("3").find("damaged"), std::string::npos);
  EXPECT_NE(load_error("2").find("incomplete"), std::string::npos);
  EXPECT_NE(load_error("").find("damaged"), std::string::npos);  // never silently an older one
}

TEST_F(StoreTest, NewestPassesOverIncompleteAndRunning) {
  EXPECT_EQ(leave_incomplete(), 1u);
  EXPECT_EQ(load_error(""), "there is no complete recording in " + path_.string());
  record_some(1);
  leave_incomplete();
  const Draft running = store_.create().value();
  EXPECT_EQ(store_.load("")->number, 2u);
}

TEST_F(StoreTest, NoticesChangedFiles) {
  record_some(1);
  for (const char* name : {"stdout", "stderr", "stdin"}) {
    const std::string text = slurp(path_ / "1" / name);
    spill(path_ / "1" / name, text.substr(1));
    EXPECT_NE(load_error("1").find("bytes, "), std::string::npos) << name;
    spill(path_ / "1" / name, "X" + text.substr(1));
    EXPECT_NE(load_error("1").find("have changed"), std::string::npos) << name;
    fs::remove(path_ / "1" / name);
    EXPECT_FALSE(store_.load("1")) << name;
    spill(path_ / "1" / name, text);
    EXPECT_TRUE(store_.load("1")) << name;
  }
}

TEST_F(StoreTest, RemovesAllButRunningOnes) {
  record_some(1);
  leave_incomplete();
  const Draft running = store_.create().value();
  EXPECT_TRUE(store_.remove(1));
  EXPECT_TRUE(store_.remove(2));
  EXPECT_NE(store_.remove(3).error().message.find("still being recorded"), std::string::npos);
  EXPECT_NE(store_.remove(9).error().message.find("there is no recording 9"), std::string::npos);
  EXPECT_EQ(store_.list().value().size(), 1u);
}

TEST_F(StoreTest, RemovingFollowsNoLinks) {
  record_some(1);
  fs::create_directory(folder_ / "precious");
  spill(folder_ / "precious/file", "x");
  fs::create_directory_symlink(folder_ / "precious", path_ / "1/link");
  fs::create_directory_symlink(folder_ / "precious", path_ / "2");
  EXPECT_TRUE(store_.remove(1));
  EXPECT_FALSE(store_.remove(2));
  EXPECT_TRUE(fs::exists(folder_ / "precious/file"));
}

TEST_F(StoreTest, SweepsOldLeftovers) {
  record_some(2);
  fs::create_directory(path_ / ".transit-1-2-3");
  fs::create_directory(path_ / ".transit-4-5-6");
  fs::last_write_time(path_ / ".transit-1-2-3",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  ASSERT_TRUE(store_.remove(1));
  store_.sweep();
  EXPECT_FALSE(fs::exists(path_ / ".transit-1-2-3"));
  EXPECT_TRUE(fs::exists(path_ / ".transit-4-5-6"));  // may be about to be created
}

TEST_F(StoreTest, ParallelClewsGetDifferentNumbers) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 25;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    for (int k = 0; k < kEach; ++k)
      if (!record(store_.create().value())) ::_exit(1);
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::uint64_t> numbers;
  for (const Listed& listed : store_.list().value()) {
    EXPECT_EQ(listed.state, RecordingState::kComplete);
    numbers.insert(listed.number);
  }
  EXPECT_EQ(numbers.size(), kProcesses * kEach);
  EXPECT_EQ(*numbers.rbegin(), kProcesses * kEach);  // without gaps
}

TEST_F(StoreTest, AFileInThePlaceOfTheFolder) {
  spill(path_, "x");
  const auto store = RecordingStore::open(path_);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("Not a directory"), std::string::npos);
  EXPECT_FALSE(store.error().hint.empty());
  EXPECT_FALSE(RecordingStore::open(path_ / "below").value().create());
}

TEST_F(StoreTest, AFolderThatMayNotBeWrittenTo) {
  const pid_t child = ::fork();
  if (child == 0) {
    fs::permissions(folder_, fs::perms(0555));
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const auto draft = store_.create();
    ::_exit(!draft && draft.error().message.find("Permission denied") != std::string::npos &&
                    !draft.error().hint.empty()
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace clew
