#include "host/recording/inputs_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "host/recording/content_hash.h"
#include "host/recording/file.h"

namespace clew {
namespace {

// The fastest level, because the program may have to wait for the compressor.
constexpr int kLevel = 1;
// That level needs 512 KiB; a file that needs more memory than this was not written by clew.
constexpr int kMaxWindowLog = 23;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

std::unexpected<Error> damaged(const std::filesystem::path& path, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{} is damaged: {}", path.string(), what),
              "the recording cannot be used; make a new one with clew run");
}

}  // namespace

struct InputsWriter::State {
  explicit State(OutputFile output)
      : file(std::move(output)), zstd(ZSTD_createCCtx()), out(ZSTD_CStreamOutSize()) {}

  Result<void> compress(std::span<const std::uint8_t> bytes, ZSTD_EndDirective directive);

  OutputFile file;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> zstd;
  std::vector<std::uint8_t> out;
  ContentHasher raw;
  ContentHasher stored;
  Captured content;
};

Result<void> InputsWriter::State::compress(std::span<const std::uint8_t> bytes,
                                           ZSTD_EndDirective directive) {
  ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ZSTD_compressStream2(zstd.get(), &to, &from, directive);
    if (ZSTD_isError(left) != 0)
      return fail(ErrorCode::kSystem, fmt::format("cannot compress {}: {}", file.path().string(),
                                                  ZSTD_getErrorName(left)));
    const std::span ready(out.data(), to.pos);
    if (auto done = file.write(ready); !done) return done;
    stored.update(ready);
    content.stored += ready.size();
    if (directive != ZSTD_e_continue ? left == 0 : from.pos == from.size) return {};
  }
}

InputsWriter::InputsWriter(std::filesystem::path path) : path_(std::move(path)) {}
InputsWriter::InputsWriter(InputsWriter&&) noexcept = default;
InputsWriter& InputsWriter::operator=(InputsWriter&&) noexcept = default;
InputsWriter::~InputsWriter() = default;

Result<void> InputsWriter::begin() {
  CLEW_TRY(auto file, OutputFile::create(path_));
  auto state = std::make_unique<State>(std::move(file));
  if (!state->zstd) return fail(ErrorCode::kSystem, "out of memory for compression");
  ZSTD_CCtx_setParameter(state->zstd.get(), ZSTD_c_compressionLevel, kLevel);
  state_ = std::move(state);
  return {};
}

Result<void> InputsWriter::append(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return {};
  if (!state_)
    if (auto begun = begin(); !begun) return begun;
  if (bytes.size() > kMaxInputs - state_->content.size)
    return fail(ErrorCode::kBadInput, "the run reads too much from outside to be recorded");
  state_->raw.update(bytes);
  state_->content.size += bytes.size();
  return state_->compress(bytes, ZSTD_e_continue);
}

Result<void> InputsWriter::flush() {
  return state_ ? state_->compress({}, ZSTD_e_flush) : Result<void>{};
}

Result<std::optional<Captured>> InputsWriter::finish() {
  if (!state_) return std::nullopt;
  CLEW_CHECK_OK(state_->compress({}, ZSTD_e_end));
  CLEW_CHECK_OK(state_->file.close());
  state_->content.hash = state_->raw.digest();
  state_->content.stored_hash = state_->stored.digest();
  return state_->content;
}

