// What the memory that instances of a run read and write is called, and values in words.
#ifndef CLEW_HOST_EXPLAIN_NAMING_H_
#define CLEW_HOST_EXPLAIN_NAMING_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/explain/traced_pair.h"
#include "host/names/run_names.h"
#include "host/observe/trace_names.h"

namespace clew {

class Naming {
 public:
  explicit Naming(TracedPair& pair);

  struct Named {
    std::string name;            // "queue.items_[3]", "this->count_"
    const Type* type = nullptr;  // null: not known
    bool local = false;          // of a function
    bool made_up = false;        // a temporary of the compiler's: it has no name in the source
    std::uint64_t offset = 0;    // into the type, if no member begins there
  };
  // The memory that an instance accesses.
  [[nodiscard]] std::optional<Named> memory(WhichRun side, Instance at, std::uint64_t address,
                                            std::uint32_t size);
  // "queue.mutex_"; empty: it has no name.
  [[nodiscard]] std::string sync_object(WhichRun side, Instance at, std::uint64_t address);
  // The variable that a register holds behind the instance.
  [[nodiscard]] std::optional<Named> in_register(WhichRun side, Instance at, int reg);
  // "3", "nullptr", "the 24 bytes that T0.1 allocated at cache.cpp:41"; of several members at once
  // "{low = 4, high = 64}". `of`: what has the value; null: not known.
  [[nodiscard]] std::string value(WhichRun side, Instance at, std::uint64_t value,
                                  std::uint32_t size, const Named* of);
  // "cache.cpp:41"
  [[nodiscard]] std::string line(WhichRun side, Instance at);
  // The source text there, without indentation; empty: not known.
  [[nodiscard]] std::string text(const CodePlace& place);

  // What is at the address, "byte 8 of the 64 bytes allocated at a.cc:7"; empty: not known.
  [[nodiscard]] std::string pointed_to(WhichRun side, Instance at, std::uint64_t address);

 private:
  // Of a variable or function, "queue"; of memory of the allocator, "the 64 bytes allocated at a.cc:7".
  std::string pointed_name(WhichRun side, Instance at, std::uint64_t address);
  std::string pointed_memory(WhichRun side, Instance at, std::uint64_t address);
  [[nodiscard]] bool is_on_stack(WhichRun side, std::uint64_t address) const;
  std::optional<Named> by_pointer(WhichRun side, Instance at, std::uint64_t address,
                                  std::uint32_t size, int depth);
  std::optional<Named> find(WhichRun side, Instance at, std::uint64_t address, std::uint32_t size,
                            int depth);

  TracedPair& pair_;
  std::array<std::unique_ptr<RunNames>, 2> names_;
  std::array<std::unique_ptr<TraceNames>, 2> of_run_;
  std::unordered_map<std::string, std::vector<std::string>> sources_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_NAMING_H_
