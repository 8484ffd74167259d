#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "clew_abi/version.h"
#include "host/recording/content_hash.h"
#include "host/recording/file.h"
#include "host/recording/other_version.h"
#include "host/recording/schedule_file.h"
#include "host/recording/schedule_format.h"

namespace clew {
namespace {

using abi::EntryKind;
using namespace schedule_format;

constexpr std::uint64_t kMaxFileSize = std::uint64_t{4} << 30;
// The trailer is the largest part of a file: names, and numbers before them.
constexpr std::size_t kMaxPart = kMaxNamesBytes + 256;
static_assert(kColumns * (kMaxBlockEntries + 2 * abi::kMaxVarint) + 256 <= kMaxPart);
// Entries are held in memory, many times larger than in the file. Entries of a recorded run take
// two bytes and more (a check has a hash); a block of entries that all are alike takes 25.
constexpr std::uint64_t kAlwaysEntries = 1'000'000;
constexpr std::uint64_t kMostEntriesPerByte = 16;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Reads a file part by part, so that it takes no more memory than a part and what was decoded;
// or bytes that are in memory already.
// Invariant: at_ <= bytes_.size(). A failure is noted once, with the offset at which it was
// detected; after it every read gives zero.
class FileReader {
 public:
  FileReader(std::span<const std::uint8_t> bytes, std::string_view name)
      : bytes_(bytes), size_(bytes.size()), name_(name), zstd_(ZSTD_createDCtx()) {}
  FileReader(const RegularFile& file, std::string_view name)
      : file_(file.fd.get()), size_(file.size), name_(name), zstd_(ZSTD_createDCtx()) {}

  Result<Stream> read();
  Result<std::vector<Entry>> read_beginning(std::uint64_t count);

 private:
  // Before each part: from here on bytes_ has all of it.
  void next_part();
  void read_header();
  void read_block();
  void read_trailer();
  void emit(const Columns& columns, std::size_t count);
  // The sizes of the block's columns, as they follow from the kinds.
  static std::array<std::size_t, kColumns> sizes_asked(std::size_t count, const Column& kinds);

  struct ColumnSizes {
    std::size_t raw = 0;
    std::size_t stored = 0;
  };
  ColumnSizes column_sizes(std::size_t limit);
  Column column(ColumnSizes sizes);
  void check_seal(std::size_t start);

  std::uint64_t varint();
  std::uint64_t fixed(std::size_t size);
  std::span<const std::uint8_t> take(std::size_t size);

  void bad(std::size_t offset, std::string_view what) {
    if (error_) return;
    error_ = Error{ErrorCode::kBadInput,
                   fmt::format("{} is damaged at byte {}: {}", name_, before_ + offset, what),
                   "the recording cannot be used; make a new one with clew run"};
  }

  int file_ = -1;
  std::vector<std::uint8_t> buffer_;     // of a file: what bytes_ is a view of
  std::span<const std::uint8_t> bytes_;  // of the file: those behind the first before_
  std::uint64_t before_ = 0;
  std::uint64_t size_ = 0;  // of the file
  std::string name_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> zstd_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
  StreamEncoder encoder_;
  std::vector<std::string> names_;
  Clock clock_;
  std::uint64_t blocks_ = 0;
  std::uint64_t entries_ = 0;
};

void FileReader::next_part() {
  if (file_ < 0 || error_) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  before_ += std::exchange(at_, 0);
  const std::size_t had = buffer_.size();
  const std::uint64_t unread = size_ - before_ - had;
  // Half a buffer is left over, so that not every part moves the bytes behind it.
  if (had < kMaxPart + 1 && unread > 0) {
    const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(unread, 2 * kMaxPart - had));
    buffer_.resize(had + more);
    const std::ptrdiff_t got = read_fully(file_, std::span(buffer_).subspan(had));
    if (got < 0) error_ = system_error("read", name_, errno);
    buffer_.resize(had + static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0)));
  }
  bytes_ = buffer_;
}

std::span<const std::uint8_t> FileReader::take(std::size_t size) {
  if (size > bytes_.size() - at_) bad(at_, "the file is truncated");
  if (error_) return {};
  const auto taken = bytes_.subspan(at_, size);
  at_ += size;
  return taken;
}

std::uint64_t FileReader::varint() {
  if (error_) return 0;
  abi::Reader reader(bytes_.data() + at_, bytes_.size() - at_);
  const std::uint64_t value = reader.varint();
  if (!reader.ok())
    bad(at_, bytes_.size() - at_ < abi::kMaxVarint ? "the file is truncated" : "a bad number");
  at_ += reader.position();
  return value;
}

std::uint64_t FileReader::fixed(std::size_t size) {
  std::uint64_t value = 0;
  const auto field = take(size);
  for (std::size_t i = 0; i < field.size(); ++i) value |= std::uint64_t{field[i]} << 8 * i;
  return value;
}

