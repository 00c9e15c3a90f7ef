// tool: torch-mlir 20261001
// machine: any
// date: 2026-11-23
// by: course_lib.mlir.upstream.makers:llvm
// ===== given
module @mm_relu {
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
}
// ===== 0
module @mm_relu {
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
}
// ===== 1 linalg-generalize-named-ops
module @mm_relu {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%0 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x16xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%1 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.mulf %in, %in_0 : f32
      %6 = arith.addf %out, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    %3 = tensor.empty() : tensor<4x16xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%3 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.cmpf ugt, %in, %cst : f32
      %6 = arith.select %5, %in, %cst : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
}
// ===== 2 eliminate-empty-tensors
module @mm_relu {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x16xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%0 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x16xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%1 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.mulf %in, %in_0 : f32
      %6 = arith.addf %out, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    %3 = tensor.empty() : tensor<4x16xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x16xf32>) outs(%3 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.cmpf ugt, %in, %cst : f32
      %6 = arith.select %5, %in, %cst : f32
      linalg.yield %6 : f32
    } -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
}
// ===== 3 one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>) -> memref<4x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%alloc : memref<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<4x8xf32>, memref<8x16xf32>) outs(%alloc : memref<4x16xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %0 = arith.mulf %in, %in_1 : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<4x16xf32>) outs(%alloc_0 : memref<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.cmpf ugt, %in, %cst : f32
      %1 = arith.select %0, %in, %cst : f32
      linalg.yield %1 : f32
    }
    return %alloc_0 : memref<4x16xf32>
  }
}
// ===== 4 buffer-results-to-out-params{modify-public-functions}
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%alloc : memref<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<4x8xf32>, memref<8x16xf32>) outs(%alloc : memref<4x16xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %0 = arith.mulf %in, %in_1 : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%alloc : memref<4x16xf32>) outs(%alloc_0 : memref<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.cmpf ugt, %in, %cst : f32
      %1 = arith.select %0, %in, %cst : f32
      linalg.yield %1 : f32
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 5 func.func(convert-linalg-to-loops)
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        memref.store %cst, %alloc[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        scf.for %arg5 = %c0 to %c8 step %c1 {
          %0 = memref.load %arg0[%arg3, %arg5] : memref<4x8xf32>
          %1 = memref.load %arg1[%arg5, %arg4] : memref<8x16xf32>
          %2 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %2, %3 : f32
          memref.store %4, %alloc[%arg3, %arg4] : memref<4x16xf32>
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        %0 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
        %1 = arith.cmpf ugt, %0, %cst : f32
        %2 = arith.select %1, %0, %cst : f32
        memref.store %2, %alloc_0[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 6 expand-strided-metadata
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        memref.store %cst, %alloc[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        scf.for %arg5 = %c0 to %c8 step %c1 {
          %0 = memref.load %arg0[%arg3, %arg5] : memref<4x8xf32>
          %1 = memref.load %arg1[%arg5, %arg4] : memref<8x16xf32>
          %2 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %2, %3 : f32
          memref.store %4, %alloc[%arg3, %arg4] : memref<4x16xf32>
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        %0 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
        %1 = arith.cmpf ugt, %0, %cst : f32
        %2 = arith.select %1, %0, %cst : f32
        memref.store %2, %alloc_0[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 7 lower-affine
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        memref.store %cst, %alloc[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        scf.for %arg5 = %c0 to %c8 step %c1 {
          %0 = memref.load %arg0[%arg3, %arg5] : memref<4x8xf32>
          %1 = memref.load %arg1[%arg5, %arg4] : memref<8x16xf32>
          %2 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %2, %3 : f32
          memref.store %4, %alloc[%arg3, %arg4] : memref<4x16xf32>
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c16 step %c1 {
        %0 = memref.load %alloc[%arg3, %arg4] : memref<4x16xf32>
        %1 = arith.cmpf ugt, %0, %cst : f32
        %2 = arith.select %1, %0, %cst : f32
        memref.store %2, %alloc_0[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 8 convert-scf-to-cf
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb1(%c0 : index)
  ^bb1(%0: index):  // 2 preds: ^bb0, ^bb5
    %1 = arith.cmpi slt, %0, %c4 : index
    cf.cond_br %1, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%c0 : index)
  ^bb3(%2: index):  // 2 preds: ^bb2, ^bb4
    %3 = arith.cmpi slt, %2, %c16 : index
    cf.cond_br %3, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    memref.store %cst, %alloc[%0, %2] : memref<4x16xf32>
    %4 = arith.addi %2, %c1 : index
    cf.br ^bb3(%4 : index)
  ^bb5:  // pred: ^bb3
    %5 = arith.addi %0, %c1 : index
    cf.br ^bb1(%5 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%c0 : index)
  ^bb7(%6: index):  // 2 preds: ^bb6, ^bb14
    %7 = arith.cmpi slt, %6, %c4 : index
    cf.cond_br %7, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%c0 : index)
  ^bb9(%8: index):  // 2 preds: ^bb8, ^bb13
    %9 = arith.cmpi slt, %8, %c16 : index
    cf.cond_br %9, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%c0 : index)
  ^bb11(%10: index):  // 2 preds: ^bb10, ^bb12
    %11 = arith.cmpi slt, %10, %c8 : index
    cf.cond_br %11, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %12 = memref.load %arg0[%6, %10] : memref<4x8xf32>
    %13 = memref.load %arg1[%10, %8] : memref<8x16xf32>
    %14 = memref.load %alloc[%6, %8] : memref<4x16xf32>
    %15 = arith.mulf %12, %13 : f32
    %16 = arith.addf %14, %15 : f32
    memref.store %16, %alloc[%6, %8] : memref<4x16xf32>
    %17 = arith.addi %10, %c1 : index
    cf.br ^bb11(%17 : index)
  ^bb13:  // pred: ^bb11
    %18 = arith.addi %8, %c1 : index
    cf.br ^bb9(%18 : index)
  ^bb14:  // pred: ^bb9
    %19 = arith.addi %6, %c1 : index
    cf.br ^bb7(%19 : index)
  ^bb15:  // pred: ^bb7
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb16(%c0 : index)
  ^bb16(%20: index):  // 2 preds: ^bb15, ^bb20
    %21 = arith.cmpi slt, %20, %c4 : index
    cf.cond_br %21, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%c0 : index)
  ^bb18(%22: index):  // 2 preds: ^bb17, ^bb19
    %23 = arith.cmpi slt, %22, %c16 : index
    cf.cond_br %23, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %24 = memref.load %alloc[%20, %22] : memref<4x16xf32>
    %25 = arith.cmpf ugt, %24, %cst : f32
    %26 = arith.select %25, %24, %cst : f32
    memref.store %26, %alloc_0[%20, %22] : memref<4x16xf32>
    %27 = arith.addi %22, %c1 : index
    cf.br ^bb18(%27 : index)
  ^bb20:  // pred: ^bb18
    %28 = arith.addi %20, %c1 : index
    cf.br ^bb16(%28 : index)
  ^bb21:  // pred: ^bb16
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 9 convert-math-to-llvm
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb1(%c0 : index)
  ^bb1(%0: index):  // 2 preds: ^bb0, ^bb5
    %1 = arith.cmpi slt, %0, %c4 : index
    cf.cond_br %1, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%c0 : index)
  ^bb3(%2: index):  // 2 preds: ^bb2, ^bb4
    %3 = arith.cmpi slt, %2, %c16 : index
    cf.cond_br %3, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    memref.store %cst, %alloc[%0, %2] : memref<4x16xf32>
    %4 = arith.addi %2, %c1 : index
    cf.br ^bb3(%4 : index)
  ^bb5:  // pred: ^bb3
    %5 = arith.addi %0, %c1 : index
    cf.br ^bb1(%5 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%c0 : index)
  ^bb7(%6: index):  // 2 preds: ^bb6, ^bb14
    %7 = arith.cmpi slt, %6, %c4 : index
    cf.cond_br %7, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%c0 : index)
  ^bb9(%8: index):  // 2 preds: ^bb8, ^bb13
    %9 = arith.cmpi slt, %8, %c16 : index
    cf.cond_br %9, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%c0 : index)
  ^bb11(%10: index):  // 2 preds: ^bb10, ^bb12
    %11 = arith.cmpi slt, %10, %c8 : index
    cf.cond_br %11, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %12 = memref.load %arg0[%6, %10] : memref<4x8xf32>
    %13 = memref.load %arg1[%10, %8] : memref<8x16xf32>
    %14 = memref.load %alloc[%6, %8] : memref<4x16xf32>
    %15 = arith.mulf %12, %13 : f32
    %16 = arith.addf %14, %15 : f32
    memref.store %16, %alloc[%6, %8] : memref<4x16xf32>
    %17 = arith.addi %10, %c1 : index
    cf.br ^bb11(%17 : index)
  ^bb13:  // pred: ^bb11
    %18 = arith.addi %8, %c1 : index
    cf.br ^bb9(%18 : index)
  ^bb14:  // pred: ^bb9
    %19 = arith.addi %6, %c1 : index
    cf.br ^bb7(%19 : index)
  ^bb15:  // pred: ^bb7
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb16(%c0 : index)
  ^bb16(%20: index):  // 2 preds: ^bb15, ^bb20
    %21 = arith.cmpi slt, %20, %c4 : index
    cf.cond_br %21, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%c0 : index)
  ^bb18(%22: index):  // 2 preds: ^bb17, ^bb19
    %23 = arith.cmpi slt, %22, %c16 : index
    cf.cond_br %23, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %24 = memref.load %alloc[%20, %22] : memref<4x16xf32>
    %25 = arith.cmpf ugt, %24, %cst : f32
    %26 = arith.select %25, %24, %cst : f32
    memref.store %26, %alloc_0[%20, %22] : memref<4x16xf32>
    %27 = arith.addi %22, %c1 : index
    cf.br ^bb18(%27 : index)
  ^bb20:  // pred: ^bb18
    %28 = arith.addi %20, %c1 : index
    cf.br ^bb16(%28 : index)
  ^bb21:  // pred: ^bb16
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 10 convert-math-to-libm
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb1(%c0 : index)
  ^bb1(%0: index):  // 2 preds: ^bb0, ^bb5
    %1 = arith.cmpi slt, %0, %c4 : index
    cf.cond_br %1, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%c0 : index)
  ^bb3(%2: index):  // 2 preds: ^bb2, ^bb4
    %3 = arith.cmpi slt, %2, %c16 : index
    cf.cond_br %3, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    memref.store %cst, %alloc[%0, %2] : memref<4x16xf32>
    %4 = arith.addi %2, %c1 : index
    cf.br ^bb3(%4 : index)
  ^bb5:  // pred: ^bb3
    %5 = arith.addi %0, %c1 : index
    cf.br ^bb1(%5 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%c0 : index)
  ^bb7(%6: index):  // 2 preds: ^bb6, ^bb14
    %7 = arith.cmpi slt, %6, %c4 : index
    cf.cond_br %7, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%c0 : index)
  ^bb9(%8: index):  // 2 preds: ^bb8, ^bb13
    %9 = arith.cmpi slt, %8, %c16 : index
    cf.cond_br %9, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%c0 : index)
  ^bb11(%10: index):  // 2 preds: ^bb10, ^bb12
    %11 = arith.cmpi slt, %10, %c8 : index
    cf.cond_br %11, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %12 = memref.load %arg0[%6, %10] : memref<4x8xf32>
    %13 = memref.load %arg1[%10, %8] : memref<8x16xf32>
    %14 = memref.load %alloc[%6, %8] : memref<4x16xf32>
    %15 = arith.mulf %12, %13 : f32
    %16 = arith.addf %14, %15 : f32
    memref.store %16, %alloc[%6, %8] : memref<4x16xf32>
    %17 = arith.addi %10, %c1 : index
    cf.br ^bb11(%17 : index)
  ^bb13:  // pred: ^bb11
    %18 = arith.addi %8, %c1 : index
    cf.br ^bb9(%18 : index)
  ^bb14:  // pred: ^bb9
    %19 = arith.addi %6, %c1 : index
    cf.br ^bb7(%19 : index)
  ^bb15:  // pred: ^bb7
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb16(%c0 : index)
  ^bb16(%20: index):  // 2 preds: ^bb15, ^bb20
    %21 = arith.cmpi slt, %20, %c4 : index
    cf.cond_br %21, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%c0 : index)
  ^bb18(%22: index):  // 2 preds: ^bb17, ^bb19
    %23 = arith.cmpi slt, %22, %c16 : index
    cf.cond_br %23, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %24 = memref.load %alloc[%20, %22] : memref<4x16xf32>
    %25 = arith.cmpf ugt, %24, %cst : f32
    %26 = arith.select %25, %24, %cst : f32
    memref.store %26, %alloc_0[%20, %22] : memref<4x16xf32>
    %27 = arith.addi %22, %c1 : index
    cf.br ^bb18(%27 : index)
  ^bb20:  // pred: ^bb18
    %28 = arith.addi %20, %c1 : index
    cf.br ^bb16(%28 : index)
  ^bb21:  // pred: ^bb16
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 11 convert-arith-to-llvm
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %0 = llvm.mlir.constant(8 : index) : i64
    %1 = llvm.mlir.constant(16 : index) : i64
    %2 = llvm.mlir.constant(1 : index) : i64
    %3 = llvm.mlir.constant(4 : index) : i64
    %4 = llvm.mlir.constant(0 : index) : i64
    %5 = builtin.unrealized_conversion_cast %4 : i64 to index
    %6 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb1(%5 : index)
  ^bb1(%7: index):  // 2 preds: ^bb0, ^bb5
    %8 = builtin.unrealized_conversion_cast %7 : index to i64
    %9 = llvm.icmp "slt" %8, %3 : i64
    cf.cond_br %9, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%5 : index)
  ^bb3(%10: index):  // 2 preds: ^bb2, ^bb4
    %11 = builtin.unrealized_conversion_cast %10 : index to i64
    %12 = llvm.icmp "slt" %11, %1 : i64
    cf.cond_br %12, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    memref.store %6, %alloc[%7, %10] : memref<4x16xf32>
    %13 = llvm.add %11, %2 : i64
    %14 = builtin.unrealized_conversion_cast %13 : i64 to index
    cf.br ^bb3(%14 : index)
  ^bb5:  // pred: ^bb3
    %15 = llvm.add %8, %2 : i64
    %16 = builtin.unrealized_conversion_cast %15 : i64 to index
    cf.br ^bb1(%16 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%5 : index)
  ^bb7(%17: index):  // 2 preds: ^bb6, ^bb14
    %18 = builtin.unrealized_conversion_cast %17 : index to i64
    %19 = llvm.icmp "slt" %18, %3 : i64
    cf.cond_br %19, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%5 : index)
  ^bb9(%20: index):  // 2 preds: ^bb8, ^bb13
    %21 = builtin.unrealized_conversion_cast %20 : index to i64
    %22 = llvm.icmp "slt" %21, %1 : i64
    cf.cond_br %22, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%5 : index)
  ^bb11(%23: index):  // 2 preds: ^bb10, ^bb12
    %24 = builtin.unrealized_conversion_cast %23 : index to i64
    %25 = llvm.icmp "slt" %24, %0 : i64
    cf.cond_br %25, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %26 = memref.load %arg0[%17, %23] : memref<4x8xf32>
    %27 = memref.load %arg1[%23, %20] : memref<8x16xf32>
    %28 = memref.load %alloc[%17, %20] : memref<4x16xf32>
    %29 = llvm.fmul %26, %27 : f32
    %30 = llvm.fadd %28, %29 : f32
    memref.store %30, %alloc[%17, %20] : memref<4x16xf32>
    %31 = llvm.add %24, %2 : i64
    %32 = builtin.unrealized_conversion_cast %31 : i64 to index
    cf.br ^bb11(%32 : index)
  ^bb13:  // pred: ^bb11
    %33 = llvm.add %21, %2 : i64
    %34 = builtin.unrealized_conversion_cast %33 : i64 to index
    cf.br ^bb9(%34 : index)
  ^bb14:  // pred: ^bb9
    %35 = llvm.add %18, %2 : i64
    %36 = builtin.unrealized_conversion_cast %35 : i64 to index
    cf.br ^bb7(%36 : index)
  ^bb15:  // pred: ^bb7
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb16(%5 : index)
  ^bb16(%37: index):  // 2 preds: ^bb15, ^bb20
    %38 = builtin.unrealized_conversion_cast %37 : index to i64
    %39 = llvm.icmp "slt" %38, %3 : i64
    cf.cond_br %39, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%5 : index)
  ^bb18(%40: index):  // 2 preds: ^bb17, ^bb19
    %41 = builtin.unrealized_conversion_cast %40 : index to i64
    %42 = llvm.icmp "slt" %41, %1 : i64
    cf.cond_br %42, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %43 = memref.load %alloc[%37, %40] : memref<4x16xf32>
    %44 = llvm.fcmp "ugt" %43, %6 : f32
    %45 = llvm.select %44, %43, %6 : i1, f32
    memref.store %45, %alloc_0[%37, %40] : memref<4x16xf32>
    %46 = llvm.add %41, %2 : i64
    %47 = builtin.unrealized_conversion_cast %46 : i64 to index
    cf.br ^bb18(%47 : index)
  ^bb20:  // pred: ^bb18
    %48 = llvm.add %38, %2 : i64
    %49 = builtin.unrealized_conversion_cast %48 : i64 to index
    cf.br ^bb16(%49 : index)
  ^bb21:  // pred: ^bb16
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 12 convert-index-to-llvm
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %0 = llvm.mlir.constant(8 : index) : i64
    %1 = llvm.mlir.constant(16 : index) : i64
    %2 = llvm.mlir.constant(1 : index) : i64
    %3 = llvm.mlir.constant(4 : index) : i64
    %4 = llvm.mlir.constant(0 : index) : i64
    %5 = builtin.unrealized_conversion_cast %4 : i64 to index
    %6 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb1(%5 : index)
  ^bb1(%7: index):  // 2 preds: ^bb0, ^bb5
    %8 = builtin.unrealized_conversion_cast %7 : index to i64
    %9 = llvm.icmp "slt" %8, %3 : i64
    cf.cond_br %9, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%5 : index)
  ^bb3(%10: index):  // 2 preds: ^bb2, ^bb4
    %11 = builtin.unrealized_conversion_cast %10 : index to i64
    %12 = llvm.icmp "slt" %11, %1 : i64
    cf.cond_br %12, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    memref.store %6, %alloc[%7, %10] : memref<4x16xf32>
    %13 = llvm.add %11, %2 : i64
    %14 = builtin.unrealized_conversion_cast %13 : i64 to index
    cf.br ^bb3(%14 : index)
  ^bb5:  // pred: ^bb3
    %15 = llvm.add %8, %2 : i64
    %16 = builtin.unrealized_conversion_cast %15 : i64 to index
    cf.br ^bb1(%16 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%5 : index)
  ^bb7(%17: index):  // 2 preds: ^bb6, ^bb14
    %18 = builtin.unrealized_conversion_cast %17 : index to i64
    %19 = llvm.icmp "slt" %18, %3 : i64
    cf.cond_br %19, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%5 : index)
  ^bb9(%20: index):  // 2 preds: ^bb8, ^bb13
    %21 = builtin.unrealized_conversion_cast %20 : index to i64
    %22 = llvm.icmp "slt" %21, %1 : i64
    cf.cond_br %22, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%5 : index)
  ^bb11(%23: index):  // 2 preds: ^bb10, ^bb12
    %24 = builtin.unrealized_conversion_cast %23 : index to i64
    %25 = llvm.icmp "slt" %24, %0 : i64
    cf.cond_br %25, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %26 = memref.load %arg0[%17, %23] : memref<4x8xf32>
    %27 = memref.load %arg1[%23, %20] : memref<8x16xf32>
    %28 = memref.load %alloc[%17, %20] : memref<4x16xf32>
    %29 = llvm.fmul %26, %27 : f32
    %30 = llvm.fadd %28, %29 : f32
    memref.store %30, %alloc[%17, %20] : memref<4x16xf32>
    %31 = llvm.add %24, %2 : i64
    %32 = builtin.unrealized_conversion_cast %31 : i64 to index
    cf.br ^bb11(%32 : index)
  ^bb13:  // pred: ^bb11
    %33 = llvm.add %21, %2 : i64
    %34 = builtin.unrealized_conversion_cast %33 : i64 to index
    cf.br ^bb9(%34 : index)
  ^bb14:  // pred: ^bb9
    %35 = llvm.add %18, %2 : i64
    %36 = builtin.unrealized_conversion_cast %35 : i64 to index
    cf.br ^bb7(%36 : index)
  ^bb15:  // pred: ^bb7
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    cf.br ^bb16(%5 : index)
  ^bb16(%37: index):  // 2 preds: ^bb15, ^bb20
    %38 = builtin.unrealized_conversion_cast %37 : index to i64
    %39 = llvm.icmp "slt" %38, %3 : i64
    cf.cond_br %39, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%5 : index)
  ^bb18(%40: index):  // 2 preds: ^bb17, ^bb19
    %41 = builtin.unrealized_conversion_cast %40 : index to i64
    %42 = llvm.icmp "slt" %41, %1 : i64
    cf.cond_br %42, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %43 = memref.load %alloc[%37, %40] : memref<4x16xf32>
    %44 = llvm.fcmp "ugt" %43, %6 : f32
    %45 = llvm.select %44, %43, %6 : i1, f32
    memref.store %45, %alloc_0[%37, %40] : memref<4x16xf32>
    %46 = llvm.add %41, %2 : i64
    %47 = builtin.unrealized_conversion_cast %46 : i64 to index
    cf.br ^bb18(%47 : index)
  ^bb20:  // pred: ^bb18
    %48 = llvm.add %38, %2 : i64
    %49 = builtin.unrealized_conversion_cast %48 : i64 to index
    cf.br ^bb16(%49 : index)
  ^bb21:  // pred: ^bb16
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 13 finalize-memref-to-llvm
module @mm_relu {
  llvm.func @malloc(i64) -> !llvm.ptr
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %0 = builtin.unrealized_conversion_cast %arg2 : memref<4x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %1 = builtin.unrealized_conversion_cast %arg1 : memref<8x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %2 = builtin.unrealized_conversion_cast %arg0 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %3 = llvm.mlir.constant(8 : index) : i64
    %4 = llvm.mlir.constant(16 : index) : i64
    %5 = llvm.mlir.constant(1 : index) : i64
    %6 = llvm.mlir.constant(4 : index) : i64
    %7 = llvm.mlir.constant(0 : index) : i64
    %8 = builtin.unrealized_conversion_cast %7 : i64 to index
    %9 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %10 = llvm.mlir.constant(4 : index) : i64
    %11 = llvm.mlir.constant(16 : index) : i64
    %12 = llvm.mlir.constant(1 : index) : i64
    %13 = llvm.mlir.constant(64 : index) : i64
    %14 = llvm.mlir.zero : !llvm.ptr
    %15 = llvm.getelementptr %14[%13] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %16 = llvm.ptrtoint %15 : !llvm.ptr to i64
    %17 = llvm.mlir.constant(64 : index) : i64
    %18 = llvm.add %16, %17 : i64
    %19 = llvm.call @malloc(%18) : (i64) -> !llvm.ptr
    %20 = llvm.ptrtoint %19 : !llvm.ptr to i64
    %21 = llvm.mlir.constant(1 : index) : i64
    %22 = llvm.sub %17, %21 : i64
    %23 = llvm.add %20, %22 : i64
    %24 = llvm.urem %23, %17 : i64
    %25 = llvm.sub %23, %24 : i64
    %26 = llvm.inttoptr %25 : i64 to !llvm.ptr
    %27 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %28 = llvm.insertvalue %19, %27[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %29 = llvm.insertvalue %26, %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %30 = llvm.mlir.constant(0 : index) : i64
    %31 = llvm.insertvalue %30, %29[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %32 = llvm.insertvalue %10, %31[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %33 = llvm.insertvalue %11, %32[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %34 = llvm.insertvalue %11, %33[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %35 = llvm.insertvalue %12, %34[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    cf.br ^bb1(%8 : index)
  ^bb1(%36: index):  // 2 preds: ^bb0, ^bb5
    %37 = builtin.unrealized_conversion_cast %36 : index to i64
    %38 = builtin.unrealized_conversion_cast %36 : index to i64
    %39 = llvm.icmp "slt" %38, %6 : i64
    cf.cond_br %39, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%8 : index)
  ^bb3(%40: index):  // 2 preds: ^bb2, ^bb4
    %41 = builtin.unrealized_conversion_cast %40 : index to i64
    %42 = builtin.unrealized_conversion_cast %40 : index to i64
    %43 = llvm.icmp "slt" %42, %4 : i64
    cf.cond_br %43, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %44 = llvm.extractvalue %35[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %45 = llvm.mlir.constant(16 : index) : i64
    %46 = llvm.mul %37, %45 overflow<nsw, nuw> : i64
    %47 = llvm.add %46, %41 overflow<nsw, nuw> : i64
    %48 = llvm.getelementptr inbounds|nuw %44[%47] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %9, %48 : f32, !llvm.ptr
    %49 = llvm.add %42, %5 : i64
    %50 = builtin.unrealized_conversion_cast %49 : i64 to index
    cf.br ^bb3(%50 : index)
  ^bb5:  // pred: ^bb3
    %51 = llvm.add %38, %5 : i64
    %52 = builtin.unrealized_conversion_cast %51 : i64 to index
    cf.br ^bb1(%52 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%8 : index)
  ^bb7(%53: index):  // 2 preds: ^bb6, ^bb14
    %54 = builtin.unrealized_conversion_cast %53 : index to i64
    %55 = builtin.unrealized_conversion_cast %53 : index to i64
    %56 = llvm.icmp "slt" %55, %6 : i64
    cf.cond_br %56, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%8 : index)
  ^bb9(%57: index):  // 2 preds: ^bb8, ^bb13
    %58 = builtin.unrealized_conversion_cast %57 : index to i64
    %59 = builtin.unrealized_conversion_cast %57 : index to i64
    %60 = llvm.icmp "slt" %59, %4 : i64
    cf.cond_br %60, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%8 : index)
  ^bb11(%61: index):  // 2 preds: ^bb10, ^bb12
    %62 = builtin.unrealized_conversion_cast %61 : index to i64
    %63 = builtin.unrealized_conversion_cast %61 : index to i64
    %64 = llvm.icmp "slt" %63, %3 : i64
    cf.cond_br %64, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %65 = llvm.extractvalue %2[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %66 = llvm.mlir.constant(8 : index) : i64
    %67 = llvm.mul %54, %66 overflow<nsw, nuw> : i64
    %68 = llvm.add %67, %62 overflow<nsw, nuw> : i64
    %69 = llvm.getelementptr inbounds|nuw %65[%68] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %70 = llvm.load %69 : !llvm.ptr -> f32
    %71 = llvm.extractvalue %1[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %72 = llvm.mlir.constant(16 : index) : i64
    %73 = llvm.mul %62, %72 overflow<nsw, nuw> : i64
    %74 = llvm.add %73, %58 overflow<nsw, nuw> : i64
    %75 = llvm.getelementptr inbounds|nuw %71[%74] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %76 = llvm.load %75 : !llvm.ptr -> f32
    %77 = llvm.extractvalue %35[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %78 = llvm.mlir.constant(16 : index) : i64
    %79 = llvm.mul %54, %78 overflow<nsw, nuw> : i64
    %80 = llvm.add %79, %58 overflow<nsw, nuw> : i64
    %81 = llvm.getelementptr inbounds|nuw %77[%80] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %82 = llvm.load %81 : !llvm.ptr -> f32
    %83 = llvm.fmul %70, %76 : f32
    %84 = llvm.fadd %82, %83 : f32
    %85 = llvm.extractvalue %35[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %86 = llvm.mlir.constant(16 : index) : i64
    %87 = llvm.mul %54, %86 overflow<nsw, nuw> : i64
    %88 = llvm.add %87, %58 overflow<nsw, nuw> : i64
    %89 = llvm.getelementptr inbounds|nuw %85[%88] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %84, %89 : f32, !llvm.ptr
    %90 = llvm.add %63, %5 : i64
    %91 = builtin.unrealized_conversion_cast %90 : i64 to index
    cf.br ^bb11(%91 : index)
  ^bb13:  // pred: ^bb11
    %92 = llvm.add %59, %5 : i64
    %93 = builtin.unrealized_conversion_cast %92 : i64 to index
    cf.br ^bb9(%93 : index)
  ^bb14:  // pred: ^bb9
    %94 = llvm.add %55, %5 : i64
    %95 = builtin.unrealized_conversion_cast %94 : i64 to index
    cf.br ^bb7(%95 : index)
  ^bb15:  // pred: ^bb7
    %96 = llvm.mlir.constant(4 : index) : i64
    %97 = llvm.mlir.constant(16 : index) : i64
    %98 = llvm.mlir.constant(1 : index) : i64
    %99 = llvm.mlir.constant(64 : index) : i64
    %100 = llvm.mlir.zero : !llvm.ptr
    %101 = llvm.getelementptr %100[%99] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %102 = llvm.ptrtoint %101 : !llvm.ptr to i64
    %103 = llvm.mlir.constant(64 : index) : i64
    %104 = llvm.add %102, %103 : i64
    %105 = llvm.call @malloc(%104) : (i64) -> !llvm.ptr
    %106 = llvm.ptrtoint %105 : !llvm.ptr to i64
    %107 = llvm.mlir.constant(1 : index) : i64
    %108 = llvm.sub %103, %107 : i64
    %109 = llvm.add %106, %108 : i64
    %110 = llvm.urem %109, %103 : i64
    %111 = llvm.sub %109, %110 : i64
    %112 = llvm.inttoptr %111 : i64 to !llvm.ptr
    %113 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %114 = llvm.insertvalue %105, %113[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %115 = llvm.insertvalue %112, %114[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %116 = llvm.mlir.constant(0 : index) : i64
    %117 = llvm.insertvalue %116, %115[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %118 = llvm.insertvalue %96, %117[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %119 = llvm.insertvalue %97, %118[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %120 = llvm.insertvalue %97, %119[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %121 = llvm.insertvalue %98, %120[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    cf.br ^bb16(%8 : index)
  ^bb16(%122: index):  // 2 preds: ^bb15, ^bb20
    %123 = builtin.unrealized_conversion_cast %122 : index to i64
    %124 = builtin.unrealized_conversion_cast %122 : index to i64
    %125 = llvm.icmp "slt" %124, %6 : i64
    cf.cond_br %125, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%8 : index)
  ^bb18(%126: index):  // 2 preds: ^bb17, ^bb19
    %127 = builtin.unrealized_conversion_cast %126 : index to i64
    %128 = builtin.unrealized_conversion_cast %126 : index to i64
    %129 = llvm.icmp "slt" %128, %4 : i64
    cf.cond_br %129, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %130 = llvm.extractvalue %35[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %131 = llvm.mlir.constant(16 : index) : i64
    %132 = llvm.mul %123, %131 overflow<nsw, nuw> : i64
    %133 = llvm.add %132, %127 overflow<nsw, nuw> : i64
    %134 = llvm.getelementptr inbounds|nuw %130[%133] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %135 = llvm.load %134 : !llvm.ptr -> f32
    %136 = llvm.fcmp "ugt" %135, %9 : f32
    %137 = llvm.select %136, %135, %9 : i1, f32
    %138 = llvm.extractvalue %121[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %139 = llvm.mlir.constant(16 : index) : i64
    %140 = llvm.mul %123, %139 overflow<nsw, nuw> : i64
    %141 = llvm.add %140, %127 overflow<nsw, nuw> : i64
    %142 = llvm.getelementptr inbounds|nuw %138[%141] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %137, %142 : f32, !llvm.ptr
    %143 = llvm.add %128, %5 : i64
    %144 = builtin.unrealized_conversion_cast %143 : i64 to index
    cf.br ^bb18(%144 : index)
  ^bb20:  // pred: ^bb18
    %145 = llvm.add %124, %5 : i64
    %146 = builtin.unrealized_conversion_cast %145 : i64 to index
    cf.br ^bb16(%146 : index)
  ^bb21:  // pred: ^bb16
    %147 = llvm.mlir.constant(1 : index) : i64
    %148 = llvm.extractvalue %121[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %149 = llvm.mul %147, %148 : i64
    %150 = llvm.extractvalue %121[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %151 = llvm.mul %149, %150 : i64
    %152 = llvm.mlir.zero : !llvm.ptr
    %153 = llvm.getelementptr %152[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %154 = llvm.ptrtoint %153 : !llvm.ptr to i64
    %155 = llvm.mul %151, %154 : i64
    %156 = llvm.extractvalue %121[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %157 = llvm.extractvalue %121[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %158 = llvm.getelementptr %156[%157] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %159 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %160 = llvm.extractvalue %0[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %161 = llvm.getelementptr %159[%160] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    "llvm.intr.memcpy"(%161, %158, %155) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    return
  }
}
// ===== 14 convert-func-to-llvm
module @mm_relu {
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func @main(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: !llvm.ptr, %arg8: !llvm.ptr, %arg9: i64, %arg10: i64, %arg11: i64, %arg12: i64, %arg13: i64, %arg14: !llvm.ptr, %arg15: !llvm.ptr, %arg16: i64, %arg17: i64, %arg18: i64, %arg19: i64, %arg20: i64) {
    %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %1 = llvm.insertvalue %arg14, %0[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %2 = llvm.insertvalue %arg15, %1[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %3 = llvm.insertvalue %arg16, %2[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %4 = llvm.insertvalue %arg17, %3[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %5 = llvm.insertvalue %arg19, %4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %6 = llvm.insertvalue %arg18, %5[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %7 = llvm.insertvalue %arg20, %6[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %8 = builtin.unrealized_conversion_cast %7 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<4x16xf32>
    %9 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %10 = llvm.insertvalue %arg7, %9[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %arg8, %10[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %arg9, %11[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %arg10, %12[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.insertvalue %arg12, %13[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %15 = llvm.insertvalue %arg11, %14[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %16 = llvm.insertvalue %arg13, %15[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %17 = builtin.unrealized_conversion_cast %16 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<8x16xf32>
    %18 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %19 = llvm.insertvalue %arg0, %18[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %arg1, %19[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %arg2, %20[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %arg3, %21[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %arg5, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %arg4, %23[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = llvm.insertvalue %arg6, %24[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %26 = builtin.unrealized_conversion_cast %25 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<4x8xf32>
    %27 = builtin.unrealized_conversion_cast %8 : memref<4x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %28 = builtin.unrealized_conversion_cast %17 : memref<8x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %29 = builtin.unrealized_conversion_cast %26 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %30 = llvm.mlir.constant(8 : index) : i64
    %31 = llvm.mlir.constant(16 : index) : i64
    %32 = llvm.mlir.constant(1 : index) : i64
    %33 = llvm.mlir.constant(4 : index) : i64
    %34 = llvm.mlir.constant(0 : index) : i64
    %35 = builtin.unrealized_conversion_cast %34 : i64 to index
    %36 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %37 = llvm.mlir.constant(4 : index) : i64
    %38 = llvm.mlir.constant(16 : index) : i64
    %39 = llvm.mlir.constant(1 : index) : i64
    %40 = llvm.mlir.constant(64 : index) : i64
    %41 = llvm.mlir.zero : !llvm.ptr
    %42 = llvm.getelementptr %41[%40] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %43 = llvm.ptrtoint %42 : !llvm.ptr to i64
    %44 = llvm.mlir.constant(64 : index) : i64
    %45 = llvm.add %43, %44 : i64
    %46 = llvm.call @malloc(%45) : (i64) -> !llvm.ptr
    %47 = llvm.ptrtoint %46 : !llvm.ptr to i64
    %48 = llvm.mlir.constant(1 : index) : i64
    %49 = llvm.sub %44, %48 : i64
    %50 = llvm.add %47, %49 : i64
    %51 = llvm.urem %50, %44 : i64
    %52 = llvm.sub %50, %51 : i64
    %53 = llvm.inttoptr %52 : i64 to !llvm.ptr
    %54 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %55 = llvm.insertvalue %46, %54[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %56 = llvm.insertvalue %53, %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %57 = llvm.mlir.constant(0 : index) : i64
    %58 = llvm.insertvalue %57, %56[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %59 = llvm.insertvalue %37, %58[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %60 = llvm.insertvalue %38, %59[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %61 = llvm.insertvalue %38, %60[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %62 = llvm.insertvalue %39, %61[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    cf.br ^bb1(%35 : index)
  ^bb1(%63: index):  // 2 preds: ^bb0, ^bb5
    %64 = builtin.unrealized_conversion_cast %63 : index to i64
    %65 = builtin.unrealized_conversion_cast %63 : index to i64
    %66 = llvm.icmp "slt" %65, %33 : i64
    cf.cond_br %66, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    cf.br ^bb3(%35 : index)
  ^bb3(%67: index):  // 2 preds: ^bb2, ^bb4
    %68 = builtin.unrealized_conversion_cast %67 : index to i64
    %69 = builtin.unrealized_conversion_cast %67 : index to i64
    %70 = llvm.icmp "slt" %69, %31 : i64
    cf.cond_br %70, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %71 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %72 = llvm.mlir.constant(16 : index) : i64
    %73 = llvm.mul %64, %72 overflow<nsw, nuw> : i64
    %74 = llvm.add %73, %68 overflow<nsw, nuw> : i64
    %75 = llvm.getelementptr inbounds|nuw %71[%74] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %36, %75 : f32, !llvm.ptr
    %76 = llvm.add %69, %32 : i64
    %77 = builtin.unrealized_conversion_cast %76 : i64 to index
    cf.br ^bb3(%77 : index)
  ^bb5:  // pred: ^bb3
    %78 = llvm.add %65, %32 : i64
    %79 = builtin.unrealized_conversion_cast %78 : i64 to index
    cf.br ^bb1(%79 : index)
  ^bb6:  // pred: ^bb1
    cf.br ^bb7(%35 : index)
  ^bb7(%80: index):  // 2 preds: ^bb6, ^bb14
    %81 = builtin.unrealized_conversion_cast %80 : index to i64
    %82 = builtin.unrealized_conversion_cast %80 : index to i64
    %83 = llvm.icmp "slt" %82, %33 : i64
    cf.cond_br %83, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    cf.br ^bb9(%35 : index)
  ^bb9(%84: index):  // 2 preds: ^bb8, ^bb13
    %85 = builtin.unrealized_conversion_cast %84 : index to i64
    %86 = builtin.unrealized_conversion_cast %84 : index to i64
    %87 = llvm.icmp "slt" %86, %31 : i64
    cf.cond_br %87, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    cf.br ^bb11(%35 : index)
  ^bb11(%88: index):  // 2 preds: ^bb10, ^bb12
    %89 = builtin.unrealized_conversion_cast %88 : index to i64
    %90 = builtin.unrealized_conversion_cast %88 : index to i64
    %91 = llvm.icmp "slt" %90, %30 : i64
    cf.cond_br %91, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %92 = llvm.extractvalue %29[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %93 = llvm.mlir.constant(8 : index) : i64
    %94 = llvm.mul %81, %93 overflow<nsw, nuw> : i64
    %95 = llvm.add %94, %89 overflow<nsw, nuw> : i64
    %96 = llvm.getelementptr inbounds|nuw %92[%95] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %97 = llvm.load %96 : !llvm.ptr -> f32
    %98 = llvm.extractvalue %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %99 = llvm.mlir.constant(16 : index) : i64
    %100 = llvm.mul %89, %99 overflow<nsw, nuw> : i64
    %101 = llvm.add %100, %85 overflow<nsw, nuw> : i64
    %102 = llvm.getelementptr inbounds|nuw %98[%101] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %103 = llvm.load %102 : !llvm.ptr -> f32
    %104 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %105 = llvm.mlir.constant(16 : index) : i64
    %106 = llvm.mul %81, %105 overflow<nsw, nuw> : i64
    %107 = llvm.add %106, %85 overflow<nsw, nuw> : i64
    %108 = llvm.getelementptr inbounds|nuw %104[%107] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %109 = llvm.load %108 : !llvm.ptr -> f32
    %110 = llvm.fmul %97, %103 : f32
    %111 = llvm.fadd %109, %110 : f32
    %112 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %113 = llvm.mlir.constant(16 : index) : i64
    %114 = llvm.mul %81, %113 overflow<nsw, nuw> : i64
    %115 = llvm.add %114, %85 overflow<nsw, nuw> : i64
    %116 = llvm.getelementptr inbounds|nuw %112[%115] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %111, %116 : f32, !llvm.ptr
    %117 = llvm.add %90, %32 : i64
    %118 = builtin.unrealized_conversion_cast %117 : i64 to index
    cf.br ^bb11(%118 : index)
  ^bb13:  // pred: ^bb11
    %119 = llvm.add %86, %32 : i64
    %120 = builtin.unrealized_conversion_cast %119 : i64 to index
    cf.br ^bb9(%120 : index)
  ^bb14:  // pred: ^bb9
    %121 = llvm.add %82, %32 : i64
    %122 = builtin.unrealized_conversion_cast %121 : i64 to index
    cf.br ^bb7(%122 : index)
  ^bb15:  // pred: ^bb7
    %123 = llvm.mlir.constant(4 : index) : i64
    %124 = llvm.mlir.constant(16 : index) : i64
    %125 = llvm.mlir.constant(1 : index) : i64
    %126 = llvm.mlir.constant(64 : index) : i64
    %127 = llvm.mlir.zero : !llvm.ptr
    %128 = llvm.getelementptr %127[%126] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %129 = llvm.ptrtoint %128 : !llvm.ptr to i64
    %130 = llvm.mlir.constant(64 : index) : i64
    %131 = llvm.add %129, %130 : i64
    %132 = llvm.call @malloc(%131) : (i64) -> !llvm.ptr
    %133 = llvm.ptrtoint %132 : !llvm.ptr to i64
    %134 = llvm.mlir.constant(1 : index) : i64
    %135 = llvm.sub %130, %134 : i64
    %136 = llvm.add %133, %135 : i64
    %137 = llvm.urem %136, %130 : i64
    %138 = llvm.sub %136, %137 : i64
    %139 = llvm.inttoptr %138 : i64 to !llvm.ptr
    %140 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %141 = llvm.insertvalue %132, %140[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %142 = llvm.insertvalue %139, %141[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %143 = llvm.mlir.constant(0 : index) : i64
    %144 = llvm.insertvalue %143, %142[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %145 = llvm.insertvalue %123, %144[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %146 = llvm.insertvalue %124, %145[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %147 = llvm.insertvalue %124, %146[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %148 = llvm.insertvalue %125, %147[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    cf.br ^bb16(%35 : index)
  ^bb16(%149: index):  // 2 preds: ^bb15, ^bb20
    %150 = builtin.unrealized_conversion_cast %149 : index to i64
    %151 = builtin.unrealized_conversion_cast %149 : index to i64
    %152 = llvm.icmp "slt" %151, %33 : i64
    cf.cond_br %152, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    cf.br ^bb18(%35 : index)
  ^bb18(%153: index):  // 2 preds: ^bb17, ^bb19
    %154 = builtin.unrealized_conversion_cast %153 : index to i64
    %155 = builtin.unrealized_conversion_cast %153 : index to i64
    %156 = llvm.icmp "slt" %155, %31 : i64
    cf.cond_br %156, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %157 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %158 = llvm.mlir.constant(16 : index) : i64
    %159 = llvm.mul %150, %158 overflow<nsw, nuw> : i64
    %160 = llvm.add %159, %154 overflow<nsw, nuw> : i64
    %161 = llvm.getelementptr inbounds|nuw %157[%160] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %162 = llvm.load %161 : !llvm.ptr -> f32
    %163 = llvm.fcmp "ugt" %162, %36 : f32
    %164 = llvm.select %163, %162, %36 : i1, f32
    %165 = llvm.extractvalue %148[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %166 = llvm.mlir.constant(16 : index) : i64
    %167 = llvm.mul %150, %166 overflow<nsw, nuw> : i64
    %168 = llvm.add %167, %154 overflow<nsw, nuw> : i64
    %169 = llvm.getelementptr inbounds|nuw %165[%168] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %164, %169 : f32, !llvm.ptr
    %170 = llvm.add %155, %32 : i64
    %171 = builtin.unrealized_conversion_cast %170 : i64 to index
    cf.br ^bb18(%171 : index)
  ^bb20:  // pred: ^bb18
    %172 = llvm.add %151, %32 : i64
    %173 = builtin.unrealized_conversion_cast %172 : i64 to index
    cf.br ^bb16(%173 : index)
  ^bb21:  // pred: ^bb16
    %174 = llvm.mlir.constant(1 : index) : i64
    %175 = llvm.extractvalue %148[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %176 = llvm.mul %174, %175 : i64
    %177 = llvm.extractvalue %148[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %178 = llvm.mul %176, %177 : i64
    %179 = llvm.mlir.zero : !llvm.ptr
    %180 = llvm.getelementptr %179[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %181 = llvm.ptrtoint %180 : !llvm.ptr to i64
    %182 = llvm.mul %178, %181 : i64
    %183 = llvm.extractvalue %148[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %184 = llvm.extractvalue %148[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %185 = llvm.getelementptr %183[%184] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %186 = llvm.extractvalue %27[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %187 = llvm.extractvalue %27[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %188 = llvm.getelementptr %186[%187] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    "llvm.intr.memcpy"(%188, %185, %182) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}
// ===== 15 convert-cf-to-llvm
module @mm_relu {
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func @main(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: !llvm.ptr, %arg8: !llvm.ptr, %arg9: i64, %arg10: i64, %arg11: i64, %arg12: i64, %arg13: i64, %arg14: !llvm.ptr, %arg15: !llvm.ptr, %arg16: i64, %arg17: i64, %arg18: i64, %arg19: i64, %arg20: i64) {
    %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %1 = llvm.insertvalue %arg14, %0[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %2 = llvm.insertvalue %arg15, %1[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %3 = llvm.insertvalue %arg16, %2[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %4 = llvm.insertvalue %arg17, %3[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %5 = llvm.insertvalue %arg19, %4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %6 = llvm.insertvalue %arg18, %5[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %7 = llvm.insertvalue %arg20, %6[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %8 = builtin.unrealized_conversion_cast %7 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<4x16xf32>
    %9 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %10 = llvm.insertvalue %arg7, %9[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %arg8, %10[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %arg9, %11[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %arg10, %12[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.insertvalue %arg12, %13[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %15 = llvm.insertvalue %arg11, %14[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %16 = llvm.insertvalue %arg13, %15[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %17 = builtin.unrealized_conversion_cast %16 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<8x16xf32>
    %18 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %19 = llvm.insertvalue %arg0, %18[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %arg1, %19[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %arg2, %20[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %arg3, %21[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %arg5, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %arg4, %23[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = llvm.insertvalue %arg6, %24[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %26 = builtin.unrealized_conversion_cast %25 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<4x8xf32>
    %27 = builtin.unrealized_conversion_cast %8 : memref<4x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %28 = builtin.unrealized_conversion_cast %17 : memref<8x16xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %29 = builtin.unrealized_conversion_cast %26 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %30 = llvm.mlir.constant(8 : index) : i64
    %31 = llvm.mlir.constant(16 : index) : i64
    %32 = llvm.mlir.constant(1 : index) : i64
    %33 = llvm.mlir.constant(4 : index) : i64
    %34 = llvm.mlir.constant(0 : index) : i64
    %35 = builtin.unrealized_conversion_cast %34 : i64 to index
    %36 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %37 = llvm.mlir.constant(4 : index) : i64
    %38 = llvm.mlir.constant(16 : index) : i64
    %39 = llvm.mlir.constant(1 : index) : i64
    %40 = llvm.mlir.constant(64 : index) : i64
    %41 = llvm.mlir.zero : !llvm.ptr
    %42 = llvm.getelementptr %41[%40] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %43 = llvm.ptrtoint %42 : !llvm.ptr to i64
    %44 = llvm.mlir.constant(64 : index) : i64
    %45 = llvm.add %43, %44 : i64
    %46 = llvm.call @malloc(%45) : (i64) -> !llvm.ptr
    %47 = llvm.ptrtoint %46 : !llvm.ptr to i64
    %48 = llvm.mlir.constant(1 : index) : i64
    %49 = llvm.sub %44, %48 : i64
    %50 = llvm.add %47, %49 : i64
    %51 = llvm.urem %50, %44 : i64
    %52 = llvm.sub %50, %51 : i64
    %53 = llvm.inttoptr %52 : i64 to !llvm.ptr
    %54 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %55 = llvm.insertvalue %46, %54[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %56 = llvm.insertvalue %53, %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %57 = llvm.mlir.constant(0 : index) : i64
    %58 = llvm.insertvalue %57, %56[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %59 = llvm.insertvalue %37, %58[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %60 = llvm.insertvalue %38, %59[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %61 = llvm.insertvalue %38, %60[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %62 = llvm.insertvalue %39, %61[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    llvm.br ^bb1(%34 : i64)
  ^bb1(%63: i64):  // 2 preds: ^bb0, ^bb5
    %64 = builtin.unrealized_conversion_cast %63 : i64 to index
    %65 = builtin.unrealized_conversion_cast %64 : index to i64
    %66 = builtin.unrealized_conversion_cast %64 : index to i64
    %67 = llvm.icmp "slt" %66, %33 : i64
    llvm.cond_br %67, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    llvm.br ^bb3(%34 : i64)
  ^bb3(%68: i64):  // 2 preds: ^bb2, ^bb4
    %69 = builtin.unrealized_conversion_cast %68 : i64 to index
    %70 = builtin.unrealized_conversion_cast %69 : index to i64
    %71 = builtin.unrealized_conversion_cast %69 : index to i64
    %72 = llvm.icmp "slt" %71, %31 : i64
    llvm.cond_br %72, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %73 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %74 = llvm.mlir.constant(16 : index) : i64
    %75 = llvm.mul %65, %74 overflow<nsw, nuw> : i64
    %76 = llvm.add %75, %70 overflow<nsw, nuw> : i64
    %77 = llvm.getelementptr inbounds|nuw %73[%76] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %36, %77 : f32, !llvm.ptr
    %78 = llvm.add %71, %32 : i64
    %79 = builtin.unrealized_conversion_cast %78 : i64 to index
    llvm.br ^bb3(%78 : i64)
  ^bb5:  // pred: ^bb3
    %80 = llvm.add %66, %32 : i64
    %81 = builtin.unrealized_conversion_cast %80 : i64 to index
    llvm.br ^bb1(%80 : i64)
  ^bb6:  // pred: ^bb1
    llvm.br ^bb7(%34 : i64)
  ^bb7(%82: i64):  // 2 preds: ^bb6, ^bb14
    %83 = builtin.unrealized_conversion_cast %82 : i64 to index
    %84 = builtin.unrealized_conversion_cast %83 : index to i64
    %85 = builtin.unrealized_conversion_cast %83 : index to i64
    %86 = llvm.icmp "slt" %85, %33 : i64
    llvm.cond_br %86, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    llvm.br ^bb9(%34 : i64)
  ^bb9(%87: i64):  // 2 preds: ^bb8, ^bb13
    %88 = builtin.unrealized_conversion_cast %87 : i64 to index
    %89 = builtin.unrealized_conversion_cast %88 : index to i64
    %90 = builtin.unrealized_conversion_cast %88 : index to i64
    %91 = llvm.icmp "slt" %90, %31 : i64
    llvm.cond_br %91, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    llvm.br ^bb11(%34 : i64)
  ^bb11(%92: i64):  // 2 preds: ^bb10, ^bb12
    %93 = builtin.unrealized_conversion_cast %92 : i64 to index
    %94 = builtin.unrealized_conversion_cast %93 : index to i64
    %95 = builtin.unrealized_conversion_cast %93 : index to i64
    %96 = llvm.icmp "slt" %95, %30 : i64
    llvm.cond_br %96, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %97 = llvm.extractvalue %29[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %98 = llvm.mlir.constant(8 : index) : i64
    %99 = llvm.mul %84, %98 overflow<nsw, nuw> : i64
    %100 = llvm.add %99, %94 overflow<nsw, nuw> : i64
    %101 = llvm.getelementptr inbounds|nuw %97[%100] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %102 = llvm.load %101 : !llvm.ptr -> f32
    %103 = llvm.extractvalue %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %104 = llvm.mlir.constant(16 : index) : i64
    %105 = llvm.mul %94, %104 overflow<nsw, nuw> : i64
    %106 = llvm.add %105, %89 overflow<nsw, nuw> : i64
    %107 = llvm.getelementptr inbounds|nuw %103[%106] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %108 = llvm.load %107 : !llvm.ptr -> f32
    %109 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %110 = llvm.mlir.constant(16 : index) : i64
    %111 = llvm.mul %84, %110 overflow<nsw, nuw> : i64
    %112 = llvm.add %111, %89 overflow<nsw, nuw> : i64
    %113 = llvm.getelementptr inbounds|nuw %109[%112] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %114 = llvm.load %113 : !llvm.ptr -> f32
    %115 = llvm.fmul %102, %108 : f32
    %116 = llvm.fadd %114, %115 : f32
    %117 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %118 = llvm.mlir.constant(16 : index) : i64
    %119 = llvm.mul %84, %118 overflow<nsw, nuw> : i64
    %120 = llvm.add %119, %89 overflow<nsw, nuw> : i64
    %121 = llvm.getelementptr inbounds|nuw %117[%120] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %116, %121 : f32, !llvm.ptr
    %122 = llvm.add %95, %32 : i64
    %123 = builtin.unrealized_conversion_cast %122 : i64 to index
    llvm.br ^bb11(%122 : i64)
  ^bb13:  // pred: ^bb11
    %124 = llvm.add %90, %32 : i64
    %125 = builtin.unrealized_conversion_cast %124 : i64 to index
    llvm.br ^bb9(%124 : i64)
  ^bb14:  // pred: ^bb9
    %126 = llvm.add %85, %32 : i64
    %127 = builtin.unrealized_conversion_cast %126 : i64 to index
    llvm.br ^bb7(%126 : i64)
  ^bb15:  // pred: ^bb7
    %128 = llvm.mlir.constant(4 : index) : i64
    %129 = llvm.mlir.constant(16 : index) : i64
    %130 = llvm.mlir.constant(1 : index) : i64
    %131 = llvm.mlir.constant(64 : index) : i64
    %132 = llvm.mlir.zero : !llvm.ptr
    %133 = llvm.getelementptr %132[%131] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %134 = llvm.ptrtoint %133 : !llvm.ptr to i64
    %135 = llvm.mlir.constant(64 : index) : i64
    %136 = llvm.add %134, %135 : i64
    %137 = llvm.call @malloc(%136) : (i64) -> !llvm.ptr
    %138 = llvm.ptrtoint %137 : !llvm.ptr to i64
    %139 = llvm.mlir.constant(1 : index) : i64
    %140 = llvm.sub %135, %139 : i64
    %141 = llvm.add %138, %140 : i64
    %142 = llvm.urem %141, %135 : i64
    %143 = llvm.sub %141, %142 : i64
    %144 = llvm.inttoptr %143 : i64 to !llvm.ptr
    %145 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %146 = llvm.insertvalue %137, %145[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %147 = llvm.insertvalue %144, %146[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %148 = llvm.mlir.constant(0 : index) : i64
    %149 = llvm.insertvalue %148, %147[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %150 = llvm.insertvalue %128, %149[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %151 = llvm.insertvalue %129, %150[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %152 = llvm.insertvalue %129, %151[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %153 = llvm.insertvalue %130, %152[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    llvm.br ^bb16(%34 : i64)
  ^bb16(%154: i64):  // 2 preds: ^bb15, ^bb20
    %155 = builtin.unrealized_conversion_cast %154 : i64 to index
    %156 = builtin.unrealized_conversion_cast %155 : index to i64
    %157 = builtin.unrealized_conversion_cast %155 : index to i64
    %158 = llvm.icmp "slt" %157, %33 : i64
    llvm.cond_br %158, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    llvm.br ^bb18(%34 : i64)
  ^bb18(%159: i64):  // 2 preds: ^bb17, ^bb19
    %160 = builtin.unrealized_conversion_cast %159 : i64 to index
    %161 = builtin.unrealized_conversion_cast %160 : index to i64
    %162 = builtin.unrealized_conversion_cast %160 : index to i64
    %163 = llvm.icmp "slt" %162, %31 : i64
    llvm.cond_br %163, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %164 = llvm.extractvalue %62[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %165 = llvm.mlir.constant(16 : index) : i64
    %166 = llvm.mul %156, %165 overflow<nsw, nuw> : i64
    %167 = llvm.add %166, %161 overflow<nsw, nuw> : i64
    %168 = llvm.getelementptr inbounds|nuw %164[%167] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %169 = llvm.load %168 : !llvm.ptr -> f32
    %170 = llvm.fcmp "ugt" %169, %36 : f32
    %171 = llvm.select %170, %169, %36 : i1, f32
    %172 = llvm.extractvalue %153[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %173 = llvm.mlir.constant(16 : index) : i64
    %174 = llvm.mul %156, %173 overflow<nsw, nuw> : i64
    %175 = llvm.add %174, %161 overflow<nsw, nuw> : i64
    %176 = llvm.getelementptr inbounds|nuw %172[%175] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %171, %176 : f32, !llvm.ptr
    %177 = llvm.add %162, %32 : i64
    %178 = builtin.unrealized_conversion_cast %177 : i64 to index
    llvm.br ^bb18(%177 : i64)
  ^bb20:  // pred: ^bb18
    %179 = llvm.add %157, %32 : i64
    %180 = builtin.unrealized_conversion_cast %179 : i64 to index
    llvm.br ^bb16(%179 : i64)
  ^bb21:  // pred: ^bb16
    %181 = llvm.mlir.constant(1 : index) : i64
    %182 = llvm.extractvalue %153[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %183 = llvm.mul %181, %182 : i64
    %184 = llvm.extractvalue %153[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %185 = llvm.mul %183, %184 : i64
    %186 = llvm.mlir.zero : !llvm.ptr
    %187 = llvm.getelementptr %186[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %188 = llvm.ptrtoint %187 : !llvm.ptr to i64
    %189 = llvm.mul %185, %188 : i64
    %190 = llvm.extractvalue %153[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %191 = llvm.extractvalue %153[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %192 = llvm.getelementptr %190[%191] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %193 = llvm.extractvalue %27[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %194 = llvm.extractvalue %27[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %195 = llvm.getelementptr %193[%194] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    "llvm.intr.memcpy"(%195, %192, %189) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}
// ===== 16 reconcile-unrealized-casts
module @mm_relu {
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func @main(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: !llvm.ptr, %arg8: !llvm.ptr, %arg9: i64, %arg10: i64, %arg11: i64, %arg12: i64, %arg13: i64, %arg14: !llvm.ptr, %arg15: !llvm.ptr, %arg16: i64, %arg17: i64, %arg18: i64, %arg19: i64, %arg20: i64) {
    %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %1 = llvm.insertvalue %arg14, %0[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %2 = llvm.insertvalue %arg15, %1[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %3 = llvm.insertvalue %arg16, %2[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %4 = llvm.insertvalue %arg17, %3[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %5 = llvm.insertvalue %arg19, %4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %6 = llvm.insertvalue %arg18, %5[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %7 = llvm.insertvalue %arg20, %6[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %8 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %9 = llvm.insertvalue %arg7, %8[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %10 = llvm.insertvalue %arg8, %9[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %arg9, %10[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %arg10, %11[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %arg12, %12[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.insertvalue %arg11, %13[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %15 = llvm.insertvalue %arg13, %14[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %16 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %17 = llvm.insertvalue %arg0, %16[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %18 = llvm.insertvalue %arg1, %17[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %arg2, %18[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %arg3, %19[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %arg5, %20[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %arg4, %21[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %arg6, %22[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.mlir.constant(8 : index) : i64
    %25 = llvm.mlir.constant(16 : index) : i64
    %26 = llvm.mlir.constant(1 : index) : i64
    %27 = llvm.mlir.constant(4 : index) : i64
    %28 = llvm.mlir.constant(0 : index) : i64
    %29 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %30 = llvm.mlir.constant(4 : index) : i64
    %31 = llvm.mlir.constant(16 : index) : i64
    %32 = llvm.mlir.constant(1 : index) : i64
    %33 = llvm.mlir.constant(64 : index) : i64
    %34 = llvm.mlir.zero : !llvm.ptr
    %35 = llvm.getelementptr %34[%33] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %36 = llvm.ptrtoint %35 : !llvm.ptr to i64
    %37 = llvm.mlir.constant(64 : index) : i64
    %38 = llvm.add %36, %37 : i64
    %39 = llvm.call @malloc(%38) : (i64) -> !llvm.ptr
    %40 = llvm.ptrtoint %39 : !llvm.ptr to i64
    %41 = llvm.mlir.constant(1 : index) : i64
    %42 = llvm.sub %37, %41 : i64
    %43 = llvm.add %40, %42 : i64
    %44 = llvm.urem %43, %37 : i64
    %45 = llvm.sub %43, %44 : i64
    %46 = llvm.inttoptr %45 : i64 to !llvm.ptr
    %47 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %48 = llvm.insertvalue %39, %47[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %49 = llvm.insertvalue %46, %48[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %50 = llvm.mlir.constant(0 : index) : i64
    %51 = llvm.insertvalue %50, %49[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %52 = llvm.insertvalue %30, %51[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %53 = llvm.insertvalue %31, %52[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %54 = llvm.insertvalue %31, %53[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %55 = llvm.insertvalue %32, %54[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    llvm.br ^bb1(%28 : i64)
  ^bb1(%56: i64):  // 2 preds: ^bb0, ^bb5
    %57 = llvm.icmp "slt" %56, %27 : i64
    llvm.cond_br %57, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    llvm.br ^bb3(%28 : i64)
  ^bb3(%58: i64):  // 2 preds: ^bb2, ^bb4
    %59 = llvm.icmp "slt" %58, %25 : i64
    llvm.cond_br %59, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %60 = llvm.extractvalue %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %61 = llvm.mlir.constant(16 : index) : i64
    %62 = llvm.mul %56, %61 overflow<nsw, nuw> : i64
    %63 = llvm.add %62, %58 overflow<nsw, nuw> : i64
    %64 = llvm.getelementptr inbounds|nuw %60[%63] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %29, %64 : f32, !llvm.ptr
    %65 = llvm.add %58, %26 : i64
    llvm.br ^bb3(%65 : i64)
  ^bb5:  // pred: ^bb3
    %66 = llvm.add %56, %26 : i64
    llvm.br ^bb1(%66 : i64)
  ^bb6:  // pred: ^bb1
    llvm.br ^bb7(%28 : i64)
  ^bb7(%67: i64):  // 2 preds: ^bb6, ^bb14
    %68 = llvm.icmp "slt" %67, %27 : i64
    llvm.cond_br %68, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    llvm.br ^bb9(%28 : i64)
  ^bb9(%69: i64):  // 2 preds: ^bb8, ^bb13
    %70 = llvm.icmp "slt" %69, %25 : i64
    llvm.cond_br %70, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    llvm.br ^bb11(%28 : i64)
  ^bb11(%71: i64):  // 2 preds: ^bb10, ^bb12
    %72 = llvm.icmp "slt" %71, %24 : i64
    llvm.cond_br %72, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %73 = llvm.extractvalue %23[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %74 = llvm.mlir.constant(8 : index) : i64
    %75 = llvm.mul %67, %74 overflow<nsw, nuw> : i64
    %76 = llvm.add %75, %71 overflow<nsw, nuw> : i64
    %77 = llvm.getelementptr inbounds|nuw %73[%76] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %78 = llvm.load %77 : !llvm.ptr -> f32
    %79 = llvm.extractvalue %15[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %80 = llvm.mlir.constant(16 : index) : i64
    %81 = llvm.mul %71, %80 overflow<nsw, nuw> : i64
    %82 = llvm.add %81, %69 overflow<nsw, nuw> : i64
    %83 = llvm.getelementptr inbounds|nuw %79[%82] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %84 = llvm.load %83 : !llvm.ptr -> f32
    %85 = llvm.extractvalue %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %86 = llvm.mlir.constant(16 : index) : i64
    %87 = llvm.mul %67, %86 overflow<nsw, nuw> : i64
    %88 = llvm.add %87, %69 overflow<nsw, nuw> : i64
    %89 = llvm.getelementptr inbounds|nuw %85[%88] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %90 = llvm.load %89 : !llvm.ptr -> f32
    %91 = llvm.fmul %78, %84 : f32
    %92 = llvm.fadd %90, %91 : f32
    %93 = llvm.extractvalue %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %94 = llvm.mlir.constant(16 : index) : i64
    %95 = llvm.mul %67, %94 overflow<nsw, nuw> : i64
    %96 = llvm.add %95, %69 overflow<nsw, nuw> : i64
    %97 = llvm.getelementptr inbounds|nuw %93[%96] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %92, %97 : f32, !llvm.ptr
    %98 = llvm.add %71, %26 : i64
    llvm.br ^bb11(%98 : i64)
  ^bb13:  // pred: ^bb11
    %99 = llvm.add %69, %26 : i64
    llvm.br ^bb9(%99 : i64)
  ^bb14:  // pred: ^bb9
    %100 = llvm.add %67, %26 : i64
    llvm.br ^bb7(%100 : i64)
  ^bb15:  // pred: ^bb7
    %101 = llvm.mlir.constant(4 : index) : i64
    %102 = llvm.mlir.constant(16 : index) : i64
    %103 = llvm.mlir.constant(1 : index) : i64
    %104 = llvm.mlir.constant(64 : index) : i64
    %105 = llvm.mlir.zero : !llvm.ptr
    %106 = llvm.getelementptr %105[%104] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %107 = llvm.ptrtoint %106 : !llvm.ptr to i64
    %108 = llvm.mlir.constant(64 : index) : i64
    %109 = llvm.add %107, %108 : i64
    %110 = llvm.call @malloc(%109) : (i64) -> !llvm.ptr
    %111 = llvm.ptrtoint %110 : !llvm.ptr to i64
    %112 = llvm.mlir.constant(1 : index) : i64
    %113 = llvm.sub %108, %112 : i64
    %114 = llvm.add %111, %113 : i64
    %115 = llvm.urem %114, %108 : i64
    %116 = llvm.sub %114, %115 : i64
    %117 = llvm.inttoptr %116 : i64 to !llvm.ptr
    %118 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %119 = llvm.insertvalue %110, %118[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %120 = llvm.insertvalue %117, %119[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %121 = llvm.mlir.constant(0 : index) : i64
    %122 = llvm.insertvalue %121, %120[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %123 = llvm.insertvalue %101, %122[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %124 = llvm.insertvalue %102, %123[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %125 = llvm.insertvalue %102, %124[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %126 = llvm.insertvalue %103, %125[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    llvm.br ^bb16(%28 : i64)
  ^bb16(%127: i64):  // 2 preds: ^bb15, ^bb20
    %128 = llvm.icmp "slt" %127, %27 : i64
    llvm.cond_br %128, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    llvm.br ^bb18(%28 : i64)
  ^bb18(%129: i64):  // 2 preds: ^bb17, ^bb19
    %130 = llvm.icmp "slt" %129, %25 : i64
    llvm.cond_br %130, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %131 = llvm.extractvalue %55[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %132 = llvm.mlir.constant(16 : index) : i64
    %133 = llvm.mul %127, %132 overflow<nsw, nuw> : i64
    %134 = llvm.add %133, %129 overflow<nsw, nuw> : i64
    %135 = llvm.getelementptr inbounds|nuw %131[%134] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %136 = llvm.load %135 : !llvm.ptr -> f32
    %137 = llvm.fcmp "ugt" %136, %29 : f32
    %138 = llvm.select %137, %136, %29 : i1, f32
    %139 = llvm.extractvalue %126[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %140 = llvm.mlir.constant(16 : index) : i64
    %141 = llvm.mul %127, %140 overflow<nsw, nuw> : i64
    %142 = llvm.add %141, %129 overflow<nsw, nuw> : i64
    %143 = llvm.getelementptr inbounds|nuw %139[%142] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %138, %143 : f32, !llvm.ptr
    %144 = llvm.add %129, %26 : i64
    llvm.br ^bb18(%144 : i64)
  ^bb20:  // pred: ^bb18
    %145 = llvm.add %127, %26 : i64
    llvm.br ^bb16(%145 : i64)
  ^bb21:  // pred: ^bb16
    %146 = llvm.mlir.constant(1 : index) : i64
    %147 = llvm.extractvalue %126[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %148 = llvm.mul %146, %147 : i64
    %149 = llvm.extractvalue %126[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %150 = llvm.mul %148, %149 : i64
    %151 = llvm.mlir.zero : !llvm.ptr
    %152 = llvm.getelementptr %151[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %153 = llvm.ptrtoint %152 : !llvm.ptr to i64
    %154 = llvm.mul %150, %153 : i64
    %155 = llvm.extractvalue %126[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %156 = llvm.extractvalue %126[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %157 = llvm.getelementptr %155[%156] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %158 = llvm.extractvalue %7[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %159 = llvm.extractvalue %7[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %160 = llvm.getelementptr %158[%159] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    "llvm.intr.memcpy"(%160, %157, %154) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    llvm.return
  }
}
