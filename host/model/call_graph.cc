#include "host/model/call_graph.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/model/function_table.h"

namespace clew {

Result<CallGraph> CallGraph::open(const std::string& path) {
  CLEW_TRY(auto file, ElfFile::open(path));
  CallGraph graph(std::move(file));
  graph.read();
  return graph;
}

void CallGraph::read() {
  stubs_ = stub_ranges(file_);
  for (const CodeRange& range : function_table(file_))
    if (range_with(stubs_, range.begin) == nullptr) functions_.push_back({range, ""});
  for (const ElfFile::Symbol& symbol : file_.function_symbols()) {
    const auto number = function_at(symbol.address);
    if (!number || functions_[*number].range.begin != symbol.address) continue;
    by_name_.emplace(symbol.name, *number);
    // Of several names, the one that a person would use.
    std::string_view& name = functions_[*number].name;
    if (name.empty() || symbol.name.size() < name.size()) name = symbol.name;
  }
  for (const ElfFile::Slot& slot : file_.slots()) slots_.emplace(slot.address, slot.name);
}

std::optional<CallGraph::Number> CallGraph::function_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(
      functions_, address, {}, [](const Function& function) { return function.range.begin; });
  if (behind == functions_.begin() || !std::prev(behind)->range.has(address)) return std::nullopt;
  return static_cast<Number>(std::prev(behind) - functions_.begin());
}

std::optional<CallGraph::Number> CallGraph::function_named(std::string_view symbol) const {
  const auto found = by_name_.find(symbol);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::uint8_t> CallGraph::code(const CodeRange& range) const {
  const auto bytes = file_.bytes_at_address(range.begin);
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()),
          std::min<std::size_t>(bytes.size(), range.end - range.begin)};
}

template <class Visit>
void CallGraph::each_instruction(const CodeRange& range, const Visit& visit) const {
  const auto bytes = code(range);
  Instruction instruction;
  for (std::size_t offset = 0; offset < bytes.size(); offset += instruction.length) {
    if (!decode(range.begin + offset, bytes.subspan(offset), instruction) ||
        instruction.length == 0)
      return;
    visit(instruction);
  }
}

// What a stub calls: at most a landing mark, then the jump.
std::string_view CallGraph::library_function(std::uint64_t stub) const {
  Instruction one;
  for (int i = 0; i < 2; ++i, stub = one.next()) {
    const auto bytes = code({stub, stub + 16});
    if (!decode(stub, bytes, one)) break;
    if (one.flow != Flow::kIndirectJump) continue;
    const auto slot = slots_.find(one.slot);
    return slot == slots_.end() ? "" : slot->second;
  }
  return "";
}

CallGraph::Call CallGraph::call_of(const Instruction& instruction, const CodeRange& inside) const {
  Call call;
  call.address = instruction.address;
  call.takes_place = !instruction.is_call();
  if (instruction.flow == Flow::kIndirectCall || instruction.flow == Flow::kIndirectJump) {
    const auto slot = slots_.find(instruction.slot);
    call.kind = slot != slots_.end() ? Call::Kind::kLibrary : Call::Kind::kPointer;
    if (slot != slots_.end()) call.symbol = slot->second;
  } else if (range_with(stubs_, instruction.target) != nullptr) {
    call.kind = Call::Kind::kLibrary;
    call.symbol = library_function(instruction.target);
  } else if (const auto callee = function_at(instruction.target);
             callee && (instruction.is_call() || !inside.has(instruction.target))) {
    call.kind = Call::Kind::kFunction;
    call.callee = *callee;
  }
  // The linker finds the library's own function for a symbol that it has.
  if (call.kind == Call::Kind::kLibrary)
    if (const auto own = function_named(call.symbol)) {
      call.kind = Call::Kind::kFunction;
      call.callee = *own;
    }
  return call;
}

const std::vector<CallGraph::Call>& CallGraph::calls(Number function) {
  const auto [entry, added] = calls_.try_emplace(function);
  if (!added || function >= functions_.size()) return entry->second;
  const CodeRange& inside = functions_[function].range;
  each_instruction(inside, [&](const Instruction& at) {
    const bool leaves = (at.flow == Flow::kJump || at.flow == Flow::kBranch) &&
                        !inside.has(at.target) && at.target != 0;
    // A jump by a table of the function's own is none.
    const bool by_slot = at.flow == Flow::kIndirectJump && slots_.contains(at.slot);
    if (at.is_call() || leaves || by_slot) entry->second.push_back(call_of(at, inside));
  });
  return entry->second;
}

// Words that are the address of a function, by what the dynamic linker relocates, and in a file that is
// linked to fixed addresses in the data itself.
void CallGraph::take_addresses_in_data(std::vector<bool>& taken) const {
  const auto take = [&](std::uint64_t address) {
    const auto number = function_at(address);
    if (number && functions_[*number].range.begin == address) taken[*number] = true;
  };
  if (const auto relocations = file_.section(".rela.dyn"))
    for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= relocations->bytes.size();
         at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      std::memcpy(&entry, relocations->bytes.data() + at, sizeof entry);
      if (ELF64_R_TYPE(entry.r_info) == R_X86_64_RELATIVE)
        take(static_cast<std::uint64_t>(entry.r_addend));
    }
  for (const char* name : {".data", ".data.rel.ro", ".rodata", ".init_array", ".fini_array"})
    if (const auto section = file_.section(name))
      for (std::size_t at = 0; at + 8 <= section->bytes.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, section->bytes.data() + at, sizeof word);
        take(word);
      }
}

const std::vector<CallGraph::Number>& CallGraph::candidates() {
  if (candidates_) return *candidates_;
  std::vector<bool> taken(functions_.size());
  take_addresses_in_data(taken);
  for (const Function& function : functions_)
    each_instruction(function.range, [&](const Instruction& at) {
      // lea: nothing else names a place in code that it does not go to.
      if (at.slot == 0 || at.flow != Flow::kNext) return;
      const auto number = function_at(at.slot);
      if (number && functions_[*number].range.begin == at.slot) taken[*number] = true;
    });
  // What the dynamic linker is asked for by name, others may have.
  for (const auto& [address, symbol] : slots_)
    if (const auto own = function_named(symbol)) taken[*own] = true;
  candidates_.emplace();
  for (Number i = 0; i < taken.size(); ++i)
    if (taken[i]) candidates_->push_back(i);
  return *candidates_;
}

}  // namespace clew
