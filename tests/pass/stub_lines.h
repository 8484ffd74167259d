// Where points are in the source, read from the files that the process has mapped.
#ifndef CLEW_TESTS_PASS_STUB_LINES_H_
#define CLEW_TESTS_PASS_STUB_LINES_H_

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "clew_abi/point.h"
#include "clew_abi/point_lines.h"
// Not linked with clew, so that the test needs nothing but a compiler.
#include "../../host/symbolize/point_lines.cc"  // NOLINT(bugprone-suspicious-include)

namespace stub {

using clew::abi::Point;

inline std::vector<char> contents(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::abort();
  std::vector<char> result(1 << 16);
  std::size_t size = 0;
  while (const std::size_t more = std::fread(result.data() + size, 1, result.size() - size, file)) {
    size += more;
    result.resize(size * 2);
  }
  std::fclose(file);
  return result;
}

// The bytes of a section of an ELF file.
inline std::span<const std::byte> section(const std::vector<char>& file, const char* name) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data() + header->e_shoff);
  const char* names = file.data() + sections[header->e_shstrndx].sh_offset;
  for (const auto* at = sections; at != sections + header->e_shnum; ++at)
    if (std::strcmp(names + at->sh_name, name) == 0)
      return std::as_bytes(std::span(file.data() + at->sh_offset, at->sh_size));
  std::abort();
}

class Images {
 public:
  // The points of a program or library.
  void add(const Point* begin, const Point* end) {
    Dl_info info{};
    if (dladdr(begin, &info) == 0) std::abort();
    auto file = std::make_unique<std::vector<char>>(contents(info.dli_fname));
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file->data());
    const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    const std::uint64_t linked =
        reinterpret_cast<std::uintptr_t>(begin) - (header->e_type == ET_EXEC ? 0 : base);
    const clew::PointLines lines(section(*file, CLEW_LINES_SECTION), linked, end - begin);
    images_.push_back({begin, end, std::move(file), lines});
  }
  std::size_t size() const { return images_.size(); }

  clew::PointLine line_of(const Point* point) const {
    for (const Image& image : images_)
      if (point >= image.begin && point < image.end) return image.lines.at(point - image.begin);
    std::abort();
  }

 private:
  struct Image {
    const Point* begin;
    const Point* end;
    std::unique_ptr<std::vector<char>> file;
    clew::PointLines lines;
  };
  std::vector<Image> images_;
};

}  // namespace stub

#endif  // CLEW_TESTS_PASS_STUB_LINES_H_
