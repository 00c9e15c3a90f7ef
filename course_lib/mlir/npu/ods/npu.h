// What the generated C++ and ours share: the chip, and the classes that mlir-tblgen made of npu.td.
//
//     chipOf(op).cols                          how wide the array is that the module names
//     isIn(type, Memory::accs)                 is a memref in the accumulators?
//
// The chip's numbers are generated, too: chips.inc has them from course_lib/accelerator/chip.py.
// Next room: machine.cpp.

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "enum_decls.inc"

namespace npu {

using Sizes = llvm::ArrayRef<int64_t>;
inline constexpr llvm::StringLiteral chipName = "npu.chip";
#define LIMIT(name, value) inline constexpr int64_t name = value;
#include "chips.inc" // lowest, highest: of int8; largest: size of a matrix

// A machine: of course_lib/accelerator/chip.py, the fields that are whole numbers.
struct Chip {
#define NUMBER(name, least, most) int64_t name;
#include "chips.inc"
  int64_t banks[3]; // of weights, acts and accs

  int64_t size(Memory memory) const;     // elements in it
  int64_t bankSize(Memory memory) const; // and in the part that one engine has at a time
};

// The chip that the module around an operation names; without a name, the preset `npu`.
Chip chipOf(mlir::Operation *op);

bool isIn(mlir::Type type, Memory memory);
bool isDataflow(llvm::StringRef name);
Memory memoryOf(mlir::MemRefType type);

// How many elements of its memory a buffer takes: slots of whole banks.
int64_t taken(const Chip &chip, mlir::MemRefType buffer);

// Sizes as MLIR writes them, 64x?; and a number for readers, 1,536.
std::string sized(Sizes sizes);
std::string grouped(int64_t number);

} // namespace npu

#include "dialect_decls.inc"

#define GET_ATTRDEF_CLASSES
#include "attrdef_decls.inc"

#define GET_OP_CLASSES
#include "op_decls.inc"
