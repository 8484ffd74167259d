#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "host/observe/block_codec.h"
#include "host/observe/record_codec.h"
#include "host/observe/section_writer.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_format.h"
#include "host/recording/content_hash.h"

namespace clew {
namespace {

using namespace trace_format;

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

struct TraceFileWriter::State {
  State(std::filesystem::path where, OutputFile output, ClockWindow asked, std::uint64_t most)
      : path(std::move(where)), window(asked), file(path, std::move(output), most) {}

  void end_part();

  std::filesystem::path path;
  ClockWindow window;
  SectionWriter file;
  bool complete = false;

  TraceClock clock;
  bool in_window = false;  // the last block
  std::vector<bool> known_blocks;
  // What becomes the next sections.
  std::vector<std::uint8_t> blocks;
  RecordEncoder records;
  std::uint64_t first_clock = 0;
  std::uint64_t last_clock = 0;

  std::uint64_t instructions = 0;
  std::uint64_t raw = 0;
};

void TraceFileWriter::State::end_part() {
  if (records.empty()) return;
  if (!blocks.empty()) file.put({kBlocks, std::exchange(blocks, {}), 0, first_clock, last_clock});
  const auto expanded = static_cast<std::uint32_t>(records.expanded());
  file.put({kRecords, records.take(), expanded, first_clock, last_clock});
}

TraceFileWriter::TraceFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

TraceFileWriter::~TraceFileWriter() {
  (void)state_->file.finish();
  std::error_code ignored;
  if (!state_->complete) std::filesystem::remove(state_->file.file_path(), ignored);
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
  CLEW_CHECK_OK(state->file.write(bytes_of(Header{})));
  return std::unique_ptr<TraceFileWriter>(new TraceFileWriter(std::move(state)));
}

bool TraceFileWriter::has_failed() const { return state_->file.has_failed(); }
std::uint64_t TraceFileWriter::instructions() const { return state_->instructions; }
std::uint64_t TraceFileWriter::raw_bytes() const { return state_->raw; }

void TraceFileWriter::block(const BlockRun& run) {
  State& s = *state_;
  const std::uint64_t now = s.clock.clock();
  s.clock.block(run);
  s.in_window = s.window.has(now);
  if (!s.in_window) return;
  if (s.records.expanded() >= kRecordsSize) s.end_part();
  if (s.records.empty()) {
    // Each part can be read alone. The mark is of what comes before the block.
    abi::ReturnMark mark = s.clock.mark();
    mark.clock = now;
    s.records.mark(bytes_of(mark));
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
  s.records.block(number, run.record);
  s.instructions += run.block.instructions.size();
  s.raw += run.record.size();
}

void TraceFileWriter::cut(std::uint64_t address) {
  if (state_->in_window)
    state_->records.mark(
        bytes_of(abi::CutMark{.mark = abi::kCutMark, .unused = 0, .address = address}));
}

void TraceFileWriter::returned(const abi::ReturnMark& mark) {
  state_->clock.returned(mark);
  // The first part begins with a mark of its own.
  if (!state_->records.empty()) state_->records.mark(bytes_of(mark));
}

Result<std::uint64_t> TraceFileWriter::finish(TraceInfo info) {
  State& s = *state_;
  s.end_part();
  CLEW_TRY(const auto entries, s.file.finish());
  const auto as_section = [](Kind kind, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    return TraceSection{kind, {bytes, bytes + size}, 0, 0, 0};
  };
  CLEW_TRY(const std::uint64_t index,
           s.file.write(as_section(kIndex, entries.data(), entries.size() * sizeof(IndexEntry))));
  nlohmann::json threads = nlohmann::json::array();
  for (const ThreadInfo& thread : info.threads)
    threads.push_back({{"id", thread.id}, {"name", thread.name}});
  const nlohmann::json json = {{"recording", info.recording}, {"program", info.program},
                               {"from", s.window.from},       {"to", s.window.to},
                               {"clock", info.clock},         {"instructions", s.instructions},
                               {"threads", threads},          {"maps", info.maps}};
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  CLEW_TRY(const std::uint64_t at, s.file.write(as_section(kInfo, text.data(), text.size())));
  Trailer trailer;
  trailer.index = index;
  trailer.info = at;
  trailer.hash = content_hash({reinterpret_cast<const std::uint8_t*>(&trailer), 16});
  CLEW_CHECK_OK(s.file.write(bytes_of(trailer)));
  CLEW_CHECK_OK(s.file.close());
  std::error_code error;
  std::filesystem::rename(s.file.file_path(), s.path, error);
  if (error) return std::unexpected(system_error("write", s.path, error.value()));
  s.complete = true;
  return s.file.size();
}

}  // namespace clew
