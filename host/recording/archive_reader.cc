#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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
#include "host/recording/other_version.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class Reader {
 public:
  Reader(const ArchiveSource& source, std::uint64_t size, const std::string& name)
      : source_(source),
        name_(name),
        allowed_(kAlwaysUnpacked + size * kMostUnpacked),
        zstd_(ZSTD_createDCtx()),
        in_(ZSTD_DStreamInSize()) {
    ZSTD_DCtx_setParameter(zstd_.get(), ZSTD_d_windowLogMax, archive_format::kWindowLog);
  }

  Result<void> header();
  Result<void> bytes(std::span<std::uint8_t> into);
  Result<std::uint64_t> number();
  // The name of the next part must be `name`; the answer is its size, at most `most`.
  Result<std::uint64_t> head(std::string_view name, std::uint64_t most);
  // A part that is a text of at most `most` bytes.
  Result<std::string> text(std::string_view name, std::uint64_t most);
  // The hash that follows a part.
  Result<void> seal(std::uint64_t computed);
  // The hash of everything, and the end.
  Result<void> end();

  std::unexpected<Error> damaged(std::string_view what) const {
    return fail(ErrorCode::kBadInput, fmt::format("{} is damaged: {}", name_, what),
                "ask for the file again");
  }

 private:
  Result<void> refill();

  const ArchiveSource& source_;
  const std::string& name_;
  std::uint64_t allowed_;  // bytes that may still come out
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd_;
  std::vector<std::uint8_t> in_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  bool frame_ended_ = false;
  ContentHasher hash_;
};

Result<void> Reader::header() {
  std::array<std::uint8_t, archive_format::kHeader> bytes{};
  CLEW_TRY(const std::size_t got, source_(bytes));
  if (got != bytes.size() ||
      !std::ranges::equal(archive_format::kMagic,
                          std::span(bytes).first(archive_format::kMagic.size())))
    return fail(ErrorCode::kBadInput, fmt::format("{} is not a file that clew export wrote", name_),
                "clew export N writes one");
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes.at(at + i)} << 8 * i;
    return value;
  };
  constexpr FileVersion kOwn{kArchiveVersion, abi::kVersion};
  const FileVersion found{word(8), word(12)};
  if (found != kOwn) return std::unexpected(other_version(name_, found, kOwn));
  return {};
}

Result<void> Reader::refill() {
  CLEW_TRY(const std::size_t got, source_(in_));
  if (got == 0) return damaged("it ends too early");
  from_ = {in_.data(), got, 0};
  return {};
}

Result<void> Reader::bytes(std::span<std::uint8_t> into) {
  if (into.size() > allowed_) return damaged("it holds far more than its size suggests");
  allowed_ -= into.size();
  ZSTD_outBuffer to{into.data(), into.size(), 0};
  while (to.pos < to.size) {
    if (frame_ended_) return damaged("it ends too early");
    if (from_.pos == from_.size) CLEW_CHECK_OK(refill());
    const std::size_t left = ZSTD_decompressStream(zstd_.get(), &to, &from_);
    if (ZSTD_isError(left) != 0) return damaged(ZSTD_getErrorName(left));
    frame_ended_ = left == 0;
  }
  hash_.update(into);
  return {};
}

Result<std::uint64_t> Reader::number() {
  std::array<std::uint8_t, 8> encoded{};
  CLEW_CHECK_OK(bytes(encoded));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < encoded.size(); ++i) value |= std::uint64_t{encoded.at(i)} << 8 * i;
  return value;
}

Result<std::uint64_t> Reader::head(std::string_view name, std::uint64_t most) {
  CLEW_TRY(const std::uint64_t length, number());
  if (length > archive_format::kMaxName) return damaged("a name is too long");
  std::string found(length, '\0');
  CLEW_CHECK_OK(bytes({reinterpret_cast<std::uint8_t*>(found.data()), found.size()}));
  if (found != name) return damaged("a part has a name that it should not have");
  CLEW_TRY(const std::uint64_t size, number());
  if (size > most) return damaged("a part is too large");
  return size;
}

Result<std::string> Reader::text(std::string_view name, std::uint64_t most) {
  CLEW_TRY(const std::uint64_t size, head(name, most));
  std::string text(size, '\0');
  const std::span content(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
  CLEW_CHECK_OK(bytes(content));
  CLEW_CHECK_OK(seal(content_hash(content)));
  return text;
}

Result<void> Reader::seal(std::uint64_t computed) {
  CLEW_TRY(const std::uint64_t stated, number());
  if (stated != computed) return damaged("a checksum does not match");
  return {};
}

Result<void> Reader::end() {
  CLEW_CHECK_OK(seal(hash_.digest()));
  // The frame may have an end that holds no bytes.
  std::uint8_t beyond = 0;
  while (!frame_ended_) {
    ZSTD_outBuffer to{&beyond, 1, 0};
    if (from_.pos == from_.size) CLEW_CHECK_OK(refill());
    const std::size_t left = ZSTD_decompressStream(zstd_.get(), &to, &from_);
    if (ZSTD_isError(left) != 0 || to.pos != 0) return damaged("there is more in it");
    frame_ended_ = left == 0;
  }
  CLEW_TRY(const std::size_t more, source_(std::span(&beyond, 1)));
  if (more != 0 || from_.pos != from_.size) return damaged("there is more behind it");
  return {};
}

Result<void> read_part(Reader& reader, const archive_format::Part& part, ArchiveSink& sink) {
  CLEW_TRY(const std::uint64_t size,
           reader.head(part.name, part.size.value_or(archive_format::kMaxSchedule)));
  if (part.size && size != *part.size) return reader.damaged("a part has another size than stated");
  CLEW_CHECK_OK(sink.part(part.name));
  ContentHasher hash;
  std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(size, std::uint64_t{1} << 18));
  for (std::uint64_t left = size; left > 0;) {
    const std::span piece(buffer.data(), std::min<std::uint64_t>(left, buffer.size()));
    CLEW_CHECK_OK(reader.bytes(piece));
    hash.update(piece);
    CLEW_CHECK_OK(sink.bytes(piece));
    left -= piece.size();
  }
  CLEW_CHECK_OK(reader.seal(hash.digest()));
  if (part.hash && hash.digest() != *part.hash)
    return reader.damaged("a part has other bytes than stated");
  return sink.part_ends();
}

