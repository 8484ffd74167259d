// The pass: plan the points of all functions, write their table, emit their code.
#ifndef CLEW_PASS_INSTRUMENT_H_
#define CLEW_PASS_INSTRUMENT_H_

#include "llvm/IR/PassManager.h"

namespace clew::pass {

class Instrument : public llvm::PassInfoMixin<Instrument> {
 public:
  // `batch`: count points together where possible, at the price of larger code.
  explicit Instrument(bool batch) : batch_(batch) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }  // at -O0 too

 private:
  bool batch_;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_INSTRUMENT_H_
