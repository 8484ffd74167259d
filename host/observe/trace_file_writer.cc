#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "host/observe/block_codec.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_format.h"
#include "host/recording/content_hash.h"

namespace clew {
namespace {

using namespace trace_format;

// The program waits for the compressor: the fastest level.
constexpr int kLevel = 1;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

template <class T>
void append(const T& value, std::vector<std::uint8_t>& to) {
  const auto bytes = bytes_of(value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

struct TraceFileWriter::State {
  State(std::filesystem::path where, OutputFile output, ClockWindow asked, std::uint64_t most)
      : path(std::move(where)),
        file(std::move(output)),
        window(asked),
        most_bytes(most),
        zstd(ZSTD_createCCtx()) {}

  Result<void> write(std::span<const std::uint8_t> bytes);
  Result<std::uint64_t> write_section(Kind kind, std::span<const std::uint8_t> raw);
  Result<void> write_part();
  void end_part();

  std::filesystem::path path;
  OutputFile file;
  ClockWindow window;
  std::uint64_t most_bytes;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> zstd;
  std::vector<std::uint8_t> compressed;
  std::uint64_t size = 0;  // of the file so far
  Result<void> status;
  std::atomic<bool> failed = false;  // the same, for who waits for the run
  bool complete = false;

  TraceClock clock;
  bool in_window = false;  // the last block
  std::vector<bool> known_blocks;
  // What becomes the next sections.
  std::vector<std::uint8_t> blocks;
  std::vector<std::uint8_t> records;
  std::uint64_t first_clock = 0;
  std::uint64_t last_clock = 0;

  std::vector<IndexEntry> index;
  std::uint64_t instructions = 0;
  std::uint64_t raw = 0;
};

Result<void> TraceFileWriter::State::write(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > most_bytes - std::min(size, most_bytes))
    return fail(ErrorCode::kSystem,
                fmt::format("the trace takes more than {} bytes; {} was not kept", most_bytes,
                            path.string()),
                "--from and --to trace a part of the run, --most-bytes allows more");
  CLEW_CHECK_OK(file.write(bytes));
  size += bytes.size();
  return {};
}

// Returns where it begins.
Result<std::uint64_t> TraceFileWriter::State::write_section(Kind kind,
                                                            std::span<const std::uint8_t> bytes) {
  compressed.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t stored = ZSTD_compressCCtx(zstd.get(), compressed.data(), compressed.size(),
                                               bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(stored) != 0)
    return fail(ErrorCode::kSystem,
                fmt::format("cannot compress {}: {}", path.string(), ZSTD_getErrorName(stored)));
  const std::uint64_t offset = size;
  const std::span<const std::uint8_t> all(compressed.data(), stored);
  SectionHead head;
  head.kind = kind;
  head.stored = static_cast<std::uint32_t>(stored);
  head.raw = static_cast<std::uint32_t>(bytes.size());
  head.hash = content_hash(all);
  CLEW_CHECK_OK(write(bytes_of(head)));
  CLEW_CHECK_OK(write(all));
  if (kind == kBlocks || kind == kRecords)
    index.push_back({offset, kind, head.raw, first_clock, last_clock});
  return offset;
}

Result<void> TraceFileWriter::State::write_part() {
  if (!blocks.empty()) CLEW_CHECK_OK(write_section(kBlocks, blocks));
  CLEW_CHECK_OK(write_section(kRecords, records));
  return {};
}

void TraceFileWriter::State::end_part() {
  if (!records.empty()) status = write_part();
  failed = !status;
  blocks.clear();
  records.clear();
}

TraceFileWriter::TraceFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

TraceFileWriter::~TraceFileWriter() {
  std::error_code ignored;
  if (!state_->complete) std::filesystem::remove(state_->file.path(), ignored);
}

Result<std::unique_ptr<TraceFileWriter>> TraceFileWriter::create(std::filesystem::path path,
                                                                 ClockWindow window,
                                                                 std::uint64_t most_bytes) {
  std::filesystem::path part = path;
  part += ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);  // of a trace that was killed
  CLEW_TRY(auto file, OutputFile::create(part));
  auto state = std::make_unique<State>(std::move(path), std::move(file), window, most_bytes);
  state->records.reserve(kMostRecords);
  CLEW_CHECK_OK(state->write(bytes_of(Header{})));
  return std::unique_ptr<TraceFileWriter>(new TraceFileWriter(std::move(state)));
}

bool TraceFileWriter::has_failed() const { return state_->failed; }
std::uint64_t TraceFileWriter::instructions() const { return state_->instructions; }
std::uint64_t TraceFileWriter::raw_bytes() const { return state_->raw; }

void TraceFileWriter::block(const BlockRun& run) {
  State& s = *state_;
  const std::uint64_t now = s.clock.clock();
  s.clock.block(run);
  s.in_window = s.window.has(now) && s.status;
  if (!s.in_window) return;
  if (s.records.size() >= kRecordsSize) s.end_part();
  if (s.records.empty()) {
    // Each part can be read alone. The mark is of what comes before the block.
    abi::ReturnMark mark = s.clock.mark();
    mark.clock = now;
    append(mark, s.records);
    s.first_clock = now;
  }
  s.last_clock = now;
  std::uint32_t number;
  std::memcpy(&number, run.record.data(), sizeof number);
  if (number >= s.known_blocks.size()) s.known_blocks.resize(number + 1);
  if (!s.known_blocks[number]) {
    s.known_blocks[number] = true;
    append_block(number, run.block, s.blocks);
  }
  s.records.insert(s.records.end(), run.record.begin(), run.record.end());
  s.instructions += run.block.instructions.size();
  s.raw += run.record.size();
}

void TraceFileWriter::cut(std::uint64_t address) {
  if (state_->in_window)
    append(abi::CutMark{.mark = abi::kCutMark, .unused = 0, .address = address}, state_->records);
}

void TraceFileWriter::returned(const abi::ReturnMark& mark) {
  state_->clock.returned(mark);
  // The first part begins with a mark of its own.
  if (!state_->records.empty() && state_->status) append(mark, state_->records);
}

Result<std::uint64_t> TraceFileWriter::finish(TraceInfo info) {
  State& s = *state_;
  if (s.status) s.end_part();
  CLEW_CHECK_OK(s.status);
  CLEW_TRY(const std::uint64_t index,
           s.write_section(kIndex, {reinterpret_cast<const std::uint8_t*>(s.index.data()),
                                    s.index.size() * sizeof(IndexEntry)}));
  nlohmann::json threads = nlohmann::json::array();
  for (const ThreadInfo& thread : info.threads)
    threads.push_back({{"id", thread.id}, {"name", thread.name}});
  const nlohmann::json json = {{"recording", info.recording}, {"program", info.program},
                               {"from", s.window.from},       {"to", s.window.to},
                               {"clock", info.clock},         {"instructions", s.instructions},
                               {"threads", threads},          {"maps", info.maps}};
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  CLEW_TRY(
      const std::uint64_t at,
      s.write_section(kInfo, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  Trailer trailer;
  trailer.index = index;
  trailer.info = at;
  trailer.hash = content_hash({reinterpret_cast<const std::uint8_t*>(&trailer), 16});
  CLEW_CHECK_OK(s.write(bytes_of(trailer)));
  CLEW_CHECK_OK(s.file.close());
  std::error_code error;
  std::filesystem::rename(s.file.path(), s.path, error);
  if (error) return std::unexpected(system_error("write", s.path, error.value()));
  s.complete = true;
  return s.size;
}

}  // namespace clew
