// An archive to take apart. Only tests and fuzzers include this.
#ifndef CLEW_HOST_RECORDING_ARCHIVE_TEST_UTIL_H_
#define CLEW_HOST_RECORDING_ARCHIVE_TEST_UTIL_H_

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/recording/archive.h"
#include "host/recording/content_hash.h"
#include "host/recording/test_util.h"

namespace clew {

// A recording with four files, exported to `to`.
inline Result<std::uint64_t> export_sample(const std::filesystem::path& folder,
                                           const std::filesystem::path& to,
                                           std::vector<std::string> paths = {
                                               "/home/me/a b/prog", "/lib64/ld.so",
                                               "/home/me/../lib/x.so", "./y.so"}) {
  CLEW_TRY(auto store, RecordingStore::open(folder / ".clew"));
  CLEW_TRY(auto draft, store.create());
  CLEW_TRY(const auto recording, record(std::move(draft)));
  Meta meta = recording.meta;
  Bundle bundle;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::filesystem::path source = folder / ("source" + std::to_string(i));
    spill(source, std::string(1000 * i, static_cast<char>('a' + i)));
    CLEW_TRY(const auto content, hash_file(source));
    bundle.push_back({paths[i], source, content.size, content.hash});
  }
  meta.program = bundle.front().path;
  meta.identity.size = bundle.front().size;
  meta.identity.hash = bundle.front().hash;
  return write_archive(to, recording.path, meta, bundle);
}

// Keeps what it gets.
class MemorySink : public ArchiveSink {
 public:
  Result<void> begin(const Meta&, const Bundle&) override { return {}; }
  Result<void> part(const std::string& name) override {
    last_ = name;
    parts_[name].clear();
    return {};
  }
  Result<void> bytes(std::span<const std::uint8_t> bytes) override {
    parts_[last_].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  Result<void> part_ends() override { return {}; }

  std::map<std::string, std::string> parts_;

 private:
  std::string last_;
};

inline ArchiveSource source_of(std::span<const std::uint8_t>& rest) {
  return [&rest](std::span<std::uint8_t> into) -> Result<std::size_t> {
    const std::size_t size = std::min(into.size(), rest.size());
    std::copy_n(rest.begin(), size, into.begin());
    rest = rest.subspan(size);
    return size;
  };
}

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_ARCHIVE_TEST_UTIL_H_
