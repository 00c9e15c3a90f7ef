// RUN: %npu %s --passes tile | %filecheck %s
// RUN: %npu %s --passes tile,double_buffer | %filecheck %s --check-prefix=TWO
// A sum in several pieces: zeros before the loop over %k, results behind it. Slots go round.

!x = memref<64x64xi8, #npu.space<dram>>
!w = memref<64x64xi8, #npu.panels<4>, #npu.space<dram>>
!p = memref<16x2x4xi32, #npu.space<dram>>

// CHECK:      affine.for %j = 0 to 64 step 8 {
// CHECK-NEXT:   affine.for %i = 0 to 64 step 32 {
// CHECK:          affine.for %b = 0 to 2 {
// CHECK-NEXT:       %sums = npu.slot %accs[%b] [32, 4]
// CHECK-NEXT:       npu.clear %sums
// CHECK-NEXT:     }
// CHECK-NEXT:     affine.for %k = 0 to 64 step 8 {
// CHECK-NEXT:       %xt = npu.slot %xs[0] [32, 8]
// CHECK-NEXT:       npu.dma_load %x[%i, %k] [32, 8] to %xt
// CHECK-NEXT:       affine.for
// CHECK:              npu.dma_load %w[%k, %{{.*}}] [8, 4] to %wt
// CHECK:            affine.for
// CHECK:              npu.matmul %xt, %{{.*}} into
// CHECK:          affine.for
// CHECK:            npu.activate
// CHECK-NEXT:       npu.dma_store %result to %y[%i, %{{.*}}] [32, 4]

// TWO:        %xs = npu.buffer : memref<3x32x8xi8, #npu.space<acts>>
// TWO-NEXT:   %ws = npu.buffer : memref<2x2x8x4xi8, #npu.space<weights>>
// TWO-NEXT:   %accs = npu.buffer : memref<2x32x4xi32, #npu.space<accs>>
// TWO:        affine.for %k = 0 to 64 step 8 {
// TWO-NEXT:     %[[AT:.*]] = affine.apply affine_map<(d0, d1, d2) -> ((((((d0 floordiv 8) * 16) + ((d1 floordiv 32) * 8)) + (d2 floordiv 8)) mod 3))> (%j, %i, %k)
// TWO-NEXT:     %xt = npu.slot %xs[%[[AT]]] [32, 8]
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @dense(%x: !x, %w: !w, %params: !p, %y: !x) {
    npu.product %x, %w, %params into %y : !x, !w, !p into !x
    func.return
  }
}
