"""StableHLO for unit 1, written by torch-mlir 20261001 with torch 2.13.0.

torch-mlir is 80 MB to download and 270 MB on the disk, so it is no part of the everyday set-up. This
is what it printed; where it is installed, the notebook and tests/units/test_u01.py show that it still does:

    torch_mlir.fx.export_and_import(model, x, output_type="stablehlo")

The weights are left out. Next room: autograder/units/u01/answers/__init__.py.
"""

# ruff: noqa: E501  (another tool's text)

TORCH_MLIR = "20261001"

# The model Gate of the notebook, on f32[2,8].
GATE = """module {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x4xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_4_torch.float32_1> : tensor<4xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %cst_1 = stablehlo.constant dense_resource<torch_tensor_4_8_torch.float32> : tensor<4x8xf32>
    %cst_2 = arith.constant dense<1> : tensor<1xi64>
    %cst_3 = arith.constant dense<2.000000e+00> : tensor<1xf64>
    %0 = stablehlo.transpose %cst_1, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.convert %cst_2 : (tensor<1xi64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<2x4xf32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.multiply %6, %cst_0 : tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %9 = stablehlo.add %5, %8 : tensor<2x4xf32>
    %10 = stablehlo.logistic %9 : tensor<2x4xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<2x4xf32>
    %12 = stablehlo.convert %cst_3 : (tensor<1xf64>) -> tensor<1xf32>
    %13 = stablehlo.reshape %12 : (tensor<1xf32>) -> tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %15 = stablehlo.multiply %14, %cst : tensor<4xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %17 = stablehlo.multiply %11, %16 : tensor<2x4xf32>
    return %17 : tensor<2x4xf32>
  }
}
"""

# The model Head of the notebook, on f32[8,8], after somebody changed two numbers in it.
CHANGED_HEAD = """module {
  func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_8_torch.float32_1> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_8_8_torch.float32_1> : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_2 = stablehlo.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %cst_2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
    %3 = stablehlo.maximum %2, %cst_3 : tensor<8x8xf32>
    %4 = stablehlo.dot_general %3, %cst_0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x8xf32>
    %7 = stablehlo.reduce(%6 init: %cst_4) applies stablehlo.maximum across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %8 = stablehlo.reshape %7 : (tensor<8xf32>) -> tensor<8x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %10 = stablehlo.subtract %6, %9 : tensor<8x8xf32>
    %11 = stablehlo.exponential %10 : tensor<8x8xf32>
    %12 = stablehlo.reduce(%11 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %13 = stablehlo.reshape %12 : (tensor<8xf32>) -> tensor<8x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %15 = stablehlo.divide %11, %14 : tensor<8x8xf32>
    return %15 : tensor<8x8xf32>
  }
}
"""