void FileReader::check_seal(std::size_t start) {
  if (error_) return;
  const std::uint64_t hash = content_hash(bytes_.subspan(start, at_ - start));
  if (fixed(kChecksumSize) != hash) bad(start, "the checksum of this part does not match");
}

void FileReader::read_header() {
  const auto magic = take(kMagic.size());
  if (!error_ && !std::ranges::equal(magic, kMagic)) bad(0, "this is not a clew schedule");
  constexpr FileVersion kOwn{schedule_format::kVersion, abi::kVersion};
  FileVersion found;
  found.format = fixed(4);
  found.abi = fixed(4);
  check_seal(0);
  if (!error_ && found != kOwn) error_ = other_version(name_, found, kOwn);
}

FileReader::ColumnSizes FileReader::column_sizes(std::size_t limit) {
  const std::size_t start = at_;
  const std::uint64_t raw = varint();
  const std::uint64_t stored = varint();
  if (raw > limit || stored > raw) bad(start, "impossible sizes");
  if (error_) return {};
  return {static_cast<std::size_t>(raw), static_cast<std::size_t>(stored)};
}

Column FileReader::column(ColumnSizes sizes) {
  const std::size_t start = at_;
  const auto stored = take(sizes.stored);
  if (error_) return {};
  if (sizes.stored == sizes.raw) return {stored.begin(), stored.end()};
  Column raw(sizes.raw);
  const std::size_t got =
      ZSTD_decompressDCtx(zstd_.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (got != raw.size()) bad(start, "the compressed data is wrong");
  return raw;
}

std::array<std::size_t, kColumns> FileReader::sizes_asked(std::size_t count, const Column& kinds) {
  // An absent column of kinds is all zero: kSwitchNext throughout.
  std::size_t with_thread = 0;
  std::size_t checks = 0;
  std::size_t choices = 0;
  for (const std::uint8_t byte : kinds) {
    const KindByte kind(byte);
    with_thread += kind.has_thread();
    checks += kind.kind() == EntryKind::kCheck;
    choices += kind.kind() == EntryKind::kChoice;
  }
  std::array<std::size_t, kColumns> sizes{};
  std::fill(sizes.begin(), sizes.begin() + kThreadColumn, count);
  std::fill(sizes.begin() + kThreadColumn, sizes.begin() + kPlaceColumn, with_thread);
  std::fill(sizes.begin() + kPlaceColumn, sizes.begin() + kOrdinalColumn, checks);
  std::fill(sizes.begin() + kOrdinalColumn, sizes.end(), choices);
  return sizes;
}

void FileReader::read_block() {
  const std::size_t start = at_;
  take(1);  // the tag
  const std::uint64_t count = varint();
  if (count == 0 || count > kMaxBlockEntries) bad(start, "an impossible number of entries");
  if (varint() != clock_.value) bad(start, "the clock does not continue from the block before");
  const std::uint64_t present = varint();
  if (present >> kColumns != 0) bad(start, "unknown columns");
  std::array<ColumnSizes, kColumns> sizes;
  for (std::size_t i = 0; i < kColumns && !error_; ++i)
    if (present >> i & 1) sizes[i] = column_sizes(kMaxBlockEntries);
  const std::size_t payload = at_;
  for (const ColumnSizes& size : sizes) take(size.stored);
  check_seal(start);
  if (error_) return;
  const std::size_t end = std::exchange(at_, payload);

  Columns columns;
  std::array<std::size_t, kColumns> asked{};
  for (std::size_t i = 0; i < kColumns && !error_; ++i) {
    columns[i] = column(sizes[i]);
    if (i == kKindColumn) {
      if (!std::ranges::all_of(columns[i], [](auto byte) { return KindByte(byte).valid(); }))
        bad(start, "an unknown kind of entry");
      asked = sizes_asked(count, columns[i]);
    }
    if (!(present >> i & 1))
      columns[i].assign(asked[i], 0);
    else if (sizes[i].raw != asked[i])
      bad(start, "a column has the wrong size");
  }
  if (error_) return;
  at_ = start;  // errors found by emit() are errors of this block
  emit(columns, count);
  at_ = end;
  ++blocks_;
  entries_ += count;
}

std::uint64_t planes(const Columns& columns, std::size_t first, std::size_t count,
                     std::size_t row) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{columns[first + i][row]} << 8 * i;
  return value;
}

