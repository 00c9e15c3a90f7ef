// RUN: %npu %s --emit product | %filecheck %s
// A product and its pipeline become one operation, tensors places in DRAM.

// CHECK:      npu.chip = {preset = "teaching"}
// CHECK-NEXT: func.func @dense(
// CHECK-SAME:   %x: memref<9x8xi8, #npu.space<dram>>, %w: memref<8x5xi8, #npu.panels<4>, #npu.space<dram>>,
// CHECK-SAME:   %params: memref<2x2x4xi32, #npu.space<dram>>, %y: memref<9x5xi8, #npu.space<dram>>)
// CHECK-NEXT:   npu.product %x, %w, %params into %y {low = 0 : i64} :
// CHECK-NEXT:   func.return
// CHECK-NOT:  linalg

#both = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @dense(%x: tensor<9x8xi8>, %w: tensor<8x5xi8>, %bias: tensor<5xi32>, %scale: tensor<5xf32>) -> tensor<9x5xi8> {
    %zero = arith.constant 0 : i32
    %empty = tensor.empty() : tensor<9x5xi32>
    %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<9x5xi32>) -> tensor<9x5xi32>
    %sums = linalg.matmul ins(%x, %w : tensor<9x8xi8>, tensor<8x5xi8>) outs(%zeros : tensor<9x5xi32>) -> tensor<9x5xi32>
    %low = arith.constant 0.0 : f32
    %high = arith.constant 127.0 : f32
    %place = tensor.empty() : tensor<9x5xi8>
    %y = linalg.generic {indexing_maps = [#both, #column, #column, #both], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %bias, %scale : tensor<9x5xi32>, tensor<5xi32>, tensor<5xf32>) outs(%place : tensor<9x5xi8>) {
    ^bb0(%s: i32, %b: i32, %c: f32, %old: i8):
      %0 = arith.addi %s, %b : i32
      %1 = arith.sitofp %0 : i32 to f32
      %2 = arith.mulf %1, %c : f32
      %3 = math.roundeven %2 : f32
      %4 = arith.maximumf %3, %low : f32
      %5 = arith.minimumf %4, %high : f32
      %6 = arith.fptosi %5 : f32 to i8
      linalg.yield %6 : i8
    } -> tensor<9x5xi8>
    return %y : tensor<9x5xi8>
  }
}
