// x86-64 machine code, written instruction by instruction. Only what translations need; but for
// increment(), nothing changes the flags.
#ifndef CLEW_HOST_TRANSLATE_EMITTER_H_
#define CLEW_HOST_TRANSLATE_EMITTER_H_

#include <cstdint>
#include <cstring>
#include <span>

namespace clew {

// As instructions number them.
enum class Reg : std::uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR15 = 15
};

inline constexpr int kNoRegister = -1;

// base + index * scale + displacement.
struct Operand {
  int base = kNoRegister;
  int index = kNoRegister;
  int scale = 1;
  std::int32_t displacement = 0;
};

// A place for a 32-bit displacement that is not known yet.
struct Gap {
  std::uint64_t at = 0;  // in the program
};

class Emitter {
 public:
  // Writes to `memory`, which the program has at `address`.
  Emitter(std::span<std::uint8_t> memory, std::uint64_t address)
      : memory_(memory), address_(address) {}

  [[nodiscard]] std::uint64_t here() const { return address_ + used_; }
  [[nodiscard]] std::size_t left() const { return memory_.size() - used_; }

  void byte(unsigned value) { memory_[used_++] = static_cast<std::uint8_t>(value); }
  void bytes(std::span<const std::uint8_t> values) {
    for (const std::uint8_t value : values) byte(value);
  }
  void u32(std::uint32_t value) { put(value); }
  void u64(std::uint64_t value) { put(value); }

  // mov [slot], reg and mov reg, [slot]
  void store(std::uint64_t slot, Reg reg) { slot_instruction(0x89, reg, slot); }
  void load(Reg reg, std::uint64_t slot) { slot_instruction(0x8b, reg, slot); }
  // movzx reg, byte [slot]
  void load_byte(Reg reg, std::uint64_t slot) {
    byte(0x0f);
    byte(0xb6);
    byte(number(reg) << 3 | 5);
    relative(slot);
  }
  // mov dword [slot], value
  void store_u32(std::uint64_t slot, std::uint32_t value) {
    byte(0xc7);
    byte(0x05);
    u32(static_cast<std::uint32_t>(slot - (here() + 8)));
    u32(value);
  }
  // inc qword [slot]: the only one that changes flags
  void increment(std::uint64_t slot) {
    byte(0x48);
    byte(0xff);
    byte(0x05);
    relative(slot);
  }
  void set(Reg reg, std::uint64_t value) {
    if (value <= UINT32_MAX) {
      rex(false, 0, 0, number(reg));
      byte(0xb8 | (number(reg) & 7));
      u32(static_cast<std::uint32_t>(value));
      return;
    }
    rex(true, 0, 0, number(reg));
    byte(0xb8 | (number(reg) & 7));
    u64(value);
  }
  void lea(Reg reg, const Operand& operand) { with_operand({}, 0x8d, true, reg, operand); }
  void lea_slot(Reg reg, std::uint64_t slot) { slot_instruction(0x8d, reg, slot); }
  void move(Reg to, Reg from) { lea(to, {.base = static_cast<int>(number(from))}); }
  // mov reg, [operand]: 1, 2, 4 or 8 bytes, the rest is 0.
  void load_from(Reg reg, const Operand& operand, unsigned size) {
    static constexpr std::uint8_t kTwoBytes[] = {0x0f};
    if (size == 1) return with_operand(kTwoBytes, 0xb6, false, reg, operand);
    if (size == 2) return with_operand(kTwoBytes, 0xb7, false, reg, operand);
    with_operand({}, 0x8b, size == 8, reg, operand);
  }
  void store_to(const Operand& operand, Reg reg) { with_operand({}, 0x89, true, reg, operand); }
  // mov dword [operand], reg
  void store_half_to(const Operand& operand, Reg reg) {
    with_operand({}, 0x89, false, reg, operand);
  }
  // mov dword [operand], value
  void store_u32_to(const Operand& operand, std::uint32_t value) {
    with_operand({}, 0xc7, false, Reg::kRax, operand);
    u32(value);
  }
  // mov reg, fs:[0]: where the thread's block is, by its own account.
  void load_thread(Reg reg) {
    byte(0x64);
    rex(true, number(reg), 0, 0);
    byte(0x8b);
    byte((number(reg) & 7) << 3 | 4);
    byte(0x25);
    u32(0);
  }
  void push(std::uint64_t value) {
    byte(0x68);
    u32(static_cast<std::uint32_t>(value));
    // The push has extended the sign.
    store_u32_to({.base = 4, .displacement = 4}, static_cast<std::uint32_t>(value >> 32));
  }
  void jump(std::uint64_t to) {
    byte(0xe9);
    relative(to);
  }
  Gap jump() {
    byte(0xe9);
    return gap();
  }
  Gap jump_if(unsigned condition) {
    byte(0x0f);
    byte(0x80 | condition);
    return gap();
  }
  // jmp [slot]
  void jump_by(std::uint64_t slot) {
    byte(0xff);
    byte(0x25);
    relative(slot);
  }
  // jrcxz over the next `bytes` bytes
  void skip_if_rcx_is_0(unsigned bytes) {
    byte(0xe3);
    byte(bytes);
  }
  void fill(Gap gap, std::uint64_t to) {
    const auto distance = static_cast<std::uint32_t>(to - (gap.at + 4));
    std::memcpy(memory_.data() + (gap.at - address_), &distance, sizeof distance);
  }

