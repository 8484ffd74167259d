// Debug information that is cut short or wrong gives nothing or something, and never a crash or an
// endless loop.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "host/names/module_names.h"
#include "host/names/value_text.h"

namespace clew {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// All that can be asked of a file.
void ask_everything(const std::string& path) {
  const auto names = ModuleNames::open(path);
  if (!names) return;
  Machine machine;
  machine.cfa = 0x7000;
  machine.reg = [](unsigned number) { return std::optional<std::uint64_t>(number * 0x100); };
  machine.read = [](std::uint64_t address, std::span<std::uint8_t> into) {
    for (std::uint8_t& byte : into) byte = static_cast<std::uint8_t>(address++ * 7);
    return true;
  };
  (void)(*names)->thread_local_size();
  for (std::uint64_t at = 0x1000; at < 0x1'0000; at += 0x2f1) {
    const auto data = (*names)->global_at(at, 4);
    if (data && data->type != nullptr) (void)value_text_at(*data->type, at, {machine.read});
    (void)(*names)->local_at(at, 4, at, machine);
    for (const Variable& variable : (*names)->variables_at(at)) {
      const auto bytes = (*names)->value_of(variable, at, machine);
      if (bytes) (void)value_text(*variable.type, *bytes, {machine.read});
    }
    (void)(*names)->variable_in_register(at, 3);
    (void)(*names)->caller(at, machine);
    (void)(*names)->function_at(at);
    (void)(*names)->allocating_code(at);
    (void)(*names)->constructed_near(at);
  }
  (void)(*names)->find_type("Entry");
}

TEST(HostileDebugInformation, IsSurvived) {
  const std::string targets = CLEW_NAMES_TARGETS;
  if (targets.empty()) GTEST_SKIP() << "a build without the tool has nothing to damage";
  const std::string whole = contents(targets.substr(0, targets.find('|')));
  ASSERT_GT(whole.size(), 10'000U);
  const std::string path = testing::TempDir() + "hostile_" + std::to_string(getpid());
  std::mt19937 random(17);
  for (int round = 0; round < 30; ++round) {
    std::string bytes = whole;
    // Sections follow the code: what is changed lies behind it.
    if (round % 5 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 200 && !bytes.empty(); ++i)
      bytes[bytes.size() / 4 + random() % (bytes.size() - bytes.size() / 4)] =
          static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << bytes;
    ask_everything(path);
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace clew