namespace {

class Decompressor {
 public:
  Decompressor(const std::filesystem::path& path, std::span<std::uint8_t> into)
      : path_(path), zstd_(ZSTD_createDCtx()), to_{into.data(), into.size(), 0} {
    if (zstd_) ZSTD_DCtx_setParameter(zstd_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  bool ready() const { return zstd_ != nullptr; }
  // The next bytes of the file.
  Result<void> take(std::span<const std::uint8_t> bytes);
  // The file has no more.
  Result<void> finish() const;

 private:
  const std::filesystem::path& path_;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd_;
  ZSTD_outBuffer to_;
  std::uint64_t offset_ = 0;  // in the file
  bool at_end_ = false;       // of the frame
};

Result<void> Decompressor::take(std::span<const std::uint8_t> bytes) {
  ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
  while (from.pos < from.size) {
    const std::uint64_t at = offset_ + from.pos;
    if (at_end_) return damaged(path_, fmt::format("it continues after its end at byte {}", at));
    std::uint8_t too_much = 0;
    ZSTD_outBuffer beyond{&too_much, 1, 0};
    const bool full = to_.pos == to_.size;
    const std::size_t left = ZSTD_decompressStream(zstd_.get(), full ? &beyond : &to_, &from);
    if (ZSTD_isError(left) != 0)
      return damaged(path_, fmt::format("it cannot be decompressed from byte {} on: {}", at,
                                        ZSTD_getErrorName(left)));
    if (beyond.pos > 0)
      return damaged(path_, fmt::format("it holds more than the {} bytes recorded", to_.size));
    at_end_ = left == 0;
  }
  offset_ += bytes.size();
  return {};
}

Result<void> Decompressor::finish() const {
  if (!at_end_) return damaged(path_, fmt::format("it is truncated at byte {}", offset_));
  if (to_.pos != to_.size)
    return damaged(path_, fmt::format("it holds {} bytes, {} were recorded", to_.pos, to_.size));
  return {};
}

}  // namespace

namespace {

// Hands the bytes of the file to `take`, piece by piece.
template <class Take>
Result<void> read_pieces(const std::filesystem::path& path, Take take) {
  CLEW_TRY(const auto file, open_regular(path, Whose::kOwn));
  std::vector<std::uint8_t> chunk(ZSTD_DStreamInSize());
  for (std::uint64_t left = file.size; left > 0;) {
    const std::size_t most = std::min<std::uint64_t>(chunk.size(), left);
    const std::ptrdiff_t got = read_fully(file.fd.get(), std::span(chunk).first(most));
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    if (got == 0) break;
    CLEW_CHECK_OK(take(std::span(chunk).first(static_cast<std::size_t>(got))));
    left -= static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

Result<void> read_inputs_file(const RecordedInputs& inputs, std::span<std::uint8_t> into) {
  Decompressor decompressor(inputs.file, into);
  if (!decompressor.ready()) return fail(ErrorCode::kSystem, "out of memory for decompression");
  auto read = read_pieces(inputs.file, [&](auto bytes) { return decompressor.take(bytes); });
  if (!read) return read;
  if (auto whole = decompressor.finish(); !whole) return whole;
  if (content_hash(into) != inputs.content.hash)
    return damaged(inputs.file, "its bytes have changed since it was recorded");
  return {};
}

Result<void> copy_inputs(const std::filesystem::path& file, std::uint64_t size, InputsWriter& to) {
  if (size == 0) return {};
  const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd(ZSTD_createDCtx());
  if (!zstd) return fail(ErrorCode::kSystem, "out of memory for decompression");
  ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  std::vector<std::uint8_t> out(ZSTD_DStreamOutSize());
  std::uint64_t left = size;
  const auto append = [&](std::span<const std::uint8_t> bytes) -> Result<void> {
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    for (bool more = true; more && left > 0;) {
      ZSTD_outBuffer into{out.data(), out.size(), 0};
      const std::size_t state = ZSTD_decompressStream(zstd.get(), &into, &from);
      if (ZSTD_isError(state) != 0) return damaged(file, ZSTD_getErrorName(state));
      const std::size_t wanted = into.pos < left ? into.pos : static_cast<std::size_t>(left);
      if (auto done = to.append({out.data(), wanted}); !done) return done;
      left -= wanted;
      more = from.pos < from.size || into.pos == into.size;
    }
    return {};
  };
  if (auto read = read_pieces(file, append); !read) return read;
  if (left > 0) return damaged(file, fmt::format("it holds {} bytes, not {}", size - left, size));
  return {};
}

}  // namespace clew
