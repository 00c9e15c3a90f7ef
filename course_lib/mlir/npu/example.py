"""The text that everything here begins with: a product in `linalg`, with or without its pipeline.

    print(linalg_text(197, 768, 768, low=0))     # x @ w, bias, scale, ReLU, int8

What stands behind the product is what quantized models have there: bias, scale, rounding half to
even, limits. Next room: `machine.py`.
"""

from __future__ import annotations

PIPELINE = """\
  %low = arith.constant {low}.0 : f32
  %high = arith.constant {high}.0 : f32
  %place = tensor.empty() : tensor<{m}x{n}xi8>
  %y = linalg.generic {{indexing_maps = [#both, #column, #column, #both],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%sums, %bias, %scale : tensor<{m}x{n}xi32>, tensor<{n}xi32>, tensor<{n}xf32>)
      outs(%place : tensor<{m}x{n}xi8>) {{
  ^bb0(%s: i32, %b: i32, %c: f32, %old: i8):
    %0 = arith.addi %s, %b : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %c : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.minimumf %4, %high : f32
    %6 = arith.fptosi %5 : f32 to i8
    linalg.yield %6 : i8
  }} -> tensor<{m}x{n}xi8>
"""
PRODUCT = """\
#both = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
func.func @dense(%x: tensor<{m}x{k}xi8>, %w: tensor<{k}x{n}xi8>{more}) -> {result} {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<{m}x{n}xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
  %sums = linalg.matmul ins(%x, %w : tensor<{m}x{k}xi8>, tensor<{k}x{n}xi8>)
                        outs(%zeros : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
{pipeline}  return {value} : {result}
}}
"""


def linalg_text(
    m: int, k: int, n: int, low: int = -128, high: int = 127, pipeline: bool = True
) -> str:
    """int8[m, k] @ int8[k, n]: int8 behind the output pipeline, ReLU with low = 0; without it, the
    int32 sums."""
    sizes = {"m": m, "k": k, "n": n}
    if not pipeline:
        result = f"tensor<{m}x{n}xi32>"
        return PRODUCT.format(**sizes, more="", result=result, pipeline="", value="%sums")
    more = f",\n                 %bias: tensor<{n}xi32>, %scale: tensor<{n}xf32>"
    behind = PIPELINE.format(**sizes, low=low, high=high)
    result = f"tensor<{m}x{n}xi8>"
    return PRODUCT.format(**sizes, more=more, result=result, pipeline=behind, value="%y")
