// What a program finds on its stack when it is loaded again.
#include "runtime/layout/first_stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace clew::rt {
namespace {

constexpr std::uint64_t kMarkType = 0x1234567;

// As the kernel lays it out, with texts wherever they happen to be.
class KernelStack {
 public:
  KernelStack(const std::vector<std::string>& arguments, const std::vector<std::string>& variables)
      : texts_(arguments) {
    texts_.insert(texts_.end(), variables.begin(), variables.end());
    texts_.insert(texts_.end(), {"./program", "x86_64"});
    words_.push_back(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) add_text(i);
    words_.push_back(0);
    first_variable_ = words_.size();
    for (std::size_t i = 0; i < variables.size(); ++i) add_text(arguments.size() + i);
    words_.push_back(0);
    const auto text = [&](std::size_t from_end) {
      return reinterpret_cast<std::uint64_t>(texts_[texts_.size() - from_end].c_str());
    };
    static const char random[16] = {1, 2, 3};
    add(AT_SYSINFO_EHDR, 0x7fff0000);
    add(AT_PHDR, 1);
    add(AT_PAGESZ, 4096);
    add(AT_BASE, 2);
    add(AT_ENTRY, 3);
    add(AT_RANDOM, reinterpret_cast<std::uint64_t>(random));
    add(AT_EXECFN, text(2));
    add(AT_PLATFORM, text(1));
    add(AT_PHNUM, 3);
    add(AT_NULL, 0);
  }

  // As a kernel does that has more to say.
  void add_entry(std::uint64_t type, std::uint64_t value) {
    words_.resize(words_.size() - 2);
    add(type, value);
    add(AT_NULL, 0);
  }

  StartOfStack start() {
    auto** const table = reinterpret_cast<char**>(words_.data());
    return {static_cast<long>(words_[0]), table + 1, table + first_variable_, nullptr, ""};
  }

 private:
  void add_text(std::size_t i) {
    words_.push_back(reinterpret_cast<std::uint64_t>(texts_[i].c_str()));
  }
  void add(std::uint64_t type, std::uint64_t value) {
    words_.push_back(type);
    words_.push_back(value);
  }

  std::vector<std::string> texts_;
  std::vector<std::uint64_t> words_;
  std::size_t first_variable_ = 0;
};

constexpr NewPlaces kPlaces{.segments = 10,
                            .segment_count = 7,
                            .entry = 20,
                            .loader = 30,
                            .mark_type = kMarkType,
                            .mark = 1};

// Written where it stays, so that its pointers can be followed.
struct Written {
  explicit Written(const StartOfStack& start, const NewPlaces& places = kPlaces)
      : image(size_of_first_stack(start, places.started_as) / sizeof(std::uint64_t)) {
    const std::size_t size = image.size() * sizeof(std::uint64_t);
    auto* const begin = reinterpret_cast<char*>(image.data());
    stack = write_first_stack(start, places, begin, size,
                              reinterpret_cast<std::uintptr_t>(begin + size));
    words = reinterpret_cast<const std::uint64_t*>(stack.pointer);
  }
  const char* text(std::size_t i) const { return reinterpret_cast<const char*>(words[i]); }
  std::uint64_t value(std::uint64_t type) const {
    const auto* entry = reinterpret_cast<const Elf64_auxv_t*>(stack.vector);
    while (entry->a_type != AT_NULL && entry->a_type != type) ++entry;
    return entry->a_un.a_val;
  }

