// The NPU dialect in ODS: what MLIR's own dialects are written in.
//
//   npu.dma_load %x[0, 128] [64, 128] to %t : memref<197x768xi8, #npu.space<dram>>
//        to memref<64x128xi8, #npu.space<acts>>
//
// Each `def` is a record. mlir-tblgen makes C++ of it: a class, its parser and printer, accessors,
// and the part of the verifier that follows from the operands' constraints. What a record cannot
// say, `hasVerifier` leaves to C++. The same operations in Python: dialect.py and transfer.py, one
// floor up. Next room: npu.h.

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def NPU_Dialect : Dialect {
  let name = "npu";
  let cppNamespace = "::npu";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1; // npu.chip, which a module may have
}

// ── where values live ──

def NPU_Memory : I32EnumAttr<"Memory", "a memory: DRAM, and the four of the chip", [
  I32EnumAttrCase<"dram", 0>, I32EnumAttrCase<"weights", 1>, I32EnumAttrCase<"acts", 2>,
  I32EnumAttrCase<"accs", 3>, I32EnumAttrCase<"params", 4>,
]> {
  let cppNamespace = "::npu";
  let genSpecializedAttr = 0;
}

def NPU_SpaceAttr : EnumAttr<NPU_Dialect, NPU_Memory, "space"> {
  let assemblyFormat = "`<` $value `>`";
}

def NPU_PanelsAttr : AttrDef<NPU_Dialect, "Panels",
    [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface, ["verifyLayout"]>]> {
  let summary = "a matrix in panels of so many columns, one behind the other";
  let mnemonic = "panels";
  let parameters = (ins "int64_t":$columns);
  let assemblyFormat = "`<` $columns `>`";
  let genVerifyDecl = 1;
}

// A memref that is in a memory, and of the elements that can be there. Layouts are for DRAM.
class NPU_In<string memory, list<Type> elements> : ConfinedType<MemRefOf<elements>,
    [CPred<"::npu::isIn($_self, ::npu::Memory::" # memory # ")">],
    "memref in " # memory # " of " # !interleave(!foreach(e, elements, e.summary), " or ")>;
class NPU_Plain<string memory, Type element> : ConfinedType<NPU_In<memory, [element]>,
    [CPred<"::llvm::cast<::mlir::MemRefType>($_self).getLayout().isIdentity()">],
    "memref in " # memory # " of " # element.summary # ", without a layout">;

def NPU_Dram : NPU_In<"dram", [I8, I32]>;
def NPU_Weights : NPU_Plain<"weights", I8>;
def NPU_Acts : NPU_Plain<"acts", I8>;
def NPU_Accs : NPU_Plain<"accs", I32>;
def NPU_Params : NPU_Plain<"params", I32>;

class NPU_AnyOf<list<Type> types> : AnyTypeOf<types, "", "::mlir::MemRefType">;
def NPU_OnChip : NPU_AnyOf<[NPU_Weights, NPU_Acts, NPU_Accs, NPU_Params]>;

class NPU_Read<Constraint type> : Arg<type, "", [MemRead]>;
class NPU_Write<Constraint type> : Arg<type, "", [MemWrite]>;

def NPU_Dataflow : ConfinedAttr<StrAttr, [AttrConstraint<
    CPred<"::npu::isDataflow(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "\"ws\" or \"os\"">]>;

class NPU_Op<string mnemonic, list<Trait> traits = []> : Op<NPU_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

// ── memory ──

def NPU_BufferOp : NPU_Op<"buffer"> {
  let summary = "room in a memory of the chip: slots x tile";
  let results = (outs Res<NPU_OnChip, "", [MemAlloc]>:$result);
  let assemblyFormat = "`:` type($result) attr-dict";
}

// Positions and sizes mix numbers and values: a static list, in which the number for "?" stands
// where a value belongs. The directive that reads and prints such lists is MLIR's own.
def NPU_SlotOp : NPU_Op<"slot",
    [AttrSizedOperandSegments, Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a slot of a buffer, seen as a tile";
  let arguments = (ins NPU_OnChip:$buffer, Variadic<Index>:$indices, Variadic<Index>:$sizes,
                   DenseI64ArrayAttr:$static_indices, DenseI64ArrayAttr:$static_sizes);
  let results = (outs NPU_OnChip:$result);
  let assemblyFormat = [{
    $buffer `` custom<DynamicIndexList>($indices, $static_indices)
    custom<DynamicIndexList>($sizes, $static_sizes)
    attr-dict `:` type($buffer) `to` type($result)
  }];
}

def NPU_DmaLoadOp : NPU_Op<"dma_load", [AttrSizedOperandSegments]> {
  let summary = "copy a window of an array in DRAM into a tile";
  let arguments = (ins NPU_Read<NPU_Dram>:$array,
                   NPU_Write<NPU_AnyOf<[NPU_Acts, NPU_Weights, NPU_Params]>>:$tile,
                   Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                   DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes);
  let assemblyFormat = [{
    $array `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes) `to` $tile
    attr-dict `:` type($array) `to` type($tile)
  }];
}

def NPU_DmaStoreOp : NPU_Op<"dma_store", [AttrSizedOperandSegments]> {
  let summary = "copy a tile of results, or of sums, to where it belongs in an array in DRAM";
  let arguments = (ins NPU_Write<NPU_Dram>:$array,
                   NPU_Read<NPU_AnyOf<[NPU_Acts, NPU_Accs]>>:$tile,
                   Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                   DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes);
  let assemblyFormat = [{
    $tile `to` $array `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes)
    attr-dict `:` type($tile) `to` type($array)
  }];
}

