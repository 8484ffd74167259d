// The debug information of one file, as LLVM reads it, and its types. Only host/names/ includes
// this.
//
// The file is untrusted. LLVM checks forms and offsets; what it does not check are things that only
// hurt who follows them: entries nested without end, types that refer to themselves. Those are
// bounded here.
#ifndef CLEW_HOST_NAMES_DWARF_FILE_H_
#define CLEW_HOST_NAMES_DWARF_FILE_H_

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/error.h"
#include "host/names/type.h"

namespace clew {

class DwarfFile : public Type::Reader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DwarfFile>> open(const std::string& path);

  llvm::DWARFContext& context() { return *context_; }
  const llvm::object::ObjectFile& object() const { return *object_.getBinary(); }

  // The units with all their entries, without those that make no sense.
  std::vector<llvm::DWARFUnit*> units();
  // The one with the code at a linked address; null: none.
  llvm::DWARFUnit* unit_at(std::uint64_t pc);

  // "Cache::entries", without anonymous and inline namespaces; of what lies in a function, without
  // the function.
  std::string qualified_name(const llvm::DWARFDie& die);
  // The function that it lies in, qualified; "lambda in main"; empty: none.
  std::string function_around(const llvm::DWARFDie& die, int depth = 0);

  // Of an entry that has one (a variable, a member); null: void, or not known.
  const Type* type_of(const llvm::DWARFDie& die);
  // A type itself.
  const Type* type_at(const llvm::DWARFDie& die) { return type_from(die); }
  // A class, union or enumeration that is defined in this file; null: none of that name.
  const Type* find_type(std::string_view qualified);

  Type::Parts parts_of(const Type& type) override;
  const Type* target_of(const Type& type) override;

 private:
  DwarfFile() = default;
  struct TypeEntry {
    llvm::DWARFDie die;
    std::uint32_t dimension;  // of an array: 0 is the outermost
  };

  bool is_sound(llvm::DWARFUnit& unit);
  const Type* type_from(llvm::DWARFDie die, std::uint32_t dimension = 0);
  const Type* make_type(const llvm::DWARFDie& die, std::uint32_t dimension, const char* alias);
  llvm::DWARFDie definition_of(const llvm::DWARFDie& declaration);
  void index_types();
  std::string type_name(const llvm::DWARFDie& die, int depth);

  llvm::object::OwningBinary<llvm::object::ObjectFile> object_;
  std::unique_ptr<llvm::DWARFContext> context_;
  std::map<llvm::DWARFUnit*, bool> sound_;
  std::deque<Type> types_;
  std::vector<TypeEntry> entries_;  // by Type::key
  std::map<std::tuple<const void*, std::uint64_t, std::uint32_t>, const Type*> known_;
  std::optional<std::unordered_map<std::string, llvm::DWARFDie>> definitions_;
  int arrays_ = 0;  // whose size is being found out
};

// Names of entries, following what they specify.
std::string_view name_of(const llvm::DWARFDie& die);
std::optional<std::uint64_t> unsigned_of(const llvm::DWARFDie& die, llvm::dwarf::Attribute what);
bool flag_of(const llvm::DWARFDie& die, llvm::dwarf::Attribute what);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_DWARF_FILE_H_
