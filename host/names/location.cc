#include "host/names/location.h"

#include <llvm/DebugInfo/DWARF/DWARFExpression.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>

#include <algorithm>
#include <cstring>

#include "host/names/dwarf_file.h"

namespace clew {
namespace {

namespace dwarf = llvm::dwarf;
using Kind = Whereabouts::Kind;
using Operation = llvm::DWARFExpression::Operation;

constexpr std::size_t kMostStack = 256;
constexpr std::size_t kMostSteps = 10'000;
constexpr std::size_t kMostPiece = 4'096;

// A base type that values are converted to.
struct BaseType {
  unsigned size = 8;
  bool with_sign = false;
  bool is_float = false;
};

class Evaluation {
 public:
  Evaluation(llvm::ArrayRef<std::uint8_t> expression, const LocationInput& input)
      : expression_(expression), input_(input) {}

  Evaluated run() {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(expression_.data()),
                                expression_.size());
    const llvm::DataExtractor data(bytes, true, 8);
    const auto format =
        input_.unit != nullptr ? std::optional(input_.unit->getFormat()) : std::nullopt;
    const llvm::DWARFExpression operations(data, 8, format);
    std::size_t steps = 0;
    bool any = false;
    for (auto at = operations.begin(); at != operations.end() && failed_ == Kind::kMemory;) {
      if (at->isError() || ++steps > kMostSteps) return {{.kind = Kind::kGone}, false};
      any = true;
      const Operation& operation = *at;
      const std::uint8_t code = operation.getCode();
      if (code == dwarf::DW_OP_skip || code == dwarf::DW_OP_bra) {
        const auto by = static_cast<std::int16_t>(operation.getRawOperand(0));
        const bool taken = code == dwarf::DW_OP_skip || pop() != 0;
        if (taken && by < 0 && static_cast<std::uint64_t>(-by) > operation.getEndOffset())
          return {{.kind = Kind::kGone}, false};
        at = taken ? at.skipBytes(static_cast<std::uint64_t>(static_cast<std::int64_t>(by)))
                   : at.skipBytes(0);
        continue;
      }
      execute(operation);
      ++at;
    }
    if (failed_ != Kind::kMemory) return {{.kind = failed_, .home = home_}, false};
    if (!any) return {{.kind = Kind::kGone}, false};
    if (in_pieces_ && missing_) return {{.kind = *missing_, .home = home_}, false};
    if (in_pieces_)
      return {{.kind = Kind::kValue, .bytes = std::move(pieces_), .home = home_}, false};
    return {simple(), thread_local_};
  }

 private:
  // What the expression so far stands for.
  Whereabouts simple() {
    if (reg_) return {.kind = Kind::kRegister, .reg = *reg_};
    if (implicit_) return {.kind = Kind::kValue, .bytes = *implicit_};
    if (stack_.empty()) return {.kind = Kind::kGone};
    const std::uint64_t top = stack_.back();
    if (!is_value_) return {.kind = Kind::kMemory, .address = top};
    Whereabouts result{.kind = Kind::kValue};
    for (unsigned i = 0; i < 8; ++i)
      result.bytes.push_back(static_cast<std::uint8_t>(top >> 8 * i));
    return result;
  }

  void give_up(Kind kind) {
    if (failed_ == Kind::kMemory) failed_ = kind;
  }
  void push(std::uint64_t value) {
    if (stack_.size() >= kMostStack) return give_up(Kind::kGone);
    stack_.push_back(value);
  }
  void push_or(std::optional<std::uint64_t> value, Kind otherwise) {
    if (!value) return give_up(otherwise);
    push(*value);
  }
  std::uint64_t pop() {
    if (stack_.empty()) {
      give_up(Kind::kGone);
      return 0;
    }
    const std::uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }

  void execute(const Operation& operation);
  bool constant(const Operation& operation);
  bool arithmetic(std::uint8_t code, const Operation& operation);
  void piece(std::uint64_t size);
  void convert(const Operation& operation, unsigned operand);
  std::optional<BaseType> base_type(std::uint64_t offset) const;

