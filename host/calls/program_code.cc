#include "host/calls/program_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "host/calls/inlined_starts.h"
#include "host/elf/elf_file.h"
#include "host/model/body_lines.h"
#include "host/recording/file.h"
#include "host/symbolize/maps.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/slurp.h"

namespace clew {
namespace {

constexpr std::uint64_t kMostSource = std::uint64_t{64} << 20;  // as host/report/stacks.cc

bool is_users_module(const std::string& path) {
  SourceFrame frame;
  frame.file = "/a.c";
  frame.module = path;
  std::error_code ignored;
  return path.starts_with('/') && is_user_code(frame) &&
         std::filesystem::is_regular_file(path, ignored);
}

bool is_lambda(const SourceFunction& function) {
  return function.name.ends_with("operator()") &&
         (function.name.contains("$_") || function.name.contains("'lambda"));
}

// Sources that functions are in, read once.
class Sources {
 public:
  // What begins with this line, from 1.
  std::string_view from_line(const std::string& path, std::uint32_t line) {
    const auto [entry, added] = sources_.try_emplace(path);
    Source& source = entry->second;
    if (added) {
      // The name comes from the program: what is no file, or large, has no text.
      if (const auto bytes = read_file(path, kMostSource))
        source.text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      source.lines.push_back(0);
      for (std::size_t i = 0; i < source.text.size(); ++i)
        if (source.text[i] == '\n') source.lines.push_back(i + 1);
    }
    if (line == 0 || line > source.lines.size()) return {};
    return std::string_view(source.text).substr(source.lines[line - 1]);
  }

