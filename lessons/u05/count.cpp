#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
using namespace llvm;

static unsigned lanes(const Instruction &i) {
  auto *vector = dyn_cast<FixedVectorType>(i.getType());
  return vector ? vector->getNumElements() : 1;
}

// Whether a value is a product that may go into `sum`.
static bool fits(const Value *value, const Instruction &sum) {
  auto *product = dyn_cast<Instruction>(value);
  return product && product->getOpcode() == Instruction::FMul && product->hasAllowContract() &&
         product->hasOneUse() && product->getParent() == sum.getParent();
}

struct Count : PassInfoMixin<Count> {
  static bool isRequired() { return true; } // also of functions that are not to be optimized
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    unsigned count = 0;
    for (const Instruction &i : instructions(function)) {
YOUR_LINES
    }
    outs() << function.getName() << " " << count << "\n";
    return PreservedAnalyses::all();
  }
};

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "count", "1", [](PassBuilder &builder) {
            builder.registerPipelineParsingCallback(
                [](StringRef name, FunctionPassManager &passes,
                   ArrayRef<PassBuilder::PipelineElement>) {
                  if (name != "count")
                    return false;
                  passes.addPass(Count());
                  return true;
                });
          }};
}
