#include "host/symbolize/module_code.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Object/SymbolSize.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "host/symbolize/symbolizer.h"

namespace clew {
namespace {

using llvm::DWARFDie;
using llvm::object::ObjectFile;
namespace dwarf = llvm::dwarf;

constexpr auto kAbsolute = llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath;
// Deeper nesting of inlined calls is not followed.
constexpr unsigned kDeepest = 200;

class Reader {
 public:
  Reader(const std::string& path, ObjectFile& file) : path_(path), file_(file) {}

  ModuleCode read(ModuleDetail detail) {
    read_library_calls();
    if (detail == ModuleDetail::kAll) {
      const auto context = llvm::DWARFContext::create(file_);
      context_ = context.get();
      for (const auto& unit : context->compile_units()) {
        if (auto die = unit->getUnitDIE(false)) walk_scope(die);
        read_lines(*context, *unit);
      }
    }
    code_.has_debug_information = !pieces_.empty();
    if (pieces_.empty()) read_symbols(detail == ModuleDetail::kAll);
    paint();
    return std::move(code_);
  }

 private:
  // A range of code of a function, inlined `depth` deep.
  struct Piece {
    std::uint64_t begin, end;
    std::uint32_t depth;
    std::uint32_t body;
    std::uint32_t function;
    std::optional<std::uint32_t> own;
  };

  static std::string tidy(const std::string& path) {
    return path.empty() ? path : std::filesystem::path(path).lexically_normal().string();
  }

  std::uint32_t number_of(const SourceFunction& function) {
    const auto [entry, added] =
        numbers_.try_emplace({function.file, function.line, function.name},
                             static_cast<std::uint32_t>(code_.functions.size()));
    if (added) code_.functions.push_back(function);
    return entry->second;
  }

  std::uint32_t function_of(const DWARFDie& die) {
    SourceFunction function;
    const char* linkage = die.getLinkageName();
    const char* name = die.getShortName();
    function.name = linkage != nullptr ? plain_name(linkage) : name != nullptr ? name : "";
    function.file = tidy(die.getDeclFile(kAbsolute));
    function.line = static_cast<std::uint32_t>(die.getDeclLine());
    // Instances of a template differ in what stands in brackets.
    if (name != nullptr && std::strchr(name, '<') != nullptr)
      function.name = without_arguments(function.name);
    SourceFrame frame;
    frame.function = function.name;
    frame.file = function.file;
    frame.module = path_;
    // What the compiler adds by itself (a default constructor) is in nobody's source.
    const bool written = !dwarf::toUnsigned(die.findRecursively(dwarf::DW_AT_artificial), 0);
    function.own = is_user_code(frame) && function.line != 0 && written;
    return number_of(function);
  }

  // The arguments of the template that the name ends with.
  static std::string without_arguments(const std::string& name) {
    if (name.empty() || name.back() != '>') return name;
    std::size_t depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
      if (name[i] == '>') ++depth;
      if (name[i] == '<' && --depth == 0) return name.substr(0, i);
    }
    return name;
  }

  static std::vector<llvm::DWARFAddressRange> ranges_of(const DWARFDie& die) {
    auto ranges = die.getAddressRanges();
    if (!ranges) {
      llvm::consumeError(ranges.takeError());
      return {};
    }
    std::vector<llvm::DWARFAddressRange> result;
    // Functions that the linker dropped are at 0.
    for (const auto& range : *ranges)
      if (range.LowPC < range.HighPC && range.LowPC != 0) result.push_back(range);
    return result;
  }

  void walk_scope(const DWARFDie& scope) {
    for (const DWARFDie& die : scope.children()) {
      switch (die.getTag()) {
        case dwarf::DW_TAG_subprogram:
          add_body(die);
          walk_scope(die);  // functions of local classes
          break;
        case dwarf::DW_TAG_namespace:
        case dwarf::DW_TAG_class_type:
        case dwarf::DW_TAG_structure_type:
        case dwarf::DW_TAG_union_type:
        case dwarf::DW_TAG_lexical_block:
          walk_scope(die);
          break;
        default:
          break;
      }
    }
  }

  void add_body(const DWARFDie& die) {
    const auto ranges = ranges_of(die);
    if (ranges.empty()) return;
    const std::uint32_t function = function_of(die);
    const bool own = code_.functions[function].own;
    const std::optional<std::uint32_t> nearest = own ? std::optional(function) : std::nullopt;
    for (const auto& range : ranges)
      pieces_.push_back({range.LowPC, range.HighPC, 0, function, function, nearest});
    code_.entries.emplace(ranges.front().LowPC, function);
    walk_inlined(die, {function, function, nearest}, 1);
  }

  struct Around {
    std::uint32_t body;
    std::uint32_t function;
    std::optional<std::uint32_t> own;
  };

