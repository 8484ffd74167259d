// The code of a process, read from the files that it has mapped: where functions begin and end, what
// they are called, and the bytes. The files are untrusted; what makes no sense is not there.
#ifndef CLEW_HOST_MODEL_CODE_MAP_H_
#define CLEW_HOST_MODEL_CODE_MAP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/elf/elf_file.h"
#include "host/model/instruction.h"
#include "host/symbolize/maps.h"

namespace clew {

struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool has(std::uint64_t address) const { return address >= begin && address < end; }
};

class CodeMap {
 public:
  // Of /proc/PID/maps.
  explicit CodeMap(std::string_view maps);

  // The function that has the address, by the tables for unwinding, which stripped libraries have,
  // too. Nothing: not known.
  [[nodiscard]] std::optional<CodeRange> function(std::uint64_t address);
  // The symbol of the function that begins there; empty: none.
  [[nodiscard]] std::string_view symbol(std::uint64_t address);
  // All symbols of the function that begins there.
  [[nodiscard]] std::span<const ElfFile::Symbol> symbols(std::uint64_t address);
  // The symbol of the function that has the address; empty: none.
  [[nodiscard]] std::string_view symbol_around(std::uint64_t address);
  // The symbol of what a call calls, be it by way of a stub or of a slot that the dynamic linker fills;
  // empty: not known.
  [[nodiscard]] std::string_view called(const Instruction& call);
  // Code that binds calls to functions of libraries: the dynamic linker, and what leads there.
  [[nodiscard]] bool binds(std::uint64_t address);
  // A yield point in a table of them (clew_abi/point.h).
  [[nodiscard]] bool is_point(std::uint64_t address);
  // Up to the end of what the file has there.
  [[nodiscard]] std::span<const std::uint8_t> code(std::uint64_t address);
  // Likewise of constants that the program cannot write, texts among them; empty: the address is of something else.
  [[nodiscard]] std::span<const std::uint8_t> constant(std::uint64_t address);
  // The file that the address belongs to; empty: none.
  [[nodiscard]] std::string path(std::uint64_t address) const;

 private:
  struct Module {
    std::optional<ElfFile> file;
    bool is_linker = false;
    std::vector<CodeRange> functions;  // ascending, as linked
    std::vector<CodeRange> stubs;
    CodeRange points;
    std::vector<ElfFile::Symbol> symbols;  // ascending
    std::unordered_map<std::uint64_t, std::string_view> slots;
  };
  struct Place {
    Module* module = nullptr;
    std::uint64_t address = 0;  // as linked
    std::uint64_t bias = 0;     // what to add to get the process's
  };

  std::optional<Place> place(std::uint64_t address);
  Module* open(const std::string& path);

  Maps maps_;
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_CODE_MAP_H_
