// Traces kept in a file: docs/trace-file.md has the format. Written as the traced run proceeds,
// compressed in sections, with an index by clock, so that a part can be read without the rest.
#ifndef CLEW_HOST_OBSERVE_TRACE_FILE_H_
#define CLEW_HOST_OBSERVE_TRACE_FILE_H_

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/observe/block_table.h"
#include "host/recording/file.h"
#include "host/target/run_result.h"
#include "host/translate/code_trace.h"

namespace clew {

// The clocks of a part of a run, both included: what runs when so many points have been passed.
struct ClockWindow {
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;

  [[nodiscard]] bool has(std::uint64_t clock) const { return clock >= from && clock <= to; }
};

// What a trace file says of its run.
struct TraceInfo {
  std::uint64_t recording = 0;  // its number
  std::string program;
  ClockWindow window;
  std::uint64_t clock = 0;  // of the run's end
  std::uint64_t instructions = 0;
  std::vector<ThreadInfo> threads;
  std::string maps;  // which files the code comes from
};

// Keeps the part of the run that is in the window. The file gets its name when it is complete.
class TraceFileWriter {
 public:
  // REQUIRES: `most_bytes` is less than 2^62.
  [[nodiscard]] static Result<std::unique_ptr<TraceFileWriter>> create(std::filesystem::path path,
                                                                       ClockWindow window,
                                                                       std::uint64_t most_bytes);
  // Removes what is not complete.
  ~TraceFileWriter();
  TraceFileWriter(const TraceFileWriter&) = delete;
  TraceFileWriter& operator=(const TraceFileWriter&) = delete;

  // As TracePartSink has it.
  [[nodiscard]] bool part(std::span<const std::uint8_t> records,
                          const std::deque<TranslatedBlock>& blocks);

  // Something could not be written, which finish() tells: nothing more is.
  [[nodiscard]] bool has_failed() const;
  // `info`: its window and instructions are not looked at. Returns the size of the file.
  [[nodiscard]] Result<std::uint64_t> finish(TraceInfo info);

  // Of the whole run, whatever the window.
  [[nodiscard]] RunFigures figures(const std::deque<TranslatedBlock>& blocks) const;
  [[nodiscard]] std::uint64_t instructions() const;  // in the window
  [[nodiscard]] std::uint64_t raw_bytes() const;     // before compression

 private:
  struct State;
  explicit TraceFileWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// A file that may be anybody's: bad bytes give an error.
class TraceFile {
 public:
  [[nodiscard]] static Result<TraceFile> open(const std::filesystem::path& path);

  [[nodiscard]] const TraceInfo& info() const { return info_; }
  // Before compression, of what read() reads.
  [[nodiscard]] std::uint64_t raw_bytes(ClockWindow window) const;
  // Reads the sections that have something of the window, and those of the blocks that run in them.
  [[nodiscard]] Result<void> read(ClockWindow window, CodeTraceListener& listener);
  // Those of the sections that were read; others are empty.
  [[nodiscard]] const std::deque<TranslatedBlock>& blocks() const { return blocks_; }

 private:
  struct Entry {
    std::uint64_t offset = 0;
    std::uint32_t kind = 0;
    std::uint32_t expanded = 0;
    std::uint64_t first = 0;  // clock
    std::uint64_t last = 0;
  };

  explicit TraceFile(std::filesystem::path path, RegularFile file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] Result<void> read_ends();
  [[nodiscard]] Result<void> read_index(std::uint64_t offset);
  [[nodiscard]] Result<void> read_info(std::uint64_t offset);
  struct Section {
    std::vector<std::uint8_t> bytes;
    std::uint32_t expanded = 0;  // what the records in it stand for
  };
  [[nodiscard]] Result<Section> section(std::uint64_t offset, std::uint32_t kind,
                                        std::uint32_t most);
  [[nodiscard]] Error damaged(std::string_view what, std::uint64_t offset) const;

  std::filesystem::path path_;
  RegularFile file_;
  TraceInfo info_;
  std::vector<Entry> entries_;
  std::deque<TranslatedBlock> blocks_{1};
  std::size_t blocks_read_ = 0;  // sections
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_TRACE_FILE_H_
