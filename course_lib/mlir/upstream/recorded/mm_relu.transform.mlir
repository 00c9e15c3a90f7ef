// tool: torch-mlir 20261001
// machine: any
// date: 2026-11-23
// by: course_lib.mlir.upstream.makers:transform
// ===== given
module @mm_relu attributes {transform.with_named_sequence} {
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>) {
    %c0 = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<4x16xf32>
    %f2 = linalg.fill ins(%c0 : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %e3 = tensor.empty() : tensor<4x16xf32>
    %v1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%v0 : tensor<4x16xf32>) outs(%e3 : tensor<4x16xf32>) {
    ^bb0(%in0: f32, %acc0: f32):
      %c4 = arith.constant 0.0 : f32
      %t5 = arith.cmpf ugt, %in0, %c4 : f32
      %t6 = arith.select %t5, %in0, %c4 : f32
      linalg.yield %t6 : f32
    } -> tensor<4x16xf32>
    return %v1 : tensor<4x16xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %tiled, %rows, %columns, %sums = transform.structured.tile_using_for %product
        tile_sizes [2, 8, 4]
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
// ===== 0
module @mm_relu attributes {transform.with_named_sequence} {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%1 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %3 = tensor.empty() : tensor<4x16xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%3 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %cst_0 = arith.constant 0.000000e+00 : f32
      %5 = arith.cmpf ugt, %in, %cst_0 : f32
      %6 = arith.select %5, %in, %cst_0 : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op, %loops:3 = transform.structured.tile_using_for %0 tile_sizes [2, 8, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield 
  }
}
// ===== 1 transform-interpreter
module @mm_relu attributes {transform.with_named_sequence} {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %c0 = arith.constant 0 : index
    %c0_0 = arith.constant 0 : index
    %c0_1 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c8 = arith.constant 8 : index
    %c2 = arith.constant 2 : index
    %c8_2 = arith.constant 8 : index
    %c4_3 = arith.constant 4 : index
    %2 = scf.for %arg2 = %c0 to %c4 step %c2 iter_args(%arg3 = %1) -> (tensor<4x16xf32>) {
      %5 = scf.for %arg4 = %c0_0 to %c16 step %c8_2 iter_args(%arg5 = %arg3) -> (tensor<4x16xf32>) {
        %6 = scf.for %arg6 = %c0_1 to %c8 step %c4_3 iter_args(%arg7 = %arg5) -> (tensor<4x16xf32>) {
          %extracted_slice = tensor.extract_slice %arg0[%arg2, %arg6] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
          %extracted_slice_4 = tensor.extract_slice %arg1[%arg6, %arg4] [4, 8] [1, 1] : tensor<8x16xf32> to tensor<4x8xf32>
          %extracted_slice_5 = tensor.extract_slice %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<4x16xf32> to tensor<2x8xf32>
          %7 = linalg.matmul ins(%extracted_slice, %extracted_slice_4 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%extracted_slice_5 : tensor<2x8xf32>) -> tensor<2x8xf32>
          %inserted_slice = tensor.insert_slice %7 into %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x16xf32>
          scf.yield %inserted_slice : tensor<4x16xf32>
        }
        scf.yield %6 : tensor<4x16xf32>
      }
      scf.yield %5 : tensor<4x16xf32>
    }
    %3 = tensor.empty() : tensor<4x16xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%3 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %cst_4 = arith.constant 0.000000e+00 : f32
      %5 = arith.cmpf ugt, %in, %cst_4 : f32
      %6 = arith.select %5, %in, %cst_4 : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op, %loops:3 = transform.structured.tile_using_for %0 tile_sizes [2, 8, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield 
  }
}
// ===== 2 canonicalize
module @mm_relu attributes {transform.with_named_sequence} {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = scf.for %arg2 = %c0 to %c4 step %c2 iter_args(%arg3 = %1) -> (tensor<4x16xf32>) {
      %5 = scf.for %arg4 = %c0 to %c16 step %c8 iter_args(%arg5 = %arg3) -> (tensor<4x16xf32>) {
        %6 = scf.for %arg6 = %c0 to %c8 step %c4 iter_args(%arg7 = %arg5) -> (tensor<4x16xf32>) {
          %extracted_slice = tensor.extract_slice %arg0[%arg2, %arg6] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
          %extracted_slice_0 = tensor.extract_slice %arg1[%arg6, %arg4] [4, 8] [1, 1] : tensor<8x16xf32> to tensor<4x8xf32>
          %extracted_slice_1 = tensor.extract_slice %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<4x16xf32> to tensor<2x8xf32>
          %7 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%extracted_slice_1 : tensor<2x8xf32>) -> tensor<2x8xf32>
          %inserted_slice = tensor.insert_slice %7 into %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x16xf32>
          scf.yield %inserted_slice : tensor<4x16xf32>
        }
        scf.yield %6 : tensor<4x16xf32>
      }
      scf.yield %5 : tensor<4x16xf32>
    }
    %3 = tensor.empty() : tensor<4x16xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%3 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.cmpf ugt, %in, %cst : f32
      %6 = arith.select %5, %in, %cst : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op, %loops:3 = transform.structured.tile_using_for %0 tile_sizes [2, 8, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield 
  }
}
// ===== 3 cse
module @mm_relu attributes {transform.with_named_sequence} {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = scf.for %arg2 = %c0 to %c4 step %c2 iter_args(%arg3 = %1) -> (tensor<4x16xf32>) {
      %4 = scf.for %arg4 = %c0 to %c16 step %c8 iter_args(%arg5 = %arg3) -> (tensor<4x16xf32>) {
        %5 = scf.for %arg6 = %c0 to %c8 step %c4 iter_args(%arg7 = %arg5) -> (tensor<4x16xf32>) {
          %extracted_slice = tensor.extract_slice %arg0[%arg2, %arg6] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
          %extracted_slice_0 = tensor.extract_slice %arg1[%arg6, %arg4] [4, 8] [1, 1] : tensor<8x16xf32> to tensor<4x8xf32>
          %extracted_slice_1 = tensor.extract_slice %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<4x16xf32> to tensor<2x8xf32>
          %6 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%extracted_slice_1 : tensor<2x8xf32>) -> tensor<2x8xf32>
          %inserted_slice = tensor.insert_slice %6 into %arg7[%arg2, %arg4] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x16xf32>
          scf.yield %inserted_slice : tensor<4x16xf32>
        }
        scf.yield %5 : tensor<4x16xf32>
      }
      scf.yield %4 : tensor<4x16xf32>
    }
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%0 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %4 = arith.cmpf ugt, %in, %cst : f32
      %5 = arith.select %4, %in, %cst : f32
      linalg.yield %5 : f32
    } -> tensor<4x16xf32>
    return %3 : tensor<4x16xf32>
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op, %loops:3 = transform.structured.tile_using_for %0 tile_sizes [2, 8, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield 
  }
}
