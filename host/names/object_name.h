// What an address of a run is called, as plain values. host/report/ makes words of it.
#ifndef CLEW_HOST_NAMES_OBJECT_NAME_H_
#define CLEW_HOST_NAMES_OBJECT_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "host/names/type.h"
#include "host/outcome.h"

namespace clew {

struct ObjectName {
  enum class Kind : std::uint8_t {
    kUnknown,
    kGlobal,       // `path`; of a static variable of a function with `function`
    kThreadLocal,  // `path` of `thread`
    kLocal,        // `path` of `function` in a frame of `thread`
    kHeap,         // see Heap
    kTemporary,    // an object without a name in a frame of `function` in `thread`
    kFrame,        // something in such a frame, a variable perhaps, which is not known
    kPointee,      // `path`: "entry->value", by a pointer that the thread has read just before
    kSymbol,       // only the table of symbols has it: `path`, "stdout+8"
  };
  // Memory of the allocator.
  struct Heap {
    enum class Part : std::uint8_t {
      kObject,        // of the user's, if the type is known
      kControlBlock,  // of a shared_ptr<type>
      kThread,        // what a std::thread was given: its function and arguments
      kLibrary,       // something else that the C++ library keeps
    };
    Part part = Part::kObject;
    std::string type;                    // as demangled; empty: not known
    std::optional<std::uint64_t> index;  // which of several objects of the type
    std::uint64_t inside = 0;  // where in the object of the type, or in the memory, the address is
    std::string owner;         // the container that its elements are of; empty: not known, or none
    std::uint64_t size = 0;
    std::optional<Location> allocated_at;
    std::string allocated_by;  // thread
    bool freed = false;
    std::optional<Location> freed_at;
    std::string freed_by;  // thread
  };

  Kind kind = Kind::kUnknown;
  // "queue.items_[3]"; kHeap: within the object, ".next"
  std::string path;
  const Type* type = nullptr;  // of what lies there, as long as who named it lives; null: not known
  std::uint64_t offset = 0;    // into that, if no member begins there
  std::string function;
  std::string thread;
  Heap heap = {};

  bool known() const { return kind != Kind::kUnknown; }
};

// As in source code: "queue.items_[3]", "Entry::next", "sessions[2].user"; empty: it has no such
// name. Types are as demangled.
[[nodiscard]] std::string source_text(const ObjectName& name);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_OBJECT_NAME_H_
