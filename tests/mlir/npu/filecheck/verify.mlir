// RUN: not %npu %s --emit unroll 2>&1 | %filecheck %s
// A tile that does not fit the array is refused where it is made, with the number of the machine.
// CHECK:      error: npu.matmul: 5 columns of weights, but the array has 4
// CHECK-NEXT:   in npu.matmul %x, %w into %s :
!x = memref<4x4xi8, #npu.space<acts>>
!w = memref<4x5xi8, #npu.space<weights>>
!s = memref<4x5xi32, #npu.space<accs>>
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @wide(%x: !x, %w: !w, %s: !s) {
    npu.matmul %x, %w into %s : !x, !w into !s
    func.return
  }
}
