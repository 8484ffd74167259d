// What a ModuleNames consists of. Only host/names/ includes this.
#ifndef CLEW_HOST_NAMES_MODULE_IMPL_H_
#define CLEW_HOST_NAMES_MODULE_IMPL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/names/dwarf_file.h"
#include "host/names/frame_table.h"
#include "host/names/location.h"
#include "host/names/module_names.h"
#include "host/names/scopes.h"

namespace clew {

struct StaticVariable {
  std::uint64_t address = 0;
  std::uint64_t size = 1;
  llvm::DWARFDie die;
};

using Statics = std::vector<StaticVariable>;  // ascending

struct ModuleNames::Impl {
  explicit Impl(std::unique_ptr<DwarfFile> opened) : file(std::move(opened)), frames(*file) {}

  void index_statics();
  std::optional<NamedData> named(const Statics& variables, std::uint64_t address,
                                 std::uint64_t size);
  Evaluated evaluate_at(const ScopedVariable& variable, std::uint64_t pc, const Machine& machine);

  std::optional<std::uint64_t> only_home(const ScopedVariable& variable, const Machine& machine);

  // In a list: of which the key is the place in `scoped`.
  std::vector<Variable> list(const std::vector<ScopedVariable>& variables);
  bool is_optimised(llvm::DWARFUnit& unit);

  std::unique_ptr<DwarfFile> file;
  FrameTable frames;
  bool indexed = false;
  Statics globals;
  Statics thread_locals;
  std::vector<ScopedVariable> scoped;  // by Variable::key
  std::map<std::uint64_t, std::vector<Variable>> at_pc;
  std::map<std::uint64_t, std::vector<Variable>> in_other_blocks;  // by pc
  std::map<llvm::DWARFUnit*, bool> optimised;
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_MODULE_IMPL_H_
