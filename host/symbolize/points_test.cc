// Point tables of made-up ELF files, whole and corrupted.
#include "host/symbolize/points.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace clew {
namespace {

// One segment that maps the file from offset 0 to address kBase.
constexpr std::uint64_t kBase = 0x10000;

struct Image {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  Elf64_Shdr sections[3]{};
  char names[32] = "\0clew_points\0.names";
  char strings[32] = "queue.cc\0_Z3fooi";
  abi::Point points[2]{};
};

Image make_image() {
  Image image;
  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_type = ET_DYN;
  image.header.e_machine = EM_X86_64;
  image.header.e_phoff = offsetof(Image, segment);
  image.header.e_phentsize = sizeof(Elf64_Phdr);
  image.header.e_phnum = 1;
  image.header.e_shoff = offsetof(Image, sections);
  image.header.e_shentsize = sizeof(Elf64_Shdr);
  image.header.e_shnum = 3;
  image.header.e_shstrndx = 2;
  image.segment = {PT_LOAD, PF_R, 0, kBase, kBase, sizeof(Image), sizeof(Image), 4096};
  image.sections[1] = {1,
                       SHT_PROGBITS,
                       0,
                       kBase + offsetof(Image, points),
                       offsetof(Image, points),
                       sizeof image.points,
                       0,
                       0,
                       4,
                       0};
  image.sections[2] = {13, SHT_STRTAB, 0, 0, offsetof(Image, names), sizeof image.names,
                       0,  0,          1, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto at = static_cast<std::int32_t>(offsetof(Image, points) + i * sizeof(abi::Point));
    const auto strings = static_cast<std::int32_t>(offsetof(Image, strings));
    image.points[i] = {
        strings - at,           strings + 9 - (at + 4),     static_cast<std::uint32_t>(10 + i), 3,
        abi::PointKind::kStore, abi::MemoryOrder::kNotKnown};
  }
  return image;
}

std::optional<PointTable> table_of(const Image& image) {
  auto file = ElfFile::from_bytes(std::as_bytes(std::span(&image, 1)), "image");
  if (!file) return std::nullopt;
  return PointTable::of(std::move(*file));
}

TEST(Points, ReadsATable) {
  const Image image = make_image();
  const auto table = table_of(image);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->size(), 2u);
  const auto point = table->at(1);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->file, "queue.cc");
  EXPECT_EQ(point->function, "_Z3fooi");
  EXPECT_EQ(point->line, 11u);
  EXPECT_EQ(point->column, 3u);
  EXPECT_STREQ(to_word(point->kind), "write");
  EXPECT_FALSE(table->at(2));
}

TEST(Points, StringsOutsideTheFileAreEmpty) {
  Image image = make_image();
  image.points[0].file = INT32_MAX;
  image.points[0].function = INT32_MIN;
  const auto point = table_of(image)->at(0);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->file, "");
  EXPECT_EQ(point->function, "");
}

TEST(Points, UnknownKindIsNoPoint) {
  Image image = make_image();
  image.points[0].kind = static_cast<abi::PointKind>(200);
  EXPECT_FALSE(table_of(image)->at(0));
}

TEST(Points, SectionPastTheEndIsNoTable) {
  Image image = make_image();
  image.sections[1].sh_size = UINT64_MAX;
  EXPECT_EQ(table_of(image)->size(), 0u);
}

TEST(Points, CorruptedFilesNeverCrash) {
  std::mt19937 random(1);
  for (int i = 0; i < 30'000; ++i) {
    Image image = make_image();
    auto* bytes = reinterpret_cast<unsigned char*>(&image);
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
      bytes[random() % sizeof image] = static_cast<unsigned char>(random());
    const auto table = table_of(image);
    if (!table) continue;
    for (std::uint64_t id = 0; id < 4; ++id) (void)table->at(id);
  }
}

TEST(Points, CutFilesNeverCrash) {
  const Image image = make_image();
  const auto whole = std::as_bytes(std::span(&image, 1));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto file = ElfFile::from_bytes(whole.first(size), "image");
    if (!file) continue;
    (void)file->needed_libraries();
    const PointTable table = PointTable::of(std::move(*file));
    for (std::uint64_t id = 0; id < 4; ++id) (void)table.at(id);
  }
}

}  // namespace
}  // namespace clew
