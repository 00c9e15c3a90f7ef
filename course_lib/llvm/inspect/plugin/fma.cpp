// The counter of course_lib/llvm/inspect/fma.py as a pass of LLVM: one line of JSON for each function.
//
//     opt-22 -load-pass-plugin ./fma.so -passes='count-fma<lo=0;hi=8>' -disable-output kernel.ll
//
// A multiply-add is an intrinsic, or a product and the sum that it goes into: both allow
// contraction, they stand in one block, and nobody else uses the product. Next room: control.h.

#include "control.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace llvm;

namespace {

using Counts = std::map<std::string, uint64_t>; // lanes, by kind

bool isSum(const Instruction &i) {
  return i.getOpcode() == Instruction::FAdd || i.getOpcode() == Instruction::FSub;
}

// The products and the sums that are fused.
std::set<const Instruction *> pairs(const Function &function) {
  std::set<const Instruction *> found;
  for (auto &sum : instructions(function)) {
    if (!isSum(sum) || !sum.hasAllowContract())
      continue;
    for (auto *operand : sum.operand_values()) {
      auto *product = dyn_cast<Instruction>(operand);
      if (product && product->getOpcode() == Instruction::FMul && product->hasAllowContract() &&
          product->hasOneUse() && product->getParent() == sum.getParent()) {
        found.insert({&sum, product});
        break;
      }
    }
  }
  return found;
}

// What an instruction counts as, if anything.
StringRef kind(const Instruction &i, const std::set<const Instruction *> &fused) {
  if (auto *call = dyn_cast<IntrinsicInst>(&i)) {
    switch (call->getIntrinsicID()) {
    case Intrinsic::fma: return "fma";
    case Intrinsic::fmuladd: return "fmuladd";
    case Intrinsic::vector_reduce_fadd: return "add";
    case Intrinsic::vector_reduce_fmul: return "mul";
    default: return "";
    }
  }
  if (isSum(i))
    return fused.count(&i) ? "pair" : "add";
  if (i.getOpcode() == Instruction::FMul)
    return fused.count(&i) ? "" : "mul";
  return "";
}

// The type whose lanes count; a reduction counts those that it adds up.
const Type *laned(const Instruction &i) {
  auto *call = dyn_cast<IntrinsicInst>(&i);
  auto id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
  bool reduces = id == Intrinsic::vector_reduce_fadd || id == Intrinsic::vector_reduce_fmul;
  return (reduces ? i.getOperand(1) : &i)->getType();
}

json::Object plain(const Counts &counts) {
  json::Object object;
  for (auto &[kind, n] : counts)
    if (n)
      object[kind] = int64_t(n);
  return object;
}

json::Value number(std::optional<uint64_t> n) {
  return n ? json::Value(int64_t(*n)) : json::Value(nullptr);
}

std::string nameOf(const BasicBlock &block, size_t number) {
  return block.hasName() ? block.getName().str() : "#" + std::to_string(number);
}

class CountFma : public PassInfoMixin<CountFma> {
public:
  explicit CountFma(StringMap<int64_t> given) : given(std::move(given)) {}

  // Else functions of the attribute `optnone` are passed by.
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager) {
    auto control = course::control(function, manager.getResult<DominatorTreeAnalysis>(function),
                                   manager.getResult<PostDominatorTreeAnalysis>(function),
                                   manager.getResult<LoopAnalysis>(function), given);
    auto fused = pairs(function);
    Counts total, executed;
    bool known = true;
    json::Array blocks, loops;
    std::map<const BasicBlock *, std::string> names;
    for (auto &block : function) {
      names[&block] = nameOf(block, names.size());
      Counts counts = countBlock(block, fused);
      auto &runs = control.blocks[&block];
      known &= counts.empty() || runs.count.has_value();
      for (auto &[kind, n] : counts) {
        total[kind] += n;
        uint64_t times = runs.count.value_or(0), product;
        known &= !__builtin_mul_overflow(n, times, &product) &&
                 !__builtin_add_overflow(executed[kind], product, &executed[kind]) &&
                 executed[kind] <= INT64_MAX;
      }
      blocks.push_back(json::Object{{"name", names[&block]}, {"counts", plain(counts)},
                                    {"runs", number(runs.count)}, {"why", runs.why}});
    }
    for (auto &[header, trips] : control.loops)
      loops.push_back(json::Object{{"header", names[header]}, {"trips", number(trips.count)},
                                   {"why", trips.why}});
    json::Object report{{"function", function.getName()}, {"static", plain(total)},
                        {"blocks", std::move(blocks)}, {"loops", std::move(loops)}};
    report["dynamic"] = known ? json::Value(plain(executed)) : json::Value(nullptr);
    outs() << json::Value(std::move(report)) << "\n";
    return PreservedAnalyses::all();
  }

private:
  StringMap<int64_t> given;

  static Counts countBlock(const BasicBlock &block, const std::set<const Instruction *> &fused) {
    Counts counts;
    for (auto &i : block) {
      auto what = kind(i, fused);
      if (what.empty())
        continue;
      auto *type = laned(i);
      auto *vector = dyn_cast<VectorType>(type);
      uint64_t lanes = vector ? vector->getElementCount().getKnownMinValue() : 1;
      std::string scalable = isa<ScalableVectorType>(type) ? "vscale " : "";
      counts[scalable + what.str()] += lanes;
    }
    return counts;
  }
};

// `count-fma`, or `count-fma<lo=0;hi=8>` with numbers for arguments.
bool parse(StringRef name, StringMap<int64_t> &given) {
  if (!name.consume_front("count-fma"))
    return false;
  if (name.empty())
    return true;
  if (!name.consume_front("<") || !name.consume_back(">"))
    return false;
  SmallVector<StringRef> parts;
  name.split(parts, ';');
  for (auto part : parts) {
    auto [key, value] = part.split('=');
    if (value.getAsInteger(10, given[key]))
      return false;
  }
  return true;
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "count-fma", "1", [](PassBuilder &builder) {
            builder.registerPipelineParsingCallback(
                [](StringRef name, FunctionPassManager &passes,
                   ArrayRef<PassBuilder::PipelineElement>) {
                  StringMap<int64_t> given;
                  bool mine = parse(name, given);
                  if (mine)
                    passes.addPass(CountFma(std::move(given)));
                  return mine;
                });
          }};
}
