#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/observe/block_codec.h"
#include "host/observe/record_codec.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_format.h"
#include "host/recording/content_hash.h"

namespace clew {
namespace {

using namespace trace_format;

// The bytes at the offset, or how many there were.
std::size_t read_at(int fd, std::uint64_t offset, std::span<std::uint8_t> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

template <class T>
bool read_struct(int fd, std::uint64_t offset, T& value) {
  return read_at(fd, offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value}) ==
         sizeof value;
}

}  // namespace

Error TraceFile::damaged(std::string_view what, std::uint64_t offset) const {
  return {ErrorCode::kBadInput,
          fmt::format("{} is damaged: {} (at byte {})", path_.string(), what, offset),
          "make it anew with clew trace -o FILE"};
}

Result<TraceFile> TraceFile::open(const std::filesystem::path& path) {
  CLEW_TRY(auto file, open_regular(path));
  TraceFile trace(path, std::move(file));
  CLEW_CHECK_OK(trace.read_ends());
  return trace;
}

Result<void> TraceFile::read_ends() {
  const int fd = file_.fd.get();
  Header header;
  if (!read_struct(fd, 0, header) || header.magic != kMagic)
    return fail(ErrorCode::kBadInput, fmt::format("{} is no trace file", path_.string()),
                "clew trace -o FILE makes one");
  if (header.version != kVersion)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} is a trace file of version {}; this clew reads version {}",
                            path_.string(), header.version, kVersion),
                "make it anew with clew trace -o FILE");
  Trailer trailer;
  if (file_.size < sizeof header + sizeof trailer ||
      !read_struct(fd, file_.size - sizeof trailer, trailer) || trailer.magic != kEndMagic)
    return std::unexpected(damaged("its end is missing", file_.size));
  if (trailer.hash != content_hash({reinterpret_cast<const std::uint8_t*>(&trailer), 16}))
    return std::unexpected(damaged("a checksum does not fit", file_.size - sizeof trailer));
  CLEW_CHECK_OK(read_index(trailer.index));
  return read_info(trailer.info);
}

Result<TraceFile::Section> TraceFile::section(std::uint64_t offset, std::uint32_t kind,
                                              std::uint32_t most) {
  SectionHead head;
  if (offset > file_.size || !read_struct(file_.fd.get(), offset, head) || head.kind != kind)
    return std::unexpected(damaged("a section is not where it should be", offset));
  if (head.raw > most || head.expanded > kMostExpanded || head.stored > file_.size - offset)
    return std::unexpected(damaged("a section is too large", offset));
  std::vector<std::uint8_t> stored(head.stored);
  if (read_at(file_.fd.get(), offset + sizeof head, stored) != stored.size())
    return std::unexpected(damaged("a section is cut short", offset));
  if (content_hash(stored) != head.hash)
    return std::unexpected(damaged("a checksum does not fit", offset));
  std::vector<std::uint8_t> raw(head.raw);
  if (ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size()) != raw.size())
    return std::unexpected(damaged("a section cannot be decompressed", offset));
  return Section{std::move(raw), head.expanded};
}

Result<void> TraceFile::read_index(std::uint64_t offset) {
  CLEW_TRY(const auto read, section(offset, kIndex, kMostIndex));
  const auto& bytes = read.bytes;
  if (bytes.size() % sizeof(IndexEntry) != 0)
    return std::unexpected(damaged("the index makes no sense", offset));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(IndexEntry)) {
    IndexEntry entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    const bool ordered =
        entry.first <= entry.last && (entries_.empty() || entry.first >= entries_.back().first);
    if (!ordered || (entry.kind != kBlocks && entry.kind != kRecords))
      return std::unexpected(damaged("the index makes no sense", offset));
    entries_.push_back({entry.offset, entry.kind, entry.expanded, entry.first, entry.last});
  }
  return {};
}

Result<void> TraceFile::read_info(std::uint64_t offset) {
  CLEW_TRY(const auto read, section(offset, kInfo, kMostInfo));
  const auto& bytes = read.bytes;
  const auto json = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  try {
    info_.recording = json.at("recording").get<std::uint64_t>();
    info_.program = json.at("program").get<std::string>();
    info_.window.from = json.at("from").get<std::uint64_t>();
    info_.window.to = json.at("to").get<std::uint64_t>();
    info_.clock = json.at("clock").get<std::uint64_t>();
    info_.instructions = json.at("instructions").get<std::uint64_t>();
    info_.maps = json.at("maps").get<std::string>();
    for (const auto& thread : json.at("threads"))
      info_.threads.push_back(
          {thread.at("id").get<std::string>(), thread.at("name").get<std::string>(), 0});
  } catch (const nlohmann::json::exception&) {
    return std::unexpected(damaged("what it says of its run makes no sense", offset));
  }
  return {};
}

std::uint64_t TraceFile::raw_bytes(ClockWindow window) const {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries_)
    if (entry.kind == kRecords && entry.first <= window.to && entry.last >= window.from)
      sum += entry.expanded;
  return sum;
}

Result<void> TraceFile::read(ClockWindow window, CodeTraceListener& listener) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.first > window.to) break;
    if (entry.kind == kBlocks) {
      if (i < blocks_read_) continue;
      CLEW_TRY(const auto code, section(entry.offset, kBlocks, kMostBlockBytes));
      if (!read_blocks(code.bytes, blocks_))
        return std::unexpected(damaged("its code makes no sense", entry.offset));
      blocks_read_ = i + 1;
      continue;
    }
    if (entry.last < window.from) continue;
    CLEW_TRY(const auto encoded, section(entry.offset, kRecords, kMostRecords));
    const auto records = decode_records(encoded.bytes, blocks_, encoded.expanded);
    if (!records || !read_code_trace(*records, blocks_, listener))
      return std::unexpected(damaged("its records make no sense", entry.offset));
  }
  return {};
}

}  // namespace clew
