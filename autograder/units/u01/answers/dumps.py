"""What other compilers wrote for unit 1: StableHLO by torch-mlir 20261001 with torch 2.13.0, and the
forms of a product by tinygrad 0.14.0.

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

# A product of f32[4,16] and f32[16,16] in tinygrad 0.14.0, its optimizations off: see forms.py.
TINYGRAD = {
    "tensors": """%0 = BUFFER(64) : (64,)
%1 = RESHAPE(%0, (4, 16)) : (4, 16)
%2 = RESHAPE(%1, (4, 1, 16)) : (4, 1, 16)
%3 = BUFFER(256) : (256,)
%4 = RESHAPE(%3, (16, 16)) : (16, 16)
%5 = RESHAPE(%4, (1, 16, 16)) : (1, 16, 16)
%6 = PERMUTE(%5, (0, 2, 1)) : (1, 16, 16)
%7 = MUL(%2, %6) : (4, 16, 16)
%8 = PERMUTE(%7, (2, 0, 1)) : (16, 4, 16)
%9 = REDUCE(%8, (Ops.ADD, 1)) : (4, 16)
""",
    "kernel": """c1 = UOp(Ops.PARAM, dtypes.float, (UOp.const(64, dtypes.weakint),), ParamArg(0, dtypes.float, device='PYTHON'))
c3 = UOp.range(4, 1, AxisType.WEAK)
c5 = c3*UOp.const(16, dtypes.weakint)
c6 = UOp.range(16, 2, AxisType.WEAK)
c9 = UOp(Ops.PARAM, dtypes.float, (UOp.const(64, dtypes.weakint),), ParamArg(1, dtypes.float, device='PYTHON'))
c10 = UOp.range(16, 0, AxisType.REDUCE)
c14 = UOp(Ops.PARAM, dtypes.float, (UOp.const(256, dtypes.weakint),), ParamArg(2, dtypes.float, device='PYTHON'))
c18 = c9.index((c5+c10))*c14.index((c10*UOp.const(16, dtypes.weakint)+c6))
c19 = c18.reduce(c10, arg=(Ops.ADD, 0))
c21 = c1.index((c5+c6)).store(c19).end(c3, c6)
ast = c21.sink(arg=KernelInfo(name='test', axis_types=(), dont_use_locals=False, applied_opts=(), opts_to_apply=(), estimates=None, beam=0))
""",
    "linear": """%0 = PARAM(64, argument 0)
%1 = PARAM(64, argument 1)
%2 = PARAM(256, argument 2)
%3 = BUFFER(1)
%4 = RANGE(4, loop 1 weak)
%5 = SHL(%4, 4)
%6 = RANGE(16, %4, loop 2 weak)
%7 = AFTER(%3, %4, %6)
%8 = INDEX(%7, 0)
%9 = STORE(%8, 0)
%10 = RANGE(16, %6, loop 0 reduce)
%11 = ADD(%5, %10)
%12 = INDEX(%1, %11)
%13 = LOAD(%12)
%14 = SHL(%10, 4)
%15 = ADD(%14, %6)
%16 = INDEX(%2, %15)
%17 = LOAD(%16)
%18 = AFTER(%3, %9, %10)
%19 = INDEX(%18, 0)
%20 = LOAD(%19)
%21 = MUL(%13, %17)
%22 = ADD(%20, %21)
%23 = STORE(%19, %22)
%24 = END(%23, %10)
%25 = AFTER(%3, %24)
%26 = INDEX(%25, 0)
%27 = LOAD(%26)
%28 = ADD(%5, %6)
%29 = INDEX(%0, %28)
%30 = STORE(%29, %27)
%31 = END(%30, %6)
%32 = END(%31, %4)
%33 = SINK(%32)
""",
    "source": """void r_4_16_16(float* restrict data0_64, float* restrict data1_64, float* restrict data2_256) {
  float buf0[1];
  for (int Lidx1 = 0; Lidx1 < 4; Lidx1++) {
    int alu0 = (Lidx1<<4);
    for (int Lidx2 = 0; Lidx2 < 16; Lidx2++) {
      *(buf0+0) = 0.0f;
      for (int Ridx0 = 0; Ridx0 < 16; Ridx0++) {
        float val0 = (*(data1_64+(alu0+Ridx0)));
        float val1 = (*(data2_256+((Ridx0<<4)+Lidx2)));
        *(buf0+0) = ((*(buf0+0))+(val0*val1));
      }
      *(data0_64+(alu0+Lidx2)) = (*(buf0+0));
    }
  }
}
""",
}