  std::vector<std::uint64_t> image;
  FirstStack stack{};
  const std::uint64_t* words = nullptr;
};

TEST(FirstStack, HasArgumentsEnvironmentAndVector) {
  KernelStack kernel({"program", "", "two words"}, {"A=1", "B="});
  const Written copy(kernel.start());
  EXPECT_EQ(copy.stack.pointer % 16, 0u);
  EXPECT_EQ(copy.words[0], 3u);
  EXPECT_STREQ(copy.text(1), "program");
  EXPECT_STREQ(copy.text(2), "");
  EXPECT_STREQ(copy.text(3), "two words");
  EXPECT_EQ(copy.words[4], 0u);
  EXPECT_STREQ(copy.text(5), "A=1");
  EXPECT_STREQ(copy.text(6), "B=");
  EXPECT_EQ(copy.words[7], 0u);
  EXPECT_EQ(copy.stack.vector, copy.stack.pointer + 8 * sizeof(std::uint64_t));
  EXPECT_EQ(copy.value(AT_PHDR), kPlaces.segments);
  EXPECT_EQ(copy.value(AT_ENTRY), kPlaces.entry);
  EXPECT_EQ(copy.value(AT_BASE), kPlaces.loader);
  EXPECT_EQ(copy.value(AT_PAGESZ), 4096u);
  EXPECT_EQ(copy.value(AT_SYSINFO_EHDR), 0u) << "there is no vDSO";
  EXPECT_EQ(copy.value(kMarkType), kPlaces.mark);
  EXPECT_STREQ(reinterpret_cast<const char*>(copy.value(AT_EXECFN)), "./program");
  EXPECT_STREQ(reinterpret_cast<const char*>(copy.value(AT_PLATFORM)), "x86_64");
}

// /proc/PID/cmdline and environ show these ranges.
TEST(FirstStack, KeepsTextsTogether) {
  KernelStack kernel({"program", "x"}, {"A=1", "B=2"});
  const Written copy(kernel.start());
  const auto range = [](std::uintptr_t begin, std::uintptr_t end) {
    return std::string(reinterpret_cast<const char*>(begin), end - begin);
  };
  EXPECT_EQ(range(copy.stack.arguments, copy.stack.arguments_end), std::string("program\0x\0", 10));
  EXPECT_EQ(range(copy.stack.arguments_end, copy.stack.environment_end),
            std::string("A=1\0B=2\0", 8));
}

TEST(FirstStack, IsTheSameWhateverTheKernelChose) {
  KernelStack one({"program", "x"}, {"A=1"});
  KernelStack other({"program", "x"}, {"A=1"});
  const auto image = [](const StartOfStack& start) {
    std::vector<char> bytes(size_of_first_stack(start));
    write_first_stack(start, kPlaces, bytes.data(), bytes.size(), 0x7fff'ffff'f000);
    return bytes;
  };
  EXPECT_EQ(image(one.start()), image(other.start()));
}

TEST(FirstStack, BeginsWhereItDoesForOtherKernels) {
  KernelStack one({"program", "x"}, {"A=1"});
  KernelStack newer({"program", "x"}, {"A=1"});
  for (std::uint64_t type = 1000; type < 1012; ++type) newer.add_entry(type, type);
  const auto written = [](const StartOfStack& start) {
    std::vector<char> bytes(size_of_first_stack(start));
    return write_first_stack(start, kPlaces, bytes.data(), bytes.size(), 0x7fff'ffff'f000);
  };
  EXPECT_EQ(written(one.start()).pointer, written(newer.start()).pointer);
  EXPECT_LT(written(one.start()).vector_size, written(newer.start()).vector_size);
}

TEST(FirstStack, MayBeThatOfAnotherProgram) {
  KernelStack kernel({"program"}, {"A=1"});
  NewPlaces places = kPlaces;
  places.started_as = "../a/longer/name/of/a/program";
  const Written copy(kernel.start(), places);
  EXPECT_STREQ(reinterpret_cast<const char*>(copy.value(AT_EXECFN)), places.started_as);
  EXPECT_EQ(copy.value(AT_PHNUM), 7u);
}

TEST(FirstStack, NamesTheControlMemory) {
  KernelStack kernel({"program"}, {"A=1", "CONTROL=parent", "B=2"});
  StartOfStack start = kernel.start();
  start.control = std::strchr(start.environment[1], '=') + 1;
  start.control_text = "000007";
  const Written copy(start);
  EXPECT_STREQ(copy.text(3), "A=1");
  EXPECT_STREQ(copy.text(4), "CONTROL=000007");
  EXPECT_STREQ(copy.text(5), "B=2");
}

TEST(FirstStack, MayHoldNothing) {
  KernelStack kernel({}, {});
  const Written copy(kernel.start());
  EXPECT_EQ(copy.words[0], 0u);
  EXPECT_EQ(copy.words[1], 0u);
  EXPECT_EQ(copy.words[2], 0u);
  EXPECT_EQ(copy.stack.arguments, copy.stack.arguments_end);
}

TEST(FirstStack, HasRoomForManyLongTexts) {
  const std::vector<std::string> arguments(3000, std::string(100, 'a'));
  KernelStack kernel(arguments, std::vector<std::string>(3000, "VARIABLE=value"));
  const Written copy(kernel.start());
  EXPECT_EQ(copy.text(3000), arguments.front());
  EXPECT_STREQ(copy.text(3002), "VARIABLE=value");
  EXPECT_GE(copy.stack.pointer, reinterpret_cast<std::uintptr_t>(copy.image.data()));
}

}  // namespace
}  // namespace clew::rt
