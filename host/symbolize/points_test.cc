// Point tables of made-up ELF files, whole and corrupted.
#include "host/symbolize/points.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "clew_abi/point_lines.h"

namespace clew {
namespace {

// One segment that maps the file from offset 0 to address kBase.
constexpr std::uint64_t kBase = 0x10000;

struct Image {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  Elf64_Shdr sections[4]{};
  char names[40] = "\0clew_kinds\0.names\0.clew_lines";
  abi::Point points[2]{};
  abi::PointLines head{};
  // Two points of one function: line 10 and line 9, both at column 3.
  char lines[25] = "\1\x8queue.cc\1\0\7_Z3fooi\6\x14\6\1";
};
constexpr std::size_t kLinesSize = 24;

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
  image.header.e_shnum = 4;
  image.header.e_shstrndx = 2;
  image.segment = {PT_LOAD, PF_R, 0, kBase, kBase, sizeof(Image), sizeof(Image), 4096};
  const auto section = [&](std::uint32_t name, std::uint32_t type, std::size_t offset,
                           std::size_t size) {
    return Elf64_Shdr{name, type, 0, kBase + offset, offset, size, 0, 0, 1, 0};
  };
  image.sections[1] = section(1, SHT_PROGBITS, offsetof(Image, points), sizeof image.points);
  image.sections[2] = section(12, SHT_STRTAB, offsetof(Image, names), sizeof image.names);
  image.sections[3] =
      section(19, SHT_PROGBITS, offsetof(Image, head), sizeof image.head + kLinesSize);
  image.points[0] = image.points[1] = {abi::PointKind::kStore, abi::MemoryOrder::kNotKnown};
  image.head = {kBase + offsetof(Image, points), 2, kLinesSize};
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
  EXPECT_EQ(table->at(0)->line, 10u);
  EXPECT_EQ(point->line, 9u);
  EXPECT_EQ(point->column, 3u);
  EXPECT_STREQ(to_word(point->kind), "write");
  EXPECT_FALSE(table->at(2));
}

void expect_nothing_known(const Image& image) {
  const auto point = table_of(image)->at(0);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->file, "");
  EXPECT_EQ(point->function, "");
  EXPECT_EQ(point->line, 0u);
  EXPECT_STREQ(to_word(point->kind), "write");
}

// What llvm-strip leaves.
TEST(Points, KindsAreKnownWithoutLines) {
  Image image = make_image();
  image.sections[3].sh_type = SHT_NOBITS;
  expect_nothing_known(image);
}

TEST(Points, LinesOfOtherAddressesAreLeftOut) {
  for (const std::uint64_t address : {std::uint64_t{0}, kBase + offsetof(Image, points) + 1}) {
    Image image = make_image();
    image.head.points = address;
    expect_nothing_known(image);
  }
}

TEST(Points, WrongNumbersInLinesTakeNoMemory) {
  for (const std::size_t number : {0U, 10U}) {
    Image image = make_image();
    std::memset(image.lines + number, 0x7f, 1);
    const auto point = table_of(image)->at(0);
    ASSERT_TRUE(point);
    EXPECT_EQ(point->function, "");
  }
  Image image = make_image();
  image.head.count = UINT32_MAX;
  expect_nothing_known(image);
}

TEST(Points, UnknownKindIsNoPoint) {
  Image image = make_image();
  std::memset(image.points, 0x1f, 1);
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
