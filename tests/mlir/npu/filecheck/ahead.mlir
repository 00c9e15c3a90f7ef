// RUN: %npu %s --passes ahead | %filecheck %s
// The second load goes to another slot than the work in front of it: it may come first. The third
// may not: that slot is in use.

!x = memref<12x4xi8, #npu.space<dram>>
!s = memref<2x4x4xi8, #npu.space<acts>>
!t = memref<4x4xi8, #npu.space<acts>>

// CHECK:      npu.dma_load %x[0, 0] [4, 4] to %a
// CHECK-NEXT: npu.dma_load %x[4, 0] [4, 4] to %b
// CHECK-NEXT: npu.dma_store %a to %y[0, 0]
// CHECK-NEXT: npu.dma_store %b to %y[4, 0]
// CHECK-NEXT: npu.dma_load %x[8, 0] [4, 4] to %b
// CHECK-NEXT: npu.dma_store %b to %y[8, 0]
func.func @copy(%x: !x, %y: !x) {
  %xs = npu.buffer : !s
  %a = npu.slot %xs[0] [4, 4] : !s to !t
  %b = npu.slot %xs[1] [4, 4] : !s to !t
  npu.dma_load %x[0, 0] [4, 4] to %a : !x to !t
  npu.dma_store %a to %y[0, 0] [4, 4] : !t to !x
  npu.dma_load %x[4, 0] [4, 4] to %b : !x to !t
  npu.dma_store %b to %y[4, 0] [4, 4] : !t to !x
  npu.dma_load %x[8, 0] [4, 4] to %b : !x to !t
  npu.dma_store %b to %y[8, 0] [4, 4] : !t to !x
  func.return
}