  llvm::ArrayRef<std::uint8_t> expression_;
  const LocationInput& input_;
  std::vector<std::uint64_t> stack_;
  std::optional<unsigned> reg_;
  std::optional<std::vector<std::uint8_t>> implicit_;
  bool is_value_ = false;
  bool thread_local_ = false;
  bool in_pieces_ = false;
  std::vector<std::uint8_t> pieces_;
  std::optional<Kind> missing_;  // a piece that is gone or not known
  std::optional<std::uint64_t> home_;
  Kind failed_ = Kind::kMemory;  // kMemory: not
  BaseType top_type_;
};

bool Evaluation::constant(const Operation& operation) {
  const std::uint8_t code = operation.getCode();
  if (code >= dwarf::DW_OP_lit0 && code <= dwarf::DW_OP_lit31) {
    push(code - dwarf::DW_OP_lit0);
    return true;
  }
  switch (code) {
    case dwarf::DW_OP_addr:
      push(operation.getRawOperand(0) + input_.machine.bias);
      return true;
    case dwarf::DW_OP_addrx:
    case dwarf::DW_OP_GNU_addr_index: {
      const auto item = input_.unit != nullptr
                            ? input_.unit->getAddrOffsetSectionItem(
                                  static_cast<std::uint32_t>(operation.getRawOperand(0)))
                            : std::nullopt;
      push_or(item ? std::optional(item->Address + input_.machine.bias) : std::nullopt,
              Kind::kGone);
      return true;
    }
    case dwarf::DW_OP_constx:
    case dwarf::DW_OP_GNU_const_index: {
      const auto item = input_.unit != nullptr
                            ? input_.unit->getAddrOffsetSectionItem(
                                  static_cast<std::uint32_t>(operation.getRawOperand(0)))
                            : std::nullopt;
      push_or(item ? std::optional(item->Address) : std::nullopt, Kind::kGone);
      return true;
    }
    case dwarf::DW_OP_const1u:
    case dwarf::DW_OP_const2u:
    case dwarf::DW_OP_const4u:
    case dwarf::DW_OP_const8u:
    case dwarf::DW_OP_constu:
    case dwarf::DW_OP_const1s:
    case dwarf::DW_OP_const2s:
    case dwarf::DW_OP_const4s:
    case dwarf::DW_OP_const8s:
    case dwarf::DW_OP_consts:
      push(operation.getRawOperand(0));
      return true;
    default:
      return false;
  }
}

bool Evaluation::arithmetic(std::uint8_t code, const Operation& operation) {
  using Signed = std::int64_t;
  const auto binary = [&](auto compute) {
    const std::uint64_t b = pop();
    const std::uint64_t a = pop();
    push(compute(a, b));
    return true;
  };
  const auto compare = [&](auto holds) {
    return binary([&](std::uint64_t a, std::uint64_t b) -> std::uint64_t {
      return holds(static_cast<Signed>(a), static_cast<Signed>(b)) ? 1 : 0;
    });
  };
  switch (code) {
    case dwarf::DW_OP_plus_uconst:
      push(pop() + operation.getRawOperand(0));
      return true;
    case dwarf::DW_OP_plus:
      return binary([](auto a, auto b) { return a + b; });
    case dwarf::DW_OP_minus:
      return binary([](auto a, auto b) { return a - b; });
    case dwarf::DW_OP_mul:
      return binary([](auto a, auto b) { return a * b; });
    case dwarf::DW_OP_and:
      return binary([](auto a, auto b) { return a & b; });
    case dwarf::DW_OP_or:
      return binary([](auto a, auto b) { return a | b; });
    case dwarf::DW_OP_xor:
      return binary([](auto a, auto b) { return a ^ b; });
    case dwarf::DW_OP_shl:
      return binary([](auto a, auto b) { return b < 64 ? a << b : 0; });
    case dwarf::DW_OP_shr:
      return binary([](auto a, auto b) { return b < 64 ? a >> b : 0; });
    case dwarf::DW_OP_shra:
      return binary([](auto a, auto b) {
        return static_cast<std::uint64_t>(static_cast<Signed>(a) >> std::min<std::uint64_t>(b, 63));
      });
    case dwarf::DW_OP_div:
    case dwarf::DW_OP_mod: {
      const auto b = static_cast<Signed>(pop());
      const auto a = static_cast<Signed>(pop());
      if (b == 0 || (a == INT64_MIN && b == -1))
        give_up(Kind::kGone);
      else if (code == dwarf::DW_OP_div)
        push(static_cast<std::uint64_t>(a / b));
      else
        push(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
      return true;
    }
    case dwarf::DW_OP_neg:
      push(0 - pop());
      return true;
    case dwarf::DW_OP_not:
      push(~pop());
      return true;
    case dwarf::DW_OP_abs: {
      const std::uint64_t value = pop();
      push(static_cast<Signed>(value) < 0 ? 0 - value : value);
      return true;
    }
    case dwarf::DW_OP_eq:
      return compare([](auto a, auto b) { return a == b; });
    case dwarf::DW_OP_ne:
      return compare([](auto a, auto b) { return a != b; });
    case dwarf::DW_OP_lt:
      return compare([](auto a, auto b) { return a < b; });
    case dwarf::DW_OP_le:
      return compare([](auto a, auto b) { return a <= b; });
    case dwarf::DW_OP_gt:
      return compare([](auto a, auto b) { return a > b; });
    case dwarf::DW_OP_ge:
      return compare([](auto a, auto b) { return a >= b; });
    case dwarf::DW_OP_dup: {
      const std::uint64_t value = pop();
      push(value);
      push(value);
      return true;
    }
    case dwarf::DW_OP_drop:
      pop();
      return true;
    case dwarf::DW_OP_over:
    case dwarf::DW_OP_pick: {
      const std::uint64_t index = code == dwarf::DW_OP_over ? 1 : operation.getRawOperand(0);
      if (index >= stack_.size())
        give_up(Kind::kGone);
      else
        push(stack_[stack_.size() - 1 - index]);
      return true;
    }
    case dwarf::DW_OP_swap: {
      const std::uint64_t b = pop();
      const std::uint64_t a = pop();
      push(b);
      push(a);
      return true;
    }
    case dwarf::DW_OP_rot: {
      const std::uint64_t c = pop();
      const std::uint64_t b = pop();
      const std::uint64_t a = pop();
      push(c);
      push(a);
      push(b);
      return true;
    }
    default:
      return false;
  }
}

void Evaluation::execute(const Operation& operation) {
  const std::uint8_t code = operation.getCode();
  if (constant(operation) || arithmetic(code, operation)) return;
  const Machine& machine = input_.machine;
  if (code >= dwarf::DW_OP_reg0 && code <= dwarf::DW_OP_reg31) {
    reg_ = code - dwarf::DW_OP_reg0;
    return;
  }
  if (code >= dwarf::DW_OP_breg0 && code <= dwarf::DW_OP_breg31) {
    const auto value = machine.register_value(code - dwarf::DW_OP_breg0);
    return push_or(value ? std::optional(*value + operation.getRawOperand(0)) : std::nullopt,
                   Kind::kUnknown);
  }
  switch (code) {
    case dwarf::DW_OP_regx:
      reg_ = static_cast<unsigned>(std::min<std::uint64_t>(operation.getRawOperand(0), 1000));
      return;
    case dwarf::DW_OP_bregx: {
      const auto value = machine.register_value(
          static_cast<unsigned>(std::min<std::uint64_t>(operation.getRawOperand(0), 1000)));
      return push_or(value ? std::optional(*value + operation.getRawOperand(1)) : std::nullopt,
                     Kind::kUnknown);
    }
    case dwarf::DW_OP_fbreg: {
      const auto base = input_.frame_base ? input_.frame_base() : std::nullopt;
      return push_or(base ? std::optional(*base + operation.getRawOperand(0)) : std::nullopt,
                     Kind::kUnknown);
    }
    case dwarf::DW_OP_call_frame_cfa:
      return push_or(input_.cfa ? input_.cfa() : std::nullopt, Kind::kUnknown);
    case dwarf::DW_OP_deref:
      return push_or(machine.number_at(pop(), 8), Kind::kUnknown);
    case dwarf::DW_OP_deref_size:
      return push_or(machine.number_at(pop(), operation.getRawOperand(0)), Kind::kUnknown);
    case dwarf::DW_OP_form_tls_address:
    case dwarf::DW_OP_GNU_push_tls_address: {
      thread_local_ = true;
      const std::uint64_t offset = pop();
      return push_or(machine.thread_local_block
                         ? std::optional(*machine.thread_local_block + offset)
                         : std::nullopt,
                     Kind::kUnknown);
    }
    case dwarf::DW_OP_stack_value:
      is_value_ = true;
      return;
    case dwarf::DW_OP_implicit_value: {
      const std::uint64_t size = operation.getRawOperand(0);
      const std::uint64_t end = operation.getEndOffset();
      if (size > end || end > expression_.size()) return give_up(Kind::kGone);
      implicit_.emplace(expression_.begin() + (end - size), expression_.begin() + end);
      return;
    }
    case dwarf::DW_OP_piece:
      return piece(operation.getRawOperand(0));
    case dwarf::DW_OP_convert:
    case dwarf::DW_OP_reinterpret:
      return convert(operation, 0);
    case dwarf::DW_OP_nop:
      return;
    default:
      // What a variable was when the function was called, a pointer to something that is not in
      // memory, and what nobody uses.
      return give_up(Kind::kGone);
  }
}

void Evaluation::piece(std::uint64_t size) {
  in_pieces_ = true;
  if (size > kMostPiece || pieces_.size() + size > kMostPiece) return give_up(Kind::kGone);
  const Whereabouts part = simple();
  std::vector<std::uint8_t> bytes(size);
  switch (part.kind) {
    case Kind::kMemory:
      home_ = part.address - pieces_.size();
      if (!input_.machine.read || !input_.machine.read(part.address, bytes))
        missing_ = missing_.value_or(Kind::kUnknown);
      break;
    case Kind::kRegister: {
      const auto value = input_.machine.register_value(part.reg);
      if (!value) missing_ = missing_.value_or(Kind::kUnknown);
      for (std::size_t i = 0; i < std::min<std::size_t>(size, 8); ++i)
        bytes[i] = static_cast<std::uint8_t>(value.value_or(0) >> 8 * i);
      break;
    }
    case Kind::kValue:
      std::copy_n(part.bytes.begin(), std::min(part.bytes.size(), bytes.size()), bytes.begin());
      break;
    default:
      missing_ = part.kind;
      break;
  }
  pieces_.insert(pieces_.end(), bytes.begin(), bytes.end());
  stack_.clear();
  reg_.reset();
  implicit_.reset();
  is_value_ = false;
}

std::optional<BaseType> Evaluation::base_type(std::uint64_t offset) const {
  if (offset == 0) return BaseType{};
  if (input_.unit == nullptr) return std::nullopt;
  const llvm::DWARFDie die = input_.unit->getDIEForOffset(input_.unit->getOffset() + offset);
  if (!die || die.getTag() != dwarf::DW_TAG_base_type) return std::nullopt;
  const std::uint64_t size = unsigned_of(die, dwarf::DW_AT_byte_size).value_or(0);
  const std::uint64_t encoding = unsigned_of(die, dwarf::DW_AT_encoding).value_or(0);
  if (size == 0 || size > 8) return std::nullopt;
  return BaseType{static_cast<unsigned>(size),
                  encoding == dwarf::DW_ATE_signed || encoding == dwarf::DW_ATE_signed_char,
                  encoding == dwarf::DW_ATE_float};
}

// To a narrower integer it cuts, to a wider one it extends as the type that it comes from says.
void Evaluation::convert(const Operation& operation, unsigned operand) {
  const auto to = base_type(operation.getRawOperand(operand));
  if (!to || to->is_float || top_type_.is_float) return give_up(Kind::kGone);
  std::uint64_t value = pop();
  const auto fit = [&value](const BaseType& type) {
    const unsigned shift = 64 - 8 * type.size;
    value = type.with_sign
                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift)
                : value << shift >> shift;
  };
  fit(top_type_);
  fit(*to);
  top_type_ = *to;
  push(value);
}

}  // namespace

Evaluated evaluate(llvm::ArrayRef<std::uint8_t> expression, const LocationInput& input) {
  return Evaluation(expression, input).run();
}

std::optional<llvm::SmallVector<std::uint8_t, 4>> expression_at(const llvm::DWARFDie& die,
                                                                dwarf::Attribute what,
                                                                std::uint64_t pc) {
  auto locations = die.getLocations(what);
  if (!locations) {
    llvm::consumeError(locations.takeError());
    return std::nullopt;
  }
  for (const auto& location : *locations)
    if (!location.Range || (pc >= location.Range->LowPC && pc < location.Range->HighPC))
      return location.Expr;
  return std::nullopt;
}

}  // namespace clew
