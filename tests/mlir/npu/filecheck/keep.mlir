// RUN: %npu %s --passes keep | %filecheck %s
// What stands in a slot is not loaded again, unless something else was there in between.

!x = memref<9x4xi8, #npu.space<dram>>
!s = memref<2x4x4xi8, #npu.space<acts>>
!t = memref<4x4xi8, #npu.space<acts>>

// CHECK:      %[[A:.*]] = npu.slot %xs[0]
// CHECK-NEXT: %[[B:.*]] = npu.slot %xs[1]
// CHECK-NEXT: npu.dma_load %x[0, 0] [4, 4] to %[[A]]
// CHECK-NEXT: npu.dma_load %x[0, 0] [4, 4] to %[[B]]
// CHECK-NEXT: npu.dma_load %x[4, 0] [4, 4] to %[[B]]
// CHECK-NEXT: npu.dma_load %x[0, 0] [4, 4] to %[[B]]
// CHECK-NEXT: npu.dma_store %[[A]] to %x[4, 0]
// CHECK-NEXT: npu.dma_load %x[0, 0] [4, 4] to %[[A]]
// CHECK-NEXT: func.return
func.func @again(%x: !x) {
  %xs = npu.buffer : !s
  %a = npu.slot %xs[0] [4, 4] : !s to !t
  %b = npu.slot %xs[1] [4, 4] : !s to !t
  npu.dma_load %x[0, 0] [4, 4] to %a : !x to !t
  npu.dma_load %x[0, 0] [4, 4] to %a : !x to !t    // already there
  npu.dma_load %x[0, 0] [4, 4] to %b : !x to !t
  npu.dma_load %x[4, 0] [4, 4] to %b : !x to !t
  npu.dma_load %x[0, 0] [4, 4] to %a : !x to !t    // still there
  npu.dma_load %x[0, 0] [4, 4] to %b : !x to !t    // was overwritten
  npu.dma_store %a to %x[4, 0] [4, 4] : !t to !x   // changes the array
  npu.dma_load %x[0, 0] [4, 4] to %a : !x to !t
  func.return
}
