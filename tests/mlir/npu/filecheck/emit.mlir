// RUN: %npu %s --emit asm | %filecheck %s
// Instructions with addresses and tokens. The product is deeper than the array: two passes.

!x = memref<4x8xi8, #npu.space<dram>>
!w = memref<8x4xi8, #npu.panels<4>, #npu.space<dram>>
!p = memref<1x2x4xi32, #npu.space<dram>>
!y = memref<4x4xi8, #npu.space<dram>>
!xs = memref<1x4x8xi8, #npu.space<acts>>
!ws = memref<1x8x4xi8, #npu.space<weights>>
!ss = memref<1x32x4xi32, #npu.space<accs>>
!es = memref<1x1x2x4xi32, #npu.space<params>>
!os = memref<1x4x4xi8, #npu.space<acts>>
!xt = memref<4x8xi8, #npu.space<acts>>
!wt = memref<8x4xi8, #npu.space<weights>>
!st = memref<4x4xi32, #npu.space<accs>>
!et = memref<1x2x4xi32, #npu.space<params>>
!entry = memref<2x4xi32, #npu.space<params>>
!ot = memref<4x4xi8, #npu.space<acts>>

// CHECK:      ldb dram=128 params=0 count=1
// CHECK-NEXT: lda dram=0 acts=0 h=1 w=4 bytes=8 step=8 line=32 ;
// CHECK-NEXT: ldw dram=64 weights=0 rows=8 bytes=4 pitch=4 signal=execute
// CHECK-NEXT: preload weights=0 k=4 n=4 pitch=4 wait=load
// CHECK-NEXT: matmul acts=0 h=1 w=4 step=8 line=32 k=4 n=4 accs=0 ;
// CHECK-NEXT: preload weights=16 k=4 n=4 pitch=4 ;
// CHECK-NEXT: matmul acts=4 h=1 w=4 step=8 line=32 k=4 n=4 accs=0 add=1 signal=store
// CHECK-NEXT: act accs=0 n=4 params=0 acts=256 h=1 w=4 step=4 line=16 low=0 wait={{.*}}execute
// CHECK-NEXT: st acts=256 dram=192 h=1 w=4 bytes=4 step=4 line=16 ;
// CHECK-NEXT: halt
module attributes {npu.chip = {preset = "teaching"}} {
  func.func @dense(%x: !x, %w: !w, %params: !p, %y: !y) {
    %xs = npu.buffer : !xs
    %ws = npu.buffer : !ws
    %ss = npu.buffer : !ss
    %es = npu.buffer : !es
    %os = npu.buffer : !os
    %xt = npu.slot %xs[0] [4, 8] : !xs to !xt
    %wt = npu.slot %ws[0] [8, 4] : !ws to !wt
    %st = npu.slot %ss[0] [4, 4] : !ss to !st
    %et = npu.slot %es[0] [1, 2, 4] : !es to !et
    %entry = npu.slot %es[0, 0] [2, 4] : !es to !entry
    %ot = npu.slot %os[0] [4, 4] : !os to !ot
    npu.dma_load %params[0, 0, 0] [1, 2, 4] to %et : !p to !et
    npu.dma_load %x[0, 0] [4, 8] to %xt : !x to !xt
    npu.dma_load %w[0, 0] [8, 4] to %wt : !w to !wt
    npu.matmul %xt, %wt into %st {overwrite} : !xt, !wt into !st
    npu.activate %st, %entry into %ot {low = 0 : i64, high = 127 : i64} : !st, !entry into !ot
    npu.dma_store %ot to %y[0, 0] [4, 4] : !ot to !y
    func.return
  }
}
