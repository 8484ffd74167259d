#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "clew_abi/version.h"
#include "host/recording/content_hash.h"
#include "host/recording/file.h"
#include "host/recording/schedule_file.h"
#include "host/recording/schedule_format.h"

namespace clew {
namespace {

using abi::EntryKind;
using namespace schedule_format;

// Higher levels look for repetitions, of which random slices have none: level 3 gave 1.476 bytes a
// switch, level 1 gave 1.466.
constexpr int kCompressionLevel = 1;

void put_fixed(std::vector<std::uint8_t>& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void put_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  std::uint8_t varint[abi::kMaxVarint];
  out.insert(out.end(), varint, varint + abi::put_varint(varint, value));
}

std::size_t varint_size(std::uint64_t value) {
  std::uint8_t varint[abi::kMaxVarint];
  return abi::put_varint(varint, value);
}

void put_planes(Columns& columns, std::size_t first, std::size_t planes, std::uint64_t value) {
  for (std::size_t i = 0; i < planes; ++i)
    columns[first + i].push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

bool all_zero(const Column& column) {
  return std::ranges::all_of(column, [](std::uint8_t byte) { return byte == 0; });
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

struct ScheduleFileWriter::State {
  explicit State(OutputFile output) : file(std::move(output)), zstd(ZSTD_createCCtx()) {}

  Result<void> write_header();
  Result<void> write_block();
  Result<void> write_trailer(const std::vector<std::string>& names);
  // Appends sizes to `out` and bytes to `payload`: compressed, or as they are if that is no larger.
  void put_column(const Column& column);
  // Appends the checksum of `out` and writes both.
  Result<void> write_sealed();

  OutputFile file;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd;
  Columns columns;    // of the current block
  Clock block_start;  // the clock before its first entry
  Clock last;
  std::uint64_t entries = 0;  // of the whole file
  std::uint64_t blocks = 0;
  std::uint64_t stream_bytes = 0;
  std::vector<std::uint8_t> out;
  std::vector<std::uint8_t> payload;
};

Result<void> ScheduleFileWriter::State::write_sealed() {
  put_fixed(out, content_hash(out), kChecksumSize);
  auto done = file.write(out);
  out.clear();
  return done;
}

Result<void> ScheduleFileWriter::State::write_header() {
  out.assign(kMagic.begin(), kMagic.end());
  put_fixed(out, schedule_format::kVersion, 4);
  put_fixed(out, abi::kVersion, 4);
  return write_sealed();
}

void ScheduleFileWriter::State::put_column(const Column& column) {
  const std::size_t at = payload.size();
  payload.resize(at + ZSTD_compressBound(column.size()));
  std::size_t size = ZSTD_compressCCtx(zstd.get(), payload.data() + at, payload.size() - at,
                                       column.data(), column.size(), kCompressionLevel);
  if (ZSTD_isError(size) || size >= column.size()) {
    size = column.size();
    std::ranges::copy(column, payload.begin() + static_cast<std::ptrdiff_t>(at));
  }
  payload.resize(at + size);
  put_varint(out, column.size());
  put_varint(out, size);
}

Result<void> ScheduleFileWriter::State::write_block() {
  out.push_back(kBlockTag);
  put_varint(out, columns[kKindColumn].size());
  put_varint(out, block_start.value);
  std::uint64_t present = 0;
  for (std::size_t i = 0; i < kColumns; ++i)
    if (!all_zero(columns[i])) present |= std::uint64_t{1} << i;
  put_varint(out, present);
  payload.clear();
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (present >> i & 1) put_column(columns[i]);
    columns[i].clear();
  }
  out.insert(out.end(), payload.begin(), payload.end());
  block_start = last;
  ++blocks;
  return write_sealed();
}

Result<void> ScheduleFileWriter::State::write_trailer(const std::vector<std::string>& names) {
  Column text;
  for (const std::string& name : names) {
    text.insert(text.end(), name.begin(), name.end());
    text.push_back('\0');
  }
  if (text.size() > kMaxNamesBytes)
    return fail(ErrorCode::kInternal,
                fmt::format("the thread names take {} bytes, at most {} are allowed", text.size(),
                            kMaxNamesBytes));
  out.push_back(kTrailerTag);
  put_varint(out, blocks);
  put_varint(out, entries);
  put_varint(out, last.value);
  put_varint(out, names.size());
  payload.clear();
  put_column(text);
  out.insert(out.end(), payload.begin(), payload.end());
  return write_sealed();
}

ScheduleFileWriter::ScheduleFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ScheduleFileWriter::ScheduleFileWriter(ScheduleFileWriter&&) noexcept = default;
ScheduleFileWriter& ScheduleFileWriter::operator=(ScheduleFileWriter&&) noexcept = default;
ScheduleFileWriter::~ScheduleFileWriter() = default;

Result<ScheduleFileWriter> ScheduleFileWriter::create(const std::filesystem::path& path) {
  CLEW_TRY(auto file, OutputFile::create(path));
  auto state = std::make_unique<State>(std::move(file));
  if (!state->zstd) return fail(ErrorCode::kSystem, "out of memory for compression");
  CLEW_CHECK_OK(state->write_header());
  return ScheduleFileWriter(std::move(state));
}

Result<void> ScheduleFileWriter::append(const Entry& entry) {
  State& s = *state_;
  const bool is_choice = entry.kind == EntryKind::kChoice;
  const KindByte kind(entry.kind, is_choice ? entry.choice : abi::ChoiceKind{});
  if (entry.kind > EntryKind::kChoice || !kind.valid() || !is_valid_choice(entry))
    return fail(ErrorCode::kInternal, "a message or a bad choice among the entries of a schedule");
  if (entry.clock < s.last || entry.clock > kMaxClock)
    return fail(ErrorCode::kInternal, fmt::format("clock {} in a schedule after clock {}",
                                                  entry.clock.value, s.last.value));
  const std::uint64_t delta = entry.clock.value - s.last.value;
  s.columns[kKindColumn].push_back(kind.byte);
  put_planes(s.columns, kClockColumn, 8, delta);
  s.stream_bytes += varint_size(delta << abi::kKindBits);
  if (kind.has_thread())
    put_planes(s.columns, kThreadColumn, 8, is_choice ? entry.value : entry.thread);
  if (is_choice) {
    put_planes(s.columns, kOrdinalColumn, 8, entry.ordinal);
    s.stream_bytes += varint_size(entry.ordinal) + 1 + varint_size(entry.value);
  } else if (kind.has_thread()) {
    s.stream_bytes += varint_size(entry.thread);
  }
  if (entry.kind == EntryKind::kCheck) {
    put_planes(s.columns, kPlaceColumn, 8, entry.place);
    put_planes(s.columns, kHashColumn, 2, entry.hash);
    s.stream_bytes += varint_size(entry.place) + sizeof entry.hash;
  }
  s.last = entry.clock;
  ++s.entries;
  if (s.stream_bytes > kMaxScheduleStream)
    return fail(ErrorCode::kBadInput,
                fmt::format("the run has too many switches and choices to record ({} by clock {})",
                            s.entries, s.last.value),
                "set a lower --budget, or preempt less often");
  if (s.columns[kKindColumn].size() == kMaxBlockEntries) return s.write_block();
  return {};
}

Result<void> ScheduleFileWriter::flush() {
  return state_->columns[kKindColumn].empty() ? Result<void>{} : state_->write_block();
}

Result<void> ScheduleFileWriter::finish(const std::vector<std::string>& names) {
  State& s = *state_;
  if (auto done = flush(); !done) return done;
  if (auto done = s.write_trailer(names); !done) return done;
  return s.file.close();
}

}  // namespace clew
