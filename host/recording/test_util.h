// Folders and values for tests. Only tests include this.
#ifndef CLEW_HOST_RECORDING_TEST_UTIL_H_
#define CLEW_HOST_RECORDING_TEST_UTIL_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "clew_abi/version.h"
#include "host/recording/recording.h"

namespace clew {

// A fixture with a folder of its own.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "clew_test.XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    folder_ = name;
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void spill(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline Meta sample_meta() {
  Meta meta;
  meta.recording_version = kRecordingVersion;
  meta.abi_version = abi::kVersion;
  meta.clew_version = "0.1.0";
  meta.program = "/home/me/a b/prog";
  meta.identity = {.size = 12345, .hash = 0xfedcba9876543210, .build_id = "00ff"};
  meta.arguments = {"./prog", "--name", "\xff\x80 not UTF-8", ""};
  meta.environment = {"HOME=/home/me", "Z=\xc3\xa9", "BAD=\xc3"};
  meta.working_folder = "/home/me";
  meta.stack_limit = UINT64_MAX;
  meta.child = true;
  meta.loaded_again = true;
  meta.generation = 2;
  meta.enter_child = 3;
  meta.strategy = abi::StrategyKind::kTimer;
  meta.seed = UINT64_MAX;
  meta.budget = 1'000'000;
  meta.fair_slice = 10'000;
  meta.epoch_ns = -5;
  meta.clock_speed = 50;
  meta.line_buffered = true;
  meta.from_main = true;
  meta.pool = 8;
  meta.origin = Origin::hunt(12, "pos", 7);
  meta.created_ns = 1'700'000'000'123'456'789;
  meta.wall_seconds = 0.1;
  meta.summary.outcome = Outcome::kFail;
  meta.summary.failure = Failure{FailureKind::kAssert, "assertion `x == 1' failed", "T0.1",
                                 Location{"a.cc", 7, "f()"}};
  meta.summary.clock = 99;
  meta.summary.switches = 5;
  meta.summary.preemptions = 3;
  meta.summary.threads = 2;
  meta.summary.hash = 0x0123456789abcdef;
  meta.summary.exit_status = 134;
  meta.summary.notes = {note_from_text("a note")};
  meta.stdin_kind = StdinKind::kFile;
  return meta;
}

// Writes every file; output "out" and "error".
inline Result<Recording> record(Draft draft) {
  Meta meta = sample_meta();
  CLEW_TRY(auto schedule, draft.open_schedule());
  for (std::uint64_t clock : {3, 9, 20}) CLEW_CHECK_OK(schedule.append({.clock = {clock}}));
  CLEW_CHECK_OK(schedule.finish({"T0"}));
  const auto capture = [](Result<CaptureWriter> writer, std::string_view text) -> Result<Captured> {
    CLEW_CHECK_OK(writer);
    CLEW_CHECK_OK(writer->append(bytes_of(text)));
    return writer->finish();
  };
  auto out = capture(draft.open_stdout(), "out");
  auto err = capture(draft.open_stderr(), "error");
  auto in = capture(draft.open_stdin(), "input");
  if (!out || !err || !in)
    return std::unexpected(!out ? out.error() : !err ? err.error() : in.error());
  meta.stdout_data = *out;
  meta.stderr_data = *err;
  meta.stdin_data = *in;
  return draft.commit(meta);
}

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_TEST_UTIL_H_
