; a softmax of [4, 8], whose exp is a polynomial, for AVX2, as the compiler emits it.
; expect {"function": "reduce_max_sub_exp_reduce_sum_div_0", "given": {"lo": 0, "hi": 4}, "static": {"add": 3, "mul": 4, "pair": 8}, "dynamic": {"add": 96, "mul": 128, "pair": 256}}
target triple = "x86_64-unknown-linux-gnu"

define i64 @reduce_max_sub_exp_reduce_sum_div_0(ptr noalias nonnull %x0, ptr noalias nonnull %out, i64 %lo, i64 %hi) {
entry:
  %.11 = alloca [8 x float], align 64
  %.12 = alloca [1 x float], align 64
  %.29 = alloca [1 x float], align 64
  br label %body

body:                                             ; preds = %entry
  %.6 = add i64 %lo, 0
  %.7 = add i64 %hi, 0
  br label %i0.head

i0.head:                                          ; preds = %r1_3.done, %body
  %i0 = phi i64 [ %.6, %body ], [ %.110, %r1_3.done ]
  %.9 = icmp slt i64 %i0, %.7
  br i1 %.9, label %i0.body, label %i0.done

i0.body:                                          ; preds = %i0.head
  %.13 = getelementptr inbounds float, ptr %.12, i64 0
  store float 0xFFF0000000000000, ptr %.13, align 4
  br label %r1.head

i0.done:                                          ; preds = %i0.head
  ret i64 0

r1.head:                                          ; preds = %r1.body, %i0.body
  %r1 = phi i64 [ 0, %i0.body ], [ %.27, %r1.body ]
  %.16 = icmp slt i64 %r1, 8
  br i1 %.16, label %r1.body, label %r1.done

r1.body:                                          ; preds = %r1.head
  %.18 = getelementptr inbounds float, ptr %.12, i64 0
  %.19 = load float, ptr %.18, align 4
  %.20 = mul nsw i64 %i0, 8
  %.21 = add nsw i64 %.20, %r1
  %.22 = getelementptr inbounds float, ptr %x0, i64 %.21
  %.23 = load float, ptr %.22, align 4
  %.24 = call float @llvm.maximum.f32(float %.19, float %.23)
  %.25 = getelementptr inbounds float, ptr %.12, i64 0
  store float %.24, ptr %.25, align 4
  %.27 = add nsw i64 %r1, 1
  br label %r1.head

r1.done:                                          ; preds = %r1.head
  %.30 = getelementptr inbounds float, ptr %.29, i64 0
  store float 0.000000e+00, ptr %.30, align 4
  br label %r1_2.head

r1_2.head:                                        ; preds = %r1_2.body, %r1.done
  %r1_2 = phi i64 [ 0, %r1.done ], [ %.94, %r1_2.body ]
  %.33 = icmp slt i64 %r1_2, 8
  br i1 %.33, label %r1_2.body, label %r1_2.done

r1_2.body:                                        ; preds = %r1_2.head
  %.35 = mul nsw i64 %i0, 8
  %.36 = add nsw i64 %.35, %r1_2
  %.37 = getelementptr inbounds float, ptr %x0, i64 %.36
  %.38 = load float, ptr %.37, align 4
  %.39 = getelementptr inbounds float, ptr %.12, i64 0
  %.40 = load float, ptr %.39, align 4
  %.41 = fsub contract float %.38, %.40
  %.42 = fcmp olt float %.41, 0xC055D589E0000000
  %.43 = select i1 %.42, float 0xC055D589E0000000, float %.41
  %.44 = fcmp ogt float %.43, 0x40562E42E0000000
  %.45 = select i1 %.44, float 0x40562E42E0000000, float %.43
  %.46 = fmul contract float %.45, 0x3FF7154760000000
  %.47 = call float @llvm.roundeven.f32(float %.46)
  %.48 = fmul contract float %.47, 0x3FE6300000000000
  %.49 = fsub contract float %.45, %.48
  %.50 = fmul contract float %.47, 0x3F2BD01060000000
  %.51 = fadd contract float %.49, %.50
  %.52 = fmul contract float %.51, %.51
  %.53 = fmul contract float 0x3F2A0D2CE0000000, %.51
  %.54 = fadd contract float %.53, 0x3F56E879C0000000
  %.55 = fmul contract float %.54, %.51
  %.56 = fadd contract float %.55, 0x3F81112100000000
  %.57 = fmul contract float %.56, %.51
  %.58 = fadd contract float %.57, 0x3FA5553820000000
  %.59 = fmul contract float %.58, %.51
  %.60 = fadd contract float %.59, 0x3FC5555540000000
  %.61 = fmul contract float %.60, %.51
  %.62 = fadd contract float %.61, 5.000000e-01
  %.63 = fmul contract float %.52, %.62
  %.64 = fadd contract float %.63, %.51
  %.65 = fadd contract float %.64, 1.000000e+00
  %.66 = fcmp uno float %.47, %.47
  %.67 = select i1 %.66, float 0.000000e+00, float %.47
  %.68 = fptosi float %.67 to i32
  %.69 = ashr i32 %.68, 1
  %.70 = sub i32 %.68, %.69
  %.71 = add i32 %.69, 127
  %.72 = shl i32 %.71, 23
  %.73 = bitcast i32 %.72 to float
  %.74 = fmul contract float %.65, %.73
  %.75 = add i32 %.70, 127
  %.76 = shl i32 %.75, 23
  %.77 = bitcast i32 %.76 to float
  %.78 = fmul contract float %.74, %.77
  %.79 = fcmp olt float %.41, 0xC055D589E0000000
  %.80 = select i1 %.79, float 0.000000e+00, float %.78
  %.81 = fcmp ogt float %.41, 0x40562E42E0000000
  %.82 = select i1 %.81, float 0x7FF0000000000000, float %.80
  %.83 = fcmp uno float %.41, %.41
  %.84 = select i1 %.83, float %.41, float %.82
  %.85 = getelementptr inbounds float, ptr %.11, i64 %r1_2
  store float %.84, ptr %.85, align 4
  %.87 = getelementptr inbounds float, ptr %.29, i64 0
  %.88 = load float, ptr %.87, align 4
  %.89 = getelementptr inbounds float, ptr %.11, i64 %r1_2
  %.90 = load float, ptr %.89, align 4
  %.91 = fadd reassoc nsz contract float %.88, %.90
  %.92 = getelementptr inbounds float, ptr %.29, i64 0
  store float %.91, ptr %.92, align 4
  %.94 = add nsw i64 %r1_2, 1
  br label %r1_2.head

r1_2.done:                                        ; preds = %r1_2.head
  br label %r1_3.head

r1_3.head:                                        ; preds = %r1_3.body, %r1_2.done
  %r1_3 = phi i64 [ 0, %r1_2.done ], [ %.108, %r1_3.body ]
  %.97 = icmp slt i64 %r1_3, 8
  br i1 %.97, label %r1_3.body, label %r1_3.done

r1_3.body:                                        ; preds = %r1_3.head
  %.99 = getelementptr inbounds float, ptr %.11, i64 %r1_3
  %.100 = load float, ptr %.99, align 4
  %.101 = getelementptr inbounds float, ptr %.29, i64 0
  %.102 = load float, ptr %.101, align 4
  %.103 = fdiv float %.100, %.102
  %.104 = mul nsw i64 %i0, 8
  %.105 = add nsw i64 %.104, %r1_3
  %.106 = getelementptr inbounds float, ptr %out, i64 %.105
  store float %.103, ptr %.106, align 4
  %.108 = add nsw i64 %r1_3, 1
  br label %r1_3.head

r1_3.done:                                        ; preds = %r1_3.head
  %.110 = add nsw i64 %i0, 1
  br label %i0.head
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maximum.f32(float, float) #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.roundeven.f32(float) #0

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
