#include "pass/point_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace clew::pass {
namespace {

constexpr char kConstructor[] = "__clew_register_image";
constexpr char kRegister[] = "__clew_register_points";
constexpr int kConstructorPriority = 1;  // before any constructor of the program

llvm::StructType* point_type(llvm::LLVMContext& context) {
  llvm::Type* const i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* const i8 = llvm::Type::getInt8Ty(context);
  return llvm::StructType::get(i32, i32, i32, llvm::Type::getInt16Ty(context), i8, i8);
}

llvm::Constant* at_offset(llvm::GlobalVariable* base, std::size_t offset) {
  llvm::LLVMContext& context = base->getContext();
  return llvm::ConstantExpr::getInBoundsGetElementPtr(
      llvm::Type::getInt8Ty(context), base,
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), offset));
}

llvm::GlobalVariable* section_bound(llvm::Module& module, llvm::StringRef name) {
  llvm::Type* type = llvm::ArrayType::get(point_type(module.getContext()), 0);
  auto* bound = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(name, type));
  bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
  bound->setConstant(true);
  return bound;
}

}  // namespace

std::size_t PointTable::add(abi::PointKind kind, const SourcePosition& location,
                            abi::MemoryOrder order) {
  points_.push_back(Entry{kind, location, order});
  return points_.size() - 1;
}

llvm::Constant* PointTable::string(llvm::StringRef text) {
  llvm::GlobalVariable*& global = strings_[text];
  if (global == nullptr) {
    llvm::Constant* bytes = llvm::ConstantDataArray::getString(module_.getContext(), text);
    global = new llvm::GlobalVariable(module_, bytes->getType(), /*isConstant=*/true,
                                      llvm::GlobalValue::PrivateLinkage, bytes, "clew.string");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setAlignment(llvm::Align(1));
  }
  return global;
}

llvm::Constant* PointTable::offset_to(llvm::StringRef text, std::size_t field) {
  llvm::Type* const i64 = llvm::Type::getInt64Ty(module_.getContext());
  llvm::Constant* distance =
      llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(string(text), i64),
                                 llvm::ConstantExpr::getPtrToInt(at_offset(array_, field), i64));
  return llvm::ConstantExpr::getTrunc(distance, llvm::Type::getInt32Ty(module_.getContext()));
}

void PointTable::finish() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::StructType* const type = point_type(context);
  llvm::ArrayType* const array_type = llvm::ArrayType::get(type, points_.size());
  array_ = new llvm::GlobalVariable(module_, array_type, /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage, /*Initializer=*/nullptr,
                                    "clew.points");
  array_->setSection(CLEW_POINT_SECTION);
  array_->setAlignment(llvm::Align(alignof(abi::Point)));

  const auto constant = [&context](unsigned bits, std::uint64_t value) {
    return llvm::ConstantInt::get(llvm::IntegerType::get(context, bits), value);
  };
  std::vector<llvm::Constant*> elements;
  elements.reserve(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [kind, location, order] = points_[i];
    const std::size_t base = i * sizeof(abi::Point);
    const unsigned column =
        location.column <= std::numeric_limits<std::uint16_t>::max() ? location.column : 0;
    elements.push_back(llvm::ConstantStruct::get(
        type, {offset_to(location.file, base + offsetof(abi::Point, file)),
               offset_to(location.function, base + offsetof(abi::Point, function)),
               constant(32, location.line), constant(16, column),
               constant(8, static_cast<std::uint64_t>(kind)),
               constant(8, static_cast<std::uint64_t>(order))}));
  }
  array_->setInitializer(llvm::ConstantArray::get(array_type, elements));
  // SHF_GNU_RETAIN: lld drops a section that only __start_ and __stop_ refer to.
  llvm::appendToUsed(module_, {array_});
  add_constructor();
}

// Hidden and in a comdat: the linker keeps one for each executable or shared object.
void PointTable::add_constructor() {
  if (module_.getFunction(kConstructor) != nullptr) return;
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const none = llvm::Type::getVoidTy(context);
  llvm::Type* const ptr = llvm::PointerType::getUnqual(context);
  auto* constructor = llvm::Function::createWithDefaultAttr(
      llvm::FunctionType::get(none, false), llvm::GlobalValue::LinkOnceODRLinkage,
      module_.getDataLayout().getProgramAddressSpace(), kConstructor, &module_);
  constructor->setVisibility(llvm::GlobalValue::HiddenVisibility);
  constructor->setDSOLocal(true);
  constructor->setComdat(module_.getOrInsertComdat(kConstructor));
  constructor->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", constructor));
  builder.CreateCall(module_.getOrInsertFunction(kRegister, none, ptr, ptr),
                     {section_bound(module_, "__start_" CLEW_POINT_SECTION),
                      section_bound(module_, "__stop_" CLEW_POINT_SECTION)});
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module_, constructor, kConstructorPriority, constructor);
}

llvm::Constant* PointTable::address_of(std::size_t index) const {
  return at_offset(array_, index * sizeof(abi::Point));
}

}  // namespace clew::pass
