// A small reader of ELF files: just what clew needs to know about a program before
// running it, and to find its yield points. The file is untrusted: every offset is
// checked against the file's size, and a wrong one reads as "not there".
#ifndef CLEW_HOST_ELF_ELF_FILE_H_
#define CLEW_HOST_ELF_ELF_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace clew {

class ElfFile {
 public:
  // Fails with kBadInput if the file is not an ELF file for 64-bit x86, kSystem if it cannot be
  // read.
  [[nodiscard]] static Result<ElfFile> open(const std::string& path);
  // Reads bytes instead of a file. REQUIRES: they outlive the returned value.
  [[nodiscard]] static Result<ElfFile> from_bytes(std::span<const std::byte> bytes,
                                                  const std::string& name);

  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  bool is_executable() const { return executable_; }  // by its type: ET_EXEC or ET_DYN
  bool is_whole() const { return whole_; }            // everything to be loaded is there
  // The dynamic linker that it requests; empty: none.
  std::string_view interpreter() const { return interpreter_; }
  std::vector<std::string> needed_libraries() const;
  // In its dynamic or its full table of symbols.
  bool defines_symbol(std::string_view name) const;
  // It expects a library to have it.
  bool imports_symbol(std::string_view name) const;

  struct Symbol {
    std::string_view name;
    std::uint64_t address = 0;  // virtual, as linked
    std::uint64_t size = 0;
  };
  // Of functions that it defines, in no order; of both tables.
  std::vector<Symbol> function_symbols() const;

  struct Slot {
    std::string_view name;
    std::uint64_t address = 0;  // virtual, as linked
  };
  // What the dynamic linker fills with the addresses of symbols.
  std::vector<Slot> slots() const;

  struct Section {
    std::uint64_t address = 0;  // virtual, as linked
    std::span<const std::byte> bytes;
  };
  std::optional<Section> section(std::string_view name) const;

  // Between file offsets and virtual addresses, by the loaded segments.
  std::optional<std::uint64_t> address_of_offset(std::uint64_t offset) const;
  std::optional<std::uint64_t> offset_of_address(std::uint64_t address) const;

  // What the file has from a virtual address on, up to the end of its segment.
  std::span<const std::byte> bytes_at_address(std::uint64_t address) const;
  // The NUL-terminated string at a virtual address; empty if it extends beyond the file.
  std::optional<std::string_view> string_at_address(std::uint64_t address) const;

 private:
  struct Segment {
    std::uint64_t offset, address, size;
  };
  ElfFile() = default;
  [[nodiscard]] Result<void> parse(const std::string& name);
  enum class Symbols : std::uint8_t { kDefined, kUndefined };
  bool table_has(const char* table, const char* texts, std::string_view name, Symbols which) const;
  template <class T>
  std::optional<T> load(std::uint64_t offset) const;
  std::optional<std::string_view> string_at(std::uint64_t offset, std::uint64_t end) const;

  std::span<const std::byte> bytes_;
  bool mapped_ = false;
  bool executable_ = false;
  bool whole_ = true;
  std::string_view interpreter_;
  std::vector<Segment> segments_;
  std::span<const std::byte> dynamic_;
  std::uint64_t section_headers_ = 0;
  std::uint32_t section_count_ = 0;
  std::uint32_t section_names_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_ELF_ELF_FILE_H_
