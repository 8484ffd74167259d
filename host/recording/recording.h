// Recordings: the folders `.clew/N` (docs/recording-format.md).
//
//   meta.json   what was run, with its outcome; written last, atomically: a folder
//               that has it is complete
//   schedule    the switches and choices (schedule_file.h)
//   stdout, stderr, stdin   what went through them; stdin only if there was any
//   inputs      what was read from outside (inputs_file.h), if anything
//   lock        held (flock) by the clew that writes the recording
// A folder gets its number by rename, with its lock held, and is renamed again before it is
// emptied: however a clew process dies, others never see a partly written or partly removed
// recording as a complete one.
#ifndef CLEW_HOST_RECORDING_RECORDING_H_
#define CLEW_HOST_RECORDING_RECORDING_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/recording/capture.h"
#include "host/recording/file.h"
#include "host/recording/inputs_file.h"
#include "host/recording/meta.h"
#include "host/recording/schedule_file.h"

namespace clew {

struct Recording {
  std::uint64_t number = 0;  // 0: a folder that is not named by a number
  std::filesystem::path path;
  Meta meta;

  [[nodiscard]] std::filesystem::path schedule_file() const { return path / "schedule"; }
  [[nodiscard]] std::filesystem::path stdout_file() const { return path / "stdout"; }
  [[nodiscard]] std::filesystem::path stderr_file() const { return path / "stderr"; }
  [[nodiscard]] std::filesystem::path stdin_file() const { return path / "stdin"; }
  [[nodiscard]] std::filesystem::path inputs_file() const { return path / "inputs"; }
};

// A recording that is being written. If it is destroyed before commit(), its folder is removed. It
// belongs to the process that created it: a forked child's copy does nothing.
class Draft {
 public:
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&& other) noexcept;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Each may be called once. Finish the writers before commit().
  [[nodiscard]] Result<ScheduleFileWriter> open_schedule() const;
  [[nodiscard]] Result<CaptureWriter> open_stdout(std::uint64_t cap = kDefaultOutputCap) const;
  [[nodiscard]] Result<CaptureWriter> open_stderr(std::uint64_t cap = kDefaultOutputCap) const;
  [[nodiscard]] Result<CaptureWriter> open_stdin()
      const;                                       // never capped: isolation needs all of it
  [[nodiscard]] InputsWriter open_inputs() const;  // never capped: replay needs all of it

  // Turns the draft into a recording. Version fields of `meta` are filled in; check_limits(meta)
  // must hold. After an error the draft remains a draft, and is removed when it is destroyed.
  [[nodiscard]] Result<Recording> commit(Meta meta, Durability durability = Durability::kKilled);

  static constexpr std::uint64_t kDefaultOutputCap = std::uint64_t{16} << 20;

 private:
  friend class RecordingStore;
  Draft(std::uint64_t number, std::filesystem::path path, FileDescriptor lock);
  void discard() noexcept;
  [[nodiscard]] Result<void> sync() const;

  std::uint64_t number_ = 0;
  std::filesystem::path path_;  // empty: moved from or committed
  FileDescriptor lock_;
  int owner_ = 0;  // process id
};

enum class RecordingState : std::uint8_t {
  kComplete,
  kRunning,     // a live clew is writing it
  kIncomplete,  // clew was killed while it wrote it
  kDamaged,     // meta.json cannot be read; `problem` says why
};

// "complete", "running", "incomplete", "damaged"
[[nodiscard]] const char* to_word(RecordingState state);

struct Listed {
  std::uint64_t number = 0;
  std::filesystem::path path;
  RecordingState state = RecordingState::kIncomplete;
  std::uint64_t bytes = 0;       // size of its files
  std::int64_t created_ns = 0;   // since 1970; of the folder if there is no meta
  std::optional<Meta> meta;      // if complete; without environment
  std::optional<Error> problem;  // if damaged
};

enum class Detail : std::uint8_t {
  kState,  // number, path, state: nothing is read
  kAll,
};

// Set: inputs that expand beyond all proportion are replayed all the same.
inline constexpr char kLargeVariable[] = "CLEW_LARGE_INPUTS";

// Thread safety: none; process safety: full, any number of clews may share a store.
class RecordingStore {
 public:
  // A folder that does not exist yet is an empty store; create() creates it. One that others own
  // or can write to is an error (owner.h).
  [[nodiscard]] static Result<RecordingStore> open(std::filesystem::path path = ".clew");

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Reserves the next free number (one more than the highest in use).
  [[nodiscard]] Result<Draft> create();

  // `selector`: empty for the newest complete recording of what clew was told to run (not of a
  // child process), a number, or the path of a recording's folder, in this store or not. All files
  // but the schedule are checked against their hashes (read_schedule_file checks that one).
  [[nodiscard]] Result<Recording> load(std::string_view selector) const;

  // Newest first.
  [[nodiscard]] Result<std::vector<Listed>> list(Detail detail = Detail::kAll) const;

  // Refuses to remove a recording that is still running.
  [[nodiscard]] Result<void> remove(std::uint64_t number);
  // Removes what a clew process that was killed while it created or removed a recording left
  // behind.
  void sweep() const;

 private:
  explicit RecordingStore(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] std::filesystem::path folder(std::uint64_t number) const;
  [[nodiscard]] Result<std::vector<std::uint64_t>> numbers() const;  // ascending

  std::filesystem::path path_;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_RECORDING_H_
