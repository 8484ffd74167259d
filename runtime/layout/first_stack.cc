#include "runtime/layout/first_stack.h"

#include <string.h>

#include <initializer_list>

#include "runtime/layout/image.h"

namespace clew::rt {
namespace {

constexpr std::size_t kRandomBytes = 16;

const Elf64_auxv_t* vector_of(const StartOfStack& start) {
  char** entry = start.environment;
  while (*entry != nullptr) ++entry;
  return reinterpret_cast<const Elf64_auxv_t*>(entry + 1);
}

// With the one that ends it.
std::size_t length_of(const Elf64_auxv_t* vector) {
  std::size_t length = 1;
  for (; vector->a_type != AT_NULL; ++vector) ++length;
  return length;
}

std::size_t length_of(char** list) {
  std::size_t length = 0;
  while (list[length] != nullptr) ++length;
  return length;
}

bool is_text(std::uint64_t type) {
  return type == AT_EXECFN || type == AT_PLATFORM || type == AT_BASE_PLATFORM;
}

// Hands out memory from high addresses to low ones. What is written to `image` will be at `top`.
class Writer {
 public:
  Writer(char* image, std::size_t size, std::uintptr_t top)
      : at_(image + size), moved_by_(top - reinterpret_cast<std::uintptr_t>(image + size)) {}

  char* take(std::size_t size, std::uintptr_t alignment) {
    at_ -= size;
    at_ -= reinterpret_cast<std::uintptr_t>(at_) % alignment;
    return at_;
  }
  std::uintptr_t address_of(const void* place) const {
    return reinterpret_cast<std::uintptr_t>(place) + moved_by_;
  }
  char* copy(const char* text) {
    const std::size_t size = strlen(text) + 1;
    return static_cast<char*>(memcpy(take(size, 1), text, size));
  }

 private:
  char* at_;
  std::uintptr_t moved_by_;
};

}  // namespace

std::size_t size_of_first_stack(const StartOfStack& start, const char* started_as) {
  const Elf64_auxv_t* const vector = vector_of(start);
  std::size_t size = kPageSize + (length_of(vector) + kLeastVector) * sizeof(Elf64_auxv_t);
  if (started_as != nullptr) size += strlen(started_as) + 1;
  for (char** list : {start.arguments, start.environment})
    for (char** entry = list; *entry != nullptr; ++entry)
      size += strlen(*entry) + 1 + sizeof(char*);
  for (const auto* entry = vector; entry->a_type != AT_NULL; ++entry)
    if (is_text(entry->a_type))
      size += strlen(reinterpret_cast<const char*>(entry->a_un.a_val)) + 1;
  return page_up(size);
}

namespace {

class Copy {
 public:
  Copy(const StartOfStack& start, char* image, std::size_t size, std::uintptr_t top)
      : start_(start),
        old_(vector_of(start)),
        arguments_(length_of(start.arguments)),
        variables_(length_of(start.environment)),
        image_(image),
        table_(reinterpret_cast<std::uintptr_t*>(image)),
        writer_(image, size, top) {
    end_of_texts_ = writer_.address_of(writer_.take(sizeof(void*), 1));
  }

  // From high addresses to low ones, as the kernel has them: texts, tables.
  FirstStack write(const NewPlaces& places) {
    FirstStack result{};
    write_texts(result, places);
    const std::size_t length = write_vector(places, result);
    const std::size_t size = words() * sizeof(std::uintptr_t) + length * sizeof *old_;
    char* const pointer = writer_.take(size, 16);
    memmove(pointer, table_, size);
    memset(image_, 0, static_cast<std::size_t>(pointer - image_));
    result.pointer = writer_.address_of(pointer);
    result.vector = result.pointer + words() * sizeof(std::uintptr_t);
    return result;
  }

 private:
  // The number of arguments, they, the variables, and a null behind each list.
  std::size_t words() const { return 1 + arguments_ + 1 + variables_ + 1; }

  void write_texts(FirstStack& result, const NewPlaces& places) {
    result.environment_end = end_of_texts_;
    for (const auto* entry = old_; entry->a_type != AT_NULL; ++entry)
      if (entry->a_type == AT_EXECFN)
        result.environment_end = started_as_ =
            copy(places.started_as == nullptr ? entry->a_un.a_val
                                              : reinterpret_cast<std::uint64_t>(places.started_as));
    std::uintptr_t* const variables = table_ + 1 + arguments_ + 1;
    result.arguments_end = result.environment_end;
    for (std::size_t i = variables_; i-- > 0;)
      result.arguments_end = variables[i] = copy_variable(start_.environment[i]);
    result.arguments = result.arguments_end;
    for (std::size_t i = arguments_; i-- > 0;)
      result.arguments = table_[1 + i] = writer_.address_of(writer_.copy(start_.arguments[i]));
    table_[0] = arguments_;
    table_[1 + arguments_] = 0;
    variables[variables_] = 0;
  }

  std::uintptr_t copy(std::uint64_t text) {
    return writer_.address_of(writer_.copy(reinterpret_cast<const char*>(text)));
  }

  std::uintptr_t copy_variable(const char* text) {
    char* const copied = writer_.copy(text);
    if (text <= start_.control && start_.control <= text + strlen(text))
      memcpy(copied + (start_.control - text), start_.control_text, strlen(start_.control_text));
    return writer_.address_of(copied);
  }

  // The number of entries.
  std::size_t write_vector(const NewPlaces& places, FirstStack& result) {
    auto* const vector = reinterpret_cast<Elf64_auxv_t*>(table_ + words());
    std::size_t length = 0;
    bool is_marked = false;
    for (const auto* entry = old_; entry->a_type != AT_NULL; ++entry) {
      const bool is_vdso = entry->a_type == AT_SYSINFO_EHDR;
      is_marked |= is_vdso;
      vector[length].a_type = is_vdso ? places.mark_type : entry->a_type;
      vector[length++].a_un.a_val = is_vdso ? places.mark : new_value(*entry, places);
    }
    if (!is_marked) vector[length++] = {places.mark_type, {places.mark}};
    result.vector_size = length * sizeof *old_;
    while (length + 1 < kLeastVector) vector[length++] = {AT_IGNORE, {0}};
    vector[length++] = {AT_NULL, {0}};
    return length;
  }

  std::uint64_t new_value(const Elf64_auxv_t& entry, const NewPlaces& places) {
    switch (entry.a_type) {
      case AT_PHDR:
        return places.segments;
      case AT_PHNUM:
        return places.segment_count;
      case AT_ENTRY:
        return places.entry;
      case AT_BASE:
        return places.loader;
      case AT_EXECFN:
        return started_as_;
      case AT_PLATFORM:
      case AT_BASE_PLATFORM:
        return copy(entry.a_un.a_val);
      case AT_RANDOM:
        // Replaced later (outside/randomness.h); until then they are the same in every run.
        return writer_.address_of(memset(writer_.take(kRandomBytes, 1), 0x5a, kRandomBytes));
      default:
        return entry.a_un.a_val;
    }
  }

  const StartOfStack& start_;
  const Elf64_auxv_t* old_;
  std::size_t arguments_;
  std::size_t variables_;
  char* image_;
  std::uintptr_t* table_;  // at the low end of the image, until its place is known
  Writer writer_;
  std::uintptr_t end_of_texts_ = 0;
  std::uintptr_t started_as_ = 0;
};

}  // namespace

FirstStack write_first_stack(const StartOfStack& start, const NewPlaces& places, char* image,
                             std::size_t size, std::uintptr_t top) {
  return Copy(start, image, size, top).write(places);
}

}  // namespace clew::rt
