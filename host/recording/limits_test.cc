// What is not a file, is too much, or belongs to somebody else, is an error before it costs anything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "host/recording/owner.h"
#include "host/recording/recording.h"
#include "host/recording/resealed.h"
#include "host/recording/test_util.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

class Limits : public FolderTest {
 protected:
  Limits() : path_(folder_ / ".clew"), store_(RecordingStore::open(path_).value()) {
    EXPECT_TRUE(record(store_.create().value()));
  }
  ~Limits() override { ::unsetenv(kSafeVariable); }

  std::string load_error() {
    const auto recording = store_.load("1");
    return recording ? "loaded" : recording.error().message;
  }
  // The recording as it is, with a meta.json that says something else.
  void write_meta(const Meta& meta) { spill(path_ / "1/meta.json", format_meta(meta)); }
  void make_sparse(const fs::path& file, off_t size) {
    fs::remove(file);
    const FileDescriptor fd(::open(file.c_str(), O_CREAT | O_WRONLY, 0600));
    ASSERT_EQ(::ftruncate(fd.get(), size), 0);
  }

  fs::path path_;
  RecordingStore store_;
};

TEST_F(Limits, OnlyRegularFilesAreOpened) {
  const auto message = [](const fs::path& path, Whose whose = Whose::kAnybodys) {
    const auto file = open_regular(path, whose);
    return file ? "opened" : file.error().message;
  };
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(message(pipe).ends_with("not a file"));
  EXPECT_TRUE(message("/dev/zero").ends_with("not a file"));
  EXPECT_TRUE(message(folder_).ends_with("not a file"));
  spill(folder_ / "file", "x");
  fs::create_symlink("file", folder_ / "link");
  EXPECT_EQ(message(folder_ / "link"), "opened");
  EXPECT_TRUE(message(folder_ / "link", Whose::kOwn).ends_with("it is a symbolic link"));
  make_sparse(folder_ / "sparse", off_t{1} << 40);
  EXPECT_NE(message(folder_ / "sparse").find("only 0 are on the disk"), std::string::npos);
  EXPECT_FALSE(hash_file(folder_ / "sparse"));
}

TEST_F(Limits, SpecialFilesInARecordingStopNobody) {
  for (const char* name : {"lock", "meta.json", "stdout", "schedule"}) {
    const fs::path file = path_ / "1" / name;
    const std::string before = slurp(file);
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    (void)load_error();
    (void)read_schedule_file(path_ / "1/schedule");
    EXPECT_EQ(store_.list().value().size(), 1u);
    fs::remove(file);
    spill(file, before);
  }
  EXPECT_EQ(load_error(), "loaded");
}

TEST_F(Limits, ASizeThatMetaStatesIsNotBelieved) {
  Meta meta = store_.load("1")->meta;
  meta.stdin_data = Captured{.size = 1ull << 42, .stored = 1ull << 42};
  make_sparse(path_ / "1/stdin", off_t{1} << 42);
  write_meta(meta);
  EXPECT_NE(load_error().find("are on the disk"), std::string::npos);
  meta.stdin_data.reset();
  meta.stdout_data = {.size = kMaxStoredOutput + 1, .stored = kMaxStoredOutput + 1};
  write_meta(meta);
  EXPECT_NE(load_error().find("'stdout.stored' is more than"), std::string::npos);
}

TEST_F(Limits, InputsOutOfProportionAreNotUnpacked) {
  Meta meta = store_.load("1")->meta;
  spill(path_ / "1/inputs", "short");
  meta.inputs =
      Captured{.size = 3ull << 30, .stored = 5, .stored_hash = content_hash(bytes_of("short"))};
  write_meta(meta);
  EXPECT_NE(load_error().find("says that it holds 3221225472"), std::string::npos);
  meta.inputs->size = kMaxInputs;
  write_meta(meta);
  EXPECT_NE(load_error().find("more than this machine's memory"), std::string::npos);
}

