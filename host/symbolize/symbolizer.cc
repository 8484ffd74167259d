#include "host/symbolize/symbolizer.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/elf/elf_file.h"
#include "host/recording/start_file.h"
#include "host/symbolize/maps.h"
#include "host/symbolize/points.h"

namespace clew {
namespace {

llvm::symbolize::LLVMSymbolizer::Options options() {
  llvm::symbolize::LLVMSymbolizer::Options result;
  result.PrintFunctions = llvm::DILineInfoSpecifier::FunctionNameKind::LinkageName;
  result.PathStyle = llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath;
  result.Demangle = true;
  return result;
}

std::string known(const std::string& text) {
  return text == llvm::DILineInfo::BadString ? "" : text;
}

// Without debug information LLVM takes the name of the file from the symbol table ("a.cpp.o"),
// without a line.
std::string known_file(const llvm::DILineInfo& line) {
  const std::string file = known(line.FileName);
  return line.Line == 0 && !file.starts_with('/') ? "" : file;
}

// `/a/b/../c` as `/a/c`: prefixes are compared, and people read it.
std::string tidy(const std::string& path) {
  return path.empty() ? path : std::filesystem::path(path).lexically_normal().string();
}

bool is_runtime(const std::string& module) { return module.ends_with("/libclew_rt.so"); }

bool is_system_module(const std::string& module) {
  for (const std::string_view prefix : {"/usr/lib/", "/lib/", "/lib64/"})
    if (module.starts_with(prefix)) return true;
  return is_runtime(module);
}

}  // namespace

bool is_user_code(const SourceFrame& frame) {
  if (frame.file.empty() || is_system_module(frame.module)) return false;
  for (const std::string_view prefix : {"/usr/include/", "/usr/lib/", "/usr/local/include/"})
    if (frame.file.starts_with(prefix)) return false;
  // The sanitizers' runtimes are part of the program.
  return !frame.file.contains("/include/c++/") && !frame.file.contains("/compiler-rt/lib/");
}

Location location_of(const SourceFrame& frame) { return {frame.file, frame.line, frame.function}; }

struct Symbolizer::Impl {
  explicit Impl(const Reports& reports) : maps(reports.maps), modules(reports.modules) {}

  // The address as the module was linked; nothing if the module cannot be read.
  std::optional<std::uint64_t> linked_address(const Mapping& mapping, std::uint64_t address) {
    auto [entry, added] = files.try_emplace(mapping.path);
    if (added)
      if (auto file = ElfFile::open(mapping.path)) entry->second.emplace(std::move(*file));
    if (!entry->second) return std::nullopt;
    return entry->second->address_of_offset(address - mapping.start + mapping.offset);
  }

  void expand(std::uint64_t address, std::uint64_t lookup, std::vector<SourceFrame>& frames);
  std::optional<PlaceInfo> point(std::uint64_t id);

