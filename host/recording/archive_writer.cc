#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "clew_abi/version.h"
#include "host/recording/archive.h"
#include "host/recording/archive_format.h"
#include "host/recording/content_hash.h"
#include "host/recording/machine_facts.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

// Libraries take 3.4 times less room than they have; level 19 would save another 15 % and take 40
// times as long (libc and libstdc++ of Debian 12).
constexpr int kLevel = 6;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

class Writer {
 public:
  explicit Writer(OutputFile file)
      : file_(std::move(file)), zstd_(ZSTD_createCCtx()), out_(ZSTD_CStreamOutSize()) {
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_windowLog, archive_format::kWindowLog);
  }

  Result<void> plain(std::span<const std::uint8_t> bytes) {
    written_ += bytes.size();
    return file_.write(bytes);
  }
  Result<void> bytes(std::span<const std::uint8_t> bytes) {
    hash_.update(bytes);
    return compress(bytes, ZSTD_e_continue);
  }
  Result<void> number(std::uint64_t value) {
    std::array<std::uint8_t, 8> encoded{};
    for (std::size_t i = 0; i < encoded.size(); ++i)
      encoded.at(i) = static_cast<std::uint8_t>(value >> 8 * i);
    return bytes(encoded);
  }
  Result<void> head(std::string_view name, std::uint64_t size) {
    CLEW_CHECK_OK(number(name.size()));
    CLEW_CHECK_OK(bytes({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()}));
    return number(size);
  }
  // A part that is a text.
  Result<void> text(std::string_view name, const std::string& text) {
    const std::span content(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    CLEW_CHECK_OK(head(name, text.size()));
    CLEW_CHECK_OK(bytes(content));
    return number(content_hash(content));
  }
  Result<void> file(const archive_format::Part& part, const fs::path& from);
  Result<std::uint64_t> finish() {
    CLEW_CHECK_OK(number(hash_.digest()));
    CLEW_CHECK_OK(compress({}, ZSTD_e_end));
    CLEW_CHECK_OK(file_.close());
    return written_;
  }

 private:
  Result<void> compress(std::span<const std::uint8_t> bytes, ZSTD_EndDirective directive);

  OutputFile file_;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> zstd_;
  std::vector<std::uint8_t> out_;
  ContentHasher hash_;
  std::uint64_t written_ = 0;
};

Result<void> Writer::compress(std::span<const std::uint8_t> bytes, ZSTD_EndDirective directive) {
  ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer to{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(zstd_.get(), &to, &from, directive);
    if (ZSTD_isError(left) != 0)
      return fail(ErrorCode::kSystem, fmt::format("cannot compress {}: {}", file_.path().string(),
                                                  ZSTD_getErrorName(left)));
    CLEW_CHECK_OK(plain({out_.data(), to.pos}));
    if (directive != ZSTD_e_continue ? left == 0 : from.pos == from.size) return {};
  }
}

Result<void> Writer::file(const archive_format::Part& part, const fs::path& from) {
  CLEW_TRY(const auto opened, open_regular(from));
  const std::uint64_t size = part.size.value_or(opened.size);
  CLEW_CHECK_OK(head(part.name, size));
  ContentHasher hash;
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
  for (std::uint64_t left = size; left > 0;) {
    const std::span piece(buffer.data(), std::min<std::uint64_t>(left, buffer.size()));
    const std::ptrdiff_t got = read_fully(opened.fd.get(), piece);
    if (got != static_cast<std::ptrdiff_t>(piece.size()))
      return std::unexpected(system_error("read", from, got < 0 ? errno : EIO));
    hash.update(piece);
    CLEW_CHECK_OK(bytes(piece));
    left -= piece.size();
  }
  if (opened.size != size || (part.hash && *part.hash != hash.digest()))
    return fail(ErrorCode::kBadInput,
                fmt::format("{} has changed while it was exported", from.string()), "try again");
  return number(hash.digest());
}

Result<std::uint64_t> write_to(OutputFile file, const fs::path& folder, const Meta& meta,
                               const Bundle& bundle) {
  Writer writer(std::move(file));
  std::vector<std::uint8_t> header(archive_format::kMagic.begin(), archive_format::kMagic.end());
  for (const std::uint32_t version : {kArchiveVersion, abi::kVersion})
    for (int i = 0; i < 4; ++i) header.push_back(static_cast<std::uint8_t>(version >> 8 * i));
  CLEW_CHECK_OK(writer.plain(header));
  const auto machine = machine_of(folder);
  CLEW_CHECK_OK(writer.text(archive_format::kMetaName, format_meta(meta)));
  CLEW_CHECK_OK(writer.text(archive_format::kMachineName, machine ? format_machine(*machine) : ""));
  CLEW_CHECK_OK(writer.text(archive_format::kBundleName, format_bundle(bundle)));
  const auto parts = archive_format::parts_of(meta, bundle);
  const std::size_t own = parts.size() - bundle.size();
  for (std::size_t i = 0; i < parts.size(); ++i)
    CLEW_CHECK_OK(writer.file(parts[i], i < own ? folder / parts[i].name : bundle[i - own].file));
  return writer.finish();
}

}  // namespace

Result<std::uint64_t> write_archive(const fs::path& to, const fs::path& folder, const Meta& meta,
                                    const Bundle& bundle) {
  if (fs::exists(fs::symlink_status(to)))
    return std::unexpected(system_error("create", to, EEXIST));
  fs::path part = to;
  part += ".part";
  ::unlink(part.c_str());  // of an export that was killed
  CLEW_TRY(auto file, OutputFile::create(part));
  auto written = write_to(std::move(file), folder, meta, bundle);
  if (written && ::link(part.c_str(), to.c_str()) != 0)  // which replaces nothing
    written = std::unexpected(system_error("create", to, errno));
  ::unlink(part.c_str());
  return written;
}

}  // namespace clew
