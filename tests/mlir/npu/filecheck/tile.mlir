// RUN: %npu %s --passes tile | %filecheck %s
// Loops over tiles. 9 rows in tiles of 5 are ragged, and so are 5 columns on 4 cells: affine.min.

!x = memref<9x8xi8, #npu.space<dram>>
!w = memref<8x5xi8, #npu.panels<4>, #npu.space<dram>>
!p = memref<2x2x4xi32, #npu.space<dram>>
!y = memref<9x5xi8, #npu.space<dram>>

// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %xs = npu.buffer : memref<1x5x8xi8, #npu.space<acts>>
// CHECK-NEXT:    %ws = npu.buffer : memref<1x2x8x4xi8, #npu.space<weights>>
// CHECK-NEXT:    %accs = npu.buffer : memref<1x5x4xi32, #npu.space<accs>>
// CHECK-NEXT:    %entries = npu.buffer : memref<1x2x2x4xi32, #npu.space<params>>
// CHECK-NEXT:    %out = npu.buffer : memref<1x5x4xi8, #npu.space<acts>>
// CHECK-NEXT:    affine.for %i = 0 to 9 step 5 {
// CHECK-NEXT:      %group = npu.slot %entries[0] [2, 2, 4]
// CHECK-NEXT:      npu.dma_load %params[0, 0, 0] [2, 2, 4] to %group
// CHECK-NEXT:      %m = affine.min affine_map<(d0) -> (5, ((d0 * -1) + 9))> (%i)
// CHECK-NEXT:      %xt = npu.slot %xs[0] [%m, 8]
// CHECK-NEXT:      npu.dma_load %x[%i, 0] [%m, 8] to %xt : memref<9x8xi8, #npu.space<dram>> to memref<?x8xi8, #npu.space<acts>>
// CHECK-NEXT:      affine.for %b = 0 to 2 {
// CHECK-NEXT:        %at = affine.apply affine_map<(d0) -> ((d0 * 4))> (%b)
// CHECK-NEXT:        %n = affine.min affine_map<(d0) -> (4, ((d0 * -1) + 5))> (%at)
// CHECK-NEXT:        %wt = npu.slot %ws[0, %b] [8, %n]
// CHECK-NEXT:        npu.dma_load %w[0, %at] [8, %n] to %wt
// CHECK-NEXT:      }
// CHECK-NEXT:      affine.for
// CHECK:             npu.clear %sums
// CHECK-NEXT:        npu.matmul %xt, %{{.*}} into %sums
// CHECK:             npu.activate %sums, %entry into %result {low = 0 : i64, high = 127 : i64}
// CHECK-NEXT:        npu.dma_store %result to %y[%i, %{{.*}}] [%m, %{{.*}}]
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @dense(%x: !x, %w: !w, %params: !p, %y: !y) {
    npu.product %x, %w, %params into %y {low = 0 : i64} : !x, !w, !p into !y
    func.return
  }
}