TEST_F(Limits, MetaIsBoundedBeforeItIsParsed) {
  const auto message = [](const std::string& text) {
    return parse_meta(text, "m").error().message;
  };
  const std::string deep =
      "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_EQ(message(deep), "m is damaged: it is nested too deeply");
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 2'000'000; ++i) many += ",0";
  EXPECT_EQ(message(many + "]}"), "m is damaged: it has too many values");
  EXPECT_EQ(message(std::string(kMaxMetaSize + 1, ' ')), "m is damaged: it is too large");
  // Brackets in strings do not count.
  Meta meta = sample_meta();
  meta.arguments = {"[[[[[[[[[[[[[[[[\\\"[[[[", "\"\\"};
  EXPECT_EQ(parse_meta(format_meta(meta), "m")->arguments, meta.arguments);
}

// Blocks whose columns are all absent: 25 bytes for 65,536 entries.
TEST_F(Limits, AScheduleThatExpandsBeyondProportionIsRefused) {
  SealedParts parts = split_sealed(bytes_of(slurp(path_ / "1/schedule")));
  const std::vector<std::uint8_t> block{'B', 0x80, 0x80, 4, 0, 0};
  parts.erase(parts.begin() + 1, parts.end() - 1);
  for (int i = 0; i < 100; ++i) parts.insert(parts.begin() + 1, block);
  const auto stream = read_schedule_bytes(join_sealed(parts), "s");
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().message.find("more switches than a file of its size"), std::string::npos)
      << stream.error().message;
}

TEST_F(Limits, SchedulesAreReadPartByPart) {
  std::mt19937_64 random(3);
  auto writer = ScheduleFileWriter::create(folder_ / "s").value();
  std::uint64_t clock = 0;
  for (int i = 0; i < 3'000'000; ++i)
    ASSERT_TRUE(writer.append({.clock = {clock += 1 + (random() >> 34)}}));
  ASSERT_TRUE(writer.finish({"T0"}));
  ASSERT_GT(fs::file_size(folder_ / "s"), 10u << 20);
  const auto by_file = read_schedule_file(folder_ / "s");
  const auto by_bytes = read_schedule_bytes(bytes_of(slurp(folder_ / "s")), "s");
  ASSERT_TRUE(by_file);
  ASSERT_TRUE(by_bytes);
  EXPECT_EQ(by_file->bytes, by_bytes->bytes);
}

// Only root can give files away.
TEST_F(Limits, WhatOthersMadeIsNotBelieved) {
  const auto refused = [this](const char* why) {
    const std::string message = load_error();
    return message.find(why) != std::string::npos;
  };
  fs::permissions(path_ / "1", fs::perms(0777));
  EXPECT_TRUE(refused("can be written to by other users"));
  fs::permissions(path_ / "1", fs::perms(0700));
  fs::permissions(path_ / "1/meta.json", fs::perms(0666));
  EXPECT_TRUE(refused("can be written to by other users"));
  fs::permissions(path_ / "1/meta.json", fs::perms(0600));
  fs::permissions(path_, fs::perms(0777));
  EXPECT_FALSE(RecordingStore::open(path_));
  fs::permissions(path_, fs::perms(0755));
  EXPECT_EQ(load_error(), "loaded");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kSomebody = 4711;
  ASSERT_EQ(::chown((path_ / "1").c_str(), kSomebody, 0), 0);
  EXPECT_TRUE(refused("belongs to another user"));
  ::setenv(kSafeVariable, "/nowhere:/tmp/x", 1);
  EXPECT_TRUE(refused("belongs to another user"));
  ::setenv(kSafeVariable, ("/nowhere:" + fs::canonical(path_).string() + "/").c_str(), 1);
  EXPECT_EQ(load_error(), "loaded");
  ::setenv(kSafeVariable, "*", 1);
  EXPECT_EQ(load_error(), "loaded");
  ::unsetenv(kSafeVariable);
  ASSERT_EQ(::chown((path_ / "1").c_str(), 0, 0), 0);
  // A link that somebody has put there, to a folder of our own.
  fs::create_symlink(path_, folder_ / "planted");
  ASSERT_EQ(::lchown((folder_ / "planted").c_str(), kSomebody, 0), 0);
  EXPECT_FALSE(RecordingStore::open(folder_ / "planted"));
}

}  // namespace
}  // namespace clew
