// meta.json: what was run and with which outcome (docs/recording-format.md).
#ifndef CLEW_HOST_RECORDING_META_H_
#define CLEW_HOST_RECORDING_META_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clew_abi/job.h"
#include "host/error.h"
#include "host/outcome.h"
#include "host/recording/capture.h"
#include "host/recording/criteria.h"
#include "host/recording/origin.h"

namespace clew {

// Bumped with every change of meta.json or of the set of files.
inline constexpr std::uint32_t kRecordingVersion = 8;

// Distinguishes a rebuilt program from the one that was recorded.
struct ProgramIdentity {
  std::uint64_t size = 0;
  std::uint64_t hash = 0;  // XXH3 of the file
  std::string build_id;    // hex digits; empty if the program has none
  bool operator==(const ProgramIdentity&) const = default;
};

[[nodiscard]] Result<ProgramIdentity> identify_program(const std::filesystem::path& program);

enum class StdinKind : std::uint8_t {
  kNone,    // closed, /dev/null or never read
  kFile,    // a regular file
  kStream,  // a pipe, a terminal
};

inline constexpr std::uint32_t kMaxPool = 65'536;
// A point takes 10 ns at speed 1: it must not take longer than what programs wait for.
inline constexpr std::uint32_t kMaxClockSpeed = 10'000;
inline constexpr std::size_t kMaxListeners = 16;
inline constexpr std::size_t kMaxOrigin = 4096;  // bytes
inline constexpr std::size_t kMaxCriterion =
    65'536;  // bytes of an expression, a command or a detail

// The kernel gives a program at most 6 MiB of arguments and variables, with 8 bytes for each of
// them. In JSON a byte takes two (hex digits), and rarely six.
inline constexpr std::size_t kMaxMetaSize = std::size_t{24} << 20;
inline constexpr std::size_t kMaxMetaValues = 1'000'000;
inline constexpr std::size_t kMaxMetaDepth = 8;

struct Meta {
  // Filled in by Draft::commit.
  std::uint32_t recording_version = 0;
  std::uint32_t abi_version = 0;
  std::string clew_version;

  // What was run.
  std::string program;     // absolute path
  std::string started_as;  // as it was given to exec(); the same, or relative to working_folder
  ProgramIdentity identity;
  std::vector<std::string> arguments;    // argv, argv[0] first
  std::vector<std::string> environment;  // "NAME=value", in the order the program saw
  std::string working_folder;
  std::uint64_t stack_limit = 0;      // RLIMIT_STACK, soft; UINT64_MAX: none
  std::uint64_t blocked_signals = 0;  // at its start: bits 1 << (number - 1)
  std::uint64_t ignored_signals = 0;
  // The recording of the program that started it as a child process, or that the process ran before
  // an exec(); 0: clew started it. Its output went where its parent directed it, and is not kept
  // here.
  std::uint64_t parent = 0;
  bool child = false;  // another program started it: signals may come from the start
  // The runtime chose its addresses, because the kernel refused to fix them.
  bool loaded_again = false;
  // Number of forks that lead from the program to the copy of it that was recorded; 0: it is the
  // program. The recording begins with the program's.
  std::uint32_t generation = 0;
  // The fork, counted from 1, after which the process continued as the child; 0: none.
  std::uint32_t enter_child = 0;

  // How it was run.
  abi::StrategyKind strategy = abi::StrategyKind::kNone;
  std::uint64_t seed = 0;
  std::uint64_t budget = 0;
  std::uint64_t fair_slice = 0;
  std::int64_t epoch_ns = 0;
  std::uint32_t clock_speed = 1;  // at most kMaxClockSpeed
  bool line_buffered = false;
  bool from_main = false;   // nothing was preempted before main, or before the first thread
  std::uint32_t pool = 0;   // threads prepared before main; at most kMaxPool
  std::uint32_t watch = 0;  // what it was watched for: flags of clew_abi/watch.h
  std::vector<std::string> listeners;  // "FILE" or "FILE:OPTIONS"
  Origin origin;  // "hunt, schedule 12, strategy pos, seed 7"; of `clew run`: empty

  // The outcome.
  std::int64_t created_ns = 0;  // since 1970
  double wall_seconds = 0;
  RunSummary summary;  // the program's own end
  std::optional<Judged> judged;

  StdinKind stdin_kind = StdinKind::kNone;
  std::optional<Captured> stdin_data;  // if there is a file `stdin`
  Captured stdout_data;
  Captured stderr_data;
  std::optional<Captured> inputs;  // if there is a file `inputs` (inputs_file.h)
};

// "none", "timer", "schedule", ...: the words of CLEW_STRATEGIES.
[[nodiscard]] const char* to_word(abi::StrategyKind strategy);

// Fails if a field is beyond its limit, so that parse_meta would refuse it.
[[nodiscard]] Result<void> check_limits(const Meta& meta);

[[nodiscard]] std::string format_meta(const Meta& meta);
// `name` is what errors call it. Checks the checksum, the versions and every field.
[[nodiscard]] Result<Meta> parse_meta(std::string_view text, std::string_view name);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_META_H_
