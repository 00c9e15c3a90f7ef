// The dialect as a plugin of MLIR's tools: what it consists of, its effects, and one rewrite.
//
//     mlir-opt-22 --load-dialect-plugin=npu.so --canonicalize program.mlir
//
//     npu.clear %sums                          npu.matmul %x, %w into %sums {overwrite}
//     npu.matmul %x, %w into %sums      ->
//
// In Python the rewrite is the pass `overwrite` of sums.py, one floor up. Next room: build.py.

#include "npu.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace npu;

#include "dialect_defs.inc"
#include "enum_defs.inc"

#define GET_ATTRDEF_CLASSES
#include "attrdef_defs.inc"

#define GET_OP_CLASSES
#include "op_defs.inc"

void NPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attrdef_defs.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "op_defs.inc"
      >();
}

Value SlotOp::getViewSource() { return getBuffer(); }

void MatmulOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getXMutable());
  effects.emplace_back(MemoryEffects::Read::get(), &getWMutable());
  if (!getOverwrite())
    effects.emplace_back(MemoryEffects::Read::get(), &getSumsMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getSumsMutable());
}

namespace {

// Two tiles share nothing: they are in different buffers, or in different slots of one.
bool apart(Value a, Value b) {
  auto one = a.getDefiningOp<SlotOp>(), other = b.getDefiningOp<SlotOp>();
  if (!one || !other || !one.getBuffer().getDefiningOp<BufferOp>() ||
      !other.getBuffer().getDefiningOp<BufferOp>())
    return false;
  if (one.getBuffer() != other.getBuffer())
    return true;
  for (auto [i, j] : llvm::zip(one.getStaticIndices(), other.getStaticIndices()))
    if (i != j && !ShapedType::isDynamic(i) && !ShapedType::isDynamic(j))
      return true;
  return false;
}

// An operation neither reads these sums nor writes anything but zeros to them.
bool passes(Operation *op, Value sums) {
  if (isMemoryEffectFree(op) || isa<ClearOp>(op))
    return true;
  return isa<BufferOp, DmaLoadOp, DmaStoreOp, MatmulOp, ActivateOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           bool tile = isa<MemRefType>(value.getType());
           return !tile || !isIn(value.getType(), Memory::accs) || apart(value, sums);
         });
}

// The npu.clear of the same sums in front of a product, if nothing in between may see the zeros.
ClearOp clearBefore(MatmulOp matmul) {
  for (Operation *op = matmul->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto clear = dyn_cast<ClearOp>(op); clear && clear.getSums() == matmul.getSums())
      return clear;
    if (!passes(op, matmul.getSums()))
      return {};
  }
  return {};
}

struct Overwrite : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp matmul, PatternRewriter &rewriter) const override {
    ClearOp clear = clearBefore(matmul);
    if (!clear)
      return failure();
    rewriter.modifyOpInPlace(matmul, [&] { matmul.setOverwrite(true); });
    rewriter.eraseOp(clear);
    return success();
  }
};

} // namespace

void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<Overwrite>(context);
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "npu", LLVM_VERSION_STRING,
          [](DialectRegistry *registry) { registry->insert<NPUDialect>(); }};
}
