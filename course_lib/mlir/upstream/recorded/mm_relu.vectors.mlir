// tool: torch-mlir 20261001
// machine: any
// date: 2026-11-23
// by: course_lib.mlir.upstream.makers:vectors
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
// ===== 5 func.func(convert-linalg-to-affine-loops)
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 16 {
        affine.store %cst, %alloc[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 16 {
        affine.for %arg5 = 0 to 8 {
          %0 = affine.load %arg0[%arg3, %arg5] : memref<4x8xf32>
          %1 = affine.load %arg1[%arg5, %arg4] : memref<8x16xf32>
          %2 = affine.load %alloc[%arg3, %arg4] : memref<4x16xf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %2, %3 : f32
          affine.store %4, %alloc[%arg3, %arg4] : memref<4x16xf32>
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 16 {
        %0 = affine.load %alloc[%arg3, %arg4] : memref<4x16xf32>
        %1 = arith.cmpf ugt, %0, %cst : f32
        %2 = arith.select %1, %0, %cst : f32
        affine.store %2, %alloc_0[%arg3, %arg4] : memref<4x16xf32>
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 6 func.func(affine-loop-tile{tile-sizes=2,8,4})
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) {
            affine.store %cst, %alloc[%arg5, %arg6] : memref<4x16xf32>
          }
        }
      }
    }
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = 0 to 8 step 4 {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
            affine.for %arg7 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) {
              affine.for %arg8 = affine_map<(d0) -> (d0)>(%arg5) to affine_map<(d0) -> (d0 + 4)>(%arg5) {
                %0 = affine.load %arg0[%arg6, %arg8] : memref<4x8xf32>
                %1 = affine.load %arg1[%arg8, %arg7] : memref<8x16xf32>
                %2 = affine.load %alloc[%arg6, %arg7] : memref<4x16xf32>
                %3 = arith.mulf %0, %1 : f32
                %4 = arith.addf %2, %3 : f32
                affine.store %4, %alloc[%arg6, %arg7] : memref<4x16xf32>
              }
            }
          }
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) {
            %0 = affine.load %alloc[%arg5, %arg6] : memref<4x16xf32>
            %1 = arith.cmpf ugt, %0, %cst : f32
            %2 = arith.select %1, %0, %cst : f32
            affine.store %2, %alloc_0[%arg5, %arg6] : memref<4x16xf32>
          }
        }
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 7 func.func(affine-super-vectorize{virtual-vector-size=8})
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) step 8 {
            %cst_1 = arith.constant dense<0.000000e+00> : vector<8xf32>
            vector.transfer_write %cst_1, %alloc[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = 0 to 8 step 4 {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
            affine.for %arg7 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) step 8 {
              affine.for %arg8 = affine_map<(d0) -> (d0)>(%arg5) to affine_map<(d0) -> (d0 + 4)>(%arg5) {
                %0 = ub.poison : f32
                %1 = vector.transfer_read %arg0[%arg6, %arg8], %0 {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : memref<4x8xf32>, vector<8xf32>
                %2 = ub.poison : f32
                %3 = vector.transfer_read %arg1[%arg8, %arg7], %2 {in_bounds = [true]} : memref<8x16xf32>, vector<8xf32>
                %4 = ub.poison : f32
                %5 = vector.transfer_read %alloc[%arg6, %arg7], %4 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
                %6 = arith.mulf %1, %3 : vector<8xf32>
                %7 = arith.addf %5, %6 : vector<8xf32>
                vector.transfer_write %7, %alloc[%arg6, %arg7] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
              }
            }
          }
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    affine.for %arg3 = 0 to 4 step 2 {
      affine.for %arg4 = 0 to 16 step 8 {
        affine.for %arg5 = affine_map<(d0) -> (d0)>(%arg3) to affine_map<(d0) -> (d0 + 2)>(%arg3) {
          affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg4) to affine_map<(d0) -> (d0 + 8)>(%arg4) step 8 {
            %cst_1 = arith.constant dense<0.000000e+00> : vector<8xf32>
            %0 = ub.poison : f32
            %1 = vector.transfer_read %alloc[%arg5, %arg6], %0 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
            %2 = arith.cmpf ugt, %1, %cst_1 : vector<8xf32>
            %3 = arith.select %2, %1, %cst_1 : vector<8xi1>, vector<8xf32>
            vector.transfer_write %3, %alloc_0[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 8 lower-affine
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    scf.for %arg3 = %c0 to %c4 step %c2 {
      %c0_7 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c8 = arith.constant 8 : index
      scf.for %arg4 = %c0_7 to %c16 step %c8 {
        %c2_8 = arith.constant 2 : index
        %0 = arith.addi %arg3, %c2_8 : index
        %c1 = arith.constant 1 : index
        scf.for %arg5 = %arg3 to %0 step %c1 {
          %c8_9 = arith.constant 8 : index
          %1 = arith.addi %arg4, %c8_9 : index
          %c8_10 = arith.constant 8 : index
          scf.for %arg6 = %arg4 to %1 step %c8_10 {
            %cst_11 = arith.constant dense<0.000000e+00> : vector<8xf32>
            vector.transfer_write %cst_11, %alloc[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    %c0_0 = arith.constant 0 : index
    %c4_1 = arith.constant 4 : index
    %c2_2 = arith.constant 2 : index
    scf.for %arg3 = %c0_0 to %c4_1 step %c2_2 {
      %c0_7 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c8 = arith.constant 8 : index
      scf.for %arg4 = %c0_7 to %c16 step %c8 {
        %c0_8 = arith.constant 0 : index
        %c8_9 = arith.constant 8 : index
        %c4_10 = arith.constant 4 : index
        scf.for %arg5 = %c0_8 to %c8_9 step %c4_10 {
          %c2_11 = arith.constant 2 : index
          %0 = arith.addi %arg3, %c2_11 : index
          %c1 = arith.constant 1 : index
          scf.for %arg6 = %arg3 to %0 step %c1 {
            %c8_12 = arith.constant 8 : index
            %1 = arith.addi %arg4, %c8_12 : index
            %c8_13 = arith.constant 8 : index
            scf.for %arg7 = %arg4 to %1 step %c8_13 {
              %c4_14 = arith.constant 4 : index
              %2 = arith.addi %arg5, %c4_14 : index
              %c1_15 = arith.constant 1 : index
              scf.for %arg8 = %arg5 to %2 step %c1_15 {
                %3 = ub.poison : f32
                %4 = vector.transfer_read %arg0[%arg6, %arg8], %3 {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : memref<4x8xf32>, vector<8xf32>
                %5 = ub.poison : f32
                %6 = vector.transfer_read %arg1[%arg8, %arg7], %5 {in_bounds = [true]} : memref<8x16xf32>, vector<8xf32>
                %7 = ub.poison : f32
                %8 = vector.transfer_read %alloc[%arg6, %arg7], %7 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
                %9 = arith.mulf %4, %6 : vector<8xf32>
                %10 = arith.addf %8, %9 : vector<8xf32>
                vector.transfer_write %10, %alloc[%arg6, %arg7] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
              }
            }
          }
        }
      }
    }
    %alloc_3 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    %c0_4 = arith.constant 0 : index
    %c4_5 = arith.constant 4 : index
    %c2_6 = arith.constant 2 : index
    scf.for %arg3 = %c0_4 to %c4_5 step %c2_6 {
      %c0_7 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c8 = arith.constant 8 : index
      scf.for %arg4 = %c0_7 to %c16 step %c8 {
        %c2_8 = arith.constant 2 : index
        %0 = arith.addi %arg3, %c2_8 : index
        %c1 = arith.constant 1 : index
        scf.for %arg5 = %arg3 to %0 step %c1 {
          %c8_9 = arith.constant 8 : index
          %1 = arith.addi %arg4, %c8_9 : index
          %c8_10 = arith.constant 8 : index
          scf.for %arg6 = %arg4 to %1 step %c8_10 {
            %cst_11 = arith.constant dense<0.000000e+00> : vector<8xf32>
            %2 = ub.poison : f32
            %3 = vector.transfer_read %alloc[%arg5, %arg6], %2 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
            %4 = arith.cmpf ugt, %3, %cst_11 : vector<8xf32>
            %5 = arith.select %4, %3, %cst_11 : vector<8xi1>, vector<8xf32>
            vector.transfer_write %5, %alloc_3[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    memref.copy %alloc_3, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
// ===== 9 canonicalize
module @mm_relu {
  func.func @main(%arg0: memref<4x8xf32>, %arg1: memref<8x16xf32>, %arg2: memref<4x16xf32>) {
    %0 = ub.poison : f32
    %cst = arith.constant dense<0.000000e+00> : vector<8xf32>
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c2 {
      scf.for %arg4 = %c0 to %c16 step %c8 {
        %1 = arith.addi %arg3, %c2 : index
        scf.for %arg5 = %arg3 to %1 step %c1 {
          %2 = arith.addi %arg4, %c8 : index
          scf.for %arg6 = %arg4 to %2 step %c8 {
            vector.transfer_write %cst, %alloc[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    scf.for %arg3 = %c0 to %c4 step %c2 {
      scf.for %arg4 = %c0 to %c16 step %c8 {
        scf.for %arg5 = %c0 to %c8 step %c4 {
          %1 = arith.addi %arg3, %c2 : index
          scf.for %arg6 = %arg3 to %1 step %c1 {
            %2 = arith.addi %arg4, %c8 : index
            scf.for %arg7 = %arg4 to %2 step %c8 {
              %3 = arith.addi %arg5, %c4 : index
              scf.for %arg8 = %arg5 to %3 step %c1 {
                %4 = vector.transfer_read %arg0[%arg6, %arg8], %0 {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : memref<4x8xf32>, vector<8xf32>
                %5 = vector.transfer_read %arg1[%arg8, %arg7], %0 {in_bounds = [true]} : memref<8x16xf32>, vector<8xf32>
                %6 = vector.transfer_read %alloc[%arg6, %arg7], %0 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
                %7 = arith.mulf %4, %5 : vector<8xf32>
                %8 = arith.addf %6, %7 : vector<8xf32>
                vector.transfer_write %8, %alloc[%arg6, %arg7] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
              }
            }
          }
        }
      }
    }
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
    scf.for %arg3 = %c0 to %c4 step %c2 {
      scf.for %arg4 = %c0 to %c16 step %c8 {
        %1 = arith.addi %arg3, %c2 : index
        scf.for %arg5 = %arg3 to %1 step %c1 {
          %2 = arith.addi %arg4, %c8 : index
          scf.for %arg6 = %arg4 to %2 step %c8 {
            %3 = vector.transfer_read %alloc[%arg5, %arg6], %0 {in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
            %4 = arith.cmpf ugt, %3, %cst : vector<8xf32>
            %5 = arith.select %4, %3, %cst : vector<8xi1>, vector<8xf32>
            vector.transfer_write %5, %alloc_0[%arg5, %arg6] {in_bounds = [true]} : vector<8xf32>, memref<4x16xf32>
          }
        }
      }
    }
    memref.copy %alloc_0, %arg2 : memref<4x16xf32> to memref<4x16xf32>
    return
  }
}
