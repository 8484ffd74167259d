#include "pass/point_table.h"

#include <bit>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/MD5.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/point_lines.h"

namespace clew::pass {
namespace {

// Not the names that they had when a point had 16 bytes (clew_abi/point.h).
constexpr char kConstructor[] = "__clew_register_table";
constexpr char kRegister[] = "__clew_register_kinds";
constexpr int kConstructorPriority = 1;  // before any constructor of the program

// Of its own, so that nothing renames what assembly refers to when files are linked as IR.
std::string name_of_array(const llvm::Module& module, llvm::ArrayRef<std::uint8_t> kinds,
                          llvm::StringRef lines) {
  llvm::MD5 hash;
  hash.update(module.getSourceFileName());
  hash.update(kinds);
  hash.update(lines);
  llvm::MD5::MD5Result result;
  hash.final(result);
  return "clew.points." + llvm::utohexstr(result.low(), /*LowerCase=*/true);
}

llvm::GlobalVariable* section_bound(llvm::Module& module, llvm::StringRef name) {
  llvm::Type* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* bound = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(name, type));
  bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
  bound->setConstant(true);
  return bound;
}

}  // namespace

std::size_t PointTable::add(abi::PointKind kind, const SourcePosition& location,
                            abi::MemoryOrder order) {
  kinds_.push_back(std::bit_cast<std::uint8_t>(abi::Point{kind, order}));
  positions_.push_back(location);
  return kinds_.size() - 1;
}

void PointTable::finish() {
  const std::string lines = encode_lines(positions_);
  llvm::Constant* kinds = llvm::ConstantDataArray::get(module_.getContext(), kinds_);
  array_ = new llvm::GlobalVariable(module_, kinds->getType(), /*isConstant=*/true,
                                    llvm::GlobalValue::InternalLinkage, kinds,
                                    name_of_array(module_, kinds_, lines));
  array_->setSection(CLEW_POINT_SECTION);
  array_->setAlignment(llvm::Align(alignof(abi::Point)));
  // SHF_GNU_RETAIN: lld drops a section that only __start_ and __stop_ refer to.
  llvm::appendToUsed(module_, {array_});
  emit_lines(module_, *array_, kinds_.size(), lines);
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
  llvm::LLVMContext& context = module_.getContext();
  return llvm::ConstantExpr::getInBoundsGetElementPtr(
      llvm::Type::getInt8Ty(context), array_,
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), index * sizeof(abi::Point)));
}

}  // namespace clew::pass
