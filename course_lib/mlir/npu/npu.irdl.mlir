// The NPU dialect once more, as data: MLIR's own tools read it when they start.
//
//   mlir-opt-22 --irdl-file=course_lib/mlir/npu/npu.irdl.mlir program.mlir
//
// IRDL (Fehr et al., PLDI 2022) says of an operation how many operands, results and attributes it
// has, and of which kind: no C++, no rebuilding. It cannot say that two sizes agree, in which memory
// a memref is, or what the machine has room for: that takes code, in Python (transfer.py,
// dialect.py) or in C++ (ods/verify.cpp). Nor can it define a layout, so #npu.panels is missing.
// Programs are written in the generic form here (irdl_text.py): the short one is code, too.
irdl.dialect @npu {
  irdl.attribute @space {
    %dram = irdl.is "dram"
    %weights = irdl.is "weights"
    %acts = irdl.is "acts"
    %accs = irdl.is "accs"
    %params = irdl.is "params"
    %any = irdl.any_of(%dram, %weights, %acts, %accs, %params)
    irdl.parameters(name: %any)
  }
  irdl.operation @product {
    %x = irdl.base "!builtin.memref"
    %w = irdl.base "!builtin.memref"
    %params = irdl.base "!builtin.memref"
    %y = irdl.base "!builtin.memref"
    irdl.operands(x: %x, w: %w, params: optional %params, y: %y)
    %low = irdl.base "#builtin.integer"
    %high = irdl.base "#builtin.integer"
    irdl.attributes {"low" = %low, "high" = %high}
  }
  irdl.operation @buffer {
    %result = irdl.base "!builtin.memref"
    irdl.results(result: %result)
  }
  irdl.operation @slot {
    %buffer = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(buffer: %buffer, indices: variadic %index, sizes: variadic %index)
    %at = irdl.base "#builtin.dense_array"
    %tile = irdl.base "#builtin.dense_array"
    irdl.attributes {"static_indices" = %at, "static_sizes" = %tile}
    %result = irdl.base "!builtin.memref"
    irdl.results(result: %result)
  }
  irdl.operation @dma_load {
    %array = irdl.base "!builtin.memref"
    %tile = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(array: %array, tile: %tile, offsets: variadic %index, sizes: variadic %index)
    %at = irdl.base "#builtin.dense_array"
    %window = irdl.base "#builtin.dense_array"
    irdl.attributes {"static_offsets" = %at, "static_sizes" = %window}
  }
  irdl.operation @dma_store {
    %array = irdl.base "!builtin.memref"
    %tile = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(array: %array, tile: %tile, offsets: variadic %index, sizes: variadic %index)
    %at = irdl.base "#builtin.dense_array"
    %window = irdl.base "#builtin.dense_array"
    irdl.attributes {"static_offsets" = %at, "static_sizes" = %window}
  }
  irdl.operation @clear {
    %sums = irdl.base "!builtin.memref"
    irdl.operands(sums: %sums)
  }
  irdl.operation @matmul {
    %x = irdl.base "!builtin.memref"
    %w = irdl.base "!builtin.memref"
    %sums = irdl.base "!builtin.memref"
    irdl.operands(x: %x, w: %w, sums: %sums)
    %ws = irdl.is "ws"
    %os = irdl.is "os"
    %dataflow = irdl.any_of(%ws, %os)
    irdl.attributes {"dataflow" = %dataflow}
  }
  irdl.operation @activate {
    %sums = irdl.base "!builtin.memref"
    %params = irdl.base "!builtin.memref"
    %out = irdl.base "!builtin.memref"
    irdl.operands(sums: %sums, params: %params, out: %out)
    %low = irdl.base "#builtin.integer"
    %high = irdl.base "#builtin.integer"
    irdl.attributes {"low" = %low, "high" = %high}
  }
}
