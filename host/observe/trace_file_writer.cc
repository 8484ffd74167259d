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

std::uint64_t word(std::span<const std::uint8_t> record, std::uint32_t offset) {
  std::uint64_t value;
  std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

}  // namespace

struct TraceFileWriter::State {
  State(std::filesystem::path where, OutputFile output, ClockWindow asked, std::uint64_t most)
      : path(std::move(where)), window(asked), file(path, std::move(output), most) {}

  // Of walk_code_trace.
  void block(std::uint32_t number, std::span<const std::uint8_t> record);
  void cut(const abi::CutMark& mark);
  void returned(const abi::ReturnMark& mark);
  void end_part();

  std::filesystem::path path;
  ClockWindow window;
  SectionWriter file;
  bool complete = false;

  const std::deque<TranslatedBlock>* blocks_so_far = nullptr;
  BlockTable table;
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
  const std::size_t size = blocks.size();
  if (size != 0) file.put({kBlocks, {std::exchange(blocks, {}), size}, 0, first_clock, last_clock});
  const auto expanded = static_cast<std::uint32_t>(records.expanded());
  file.put({kRecords, records.take(file.spare()), expanded, first_clock, last_clock});
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
RunFigures TraceFileWriter::figures(const std::deque<TranslatedBlock>& blocks) const {
  return state_->table.figures(blocks);
}
std::uint64_t TraceFileWriter::instructions() const { return state_->instructions; }
std::uint64_t TraceFileWriter::raw_bytes() const { return state_->raw; }

// Everything here is done a hundred million times: what a block's record is needed for, in one go.
void TraceFileWriter::State::block(std::uint32_t number, std::span<const std::uint8_t> record) {
  const std::uint64_t now = clock.clock();
  const BlockTable::Block& facts = table[number];
  table.ran(number);
  for (const std::uint32_t offset : table.writes(facts))
    clock.wrote(word(record, offset), word(record, offset + 8));
  in_window = window.has(now);
  if (!in_window) return;
  if (records.expanded() >= kRecordsSize) end_part();
  if (records.empty()) {
    // Each part can be read alone. The mark is of what comes before the block.
    abi::ReturnMark mark = clock.mark();
    mark.clock = now;
    records.mark(bytes_of(mark));
    first_clock = now;
  }
  last_clock = now;
  if (number >= known_blocks.size()) known_blocks.resize(number + number / 2 + 1);
  if (!known_blocks[number]) {
    known_blocks[number] = true;
    append_block(number, (*blocks_so_far)[number], blocks);
  }
  records.block(number, record);
  instructions += facts.instructions;
  raw += record.size();
}

void TraceFileWriter::State::cut(const abi::CutMark& mark) {
  table.cut(mark, *blocks_so_far);
  if (in_window) records.mark(bytes_of(mark));
}

void TraceFileWriter::State::returned(const abi::ReturnMark& mark) {
  table.returned(mark);
  clock.returned(mark);
  // The first part begins with a mark of its own; behind the window there is nothing to mark.
  if (!records.empty() && window.has(mark.clock)) records.mark(bytes_of(mark));
}

bool TraceFileWriter::part(std::span<const std::uint8_t> records,
                           const std::deque<TranslatedBlock>& blocks) {
  State& s = *state_;
  s.blocks_so_far = &blocks;
  const auto size_of = [&](std::uint32_t number) {
    const BlockTable::Block* const block = s.table.find(number, blocks);
    return block == nullptr ? 0 : block->record_size;
  };
  return walk_code_trace(records, size_of, s);
}

Result<std::uint64_t> TraceFileWriter::finish(TraceInfo info) {
  State& s = *state_;
  s.end_part();
  CLEW_TRY(const auto entries, s.file.finish());
  const auto as_section = [](Kind kind, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    return TraceSection{kind, {{bytes, bytes + size}, size}, 0, 0, 0};
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
