#include "host/debug/gdb_registers.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "host/debug/remote_protocol.h"

namespace clew::debug {
namespace {

enum class From : std::uint8_t { kGeneral, kFloat, kNone };

struct Register {
  const char* name;
  std::size_t bits;
  const char* type;
  From from;
  std::size_t offset;
  std::size_t stored;  // bytes in the kernel's structure; what is more in gdb's is 0
};

constexpr std::size_t kWord = 8;

#define GENERAL(name, bits, type) \
  Register{#name, bits, type, From::kGeneral, offsetof(user_regs_struct, name), (bits) / 8}
#define FLOATING(name, field, size) \
  Register { name, 32, "int", From::kFloat, offsetof(user_fpregs_struct, field), size }

struct Feature {
  const char* name;
  std::vector<Register> registers;
};

std::vector<Feature> make_features() {
  std::vector<Register> core{
      GENERAL(rax, 64, "int64"),    GENERAL(rbx, 64, "int64"),
      GENERAL(rcx, 64, "int64"),    GENERAL(rdx, 64, "int64"),
      GENERAL(rsi, 64, "int64"),    GENERAL(rdi, 64, "int64"),
      GENERAL(rbp, 64, "data_ptr"), GENERAL(rsp, 64, "data_ptr"),
      GENERAL(r8, 64, "int64"),     GENERAL(r9, 64, "int64"),
      GENERAL(r10, 64, "int64"),    GENERAL(r11, 64, "int64"),
      GENERAL(r12, 64, "int64"),    GENERAL(r13, 64, "int64"),
      GENERAL(r14, 64, "int64"),    GENERAL(r15, 64, "int64"),
      GENERAL(rip, 64, "code_ptr"), GENERAL(eflags, 32, "i386_eflags"),
      GENERAL(cs, 32, "int32"),     GENERAL(ss, 32, "int32"),
      GENERAL(ds, 32, "int32"),     GENERAL(es, 32, "int32"),
      GENERAL(fs, 32, "int32"),     GENERAL(gs, 32, "int32"),
  };
  static const char* const kStack[] = {"st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7"};
  for (std::size_t i = 0; i < 8; ++i)
    core.push_back({kStack[i], 80, "i387_ext", From::kFloat,
                    offsetof(user_fpregs_struct, st_space) + i * 16, 10});
  core.push_back(FLOATING("fctrl", cwd, 2));
  core.push_back(FLOATING("fstat", swd, 2));
  core.push_back(FLOATING("ftag", ftw, 2));
  core.push_back({"fiseg", 32, "int", From::kNone, 0, 0});
  core.push_back(FLOATING("fioff", rip, 4));
  core.push_back({"foseg", 32, "int", From::kNone, 0, 0});
  core.push_back(FLOATING("fooff", rdp, 4));
  core.push_back(FLOATING("fop", fop, 2));
  std::vector<Register> sse;
  static const char* const kVectors[] = {"xmm0",  "xmm1",  "xmm2",  "xmm3", "xmm4",  "xmm5",
                                         "xmm6",  "xmm7",  "xmm8",  "xmm9", "xmm10", "xmm11",
                                         "xmm12", "xmm13", "xmm14", "xmm15"};
  for (std::size_t i = 0; i < 16; ++i)
    sse.push_back({kVectors[i], 128, "vec128", From::kFloat,
                   offsetof(user_fpregs_struct, xmm_space) + i * 16, 16});
  sse.push_back({"mxcsr", 32, "i386_mxcsr", From::kFloat, offsetof(user_fpregs_struct, mxcsr), 4});
  return {
      {"org.gnu.gdb.i386.core", std::move(core)},
      {"org.gnu.gdb.i386.sse", std::move(sse)},
      {"org.gnu.gdb.i386.linux", {GENERAL(orig_rax, 64, "int")}},
      {"org.gnu.gdb.i386.segments", {GENERAL(fs_base, 64, "int"), GENERAL(gs_base, 64, "int")}},
  };
}

#undef GENERAL
#undef FLOATING

const std::vector<Feature>& features() {
  static const std::vector<Feature> all = make_features();
  return all;
}

template <typename Visit>
void for_each(Visit visit) {
  std::size_t at = 0;
  for (const Feature& feature : features())
    for (const Register& one : feature.registers) {
      visit(one, Slice{at, one.bits / 8});
      at += one.bits / 8;
    }
}

// The types that gdb does not know by itself.
constexpr char kCoreTypes[] =
    R"(<flags id="i386_eflags" size="4"><field name="CF" start="0" end="0"/><field name="PF" start="2" end="2"/><field name="AF" start="4" end="4"/><field name="ZF" start="6" end="6"/><field name="SF" start="7" end="7"/><field name="TF" start="8" end="8"/><field name="IF" start="9" end="9"/><field name="DF" start="10" end="10"/><field name="OF" start="11" end="11"/></flags>)";
constexpr char kVectorTypes[] =
    R"(<vector id="v4f" type="ieee_single" count="4"/><vector id="v2d" type="ieee_double" count="2"/><vector id="v16i8" type="int8" count="16"/><vector id="v8i16" type="int16" count="8"/><vector id="v4i32" type="int32" count="4"/><vector id="v2i64" type="int64" count="2"/><union id="vec128"><field name="v4_float" type="v4f"/><field name="v2_double" type="v2d"/><field name="v16_int8" type="v16i8"/><field name="v8_int16" type="v8i16"/><field name="v4_int32" type="v4i32"/><field name="v2_int64" type="v2i64"/><field name="uint128" type="uint128"/></union><flags id="i386_mxcsr" size="4"><field name="IE" start="0" end="0"/><field name="PM" start="12" end="12"/></flags>)";

const std::uint8_t* source(const Registers& registers, From from) {
  return from == From::kGeneral ? reinterpret_cast<const std::uint8_t*>(&registers.general)
                                : reinterpret_cast<const std::uint8_t*>(&registers.floating);
}

}  // namespace

std::string describe_registers() {
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
      "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>";
  for (const Feature& feature : features()) {
    text += fmt::format("<feature name=\"{}\">", feature.name);
    const std::string_view name = feature.name;
    if (name.ends_with("core")) text += kCoreTypes;
    if (name.ends_with("sse")) text += kVectorTypes;
    for (const Register& one : feature.registers)
      text += fmt::format("<reg name=\"{}\" bitsize=\"{}\" type=\"{}\"/>", one.name, one.bits,
                          one.type);
    text += "</feature>";
  }
  return text + "</target>";
}

std::string pack(const Registers& registers) {
  std::vector<std::uint8_t> bytes;
  for_each([&](const Register& one, Slice slice) {
    bytes.resize(slice.begin + slice.size);
    if (one.from != From::kNone)
      std::memcpy(bytes.data() + slice.begin, source(registers, one.from) + one.offset, one.stored);
  });
  return to_hex(bytes);
}

std::string pack(const abi::DebugThread& thread) {
  const std::pair<std::size_t, std::uint64_t> known[] = {
      {offsetof(user_regs_struct, rip), thread.instruction},
      {offsetof(user_regs_struct, rsp), thread.stack},
      {offsetof(user_regs_struct, rbp), thread.frame},
      {offsetof(user_regs_struct, rbx), thread.rbx},
      {offsetof(user_regs_struct, r12), thread.r12},
      {offsetof(user_regs_struct, r13), thread.r13},
      {offsetof(user_regs_struct, r14), thread.r14},
      {offsetof(user_regs_struct, r15), thread.r15},
      {offsetof(user_regs_struct, fs_base), thread.thread_pointer}};
  std::string text;
  for_each([&](const Register& one, Slice slice) {
    text.resize(2 * (slice.begin + slice.size), 'x');
    for (const auto& [offset, value] : known) {
      if (one.from != From::kGeneral || one.offset != offset) continue;
      text.replace(2 * slice.begin, 2 * kWord,
                   to_hex(std::span(reinterpret_cast<const std::uint8_t*>(&value), kWord)));
    }
  });
  return text;
}

bool unpack(std::span<const std::uint8_t> bytes, Registers& registers) {
  bool complete = true;
  for_each([&](const Register& one, Slice slice) {
    if (slice.begin + slice.size > bytes.size()) {
      complete = false;
    } else if (one.from != From::kNone) {
      auto* to = const_cast<std::uint8_t*>(source(registers, one.from));
      std::memcpy(to + one.offset, bytes.data() + slice.begin, one.stored);
    }
  });
  return complete;
}

Slice slice_of(std::size_t number) {
  Slice result{0, 0};
  std::size_t index = 0;
  for_each([&](const Register&, Slice slice) {
    if (index++ == number) result = slice;
  });
  return result;
}

}  // namespace clew::debug
