// RUN: %npu %s --emit product | %filecheck %s
// RUN: %npu %s --emit asm | %filecheck %s --check-prefix=ASM
// Without a pipeline the int32 sums are the result, and go to DRAM from the accumulators.

// CHECK: npu.product %x, %w into %y : memref<4x4xi8, {{.*}} into memref<4x4xi32, #npu.space<dram>>

// ASM-NOT: {{^}}act 
// ASM:     stacc accs=0 dram={{[0-9]+}} rows=4 n=4 pitch=16

module attributes {npu.chip = {preset = "teaching"}} {
  func.func @square(%x: tensor<4x4xi8>, %w: tensor<4x4xi8>) -> tensor<4x4xi32> {
    %zero = arith.constant 0 : i32
    %empty = tensor.empty() : tensor<4x4xi32>
    %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<4x4xi32>) -> tensor<4x4xi32>
    %sums = linalg.matmul ins(%x, %w : tensor<4x4xi8>, tensor<4x4xi8>) outs(%zeros : tensor<4x4xi32>) -> tensor<4x4xi32>
    return %sums : tensor<4x4xi32>
  }
}
