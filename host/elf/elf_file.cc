#include "host/elf/elf_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/recording/file.h"

namespace clew {
namespace {

constexpr std::uint32_t kMaxSections = 1u << 20;  // far above any real file
constexpr std::uint64_t kMaxString = 1u << 20;    // far above any mangled name

std::unexpected<Error> not_elf(const std::string& name) {
  return fail(ErrorCode::kBadInput, fmt::format("{} is not an x86-64 ELF file", name));
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  auto opened = open_regular(path);
  if (!opened) {
    if (opened.error().code == ErrorCode::kBadInput) return not_elf(path);
    return std::unexpected(opened.error());
  }
  const auto size = static_cast<std::size_t>(opened->size);
  void* data =
      size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened->fd.get(), 0) : MAP_FAILED;
  if (data == MAP_FAILED) return not_elf(path);
  ElfFile file;
  file.bytes_ = {static_cast<const std::byte*>(data), size};
  file.mapped_ = true;
  CLEW_CHECK_OK(file.parse(path));
  return file;
}

Result<ElfFile> ElfFile::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  ElfFile file;
  file.bytes_ = bytes;
  CLEW_CHECK_OK(file.parse(name));
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept { *this = std::move(other); }

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(executable_, other.executable_);
  std::swap(whole_, other.whole_);
  std::swap(interpreter_, other.interpreter_);
  std::swap(segments_, other.segments_);
  std::swap(dynamic_, other.dynamic_);
  std::swap(section_headers_, other.section_headers_);
  std::swap(section_count_, other.section_count_);
  std::swap(section_names_, other.section_names_);
  return *this;
}

ElfFile::~ElfFile() {
  if (mapped_) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

template <class T>
std::optional<T> ElfFile::load(std::uint64_t offset) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof(T));
  return value;
}

Result<void> ElfFile::parse(const std::string& name) {
  const auto header = load<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != EM_X86_64 || header->e_phentsize != sizeof(Elf64_Phdr))
    return not_elf(name);
  executable_ = header->e_type == ET_EXEC || header->e_type == ET_DYN;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = load<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return not_elf(name);
    if (segment->p_type == PT_INTERP)
      interpreter_ = string_at(segment->p_offset, bytes_.size()).value_or("");
    if (segment->p_type == PT_LOAD && (segment->p_offset > bytes_.size() ||
                                       segment->p_filesz > bytes_.size() - segment->p_offset))
      whole_ = false;
    if (segment->p_type == PT_LOAD)
      segments_.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
    if (segment->p_type == PT_DYNAMIC && segment->p_offset <= bytes_.size() &&
        segment->p_filesz <= bytes_.size() - segment->p_offset)
      dynamic_ = bytes_.subspan(segment->p_offset, segment->p_filesz);
  }
  section_headers_ = header->e_shoff;
  section_count_ = header->e_shnum;
  section_names_ = header->e_shstrndx;
  if (section_headers_ != 0 && (section_count_ == 0 || section_names_ == SHN_XINDEX)) {
    const auto first = load<Elf64_Shdr>(section_headers_);
    if (first && section_count_ == 0 && first->sh_size <= kMaxSections)
      section_count_ = static_cast<std::uint32_t>(first->sh_size);
    if (first && section_names_ == SHN_XINDEX) section_names_ = first->sh_link;
  }
  return {};
}

std::vector<std::string> ElfFile::needed_libraries() const {
  std::vector<std::uint64_t> names;
  std::uint64_t table = 0;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, dynamic_.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
  }
  std::vector<std::string> result;
  for (const std::uint64_t name : names)
    if (const auto text = string_at_address(table + name)) result.emplace_back(*text);
  return result;
}

bool ElfFile::defines_symbol(std::string_view name) const {
  return table_has(".dynsym", ".dynstr", name, Symbols::kDefined) ||
         table_has(".symtab", ".strtab", name, Symbols::kDefined);
}

bool ElfFile::imports_symbol(std::string_view name) const {
  return table_has(".dynsym", ".dynstr", name, Symbols::kUndefined);
}

bool ElfFile::table_has(const char* table, const char* texts, std::string_view name,
                        Symbols which) const {
  const auto symbols = section(table);
  const auto names = section(texts);
  if (!symbols || !names) return false;
  const std::string_view all(reinterpret_cast<const char*>(names->bytes.data()),
                             names->bytes.size());
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->bytes.size();
       at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols->bytes.data() + at, sizeof symbol);
    const bool undefined = symbol.st_shndx == SHN_UNDEF;
    if (undefined != (which == Symbols::kUndefined) || symbol.st_name >= all.size()) continue;
    const std::string_view found = all.substr(symbol.st_name, name.size() + 1);
    if (found.size() == name.size() + 1 && found.starts_with(name) && found.back() == 0)
      return true;
  }
  return false;
}