  void rex(bool wide, unsigned reg, unsigned index, unsigned base) {
    const unsigned bits =
        (wide ? 8u : 0u) | (reg >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | (base >> 3 & 1);
    if (bits != 0) byte(0x40 | bits);
  }
  // The bytes that name an operand; `reg` is the other operand or a part of the operation.
  void operand(unsigned reg, const Operand& operand) {
    const unsigned r = (reg & 7) << 3;
    if (operand.base == kNoRegister) {
      const unsigned index = operand.index == kNoRegister ? 4 : operand.index & 7;
      byte(0x00 | r | 4);
      byte(scale_bits(operand.scale) << 6 | index << 3 | 5);
      u32(static_cast<std::uint32_t>(operand.displacement));
      return;
    }
    const unsigned base = static_cast<unsigned>(operand.base) & 7;
    if (operand.index == kNoRegister && base != 4) {
      byte(0x80 | r | base);
    } else {
      const unsigned index = operand.index == kNoRegister ? 4 : operand.index & 7;
      byte(0x80 | r | 4);
      byte(scale_bits(operand.scale) << 6 | index << 3 | base);
    }
    u32(static_cast<std::uint32_t>(operand.displacement));
  }

 private:
  static unsigned number(Reg reg) { return static_cast<unsigned>(reg); }
  static unsigned scale_bits(int scale) { return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2; }
  template <class T>
  void put(T value) {
    std::memcpy(memory_.data() + used_, &value, sizeof value);
    used_ += sizeof value;
  }
  Gap gap() {
    const Gap gap{here()};
    u32(0);
    return gap;
  }
  void relative(std::uint64_t to) { u32(static_cast<std::uint32_t>(to - (here() + 4))); }
  void slot_instruction(unsigned operation, Reg reg, std::uint64_t slot) {
    rex(true, number(reg), 0, 0);
    byte(operation);
    byte((number(reg) & 7) << 3 | 5);
    relative(slot);
  }
  void with_operand(std::span<const std::uint8_t> prefix, unsigned operation, bool wide, Reg reg,
                    const Operand& of) {
    rex(wide, number(reg), of.index == kNoRegister ? 0 : static_cast<unsigned>(of.index),
        of.base == kNoRegister ? 0 : static_cast<unsigned>(of.base));
    bytes(prefix);
    byte(operation);
    operand(number(reg), of);
  }

  std::span<std::uint8_t> memory_;
  std::uint64_t address_;
  std::size_t used_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_EMITTER_H_
