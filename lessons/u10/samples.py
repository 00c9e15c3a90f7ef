"""The Toy programs that the notebook of unit 10 prints, before and after a pass.

    TWICE     transpose(transpose(a) * transpose(b)), with known shapes
    SHARED    two transposes in a row, of which the first has another user

Next room: program.py, the same product in MLIR.
"""

from __future__ import annotations

TOY = """\
def twice(a, b) { return transpose(transpose(a) * transpose(b)); }
def main() { print(twice([[1, 2, 3], [4, 5, 6]], [[6, 5, 4], [3, 2, 1]])); }
"""
TWICE = """\
toy.func @twice(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = toy.transpose %a : tensor<2x3xf64> to tensor<3x2xf64>
  %1 = toy.transpose %b : tensor<2x3xf64> to tensor<3x2xf64>
  %2 = toy.mul %0, %1 : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  %3 = toy.transpose %2 : tensor<3x2xf64> to tensor<2x3xf64>
  toy.return %3 : tensor<2x3xf64>
}
"""
SHARED = """\
toy.func @f(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> to tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> to tensor<2x3xf64>
  toy.print %0 : tensor<3x2xf64>
  toy.return %1 : tensor<2x3xf64>
}
"""
TURNED = """\
toy.func @f(%x: tensor<2x3xf64>) -> tensor<*xf64> {
  %0 = toy.transpose %x : tensor<2x3xf64> to tensor<3x2xf64>
  %1 = toy.transpose %0 : tensor<3x2xf64> to tensor<*xf64>
  toy.return %1 : tensor<*xf64>
}
"""
LAYER = """\
toy.func @layer(%x: tensor<8x4xf64>, %w: tensor<8x16xf64>, %b: tensor<4x16xf64>) -> tensor<*xf64> {
  %0 = toy.transpose %x : tensor<8x4xf64> to tensor<*xf64>
  %1 = toy.matmul %0, %w : (tensor<*xf64>, tensor<8x16xf64>) -> tensor<*xf64>
  %2 = toy.add %1, %b : (tensor<*xf64>, tensor<4x16xf64>) -> tensor<*xf64>
  toy.return %2 : tensor<*xf64>
}
"""
