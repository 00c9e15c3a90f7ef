; a softmax of [4, 8], whose exp is a polynomial, for AVX2, after LLVM 22's O3 for haswell.
; expect {"function": "reduce_max_sub_exp_reduce_sum_div_0", "given": {"lo": 0, "hi": 4}, "static": {"add": 24, "mul": 32, "pair": 64}, "dynamic": {"add": 96, "mul": 128, "pair": 256}}
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define noundef i64 @reduce_max_sub_exp_reduce_sum_div_0(ptr noalias nonnull readonly captures(none) %x0, ptr noalias nonnull writeonly captures(none) %out, i64 %lo, i64 %hi) local_unnamed_addr #0 {
entry:
  %.98 = icmp slt i64 %lo, %hi
  br i1 %.98, label %r1.head.preheader, label %i0.done

r1.head.preheader:                                ; preds = %entry, %r1.head.preheader
  %i09 = phi i64 [ %.110, %r1.head.preheader ], [ %lo, %entry ]
  %.idx2 = shl i64 %i09, 5
  %0 = getelementptr i8, ptr %x0, i64 %.idx2
  %1 = load <8 x float>, ptr %0, align 4
  %2 = tail call float @llvm.vector.reduce.fmaximum.v8f32(<8 x float> %1)
  %broadcast.splatinsert = insertelement <8 x float> poison, float %2, i64 0
  %broadcast.splat = shufflevector <8 x float> %broadcast.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %3 = fsub contract <8 x float> %1, %broadcast.splat
  %4 = fcmp olt <8 x float> %3, splat (float 0xC055D589E0000000)
  %5 = select <8 x i1> %4, <8 x float> splat (float 0xC055D589E0000000), <8 x float> %3
  %6 = fcmp ogt <8 x float> %5, splat (float 0x40562E42E0000000)
  %7 = select <8 x i1> %6, <8 x float> splat (float 0x40562E42E0000000), <8 x float> %5
  %8 = fmul contract <8 x float> %7, splat (float 0x3FF7154760000000)
  %9 = tail call <8 x float> @llvm.roundeven.v8f32(<8 x float> %8)
  %10 = fmul contract <8 x float> %9, splat (float 0x3FE6300000000000)
  %11 = fsub contract <8 x float> %7, %10
  %12 = fmul contract <8 x float> %9, splat (float 0x3F2BD01060000000)
  %13 = fadd contract <8 x float> %12, %11
  %14 = fmul contract <8 x float> %13, %13
  %15 = fmul contract <8 x float> %13, splat (float 0x3F2A0D2CE0000000)
  %16 = fadd contract <8 x float> %15, splat (float 0x3F56E879C0000000)
  %17 = fmul contract <8 x float> %13, %16
  %18 = fadd contract <8 x float> %17, splat (float 0x3F81112100000000)
  %19 = fmul contract <8 x float> %13, %18
  %20 = fadd contract <8 x float> %19, splat (float 0x3FA5553820000000)
  %21 = fmul contract <8 x float> %13, %20
  %22 = fadd contract <8 x float> %21, splat (float 0x3FC5555540000000)
  %23 = fmul contract <8 x float> %13, %22
  %24 = fadd contract <8 x float> %23, splat (float 5.000000e-01)
  %25 = fmul contract <8 x float> %14, %24
  %26 = fadd contract <8 x float> %13, %25
  %27 = fadd contract <8 x float> %26, splat (float 1.000000e+00)
  %28 = fcmp ord <8 x float> %9, zeroinitializer
  %29 = select <8 x i1> %28, <8 x float> %9, <8 x float> zeroinitializer
  %30 = fptosi <8 x float> %29 to <8 x i32>
  %31 = ashr <8 x i32> %30, splat (i32 1)
  %32 = sub <8 x i32> %30, %31
  %33 = shl <8 x i32> %31, splat (i32 23)
  %34 = add <8 x i32> %33, splat (i32 1065353216)
  %35 = bitcast <8 x i32> %34 to <8 x float>
  %36 = fmul contract <8 x float> %27, %35
  %37 = shl <8 x i32> %32, splat (i32 23)
  %38 = add <8 x i32> %37, splat (i32 1065353216)
  %39 = bitcast <8 x i32> %38 to <8 x float>
  %40 = fmul contract <8 x float> %36, %39
  %41 = select <8 x i1> %4, <8 x float> zeroinitializer, <8 x float> %40
  %42 = fcmp ogt <8 x float> %3, splat (float 0x40562E42E0000000)
  %43 = select <8 x i1> %42, <8 x float> splat (float 0x7FF0000000000000), <8 x float> %41
  %44 = fcmp uno <8 x float> %3, zeroinitializer
  %45 = select <8 x i1> %44, <8 x float> %3, <8 x float> %43
  %46 = tail call reassoc nsz contract float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %45)
  %47 = getelementptr i8, ptr %out, i64 %.idx2
  %48 = insertelement <8 x float> poison, float %46, i64 0
  %49 = shufflevector <8 x float> %48, <8 x float> poison, <8 x i32> zeroinitializer
  %50 = fdiv <8 x float> %45, %49
  store <8 x float> %50, ptr %47, align 4
  %.110 = add nsw i64 %i09, 1
  %.9 = icmp slt i64 %.110, %hi
  br i1 %.9, label %r1.head.preheader, label %i0.done

i0.done:                                          ; preds = %r1.head.preheader, %entry
  ret i64 0
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.roundeven.v8f32(<8 x float>) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.vector.reduce.fmaximum.v8f32(<8 x float>) #2

attributes #0 = { nofree norecurse nosync nounwind memory(argmem: readwrite) }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
