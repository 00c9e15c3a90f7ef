// RUN: %npu %s --passes unroll | %filecheck %s
// Positions and sizes become numbers, the last tile a smaller one.

!x = memref<9x4xi8, #npu.space<dram>>
!s = memref<2x4x4xi8, #npu.space<acts>>
!t = memref<?x4xi8, #npu.space<acts>>

// CHECK-LABEL: func.func @copy
// CHECK-NEXT:    %xs = npu.buffer
// CHECK-NEXT:    %[[A:.*]] = npu.slot %xs[0] [4, 4]
// CHECK-NEXT:    npu.dma_load %x[0, 0] [4, 4] to %[[A]] :
// CHECK-NEXT:    npu.dma_store %[[A]] to %y[0, 0] [4, 4] :
// CHECK-NEXT:    %[[B:.*]] = npu.slot %xs[1] [4, 4]
// CHECK-NEXT:    npu.dma_load %x[4, 0] [4, 4] to %[[B]] :
// CHECK-NEXT:    npu.dma_store %[[B]] to %y[4, 0] [4, 4] :
// CHECK-NEXT:    %[[C:.*]] = npu.slot %xs[0] [1, 4] : {{.*}} to memref<1x4xi8, #npu.space<acts>>
// CHECK-NEXT:    npu.dma_load %x[8, 0] [1, 4] to %[[C]] :
// CHECK-NEXT:    npu.dma_store %[[C]] to %y[8, 0] [1, 4] :
// CHECK-NEXT:    func.return
func.func @copy(%x: !x, %y: !x) {
  %xs = npu.buffer : !s
  affine.for %i = 0 to 9 step 4 {
    %m = affine.min affine_map<(d0) -> (4, 9 - d0)>(%i)
    %s = affine.apply affine_map<(d0) -> (d0 floordiv 4 mod 2)>(%i)
    %t = npu.slot %xs[%s] [%m, 4] : !s to !t
    npu.dma_load %x[%i, 0] [%m, 4] to %t : !x to !t
    npu.dma_store %t to %y[%i, 0] [%m, 4] : !t to !x
  }
  func.return
}
