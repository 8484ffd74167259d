#include "pass/locations.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace clew::pass {
namespace {

bool is_system_path(llvm::StringRef path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.starts_with("/usr/local/include/") || path.contains("/include/c++/");
}

llvm::StringRef name_of(const llvm::DISubprogram& subprogram) {
  const llvm::StringRef linkage = subprogram.getLinkageName();
  return linkage.empty() ? subprogram.getName() : linkage;
}

}  // namespace

const Locations::File& Locations::file_of(const llvm::DIFile* file) {
  const auto [at, inserted] = files_.try_emplace(file, File{});
  if (inserted && file != nullptr) {
    llvm::SmallString<256> path;
    if (!llvm::sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
    llvm::sys::path::append(path, file->getFilename());
    // A path by way of /usr/lib/gcc/.../../../include is a path in /usr/include.
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    at->second = File{strings_.save(path.str()), is_system_path(path)};
  }
  return at->second;
}

const void* Locations::line_key(llvm::StringRef path, unsigned line) {
  return strings_.save(path + ":" + llvm::Twine(line)).data();
}

const Locations::Frame& Locations::frame_of(const llvm::DILocation* location) {
  if (const auto at = frames_.find(location); at != frames_.end()) return at->second;
  const llvm::DILocation* chosen = location;
  bool user = false;
  for (const llvm::DILocation* frame = location; frame != nullptr; frame = frame->getInlinedAt()) {
    if (file_of(frame->getFile()).system) continue;
    chosen = frame;
    user = true;
    break;
  }
  const llvm::StringRef path = file_of(chosen->getFile()).path;
  Frame result;
  result.location.file = path;
  result.location.line = chosen->getLine();
  result.location.column = chosen->getColumn();
  if (const llvm::DISubprogram* subprogram = chosen->getScope()->getSubprogram())
    result.location.function = name_of(*subprogram);
  result.line = user && chosen->getLine() != 0 ? line_key(path, chosen->getLine()) : nullptr;
  return frames_[location] = result;
}

llvm::StringRef Locations::source_path(const llvm::Module& module) {
  if (source_path_.empty()) {
    llvm::SmallString<256> path(module.getSourceFileName());
    llvm::sys::fs::make_absolute(path);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    source_path_ = strings_.save(path.str());
  }
  return source_path_;
}

SourcePosition Locations::of_entry(const llvm::Function& function) {
  SourcePosition result;
  if (const llvm::DISubprogram* subprogram = function.getSubprogram()) {
    result.file = file_of(subprogram->getFile()).path;
    result.function = name_of(*subprogram);
    result.line = subprogram->getLine();
  } else {
    result.file = source_path(*function.getParent());
    result.function = function.getName();
  }
  return result;
}

SourcePosition Locations::of(const llvm::Instruction& instruction) {
  if (const llvm::DebugLoc& location = instruction.getDebugLoc())
    return frame_of(location).location;
  SourcePosition result = of_entry(*instruction.getFunction());
  result.line = 0;
  return result;
}

const void* Locations::line_of(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  return location ? frame_of(location).line : nullptr;
}

bool Locations::is_system(const llvm::Function& function) {
  const llvm::DISubprogram* subprogram = function.getSubprogram();
  return subprogram != nullptr && file_of(subprogram->getFile()).system;
}

}  // namespace clew::pass