// ── arithmetic ──

def NPU_ProductOp : NPU_Op<"product"> {
  let summary = "y = x @ w for whole matrices; with params, through the output pipeline";
  let arguments = (ins NPU_Read<NPU_Dram>:$x, NPU_Read<NPU_Dram>:$w,
                   Optional<NPU_Dram>:$params, NPU_Write<NPU_Dram>:$y,
                   DefaultValuedAttr<I64Attr, "-128">:$low, DefaultValuedAttr<I64Attr, "127">:$high);
  let assemblyFormat = [{
    $x `,` $w (`,` $params^)? `into` $y attr-dict `:` type($x) `,` type($w)
    (`,` type($params)^)? `into` type($y)
  }];
}

def NPU_ClearOp : NPU_Op<"clear"> {
  let summary = "sums = 0; the machine has no such instruction: a matmul that overwrites does it";
  let arguments = (ins NPU_Write<NPU_Accs>:$sums);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
  let hasVerifier = 0; // its operand's constraint is all
}

// Whether sums are read depends on `overwrite`, so the effects are C++.
def NPU_MatmulOp : NPU_Op<"matmul", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "sums += x @ w, or sums = x @ w if it overwrites; one block of columns";
  let arguments = (ins NPU_Acts:$x, NPU_Weights:$w, NPU_Accs:$sums,
                   DefaultValuedAttr<NPU_Dataflow, "\"ws\"">:$dataflow, UnitAttr:$overwrite);
  let assemblyFormat = [{
    $x `,` $w `into` $sums attr-dict `:` type($x) `,` type($w) `into` type($sums)
  }];
  let hasCanonicalizer = 1;
}

def NPU_ActivateOp : NPU_Op<"activate"> {
  let summary = "out = clamp(int8(round((sums + bias) * scale)), low, high): the output pipeline";
  let arguments = (ins NPU_Read<NPU_Accs>:$sums, NPU_Read<NPU_Params>:$params,
                   NPU_Write<NPU_Acts>:$out, I64Attr:$low, I64Attr:$high);
  let assemblyFormat = [{
    $sums `,` $params `into` $out attr-dict `:` type($sums) `,` type($params) `into` type($out)
  }];
}
