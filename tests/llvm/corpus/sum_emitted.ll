; sums of the rows of [6, 4], for AVX2, as the compiler emits it.
; expect {"function": "reduce_sum_0", "given": {"lo": 0, "hi": 6}, "static": {"add": 1}, "dynamic": {"add": 24}}
target triple = "x86_64-unknown-linux-gnu"

define i64 @reduce_sum_0(ptr noalias nonnull %x0, ptr noalias nonnull %out, i64 %lo, i64 %hi) {
entry:
  %.11 = alloca [1 x float], align 64
  br label %body

body:                                             ; preds = %entry
  %.6 = add i64 %lo, 0
  %.7 = add i64 %hi, 0
  br label %i0.head

i0.head:                                          ; preds = %r1.done, %body
  %i0 = phi i64 [ %.6, %body ], [ %.32, %r1.done ]
  %.9 = icmp slt i64 %i0, %.7
  br i1 %.9, label %i0.body, label %i0.done

i0.body:                                          ; preds = %i0.head
  %.12 = getelementptr inbounds float, ptr %.11, i64 0
  store float 0.000000e+00, ptr %.12, align 4
  br label %r1.head

i0.done:                                          ; preds = %i0.head
  ret i64 0

r1.head:                                          ; preds = %r1.body, %i0.body
  %r1 = phi i64 [ 0, %i0.body ], [ %.26, %r1.body ]
  %.15 = icmp slt i64 %r1, 4
  br i1 %.15, label %r1.body, label %r1.done

r1.body:                                          ; preds = %r1.head
  %.17 = getelementptr inbounds float, ptr %.11, i64 0
  %.18 = load float, ptr %.17, align 4
  %.19 = mul nsw i64 %i0, 4
  %.20 = add nsw i64 %.19, %r1
  %.21 = getelementptr inbounds float, ptr %x0, i64 %.20
  %.22 = load float, ptr %.21, align 4
  %.23 = fadd reassoc nsz contract float %.18, %.22
  %.24 = getelementptr inbounds float, ptr %.11, i64 0
  store float %.23, ptr %.24, align 4
  %.26 = add nsw i64 %r1, 1
  br label %r1.head

r1.done:                                          ; preds = %r1.head
  %.28 = getelementptr inbounds float, ptr %.11, i64 0
  %.29 = load float, ptr %.28, align 4
  %.30 = getelementptr inbounds float, ptr %out, i64 %i0
  store float %.29, ptr %.30, align 4
  %.32 = add nsw i64 %i0, 1
  br label %i0.head
}
