#include "host/names/frame_table.h"

#include <algorithm>

#include "host/names/location.h"

namespace clew {
namespace {

using llvm::dwarf::UnwindLocation;
using llvm::dwarf::UnwindRow;

// Of a function's frame description; compilers' are far shorter.
constexpr std::size_t kMostInstructions = 100'000;

// rbx, rbp, rsp, r12 to r15: a function leaves them as it found them, so that they are the
// caller's if nothing is said about them.
bool is_kept(unsigned number) {
  return number == 3 || number == 6 || (number >= 12 && number <= 15);
}

}  // namespace

void FrameTable::load() {
  if (loaded_) return;
  loaded_ = true;
  auto frames = file_.context().getEHFrame();
  if (!frames) return llvm::consumeError(frames.takeError());
  for (const auto& entry : (*frames)->entries()) {
    const auto* function = llvm::dyn_cast<llvm::dwarf::FDE>(&entry);
    if (function == nullptr || function->getLinkedCIE() == nullptr) continue;
    const std::uint64_t begin = function->getInitialLocation();
    if (begin + function->getAddressRange() > begin)
      functions_.push_back({begin, begin + function->getAddressRange(), function});
  }
  std::ranges::sort(functions_, {}, &Function::begin);
}

const UnwindRow* FrameTable::row_at(std::uint64_t pc) {
  load();
  const auto after = std::ranges::upper_bound(functions_, pc, {}, &Function::begin);
  if (after == functions_.begin()) return nullptr;
  const Function& function = *std::prev(after);
  if (pc >= function.end) return nullptr;
  const auto [known, added] = tables_.try_emplace(function.entry);
  if (added && function.entry->cfis().size() < kMostInstructions) {
    auto table = llvm::dwarf::UnwindTable::create(function.entry);
    if (table)
      known->second = std::move(*table);
    else
      llvm::consumeError(table.takeError());
  }
  if (!known->second) return nullptr;
  const UnwindRow* found = nullptr;
  for (const UnwindRow& row : *known->second)
    if (row.hasAddress() && row.getAddress() <= pc) found = &row;
  return found;
}

// An expression with a value to begin with.
std::optional<std::uint64_t> FrameTable::computed(const UnwindLocation& location,
                                                  const Machine& machine,
                                                  std::optional<std::uint64_t> start) {
  const auto expression = location.getDWARFExpressionBytes();
  if (!expression) return std::nullopt;
  const llvm::StringRef bytes = expression->getData();
  std::vector<std::uint8_t> whole;
  if (start) {
    whole.push_back(llvm::dwarf::DW_OP_const8u);
    for (unsigned i = 0; i < 8; ++i) whole.push_back(static_cast<std::uint8_t>(*start >> 8 * i));
  }
  whole.insert(whole.end(), bytes.bytes_begin(), bytes.bytes_end());
  const LocationInput input{.machine = machine, .unit = nullptr, .frame_base = {}, .cfa = {}};
  const Whereabouts at = evaluate(whole, input).at;
  if (at.kind != Whereabouts::Kind::kMemory) return std::nullopt;
  return at.address;
}

std::optional<std::uint64_t> FrameTable::cfa_of(const UnwindRow& row, const Machine& machine) {
  const UnwindLocation& where = row.getCFAValue();
  if (where.getLocation() == UnwindLocation::RegPlusOffset) {
    const auto base = machine.register_value(where.getRegister());
    if (!base) return std::nullopt;
    return *base + static_cast<std::uint64_t>(static_cast<std::int64_t>(where.getOffset()));
  }
  if (where.getLocation() == UnwindLocation::DWARFExpr)
    return computed(where, machine, std::nullopt);
  return std::nullopt;
}

std::optional<std::uint64_t> FrameTable::cfa(std::uint64_t pc, const Machine& machine) {
  if (machine.cfa) return machine.cfa;
  const UnwindRow* row = row_at(pc);
  return row == nullptr ? std::nullopt : cfa_of(*row, machine);
}

std::optional<std::uint64_t> FrameTable::register_by_cfa(std::uint64_t pc, unsigned number,
                                                         std::uint64_t cfa) {
  const UnwindRow* row = row_at(pc);
  if (row == nullptr || row->getCFAValue().getLocation() != UnwindLocation::RegPlusOffset ||
      row->getCFAValue().getRegister() != number)
    return std::nullopt;
  return cfa -
         static_cast<std::uint64_t>(static_cast<std::int64_t>(row->getCFAValue().getOffset()));
}

std::optional<Registers> FrameTable::caller(std::uint64_t pc, const Machine& machine) {
  const UnwindRow* row = row_at(pc);
  if (row == nullptr) return std::nullopt;
  const auto frame = machine.cfa ? machine.cfa : cfa_of(*row, machine);
  if (!frame) return std::nullopt;
  Registers caller;
  for (unsigned i = 0; i <= kReturnRegister; ++i) {
    const auto where = row->getRegisterLocations().getRegisterLocation(i);
    if (!where) {
      if (is_kept(i)) caller.values[i] = machine.register_value(i);
      continue;
    }
    const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(where->getOffset()));
    switch (where->getLocation()) {
      case UnwindLocation::CFAPlusOffset:
        caller.values[i] = machine.number_at(*frame + offset, 8);
        break;
      case UnwindLocation::Same:
        caller.values[i] = machine.register_value(i);
        break;
      case UnwindLocation::RegPlusOffset:
        if (const auto base = machine.register_value(where->getRegister()))
          caller.values[i] = *base + offset;
        break;
      case UnwindLocation::DWARFExpr:
        if (const auto address = computed(*where, machine, *frame))
          caller.values[i] = machine.number_at(*address, 8);
        break;
      default:
        break;
    }
  }
  caller.values[kStackRegister] = *frame;
  if (!caller.values[kReturnRegister]) return std::nullopt;
  caller.pc = *caller.values[kReturnRegister];
  return caller;
}

}  // namespace clew
