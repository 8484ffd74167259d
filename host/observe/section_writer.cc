#include "host/observe/section_writer.h"

#include <fmt/format.h>
#include <signal.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/recording/content_hash.h"

namespace clew {
namespace {

using namespace trace_format;

// The fastest of the levels that compress as well as others do: faster ones give files twice the size.
constexpr int kLevel = 1;
// Sections that wait: memory, against a program that runs ahead. Chosen, not measured.
constexpr std::size_t kMostWaiting = 4;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

ZSTD_CCtx* compressor() {
  static thread_local const std::unique_ptr<ZSTD_CCtx, FreeCompressor> context(ZSTD_createCCtx());
  return context.get();
}

}  // namespace

SectionWriter::SectionWriter(std::filesystem::path path, OutputFile file, std::uint64_t most_bytes)
    : path_(std::move(path)), file_(std::move(file)), most_bytes_(most_bytes) {
  // It takes no signals: Ctrl-C is for the thread that waits for the run.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SectionWriter::~SectionWriter() { (void)finish(); }

void SectionWriter::put(TraceSection section) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kMostWaiting; });
  waiting_.push_back(std::move(section));
  changed_.notify_all();
}

void SectionWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    TraceSection section = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    if (status_) {
      const auto written = write(section);
      if (!written) status_ = std::unexpected(written.error());
      failed_ = !status_;
    }
    lock.lock();
    spare_.push_back(std::move(section.content.memory));
  }
}

std::vector<std::uint8_t> SectionWriter::spare() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return {};
  std::vector<std::uint8_t> memory = std::move(spare_.back());
  spare_.pop_back();
  return memory;
}

Result<std::vector<IndexEntry>> SectionWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  CLEW_CHECK_OK(status_);
  return index_;
}

Result<void> SectionWriter::write(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > most_bytes_ - std::min(size_, most_bytes_))
    return fail(ErrorCode::kSystem,
                fmt::format("the trace takes more than {} bytes; {} was not kept", most_bytes_,
                            path_.string()),
                "--from and --to trace a part of the run, --most-bytes allows more");
  CLEW_CHECK_OK(file_.write(bytes));
  size_ += bytes.size();
  return {};
}

Result<std::uint64_t> SectionWriter::write(const TraceSection& section) {
  const auto bytes = section.content.bytes();
  if (const std::size_t most = ZSTD_compressBound(bytes.size()); most > compressed_.size())
    compressed_.resize(most);
  const std::size_t stored = ZSTD_compressCCtx(compressor(), compressed_.data(), compressed_.size(),
                                               bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(stored) != 0)
    return fail(ErrorCode::kSystem,
                fmt::format("cannot compress {}: {}", path_.string(), ZSTD_getErrorName(stored)));
  const std::uint64_t offset = size_;
  const std::span<const std::uint8_t> all(compressed_.data(), stored);
  SectionHead head;
  head.kind = section.kind;
  head.stored = static_cast<std::uint32_t>(stored);
  head.raw = static_cast<std::uint32_t>(bytes.size());
  head.expanded = section.expanded;
  head.hash = content_hash(all);
  CLEW_CHECK_OK(write(std::span(reinterpret_cast<const std::uint8_t*>(&head), sizeof head)));
  CLEW_CHECK_OK(write(all));
  if (section.kind == kBlocks || section.kind == kRecords)
    index_.push_back({offset, section.kind, section.expanded, section.first, section.last});
  return offset;
}

}  // namespace clew
