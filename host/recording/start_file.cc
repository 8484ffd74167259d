#include "host/recording/start_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include "clew_abi/start_file.h"
#include "host/quote.h"
#include "host/recording/content_hash.h"
#include "host/recording/owner.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 255;  // of a file system

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= kMaxName;
}

// Absolute, and nothing in it that is not the name of a folder or of a file.
bool is_plain(std::string_view path) {
  if (!path.starts_with('/')) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    if (!is_name(name)) return false;
    path.remove_prefix(name.size());
  }
  return true;
}

void add(std::string& texts, std::string_view text) { texts.append(text).push_back('\0'); }

std::string seal_of(const BundledFile& file) {
  return fmt::format("{:x} {:016x}", file.size, file.hash);
}

bool read_seal(std::string_view text, BundledFile& file) {
  const char* const end = text.data() + text.size();
  const auto size = std::from_chars(text.data(), end, file.size, 16);
  if (size.ec != std::errc{} || size.ptr == end || *size.ptr != ' ') return false;
  const auto hash = std::from_chars(size.ptr + 1, end, file.hash, 16);
  return hash.ec == std::errc{} && hash.ptr == end && text == seal_of(file);
}

// Takes texts with a NUL after each.
class Texts {
 public:
  explicit Texts(std::string_view rest) : rest_(rest) {}
  bool empty() const { return rest_.empty(); }
  bool good() const { return good_; }
  std::string next() {
    const std::size_t size = rest_.find('\0');
    good_ &= size != std::string_view::npos;
    if (!good_) return {};
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size + 1);
    return text;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::unexpected<Error> damaged(std::string_view name, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{} is damaged: {}", name, what),
              "import the recording again");
}

Result<StartFile> parse(std::string_view bytes, const std::string& name) {
  abi::StartHeader header{};
  if (bytes.size() < sizeof header) return damaged(name, "it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.magic != abi::kStartMagic || header.version != abi::kStartVersion ||
      header.size != bytes.size())
    return damaged(name, "it is no start file, or one of another clew");
  Texts texts(bytes);
  StartFile start;
  start.started_as = texts.next();
  start.program = texts.next();
  texts.next();
  texts.next();
  start.log = texts.next();
  while (!texts.empty() && texts.good() && start.files.size() <= kMaxBundledFiles) {
    BundledFile& file = start.files.emplace_back();
    file.path = texts.next();
    file.file = texts.next();
    if (!read_seal(texts.next(), file)) return damaged(name, "a size or a hash is none");
  }
  if (!texts.good()) return damaged(name, "a text has no end");
  if (const std::string problem = problem_of(start.files); !problem.empty())
    return damaged(name, "its files " + problem);
  return start;
}

}  // namespace

std::string place_of(const Bundle& bundle, std::size_t index) {
  const std::string& path = bundle.at(index).path;
  if (is_plain(path)) return "root" + path;
  std::string name = path.substr(path.rfind('/') + 1);
  if (!is_name(name)) name = "file";
  return fmt::format("root/.other/{}/{}", index, name);
}

std::string problem_of(const Bundle& bundle) {
  if (bundle.size() <= kBundledLoader) return "lack the program or its dynamic linker";
  if (bundle.size() > kMaxBundledFiles) return fmt::format("are more than {}", kMaxBundledFiles);
  std::set<std::string> places;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    const BundledFile& file = bundle[i];
    if (file.path.empty() || file.path.size() > kMaxBundledPath)
      return "have a path of an impossible length";
    if (file.size > kMaxBundledFile || (total += file.size) > kMaxBundle) return "are too large";
    if (!places.insert(place_of(bundle, i)).second)
      return fmt::format("contain {} twice", quote(file.path, 200));
  }
  return {};
}

std::string format_bundle(const Bundle& bundle) {
  std::string texts;
  for (const BundledFile& file : bundle) {
    add(texts, file.path);
    add(texts, seal_of(file));
  }
  return texts;
}

Result<Bundle> parse_bundle(std::string_view text, std::string_view name) {
  Texts texts(text);
  Bundle bundle;
  while (!texts.empty() && texts.good() && bundle.size() <= kMaxBundledFiles) {
    BundledFile& file = bundle.emplace_back();
    file.path = texts.next();
    if (!read_seal(texts.next(), file)) return damaged(name, "a size or a hash is none");
  }
  if (!texts.good()) return damaged(name, "a text has no end");
  if (const std::string problem = problem_of(bundle); !problem.empty())
    return damaged(name, "its files " + problem);
  return bundle;
}

std::string format_start_file(const StartFile& start) {
  std::string texts;
  for (const std::string& text :
       {start.started_as, start.program, start.files.at(kBundledProgram).file.string(),
        start.files.at(kBundledLoader).file.string(), start.log})
    add(texts, text);
  static_assert(abi::kStartTexts == 5);
  for (const BundledFile& file : start.files) {
    add(texts, file.path);
    add(texts, file.file.string());
    add(texts, seal_of(file));
  }
  const abi::StartHeader header{abi::kStartMagic, abi::kStartVersion, -1, texts.size()};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + texts;
}

Result<StartFile> read_start_file(const fs::path& path) {
  CLEW_TRY(const auto bytes, read_file(path, abi::kMaxStartFile, Whose::kOwn));
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Result<StartFile> check_start_file(const fs::path& path) {
  const fs::path folder = path.parent_path();
  CLEW_CHECK_OK(check_folder_owner(folder));
  CLEW_TRY(auto start, read_start_file(path));
  if (!start.log.empty()) return damaged(path.string(), "it would write to a file");
  for (std::size_t i = 0; i < start.files.size(); ++i) {
    const BundledFile& file = start.files[i];
    if (file.file != folder / place_of(start.files, i))
      return fail(ErrorCode::kBadInput,
                  fmt::format("{} was moved since it was imported", folder.string()),
                  "import the recording again");
    CLEW_TRY(const auto content, hash_file(file.file, Whose::kOwn, file.size));
    if (content.size != file.size || content.hash != file.hash)
      return fail(ErrorCode::kBadInput,
                  fmt::format("{} has changed since it was imported", file.file.string()),
                  "import the recording again");
  }
  return start;
}

std::string path_before_import(const std::string& path) {
  constexpr std::string_view kStore = "/.clew/";
  constexpr std::string_view kRoot = "/root/";
  const std::size_t store = path.find(kStore);
  if (store == std::string::npos) return path;
  const std::size_t number = store + kStore.size();
  const std::size_t root = path.find('/', number);
  const bool is_number = root != std::string::npos && root > number &&
                         path.find_first_not_of("0123456789", number) == root;
  return is_number && path.compare(root, kRoot.size(), kRoot) == 0
             ? path.substr(root + kRoot.size() - 1)
             : path;
}

}  // namespace clew