 private:
  struct Source {
    std::string text;
    std::vector<std::size_t> lines;  // where each begins
  };
  std::map<std::string, Source> sources_;
};

}  // namespace

std::shared_ptr<ProgramCode::Module> ProgramCode::load(const std::string& path) {
  const auto [entry, added] = modules_.try_emplace(path);
  if (!added || !is_users_module(path)) return entry->second;
  auto code = read_module_code(path, ModuleDetail::kAll);
  if (!code) {
    lacks_.push_back(code.error().message);
    return nullptr;
  }
  auto module = std::make_shared<Module>();
  module->path = path;
  module->code = std::move(*code);
  if (const auto elf = ElfFile::open(path)) leave_out_continuations(module->code, *elf);
  const ModuleCode& of = module->code;
  const std::string file = std::filesystem::path(path).filename().string();
  if (!of.has_debug_information && !of.functions.empty())
    lacks_.push_back(fmt::format(
        "{} has no debug information: its functions have no source lines, and calls that were "
        "inlined are not seen (-g)",
        file));
  if (of.inlined_without_code > 0)
    lacks_.push_back(
        fmt::format("{} inlined call{} of {} left no code of {} own and {} not counted",
                    of.inlined_without_code, of.inlined_without_code == 1 ? "" : "s", file,
                    of.inlined_without_code == 1 ? "its" : "their",
                    of.inlined_without_code == 1 ? "is" : "are"));
  if (std::ranges::any_of(of.inlined, [&](const ModuleCode::InlinedCall& call) {
        return of.functions[call.callee].own;
      }))
    lacks_.push_back(
        fmt::format("{} was optimised: calls inlined into loops that were unrolled, and recursion "
                    "that became a "
                    "loop, are counted less often than the source has them (-O0 counts all)",
                    file));
  std::map<std::uint32_t, std::uint32_t> lines;  // those with code, where there is no source
  for (const ModuleCode::Line& line : of.lines) ++lines[line.function];
  Sources sources;
  std::uint64_t without_source = 0;
  for (std::uint32_t i = 0; i < of.functions.size(); ++i) {
    const SourceFunction& function = of.functions[i];
    module->numbers.push_back(kNoFunction);
    if (!function.own) continue;
    const auto [number, is_new] =
        number_of_.try_emplace({function.file, function.line, function.name},
                               static_cast<FunctionNumber>(functions_.size()));
    module->numbers[i] = number->second;
    if (!is_new) continue;
    ProgramFunction known{function, 0, 0};
    const auto body = function.line == 0
                          ? std::nullopt
                          : body_lines(sources.from_line(function.file, function.line), 1,
                                       is_lambda(function) ? BodyOf::kLambda : BodyOf::kFunction);
    if (body) {
      known.lines = body->code;
      known.last_line = function.line - 1 + body->last;
    } else {
      known.lines = lines[i];
      ++without_source;
    }
    functions_.push_back(std::move(known));
    own_names_.insert(function.name);
  }
  if (without_source > 0 && of.has_debug_information)
    lacks_.push_back(
        fmt::format("the source of {} function{} was not found: the lines that have "
                    "code stand for its lines",
                    without_source, without_source == 1 ? "" : "s"));
  for (std::size_t i = 0; i < of.inlined.size(); ++i)
    module->inlined[of.inlined[i].entry].push_back(i);
  for (std::size_t i = 0; i < of.lines.size(); ++i) module->lines.emplace(of.lines[i].address, i);
  return entry->second = std::move(module);
}

void ProgramCode::see(int process, std::uint64_t address) {
  {
    const std::shared_lock lock(mutex_);
    if (find(address) != nullptr) return;
  }
  const std::unique_lock lock(mutex_);
  const Maps maps(slurp(fmt::format("/proc/{}/maps", process)));
  mapped_.clear();
  for (const Mapping& mapping : maps.all()) {
    Mapped mapped{mapping.start, mapping.end, 0, nullptr, mapping.path, mapping.offset};
    mapped.module = load(mapping.path);
    if (mapped.module) {
      const auto file = ElfFile::open(mapping.path);
      const auto linked = file ? file->address_of_offset(mapping.offset) : std::nullopt;
      if (linked)
        mapped.bias = mapping.start - *linked;
      else
        mapped.module = nullptr;
    }
    mapped_.push_back(std::move(mapped));
  }
}

const ProgramCode::Mapped* ProgramCode::find(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(mapped_, address, {}, &Mapped::begin);
  if (behind == mapped_.begin()) return nullptr;
  const Mapped& found = *std::prev(behind);
  return address < found.end ? &found : nullptr;
}

const ModuleCode::Stretch* ProgramCode::stretch(std::uint64_t address) const {
  const Mapped* mapped = find(address);
  return mapped == nullptr || !mapped->module ? nullptr
                                              : mapped->module->code.find(address - mapped->bias);
}

bool ProgramCode::is_own(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto* found = stretch(address);
  return found != nullptr && found->own.has_value();
}

bool ProgramCode::is_own_entry(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return false;
  const ModuleCode& code = mapped->module->code;
  const auto entry = code.entries.find(address - mapped->bias);
  return entry != code.entries.end() && code.functions[entry->second].own;
}

bool ProgramCode::is_same_function(std::uint64_t a, std::uint64_t b) const {
  const std::shared_lock lock(mutex_);
  const Mapped* one = find(a);
  const Mapped* other = find(b);
  if (one == nullptr || other == nullptr || one->module != other->module) return false;
  const auto* first = stretch(a);
  const auto* second = stretch(b);
  return first != nullptr && second != nullptr && first->body == second->body;
}

bool ProgramCode::is_silent(std::uint64_t target) const {
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(target);
  if (mapped == nullptr || !mapped->module) return false;
  const auto& calls = mapped->module->code.library_calls;
  const auto call = calls.find(target - mapped->bias);
  return call != calls.end() && call->second.starts_with("__clew");
}

OwnCode::Slot ProgramCode::slot(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return Slot::kOther;
  const auto& slots = mapped->module->code.library_slots;
  const auto found = slots.find(address - mapped->bias);
  if (found == slots.end()) return Slot::kOther;
  if (found->second.starts_with("__clew")) return Slot::kSilent;
  return own_names_.contains(plain_name(found->second)) ? Slot::kOther : Slot::kLibrary;
}

bool ProgramCode::is_counted(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return false;
  const std::uint64_t linked = address - mapped->bias;
  if (level_ != CountLevel::kCalls && mapped->module->lines.contains(linked)) return true;
  if (level_ == CountLevel::kLines) return false;
  const auto found = mapped->module->inlined.find(linked);
  return found != mapped->module->inlined.end() &&
         std::ranges::any_of(found->second, [&](std::size_t i) {
           return mapped->module->code.inlined[i].caller.has_value();
         });
}

bool ProgramCode::is_inlined_entry(std::uint64_t address) const {
  if (level_ == CountLevel::kLines) return false;
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return false;
  const auto found = mapped->module->inlined.find(address - mapped->bias);
  return found != mapped->module->inlined.end() &&
         std::ranges::any_of(found->second, [&](std::size_t i) {
           return !mapped->module->code.inlined[i].caller.has_value();
         });
}

FunctionNumber ProgramCode::owner(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto* found = stretch(address);
  if (found == nullptr || !found->own) return kNoFunction;
  return find(address)->module->numbers[*found->own];
}

FunctionNumber ProgramCode::body(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto* found = stretch(address);
  if (found == nullptr) return kNoFunction;
  const Module& module = *find(address)->module;
  return module.code.functions[found->body].own ? module.numbers[found->body] : kNoFunction;
}

bool ProgramCode::is_in_own_source(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto* found = stretch(address);
  return found != nullptr && found->own == found->innermost;
}

FunctionNumber ProgramCode::leaf(const std::string& name) {
  const auto [entry, added] =
      leaf_of_.try_emplace(name, kFirstLeaf + static_cast<FunctionNumber>(leaves_.size()));
  if (added) leaves_.push_back(name);
  return entry->second;
}

std::string ProgramCode::library_function(const Mapped& mapped, std::uint64_t address) {
  const auto [entry, added] = libraries_.try_emplace(mapped.path);
  if (added)
    if (auto code = read_module_code(mapped.path, ModuleDetail::kSymbolsOnly))
      entry->second = std::make_shared<ModuleCode>(std::move(*code));
  const std::string file = std::filesystem::path(mapped.path).filename().string();
  if (!entry->second) return file;
  const auto elf = ElfFile::open(mapped.path);
  const auto linked =
      elf ? elf->address_of_offset(address - mapped.begin + mapped.offset) : std::nullopt;
  const auto* stretch = linked ? entry->second->find(*linked) : nullptr;
  return stretch != nullptr ? entry->second->functions[stretch->innermost].name : file;
}

FunctionNumber ProgramCode::callee(std::uint64_t target) {
  const std::unique_lock lock(mutex_);
  const Mapped* mapped = find(target);
  if (mapped == nullptr) return kNoFunction;
  if (!mapped->module) {
    const std::string name = library_function(*mapped, target);
    return name.starts_with("__clew") ? kNoFunction : leaf(name);
  }
  const ModuleCode& code = mapped->module->code;
  const std::uint64_t linked = target - mapped->bias;
  if (const auto entry = code.entries.find(linked); entry != code.entries.end()) {
    const FunctionNumber number = mapped->module->numbers[entry->second];
    return number != kNoFunction ? number : leaf(code.functions[entry->second].name);
  }
  if (const auto slot = code.library_slots.find(linked); slot != code.library_slots.end())
    return leaf(plain_name(slot->second));
  if (const auto call = code.library_calls.find(linked); call != code.library_calls.end()) {
    const std::string name = plain_name(call->second);
    // A function of the program's own in another file is counted when it is entered.
    return call->second.starts_with("__clew") || own_names_.contains(name) ? kNoFunction
                                                                           : leaf(name);
  }
  return kNoFunction;
}

std::vector<ProgramCode::Edge> ProgramCode::inlined_at(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  std::vector<Edge> edges;
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return edges;
  const Module& module = *mapped->module;
  const auto found = module.inlined.find(address - mapped->bias);
  if (found == module.inlined.end()) return edges;
  for (const std::size_t i : found->second) {
    const ModuleCode::InlinedCall& call = module.code.inlined[i];
    const FunctionNumber number = module.numbers[call.callee];
    edges.push_back(
        {call.caller ? module.numbers[*call.caller] : kNoFunction,
         number != kNoFunction ? number : leaf(module.code.functions[call.callee].name)});
  }
  return edges;
}

std::optional<ProgramCode::OwnLine> ProgramCode::line_at(std::uint64_t address) const {
  if (level_ == CountLevel::kCalls) return std::nullopt;
  const std::shared_lock lock(mutex_);
  const Mapped* mapped = find(address);
  if (mapped == nullptr || !mapped->module) return std::nullopt;
  const auto found = mapped->module->lines.find(address - mapped->bias);
  if (found == mapped->module->lines.end()) return std::nullopt;
  const std::vector<ModuleCode::Line>& lines = mapped->module->code.lines;
  const std::size_t at = found->second;
  OwnLine line{mapped->module->numbers[lines[at].function], lines[at].line};
  const auto beside = [&](std::size_t i) -> std::optional<Beside> {
    if (i >= lines.size() || lines[i].function != lines[at].function) return std::nullopt;
    return Beside{lines[i].address + mapped->bias, lines[i].line};
  };
  line.before = at > 0 ? beside(at - 1) : std::nullopt;
  line.behind = beside(at + 1);
  return line;
}

std::vector<ProgramFunction> ProgramCode::functions() const {
  const std::shared_lock lock(mutex_);
  return {functions_.begin(), functions_.end()};
}

std::string ProgramCode::name_of(FunctionNumber function) const {
  const std::shared_lock lock(mutex_);
  if (function == kNoFunction) return "";
  if (function >= kFirstLeaf)
    return function - kFirstLeaf < leaves_.size() ? leaves_[function - kFirstLeaf] : "";
  return function < functions_.size() ? functions_[function].source.name : "";
}

std::vector<std::string> ProgramCode::lacks() const {
  const std::shared_lock lock(mutex_);
  return lacks_;
}

}  // namespace clew
