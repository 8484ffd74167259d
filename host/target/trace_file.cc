#include "host/target/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace clew {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

FileDescriptor file_without_name() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  FileDescriptor fd(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return fd;
  // Not every file system has files without a name.
  std::string path = folder / "clew-trace-XXXXXX";
  FileDescriptor named(mkostemp(path.data(), O_CLOEXEC));
  if (named.valid()) unlink(path.c_str());
  return named;
}

}  // namespace

int TraceFile::begin() {
  if (!fd_.valid()) fd_ = file_without_name();
  if (fd_.valid() && ftruncate(fd_.get(), 0) != 0) fd_ = {};
  return fd_.get();
}

bool TraceFile::read(std::uint64_t offset, std::uint64_t size, TraceDecoder& decoder) const {
  if (size == 0) return true;
  if (offset > abi::kMostTraceInFile || size > abi::kMostTraceInFile - offset) return false;
  std::vector<std::uint8_t> piece(std::min(size, kPiece));
  while (size > 0) {
    const ssize_t got = pread(fd_.get(), piece.data(), std::min<std::uint64_t>(size, piece.size()),
                              static_cast<off_t>(offset));
    if (got <= 0) return false;
    const auto count = static_cast<std::uint64_t>(got);
    decoder.push(std::span(piece).first(count));
    offset += count;
    size -= count;
  }
  return true;
}

}  // namespace clew