  void walk_inlined(const DWARFDie& parent, const Around& around, unsigned depth) {
    if (depth > kDeepest) return;
    for (const DWARFDie& die : parent.children()) {
      if (die.getTag() == dwarf::DW_TAG_lexical_block) walk_inlined(die, around, depth);
      if (die.getTag() != dwarf::DW_TAG_inlined_subroutine) continue;
      const std::uint32_t function = function_of(die);
      const auto ranges = ranges_of(die);
      const bool own = code_.functions[function].own;
      if (ranges.empty()) {
        if (own) ++code_.inlined_without_code;
        continue;
      }
      std::uint64_t entry = ranges.front().LowPC;
      if (const auto given = dwarf::toAddress(die.find(dwarf::DW_AT_entry_pc))) entry = *given;
      const bool direct = around.own == around.function;
      // What one library function calls of another is nobody's business.
      if (own || direct) {
        ++inlined_calls_;
        const auto starts = starts_of(die, entry, ranges);
        if (starts.size() > 1)
          for (const auto& range : ranges)
            code_.inlined_code[inlined_calls_].emplace_back(range.LowPC, range.HighPC);
        for (const std::uint64_t start : starts)
          code_.inlined.push_back({start, function, around.own, direct, entry, inlined_calls_});
      }
      const Around inside{around.body, function, own ? std::optional(function) : around.own};
      for (const auto& range : ranges)
        pieces_.push_back({range.LowPC, range.HighPC, depth, around.body, function, inside.own});
      walk_inlined(die, inside, depth + 1);
    }
  }

  // Where the inlined call may begin: those ranges that begin with the same statement as the first. A loop that was
  // unrolled, and code that has a second version for when a yield point is due, begin it in several places; some of the
  // ranges may only continue it.
  std::vector<std::uint64_t> starts_of(const DWARFDie& die, std::uint64_t entry,
                                       const std::vector<llvm::DWARFAddressRange>& ranges) {
    std::vector<std::uint64_t> starts{entry};
    if (ranges.size() == 1) return starts;
    const auto* table = context_->getLineTableForUnit(die.getDwarfUnit());
    const auto row_at = [&](std::uint64_t address) -> const llvm::DWARFDebugLine::Row* {
      if (table == nullptr) return nullptr;
      const std::uint32_t row =
          table->lookupAddress({address, llvm::object::SectionedAddress::UndefSection});
      return row == table->UnknownRowIndex ? nullptr : &table->Rows[row];
    };
    const auto* first = row_at(entry);
    for (const auto& range : ranges) {
      const auto* row = row_at(range.LowPC);
      if (range.LowPC != entry && first != nullptr && row != nullptr && row->Line == first->Line &&
          row->Column == first->Column && row->File == first->File)
        starts.push_back(range.LowPC);
    }
    return starts;
  }

  // Of pieces that overlap the deepest counts.
  void paint() {
    std::ranges::sort(pieces_, {},
                      [](const Piece& p) { return std::tuple(p.begin, p.depth, ~p.end); });
    std::vector<const Piece*> open;
    std::uint64_t at = 0;
    const auto put = [&](std::uint64_t until) {
      while (!open.empty() && at < until) {
        const Piece& top = *open.back();
        const std::uint64_t end = std::min(top.end, until);
        if (at < end) {
          code_.stretches.push_back({at, end, top.body, top.function, top.own});
          at = end;
        }
        while (!open.empty() && open.back()->end <= at) open.pop_back();
      }
      at = until;
    };
    for (const Piece& piece : pieces_) {
      put(piece.begin);
      at = piece.begin;
      const auto place = std::ranges::upper_bound(open, piece.depth, {}, &Piece::depth);
      open.insert(place, &piece);
    }
    put(UINT64_MAX);
  }

  void read_symbols(bool own) {
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> found;
    for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(file_)) {
      auto type = symbol.getType();
      auto address = symbol.getAddress();
      auto name = symbol.getName();
      if (type && address && name && *type == llvm::object::SymbolRef::ST_Function &&
          *address != 0 && size > 0)
        found.try_emplace(*address, size, name->str());
      if (!type) llvm::consumeError(type.takeError());
      if (!address) llvm::consumeError(address.takeError());
      if (!name) llvm::consumeError(name.takeError());
    }
    for (const auto& [address, symbol] : found) {
      const auto& [size, linkage] = symbol;
      SourceFunction function;
      function.name = plain_name(linkage);
      function.own = own && is_users_name(linkage, function.name);
      const std::uint32_t number = number_of(function);
      const std::optional<std::uint32_t> nearest =
          function.own ? std::optional(number) : std::nullopt;
      pieces_.push_back({address, address + size, 0, number, number, nearest});
      code_.entries.emplace(address, number);
    }
  }

