// RUN: %npu %s --passes rename | %filecheck %s
// RUN: %npu %s --passes rename,overwrite | %filecheck %s --check-prefix=OVER
// New sums in the next accumulators; and no zeros, but products that overwrite.

!x = memref<4x4xi8, #npu.space<acts>>
!w = memref<4x4xi8, #npu.space<weights>>
!xs = memref<1x4x4xi8, #npu.space<acts>>
!ws = memref<1x4x4xi8, #npu.space<weights>>
!accs = memref<1x32x4xi32, #npu.space<accs>>
!s = memref<4x4xi32, #npu.space<accs>>
!y = memref<8x4xi32, #npu.space<dram>>

// CHECK:      %accs = npu.buffer : memref<2x32x4xi32, #npu.space<accs>>
// CHECK:      %[[A:.*]] = npu.slot %accs[0] [4, 4]
// CHECK-NEXT: npu.clear %[[A]]
// CHECK-NEXT: npu.matmul %x, %w into %[[A]] :
// CHECK-NEXT: npu.dma_store %[[A]] to %y[0, 0]
// CHECK-NEXT: %[[B:.*]] = npu.slot %accs[1] [4, 4]
// CHECK-NEXT: npu.clear %[[B]]
// CHECK-NEXT: npu.matmul %x, %w into %[[B]] :
// CHECK-NEXT: npu.matmul %x, %w into %[[B]] :
// CHECK-NEXT: npu.dma_store %[[B]] to %y[4, 0]

// OVER-NOT:   npu.clear
// OVER:       npu.matmul %x, %w into %[[A:.*]] {overwrite} :
// OVER:       npu.matmul %x, %w into %[[B:.*]] {overwrite} :
// OVER-NEXT:  npu.matmul %x, %w into %[[B]] :
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @twice(%y: !y) {
    %xs = npu.buffer : !xs
    %ws = npu.buffer : !ws
    %accs = npu.buffer : !accs
    %x = npu.slot %xs[0] [4, 4] : !xs to !x
    %w = npu.slot %ws[0] [4, 4] : !ws to !w
    %s = npu.slot %accs[0] [4, 4] : !accs to !s
    npu.clear %s : !s
    npu.matmul %x, %w into %s : !x, !w into !s
    npu.dma_store %s to %y[0, 0] [4, 4] : !s to !y
    npu.clear %s : !s
    npu.matmul %x, %w into %s : !x, !w into !s
    npu.matmul %x, %w into %s : !x, !w into !s
    npu.dma_store %s to %y[4, 0] [4, 4] : !s to !y
    func.return
  }
}
