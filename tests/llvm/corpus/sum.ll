; sums of the rows of [6, 4], for AVX2, after LLVM 22's O3 for haswell.
; expect {"function": "reduce_sum_0", "given": {"lo": 0, "hi": 6}, "static": {"add": 28}, "dynamic": {"add": 24}}
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define noundef i64 @reduce_sum_0(ptr noalias nonnull readonly captures(none) %x0, ptr noalias nonnull writeonly captures(none) %out, i64 %lo, i64 %hi) local_unnamed_addr #0 {
entry:
  %.93 = icmp slt i64 %lo, %hi
  br i1 %.93, label %r1.head.preheader.preheader, label %i0.done

r1.head.preheader.preheader:                      ; preds = %entry
  %0 = sub i64 %hi, %lo
  %min.iters.check = icmp ult i64 %0, 8
  br i1 %min.iters.check, label %r1.head.preheader.preheader8, label %vector.ph

vector.ph:                                        ; preds = %r1.head.preheader.preheader
  %n.vec = and i64 %0, -8
  %1 = add i64 %lo, %n.vec
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %offset.idx = add i64 %lo, %index
  %2 = shl i64 %offset.idx, 4
  %3 = getelementptr i8, ptr %x0, i64 %2
  %wide.vec = load <32 x float>, ptr %3, align 4
  %strided.vec = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %strided.vec5 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %strided.vec6 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %strided.vec7 = shufflevector <32 x float> %wide.vec, <32 x float> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %4 = fadd reassoc nsz contract <8 x float> %strided.vec5, %strided.vec
  %5 = fadd reassoc nsz contract <8 x float> %strided.vec6, %4
  %6 = fadd reassoc nsz contract <8 x float> %strided.vec7, %5
  %7 = getelementptr inbounds float, ptr %out, i64 %offset.idx
  store <8 x float> %6, ptr %7, align 4
  %index.next = add nuw i64 %index, 8
  %8 = icmp eq i64 %index.next, %n.vec
  br i1 %8, label %middle.block, label %vector.body, !llvm.loop !0

middle.block:                                     ; preds = %vector.body
  %cmp.n = icmp eq i64 %0, %n.vec
  br i1 %cmp.n, label %i0.done, label %r1.head.preheader.preheader8

r1.head.preheader.preheader8:                     ; preds = %r1.head.preheader.preheader, %middle.block
  %i04.ph = phi i64 [ %lo, %r1.head.preheader.preheader ], [ %1, %middle.block ]
  br label %r1.head.preheader

r1.head.preheader:                                ; preds = %r1.head.preheader.preheader8, %r1.head.preheader
  %i04 = phi i64 [ %.32, %r1.head.preheader ], [ %i04.ph, %r1.head.preheader.preheader8 ]
  %.idx = shl i64 %i04, 4
  %9 = getelementptr i8, ptr %x0, i64 %.idx
  %10 = load <4 x float>, ptr %9, align 4
  %11 = tail call reassoc nsz contract float @llvm.vector.reduce.fadd.v4f32(float 0.000000e+00, <4 x float> %10)
  %.30 = getelementptr inbounds float, ptr %out, i64 %i04
  store float %11, ptr %.30, align 4
  %.32 = add nsw i64 %i04, 1
  %.9 = icmp slt i64 %.32, %hi
  br i1 %.9, label %r1.head.preheader, label %i0.done, !llvm.loop !3

i0.done:                                          ; preds = %r1.head.preheader, %middle.block, %entry
  ret i64 0
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>) #1

attributes #0 = { nofree norecurse nosync nounwind memory(argmem: readwrite) }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.isvectorized", i32 1}
!2 = !{!"llvm.loop.unroll.runtime.disable"}
!3 = distinct !{!3, !2, !1}
