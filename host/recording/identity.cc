// What distinguishes one build of a program from the next.
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "host/recording/content_hash.h"
#include "host/recording/file.h"
#include "host/recording/meta.h"

namespace clew {
namespace {

constexpr std::size_t kMaxNotes = std::size_t{64} << 10;

bool read_at(const RegularFile& file, std::uint64_t offset, void* to, std::size_t size) {
  return offset <= file.size &&
         ::pread(file.fd.get(), to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

constexpr std::string_view kOwner("GNU\0", 4);

constexpr std::size_t aligned(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

// The build id among the notes, as hex digits; empty if it is not there.
std::string find_build_id(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const std::size_t name = aligned(note.n_namesz);
    if (name > notes.size() || note.n_descsz > notes.size() - name) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(kOwner)) {
      std::string id;
      for (const char c : notes.substr(name, note.n_descsz))
        fmt::format_to(std::back_inserter(id), "{:02x}", static_cast<unsigned char>(c));
      return id;
    }
    notes.remove_prefix(std::min(notes.size(), name + aligned(note.n_descsz)));
  }
  return {};
}

std::string read_build_id(const std::filesystem::path& program) {
  const auto file = open_regular(program);
  Elf64_Ehdr header{};
  if (!file || !read_at(*file, 0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(*file, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNotes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(*file, segment.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = find_build_id(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace

Result<ProgramIdentity> identify_program(const std::filesystem::path& program) {
  CLEW_TRY(auto content, hash_file(program));
  return ProgramIdentity{content.size, content.hash, read_build_id(program)};
}

}  // namespace clew