// Writes parts below a new recording's folder.
class FolderSink : public ArchiveSink {
 public:
  explicit FolderSink(fs::path folder) : folder_(std::move(folder)) {}

  Result<void> begin(const Meta& meta, const Bundle& bundle) override {
    meta_ = meta;
    bundle_ = bundle;
    return {};
  }
  Result<void> part(const std::string& name) override {
    CLEW_CHECK_OK(make_folders(fs::path(name).parent_path()));
    CLEW_TRY(auto file, OutputFile::create(folder_ / name));
    file_.emplace(std::move(file));
    return {};
  }
  Result<void> bytes(std::span<const std::uint8_t> bytes) override { return file_->write(bytes); }
  Result<void> part_ends() override { return file_->close(); }

  // What is different here. REQUIRES: all parts are there.
  Result<Meta> settle();

 private:
  Result<void> make_folders(const fs::path& relative) const {
    fs::path path = folder_;
    for (const fs::path& name : relative) {
      path /= name;
      if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return std::unexpected(system_error("create", path, errno));
    }
    return {};
  }

  fs::path folder_;
  std::optional<OutputFile> file_;
  Meta meta_;
  Bundle bundle_;
};

Result<Meta> FolderSink::settle() {
  const fs::path folder = fs::absolute(folder_).lexically_normal();
  StartFile start{meta_.started_as, meta_.program, "", bundle_};
  for (std::size_t i = 0; i < start.files.size(); ++i)
    start.files[i].file = folder / place_of(bundle_, i);
  const std::string text = format_start_file(start);
  CLEW_CHECK_OK(part(std::string(kStartFileName)));
  CLEW_CHECK_OK(bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  CLEW_CHECK_OK(part_ends());
  const fs::path& program = start.files[kBundledProgram].file;
  if (::chmod(program.c_str(), 0700) != 0)
    return std::unexpected(system_error("change", program, errno));
  meta_.program = program.string();
  meta_.started_as = (folder / kStartFileName).string();
  // A replay needs any folder; a live run has the one that the user is in.
  std::error_code error;
  if (!fs::is_directory(meta_.working_folder, error))
    meta_.working_folder = fs::current_path(error).string();
  return meta_;
}

}  // namespace

Result<void> read_archive(const ArchiveSource& source, std::uint64_t size, const std::string& name,
                          ArchiveSink& sink) {
  Reader reader(source, size, name);
  CLEW_CHECK_OK(reader.header());
  CLEW_TRY(const std::string text, reader.text(archive_format::kMetaName, kMaxMetaSize));
  CLEW_TRY(const Meta meta, parse_meta(text, name));
  CLEW_TRY(const std::string machine, reader.text(archive_format::kMachineName, kMaxMachineFile));
  CLEW_TRY(const std::string files,
           reader.text(archive_format::kBundleName, archive_format::kMaxBundleText));
  CLEW_TRY(const Bundle bundle, parse_bundle(files, name));
  const BundledFile& program = bundle[kBundledProgram];
  if (program.path != meta.program || program.size != meta.identity.size ||
      program.hash != meta.identity.hash)
    return reader.damaged("it has another program than it names");
  if (!meta.loaded_again) return reader.damaged("its addresses are those of another machine");
  CLEW_CHECK_OK(sink.begin(meta, bundle));
  CLEW_CHECK_OK(sink.part(std::string(archive_format::kMachineName)));
  CLEW_CHECK_OK(
      sink.bytes({reinterpret_cast<const std::uint8_t*>(machine.data()), machine.size()}));
  CLEW_CHECK_OK(sink.part_ends());
  for (const archive_format::Part& part : archive_format::parts_of(meta, bundle))
    CLEW_CHECK_OK(read_part(reader, part, sink));
  return reader.end();
}

Result<Recording> import_archive(const fs::path& from, RecordingStore& store) {
  CLEW_TRY(const auto file, open_regular(from));
  CLEW_TRY(auto draft, store.create());
  FolderSink sink(draft.path());
  const ArchiveSource source = [&](std::span<std::uint8_t> into) -> Result<std::size_t> {
    const std::ptrdiff_t got = read_fully(file.fd.get(), into);
    if (got < 0) return std::unexpected(system_error("read", from, errno));
    return static_cast<std::size_t>(got);
  };
  CLEW_CHECK_OK(read_archive(source, file.size, from.string(), sink));
  // What no part's own reader has looked at yet.
  CLEW_TRY(const auto schedule, read_schedule_file(draft.path() / "schedule"));
  CLEW_TRY(auto meta, sink.settle());
  return draft.commit(std::move(meta));
}

}  // namespace clew