  // Without debug information: what compilers and libraries put into every program is not the user's.
  static bool is_users_name(const std::string& linkage, const std::string& name) {
    for (const char* prefix : {"std::", "__gnu_cxx::", "__clew", "clew_", "_", "frame_dummy",
                               "register_tm_clones", "deregister_tm_clones", "void std::"})
      if (name.starts_with(prefix)) return false;
    return !linkage.starts_with("__");
  }

  // Code of the sections .plt: a jump by way of a slot that a relocation names.
  void read_library_calls() {
    auto& slots = code_.library_slots;
    for (const auto& section : file_.dynamic_relocation_sections())
      for (const auto& relocation : section.relocations()) {
        const auto symbol = relocation.getSymbol();
        if (symbol == file_.symbol_end()) continue;
        auto name = symbol->getName();
        if (name)
          slots.try_emplace(relocation.getOffset(), name->str());
        else
          llvm::consumeError(name.takeError());
      }
    for (const llvm::object::SectionRef section : file_.sections()) {
      auto name = section.getName();
      if (!name) {
        llvm::consumeError(name.takeError());
        continue;
      }
      if (!name->starts_with(".plt")) continue;
      auto bytes = section.getContents();
      if (!bytes) {
        llvm::consumeError(bytes.takeError());
        continue;
      }
      const std::size_t step = *name == ".plt.got" ? 8 : 16;
      for (std::size_t at = 0; at + step <= bytes->size(); at += step)
        for (std::size_t i = at; i + 6 <= at + step; ++i) {
          if (static_cast<unsigned char>((*bytes)[i]) != 0xff || (*bytes)[i + 1] != 0x25) continue;
          std::int32_t distance;
          std::memcpy(&distance, bytes->data() + i + 2, 4);
          const auto slot = slots.find(section.getAddress() + i + 6 +
                                       static_cast<std::uint64_t>(std::int64_t{distance}));
          if (slot == slots.end()) break;
          code_.library_calls.emplace(section.getAddress() + at, slot->second);
          break;
        }
    }
  }

  // The first address of each line that begins a statement, function by function.
  void read_lines(llvm::DWARFContext& context, llvm::DWARFUnit& unit) {
    const auto* table = context.getLineTableForUnit(&unit);
    if (table == nullptr) return;
    for (const auto& row : table->Rows)
      if (row.IsStmt && !row.EndSequence && row.Line != 0)
        code_.lines.push_back({row.Address.Address, 0, row.Line});
  }

  std::string path_;
  ObjectFile& file_;
  std::uint32_t inlined_calls_ = 0;
  llvm::DWARFContext* context_ = nullptr;  // while debug information is read
  ModuleCode code_;
  std::vector<Piece> pieces_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> numbers_;
};

// A statement's address belongs to the function whose code is innermost there; each line of a function
// stands once, with its first address.
void settle_lines(ModuleCode& code) {
  std::ranges::sort(code.lines, {}, &ModuleCode::Line::address);
  std::vector<ModuleCode::Line> kept;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;  // with the body
  for (ModuleCode::Line line : code.lines) {
    const auto* stretch = code.find(line.address);
    if (stretch == nullptr || stretch->own != stretch->innermost) continue;
    line.function = stretch->innermost;
    if (seen.emplace(stretch->body, line.function, line.line).second) kept.push_back(line);
  }
  code.lines = std::move(kept);
}

}  // namespace

const ModuleCode::Stretch* ModuleCode::find(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(stretches, address, {}, &Stretch::begin);
  if (behind == stretches.begin()) return nullptr;
  const Stretch& found = *std::prev(behind);
  return address < found.end ? &found : nullptr;
}

std::string plain_name(const std::string& linkage_name) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(linkage_name.c_str())) return llvm::demangle(linkage_name);
  std::size_t size = 0;
  char* text = demangler.isFunction() ? demangler.getFunctionName(nullptr, &size)
                                      : demangler.finishDemangle(nullptr, &size);
  if (text == nullptr) return linkage_name;
  std::string name = text;
  std::free(text);
  // Of the ABI, not of the source.
  constexpr std::string_view kTag = "[abi:";
  for (std::size_t at = name.find(kTag); at != std::string::npos; at = name.find(kTag, at))
    name.erase(at, name.find(']', at) - at + 1);
  return name;
}

Result<ModuleCode> read_module_code(const std::string& path, ModuleDetail detail) {
  auto file = ObjectFile::createObjectFile(path);
  if (!file) {
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot read {}: {}", path, llvm::toString(file.takeError())));
  }
  ModuleCode code = Reader(path, *file->getBinary()).read(detail);
  settle_lines(code);
  return code;
}

}  // namespace clew
