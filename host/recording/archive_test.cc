#include "host/recording/archive.h"

#include <gtest/gtest.h>

#include <random>

#include "host/recording/archive_test_util.h"
#include "host/recording/machine_facts.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

class Archive : public FolderTest {
 protected:
  fs::path file() const { return folder_ / "one.clew"; }

  // A new store for each, as on another machine.
  Result<Recording> import_here() {
    CLEW_TRY(auto store, RecordingStore::open(folder_ / "elsewhere" / ".clew"));
    fs::create_directories(folder_ / "elsewhere");
    return import_archive(file(), store);
  }
  std::size_t recordings_elsewhere() const {
    std::size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_ / "elsewhere" / ".clew", ignored))
      count += entry.is_directory() ? 1 : 0;
    return count;
  }
};

TEST_F(Archive, BringsEverythingAlong) {
  ASSERT_TRUE(export_sample(folder_, file()));
  const auto recording = import_here();
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->number, 1u);
  EXPECT_EQ(slurp(recording->stdout_file()), "out");
  EXPECT_EQ(slurp(recording->stdin_file()), "input");
  EXPECT_TRUE(read_schedule_file(recording->schedule_file()));
  EXPECT_EQ(slurp(recording->path / "root/lib64/ld.so"), std::string(1000, 'b'));
  EXPECT_EQ(fs::file_size(recording->path / "root/home/me/a b/prog"), 0u);
  const auto loaded = RecordingStore::open(folder_ / "elsewhere" / ".clew").value().load("1");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(path_before_import(loaded->meta.program), "/home/me/a b/prog");
  ASSERT_TRUE(is_start_file(loaded->meta.started_as));
  const auto start = check_start_file(loaded->meta.started_as);
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_EQ(start->program, "/home/me/a b/prog");
  EXPECT_EQ(start->files.size(), 4u);
  spill(start->files[2].file, "other");
  EXPECT_FALSE(check_start_file(loaded->meta.started_as));
}

TEST_F(Archive, PathsDoNotLeadOutOfTheRecording) {
  ASSERT_TRUE(export_sample(
      folder_, file(),
      {"/p", "/ld", "/../../../escaped", "../../up", "/a/./b", "//c", "/d/", "..", "/", "/e/.."}));
  const auto recording = import_here();
  ASSERT_TRUE(recording) << recording.error().message;
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "elsewhere"))
    files += entry.is_regular_file() ? 1 : 0;
  std::size_t inside = 0;
  for (const auto& entry : fs::recursive_directory_iterator(recording->path / "root"))
    inside += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(inside, 10u);
  EXPECT_EQ(files, inside + 8);  // meta.json, schedule, lock, machine, start file, three streams
  EXPECT_FALSE(fs::exists(folder_ / "escaped"));
}

TEST_F(Archive, DoesNotOverwriteAFile) {
  spill(file(), "mine");
  EXPECT_FALSE(export_sample(folder_, file()));
  EXPECT_EQ(slurp(file()), "mine");
}

TEST_F(Archive, ThatIsCutShortOrGoesOnIsRefused) {
  ASSERT_TRUE(export_sample(folder_, file()));
  const std::string whole = slurp(file());
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 16) {
    spill(file(), whole.substr(0, size));
    EXPECT_FALSE(import_here()) << size;
  }
  spill(file(), whole + "x");
  EXPECT_FALSE(import_here());
  EXPECT_EQ(recordings_elsewhere(), 0u);
}

TEST_F(Archive, WithAChangedByteIsRefusedOrTheSame) {
  ASSERT_TRUE(export_sample(folder_, file()));
  const std::string whole = slurp(file());
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] ^= static_cast<char>(1 + random() % 255);
    spill(file(), changed);
    // Some bits of a compressed frame mean nothing: what comes out is the same then.
    if (const auto imported = import_here()) {
      EXPECT_TRUE(check_start_file(imported->meta.started_as)) << i;
      EXPECT_EQ(slurp(imported->stdin_file()), "input") << i;
      EXPECT_TRUE(read_schedule_file(imported->schedule_file())) << i;
      fs::remove_all(imported->path);
    }
  }
  EXPECT_EQ(recordings_elsewhere(), 0u);
}

TEST_F(Archive, OfAnotherVersionIsRefusedByName) {
  ASSERT_TRUE(export_sample(folder_, file()));
  std::string changed = slurp(file());
  changed[8] = 99;
  spill(file(), changed);
  const auto result = import_here();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("99"), std::string::npos);
}

TEST_F(Archive, ThatIsAPipeOrAFolderIsRefused) {
  fs::create_directory(file());
  EXPECT_FALSE(import_here());
}

TEST(BundleTest, MustHaveProgramAndLoader) {
  Bundle bundle;
  EXPECT_NE(problem_of(bundle), "");
  bundle = {{"/p", "", 1, 1}, {"/l", "", 1, 1}};
  EXPECT_EQ(problem_of(bundle), "");
  EXPECT_EQ(parse_bundle(format_bundle(bundle), "b").value().size(), 2u);
  EXPECT_FALSE(parse_bundle(format_bundle(bundle) + "x", "b"));
  bundle.push_back({"/p", "", 1, 1});
  EXPECT_NE(problem_of(bundle), "");
  bundle.back() = {"/q", "", kMaxBundledFile + 1, 1};
  EXPECT_NE(problem_of(bundle), "");
  bundle.back() = {std::string(kMaxBundledPath + 1, 'x'), "", 1, 1};
  EXPECT_NE(problem_of(bundle), "");
}

TEST(BundleTest, PathsBeforeAnImport) {
  EXPECT_EQ(path_before_import("/home/me/.clew/12/root/lib/c.so"), "/lib/c.so");
  for (const char* path : {"/lib/c.so", "/home/.clew/x/root/c", "/h/.clew/1/other/c", "/h/.clew/1"})
    EXPECT_EQ(path_before_import(path), path);
}

TEST(MachineFactsTest, DifferencesAreNamed) {
  const MachineFacts here = this_machine();
  EXPECT_TRUE(differences(here, here).empty());
  EXPECT_EQ(parse_machine(format_machine(here)), here);
  MachineFacts other = here;
  other.features.emplace_back("AVX-9000");
  ASSERT_EQ(differences(other, here).size(), 1u);
  EXPECT_TRUE(differences(other, here)[0].matters);
  EXPECT_NE(differences(other, here)[0].text.find("with AVX-9000, which this one lacks"),
            std::string::npos);
  EXPECT_EQ(differences(here, other).size(), 1u);
  other = here;
  other.kernel = "1.0";
  other.processors += 1;
  EXPECT_EQ(differences(other, here).size(), 2u);
  EXPECT_FALSE(differences(other, here)[0].matters);
}

}  // namespace
}  // namespace clew