std::vector<ElfFile::Symbol> ElfFile::function_symbols() const {
  std::vector<Symbol> result;
  for (const auto& [table, texts] :
       {std::pair(".dynsym", ".dynstr"), std::pair(".symtab", ".strtab")}) {
    const auto symbols = section(table);
    const auto names = section(texts);
    if (!symbols || !names) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->bytes.size();
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols->bytes.data() + at, sizeof symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
          symbol.st_name >= names->bytes.size())
        continue;
      const auto* name = reinterpret_cast<const char*>(names->bytes.data()) + symbol.st_name;
      const std::size_t length = strnlen(name, names->bytes.size() - symbol.st_name);
      result.push_back({{name, length}, symbol.st_value, symbol.st_size});
    }
  }
  return result;
}

std::vector<ElfFile::Slot> ElfFile::slots() const {
  std::vector<Slot> result;
  const auto symbols = section(".dynsym");
  const auto names = section(".dynstr");
  if (!symbols || !names) return result;
  for (const char* table : {".rela.plt", ".rela.dyn"}) {
    const auto relocations = section(table);
    if (!relocations) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= relocations->bytes.size();
         at += sizeof(Elf64_Rela)) {
      Elf64_Rela one;
      std::memcpy(&one, relocations->bytes.data() + at, sizeof one);
      const auto type = ELF64_R_TYPE(one.r_info);
      const std::uint64_t index = ELF64_R_SYM(one.r_info) * sizeof(Elf64_Sym);
      if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
          index + sizeof(Elf64_Sym) > symbols->bytes.size())
        continue;
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols->bytes.data() + index, sizeof symbol);
      if (symbol.st_name >= names->bytes.size()) continue;
      const auto* name = reinterpret_cast<const char*>(names->bytes.data()) + symbol.st_name;
      result.push_back({{name, strnlen(name, names->bytes.size() - symbol.st_name)}, one.r_offset});
    }
  }
  return result;
}

std::optional<ElfFile::Section> ElfFile::section(std::string_view name) const {
  const auto names =
      load<Elf64_Shdr>(section_headers_ + std::uint64_t{section_names_} * sizeof(Elf64_Shdr));
  if (section_headers_ == 0 || !names) return std::nullopt;
  for (std::uint64_t i = 0; i < section_count_; ++i) {
    const auto header = load<Elf64_Shdr>(section_headers_ + i * sizeof(Elf64_Shdr));
    if (!header) return std::nullopt;
    const auto found = string_at(names->sh_offset + header->sh_name,
                                 names->sh_offset + header->sh_name + name.size() + 1);
    if (found != name || header->sh_type == SHT_NOBITS) continue;
    if (header->sh_offset > bytes_.size() || header->sh_size > bytes_.size() - header->sh_offset)
      return std::nullopt;
    return Section{header->sh_addr, bytes_.subspan(header->sh_offset, header->sh_size)};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::address_of_offset(std::uint64_t offset) const {
  for (const Segment& segment : segments_)
    if (offset >= segment.offset && offset - segment.offset < segment.size)
      return offset - segment.offset + segment.address;
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::offset_of_address(std::uint64_t address) const {
  for (const Segment& segment : segments_)
    if (address >= segment.address && address - segment.address < segment.size)
      return address - segment.address + segment.offset;
  return std::nullopt;
}

std::span<const std::byte> ElfFile::bytes_at_address(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.size) continue;
    const std::uint64_t offset = address - segment.address + segment.offset;
    if (offset >= bytes_.size()) return {};
    const std::uint64_t left = segment.size - (address - segment.address);
    return bytes_.subspan(offset, std::min<std::uint64_t>(left, bytes_.size() - offset));
  }
  return {};
}

std::optional<std::string_view> ElfFile::string_at(std::uint64_t offset, std::uint64_t end) const {
  if (end > bytes_.size()) end = bytes_.size();
  if (offset >= end) return std::nullopt;
  end = std::min(end, offset + kMaxString);
  const auto* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
  const auto* stop = static_cast<const char*>(std::memchr(start, 0, end - offset));
  if (stop == nullptr) return std::nullopt;
  return std::string_view(start, static_cast<std::size_t>(stop - start));
}

std::optional<std::string_view> ElfFile::string_at_address(std::uint64_t address) const {
  const auto offset = offset_of_address(address);
  return offset ? string_at(*offset, bytes_.size()) : std::nullopt;
}

}  // namespace clew