  Maps maps;
  std::vector<ModuleInfo> modules;
  std::map<std::string, std::optional<ElfFile>> files;
  std::map<std::string, std::optional<PointTable>> tables;
  std::unordered_map<abi::Place, std::optional<PlaceInfo>> places;
  llvm::symbolize::LLVMSymbolizer llvm{options()};
};

void Symbolizer::Impl::expand(std::uint64_t address, std::uint64_t lookup,
                              std::vector<SourceFrame>& frames) {
  SourceFrame bare;
  bare.address = address;
  const Mapping* mapping = maps.find(lookup);
  if (mapping != nullptr) bare.module = path_before_import(mapping->path);
  const auto linked = mapping != nullptr ? linked_address(*mapping, lookup) : std::nullopt;
  if (!linked) return frames.push_back(std::move(bare));
  const llvm::object::SectionedAddress where{*linked, llvm::object::SectionedAddress::UndefSection};
  auto lines = llvm.symbolizeInlinedCode(mapping->path, where);
  if (!lines) {
    llvm::consumeError(lines.takeError());
    return frames.push_back(std::move(bare));
  }
  const std::uint32_t count = lines->getNumberOfFrames();
  for (std::uint32_t i = 0; i < count; ++i) {
    const llvm::DILineInfo& line = lines->getFrame(i);
    frames.push_back({known(line.FunctionName), tidy(known_file(line)), line.Line, line.Column,
                      path_before_import(mapping->path), address, line.StartLine});
  }
  if (count == 0) frames.push_back(std::move(bare));
}

std::optional<PlaceInfo> Symbolizer::Impl::point(std::uint64_t id) {
  for (const ModuleInfo& module : modules) {
    if (id < module.base || id - module.base >= module.points) continue;
    auto [entry, added] = tables.try_emplace(module.path);
    if (added)
      if (auto table = PointTable::open(module.path)) entry->second.emplace(std::move(*table));
    if (!entry->second) return std::nullopt;
    const auto source = entry->second->at(id - module.base);
    if (!source) return std::nullopt;
    return PlaceInfo{{tidy(source->file), source->line, llvm::demangle(source->function)},
                     source->column,
                     to_word(source->kind)};
  }
  return std::nullopt;
}

Symbolizer::Symbolizer(const Reports& reports) : impl_(std::make_unique<Impl>(reports)) {}
Symbolizer::~Symbolizer() = default;

std::vector<SourceFrame> Symbolizer::frames(const FrameList& addresses) {
  std::vector<SourceFrame> result;
  for (const std::uint64_t address : addresses) impl_->expand(address, address, result);
  std::erase_if(result, [](const SourceFrame& frame) { return is_runtime(frame.module); });
  return result;
}

const SourceFrame* Symbolizer::user_frame(const std::vector<SourceFrame>& frames) {
  for (const SourceFrame& frame : frames)
    if (is_user_code(frame)) return &frame;
  for (const SourceFrame& frame : frames)
    if (!frame.file.empty() && !is_system_module(frame.module)) return &frame;
  return nullptr;
}

// Programs have themselves mapped at the lowest addresses of all files of code.
std::uint64_t Symbolizer::program_start() const {
  for (const Mapping& mapping : impl_->maps.all())
    if (impl_->linked_address(mapping, mapping.start)) return mapping.start;
  return 0;
}

std::optional<Symbolizer::ModuleAddress> Symbolizer::module_of(std::uint64_t address) {
  const Mapping* mapping = impl_->maps.find(address);
  ModuleAddress result;
  const auto linked = mapping != nullptr ? impl_->linked_address(*mapping, address) : std::nullopt;
  if (linked) {
    result.linked = *linked;
  } else {
    // Uninitialised data, which begin in the last page of the others.
    mapping = impl_->maps.module_before(address);
    if (mapping == nullptr) return std::nullopt;
    const auto base = impl_->linked_address(*mapping, mapping->start);
    if (!base) return std::nullopt;
    result.linked = address - mapping->start + *base;
  }
  result.path = mapping->path;
  const Mapping* program = impl_->maps.find(program_start());
  result.is_program = program != nullptr && program->path == mapping->path;
  return result;
}

std::string Symbolizer::object_name(std::uint64_t address) {
  const Mapping* module = impl_->maps.module_before(address);
  if (module == nullptr) return "";
  const auto base = impl_->linked_address(*module, module->start);
  if (!base) return "";
  const std::uint64_t linked = address - module->start + *base;
  auto global = impl_->llvm.symbolizeData(module->path,
                                          {linked, llvm::object::SectionedAddress::UndefSection});
  if (!global) {
    llvm::consumeError(global.takeError());
    return "";
  }
  const std::string name = known(global->Name);
  const std::uint64_t offset = linked - global->Start;
  if (name.empty() || offset >= std::max<std::uint64_t>(global->Size, 1)) return "";
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

std::optional<PlaceInfo> Symbolizer::place(abi::Place place) {
  if (place == 0) return std::nullopt;
  const auto [entry, added] = impl_->places.try_emplace(place);
  if (!added) return entry->second;
  if ((place & 1) == 0) return entry->second = impl_->point(place >> 1);
  const auto found = frames({(place >> 1) - 1});  // the call, not where it returns to
  if (const SourceFrame* frame = user_frame(found))
    entry->second = PlaceInfo{location_of(*frame), frame->column, ""};
  else if (!found.empty() && !found.front().function.empty())
    entry->second = PlaceInfo{{"", 0, found.front().function}, 0, ""};
  return entry->second;
}

}  // namespace clew
