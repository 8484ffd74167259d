// Sections of a trace file, compressed and written by a thread of its own: the traced program waits only
// if it is several sections ahead.
#ifndef CLEW_HOST_OBSERVE_SECTION_WRITER_H_
#define CLEW_HOST_OBSERVE_SECTION_WRITER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "host/error.h"
#include "host/observe/record_codec.h"
#include "host/observe/trace_format.h"
#include "host/recording/file.h"

namespace clew {

struct TraceSection {
  trace_format::Kind kind = trace_format::kRecords;
  RecordBytes content;
  std::uint32_t expanded = 0;  // what the records in it stand for, in bytes
  std::uint64_t first = 0;     // clocks
  std::uint64_t last = 0;
};

class SectionWriter {
 public:
  // `path`: as messages call it.
  SectionWriter(std::filesystem::path path, OutputFile file, std::uint64_t most_bytes);
  ~SectionWriter();
  SectionWriter(const SectionWriter&) = delete;
  SectionWriter& operator=(const SectionWriter&) = delete;

  // In the order in which they are given. What comes after an error is dropped.
  void put(TraceSection section);
  // Memory of a section that was written; empty: there is none.
  [[nodiscard]] std::vector<std::uint8_t> spare();
  [[nodiscard]] bool has_failed() const { return failed_; }

  // All sections are written: returns the index of those of blocks and records. From then on by the
  // caller's thread:
  [[nodiscard]] Result<std::vector<trace_format::IndexEntry>> finish();
  // Returns where it begins.
  [[nodiscard]] Result<std::uint64_t> write(const TraceSection& section);
  [[nodiscard]] Result<void> write(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Result<void> close() { return file_.close(); }

  [[nodiscard]] std::uint64_t size() const { return size_; }  // of the file so far
  [[nodiscard]] const std::filesystem::path& file_path() const { return file_.path(); }

 private:
  void work();

  std::filesystem::path path_;
  OutputFile file_;
  std::uint64_t most_bytes_;
  std::uint64_t size_ = 0;
  std::vector<std::uint8_t> compressed_;
  std::vector<trace_format::IndexEntry> index_;
  Result<void> status_;
  std::atomic<bool> failed_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TraceSection> waiting_;
  std::vector<std::vector<std::uint8_t>> spare_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_SECTION_WRITER_H_