void FileReader::emit(const Columns& columns, std::size_t count) {
  std::size_t with_thread = 0;
  std::size_t checks = 0;
  std::size_t choices = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const KindByte kind(columns[kKindColumn][row]);
    const std::uint64_t delta = planes(columns, kClockColumn, 8, row);
    if (delta > kMaxClock.value - clock_.value) return bad(at_, "the clock overflows");
    clock_.value += delta;
    Entry entry{.kind = kind.kind(), .clock = clock_};
    const std::uint64_t thread =
        kind.has_thread() ? planes(columns, kThreadColumn, 8, with_thread++) : 0;
    if (entry.kind == EntryKind::kChoice) {
      entry.ordinal = planes(columns, kOrdinalColumn, 8, choices++);
      entry.choice = kind.choice();
      entry.value = kind.has_thread() ? thread : 1;
    } else {
      entry.thread = thread;
    }
    if (entry.kind == EntryKind::kCheck) {
      entry.place = planes(columns, kPlaceColumn, 8, checks);
      entry.hash = static_cast<std::uint16_t>(planes(columns, kHashColumn, 2, checks++));
    }
    encoder_.append(entry);
  }
  if (encoder_.bytes().size() > kMaxScheduleStream) bad(at_, "too many switches");
  if (entries_ + count > kAlwaysEntries && (entries_ + count) / kMostEntriesPerByte > size_)
    bad(at_, "more switches than a file of its size can have");
}

void FileReader::read_trailer() {
  const std::size_t start = at_;
  take(1);  // the tag
  const std::uint64_t blocks = varint();
  const std::uint64_t entries = varint();
  const std::uint64_t last = varint();
  const std::uint64_t count = varint();
  const ColumnSizes sizes = column_sizes(kMaxNamesBytes);
  const std::size_t payload = at_;
  take(sizes.stored);
  check_seal(start);
  if (error_) return;
  const std::size_t end = std::exchange(at_, payload);
  if (blocks != blocks_ || entries != entries_ || last != clock_.value)
    return bad(start, "the counts do not match what the file holds");
  const Column text = column(sizes);
  if (error_) return;
  at_ = end;
  if (at_ != bytes_.size()) return bad(at_, "there is more after the end");
  for (auto from = text.begin(); from != text.end();) {
    const auto to = std::find(from, text.end(), std::uint8_t{0});
    if (to == text.end()) return bad(payload, "a thread name without an end");
    names_.emplace_back(from, to);
    from = to + 1;
  }
  if (names_.size() != count) bad(start, "the number of thread names does not match");
}

Result<Stream> FileReader::read() {
  if (!zstd_) return fail(ErrorCode::kSystem, "out of memory for decompression");
  next_part();
  read_header();
  for (next_part(); !error_ && at_ < bytes_.size() && bytes_[at_] == kBlockTag; next_part())
    read_block();
  if (!error_ && at_ < bytes_.size() && bytes_[at_] != kTrailerTag)
    bad(at_, "neither a block nor the trailer");
  read_trailer();
  if (error_) return std::unexpected(*std::move(error_));
  return Stream{encoder_.take(), std::move(names_)};
}

Result<std::vector<Entry>> FileReader::read_beginning(std::uint64_t count) {
  if (!zstd_) return fail(ErrorCode::kSystem, "out of memory for decompression");
  next_part();
  read_header();
  for (next_part(); !error_ && entries_ < count && at_ < bytes_.size() && bytes_[at_] == kBlockTag;
       next_part())
    read_block();
  if (entries_ < count) bad(at_, fmt::format("it has {} entries, not {}", entries_, count));
  if (error_) return std::unexpected(*std::move(error_));
  std::vector<Entry> entries;
  StreamDecoder decoder;
  decoder.push(encoder_.bytes());
  while (entries.size() < count) {
    CLEW_TRY(auto item, decoder.next());
    entries.push_back(std::get<Entry>(*item));
  }
  return entries;
}

}  // namespace

Result<Stream> read_schedule_bytes(std::span<const std::uint8_t> bytes, std::string_view name) {
  return FileReader(bytes, name).read();
}

namespace {

Result<RegularFile> open_schedule(const std::filesystem::path& path) {
  CLEW_TRY(auto file, open_regular(path, Whose::kOwn));
  if (file.size > kMaxFileSize)
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot read {}: {} bytes, at most {} are allowed", path.string(),
                            file.size, kMaxFileSize));
  return file;
}

}  // namespace

Result<std::vector<Entry>> read_schedule_beginning(const std::filesystem::path& path,
                                                   std::uint64_t count) {
  CLEW_TRY(const auto file, open_schedule(path));
  return FileReader(file, path.string()).read_beginning(count);
}

Result<Stream> read_schedule_file(const std::filesystem::path& path) {
  auto file = open_schedule(path);
  if (!file) {
    if (file.error().hint.empty())
      file.error().hint = "the recording is damaged; clew rm removes it";
    return std::unexpected(file.error());
  }
  return FileReader(*file, path.string()).read();
}

}  // namespace clew
