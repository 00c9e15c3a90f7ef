; a product [12, 10] by [10, 32], for AVX2, after LLVM 22's O3 for haswell.
; expect {"function": "matmul_0", "given": {"lo": 0, "hi": 2}, "static": {"pair": 192}, "dynamic": {"pair": 3840}}
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define noundef i64 @matmul_0(ptr noalias nonnull readonly captures(none) %x0, ptr noalias nonnull readonly captures(none) %x1, ptr noalias nonnull writeonly captures(none) %out, i64 %lo, i64 %hi) local_unnamed_addr #0 {
entry:
  %.1018 = icmp slt i64 %lo, %hi
  br i1 %.1018, label %no.head.preheader.preheader, label %mo.done

no.head.preheader.preheader:                      ; preds = %entry
  %invariant.gep8.1 = getelementptr inbounds nuw i8, ptr %x1, i64 64
  br label %no.head.preheader

no.head.preheader:                                ; preds = %no.head.preheader.preheader, %k.done.1
  %mo19 = phi i64 [ %.189, %k.done.1 ], [ %lo, %no.head.preheader.preheader ]
  %.35.idx = mul i64 %mo19, 240
  %invariant.gep = getelementptr i8, ptr %x0, i64 %.35.idx
  %.idx7 = mul i64 %mo19, 768
  %0 = getelementptr i8, ptr %out, i64 %.idx7
  br label %k.body

mo.done:                                          ; preds = %k.done.1, %entry
  ret i64 0

k.body:                                           ; preds = %no.head.preheader, %k.body
  %k16 = phi i64 [ 0, %no.head.preheader ], [ %.138, %k.body ]
  %.15.sroa.0.015 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.45, %k.body ]
  %.15.sroa.4.014 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.63, %k.body ]
  %.15.sroa.8.013 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.81, %k.body ]
  %.15.sroa.12.012 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.99, %k.body ]
  %.15.sroa.16.011 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.117, %k.body ]
  %.15.sroa.20.010 = phi <16 x float> [ zeroinitializer, %no.head.preheader ], [ %.135, %k.body ]
  %gep = getelementptr float, ptr %invariant.gep, i64 %k16
  %.36 = load float, ptr %gep, align 4
  %.idx = shl nuw nsw i64 %k16, 7
  %gep9 = getelementptr inbounds nuw i8, ptr %x1, i64 %.idx
  %.41 = load <16 x float>, ptr %gep9, align 4
  %.42 = insertelement <16 x float> poison, float %.36, i64 0
  %.43 = shufflevector <16 x float> %.42, <16 x float> poison, <16 x i32> zeroinitializer
  %.44 = fmul contract <16 x float> %.41, %.43
  %.45 = fadd contract <16 x float> %.15.sroa.0.015, %.44
  %.53 = getelementptr i8, ptr %gep, i64 40
  %.54 = load float, ptr %.53, align 4
  %.60 = insertelement <16 x float> poison, float %.54, i64 0
  %.61 = shufflevector <16 x float> %.60, <16 x float> poison, <16 x i32> zeroinitializer
  %.62 = fmul contract <16 x float> %.41, %.61
  %.63 = fadd contract <16 x float> %.15.sroa.4.014, %.62
  %.71 = getelementptr i8, ptr %gep, i64 80
  %.72 = load float, ptr %.71, align 4
  %.78 = insertelement <16 x float> poison, float %.72, i64 0
  %.79 = shufflevector <16 x float> %.78, <16 x float> poison, <16 x i32> zeroinitializer
  %.80 = fmul contract <16 x float> %.41, %.79
  %.81 = fadd contract <16 x float> %.15.sroa.8.013, %.80
  %.89 = getelementptr i8, ptr %gep, i64 120
  %.90 = load float, ptr %.89, align 4
  %.96 = insertelement <16 x float> poison, float %.90, i64 0
  %.97 = shufflevector <16 x float> %.96, <16 x float> poison, <16 x i32> zeroinitializer
  %.98 = fmul contract <16 x float> %.41, %.97
  %.99 = fadd contract <16 x float> %.15.sroa.12.012, %.98
  %.107 = getelementptr i8, ptr %gep, i64 160
  %.108 = load float, ptr %.107, align 4
  %.114 = insertelement <16 x float> poison, float %.108, i64 0
  %.115 = shufflevector <16 x float> %.114, <16 x float> poison, <16 x i32> zeroinitializer
  %.116 = fmul contract <16 x float> %.41, %.115
  %.117 = fadd contract <16 x float> %.15.sroa.16.011, %.116
  %.125 = getelementptr i8, ptr %gep, i64 200
  %.126 = load float, ptr %.125, align 4
  %.132 = insertelement <16 x float> poison, float %.126, i64 0
  %.133 = shufflevector <16 x float> %.132, <16 x float> poison, <16 x i32> zeroinitializer
  %.134 = fmul contract <16 x float> %.41, %.133
  %.135 = fadd contract <16 x float> %.15.sroa.20.010, %.134
  %.138 = add nuw nsw i64 %k16, 1
  %.29 = icmp samesign ult i64 %k16, 9
  br i1 %.29, label %k.body, label %k.done

k.done:                                           ; preds = %k.body
  store <16 x float> %.45, ptr %0, align 4
  %.153 = getelementptr i8, ptr %0, i64 128
  store <16 x float> %.63, ptr %.153, align 4
  %.161 = getelementptr i8, ptr %0, i64 256
  store <16 x float> %.81, ptr %.161, align 4
  %.169 = getelementptr i8, ptr %0, i64 384
  store <16 x float> %.99, ptr %.169, align 4
  %.177 = getelementptr i8, ptr %0, i64 512
  store <16 x float> %.117, ptr %.177, align 4
  %.185 = getelementptr i8, ptr %0, i64 640
  store <16 x float> %.135, ptr %.185, align 4
  br label %k.body.1

k.body.1:                                         ; preds = %k.body.1, %k.done
  %k16.1 = phi i64 [ 0, %k.done ], [ %.138.1, %k.body.1 ]
  %.15.sroa.0.015.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.45.1, %k.body.1 ]
  %.15.sroa.4.014.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.63.1, %k.body.1 ]
  %.15.sroa.8.013.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.81.1, %k.body.1 ]
  %.15.sroa.12.012.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.99.1, %k.body.1 ]
  %.15.sroa.16.011.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.117.1, %k.body.1 ]
  %.15.sroa.20.010.1 = phi <16 x float> [ zeroinitializer, %k.done ], [ %.135.1, %k.body.1 ]
  %gep.1 = getelementptr float, ptr %invariant.gep, i64 %k16.1
  %.36.1 = load float, ptr %gep.1, align 4
  %.idx.1 = shl nuw nsw i64 %k16.1, 7
  %gep9.1 = getelementptr inbounds nuw i8, ptr %invariant.gep8.1, i64 %.idx.1
  %.41.1 = load <16 x float>, ptr %gep9.1, align 4
  %.42.1 = insertelement <16 x float> poison, float %.36.1, i64 0
  %.43.1 = shufflevector <16 x float> %.42.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.44.1 = fmul contract <16 x float> %.41.1, %.43.1
  %.45.1 = fadd contract <16 x float> %.15.sroa.0.015.1, %.44.1
  %.53.1 = getelementptr i8, ptr %gep.1, i64 40
  %.54.1 = load float, ptr %.53.1, align 4
  %.60.1 = insertelement <16 x float> poison, float %.54.1, i64 0
  %.61.1 = shufflevector <16 x float> %.60.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.62.1 = fmul contract <16 x float> %.41.1, %.61.1
  %.63.1 = fadd contract <16 x float> %.15.sroa.4.014.1, %.62.1
  %.71.1 = getelementptr i8, ptr %gep.1, i64 80
  %.72.1 = load float, ptr %.71.1, align 4
  %.78.1 = insertelement <16 x float> poison, float %.72.1, i64 0
  %.79.1 = shufflevector <16 x float> %.78.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.80.1 = fmul contract <16 x float> %.41.1, %.79.1
  %.81.1 = fadd contract <16 x float> %.15.sroa.8.013.1, %.80.1
  %.89.1 = getelementptr i8, ptr %gep.1, i64 120
  %.90.1 = load float, ptr %.89.1, align 4
  %.96.1 = insertelement <16 x float> poison, float %.90.1, i64 0
  %.97.1 = shufflevector <16 x float> %.96.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.98.1 = fmul contract <16 x float> %.41.1, %.97.1
  %.99.1 = fadd contract <16 x float> %.15.sroa.12.012.1, %.98.1
  %.107.1 = getelementptr i8, ptr %gep.1, i64 160
  %.108.1 = load float, ptr %.107.1, align 4
  %.114.1 = insertelement <16 x float> poison, float %.108.1, i64 0
  %.115.1 = shufflevector <16 x float> %.114.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.116.1 = fmul contract <16 x float> %.41.1, %.115.1
  %.117.1 = fadd contract <16 x float> %.15.sroa.16.011.1, %.116.1
  %.125.1 = getelementptr i8, ptr %gep.1, i64 200
  %.126.1 = load float, ptr %.125.1, align 4
  %.132.1 = insertelement <16 x float> poison, float %.126.1, i64 0
  %.133.1 = shufflevector <16 x float> %.132.1, <16 x float> poison, <16 x i32> zeroinitializer
  %.134.1 = fmul contract <16 x float> %.41.1, %.133.1
  %.135.1 = fadd contract <16 x float> %.15.sroa.20.010.1, %.134.1
  %.138.1 = add nuw nsw i64 %k16.1, 1
  %.29.1 = icmp samesign ult i64 %k16.1, 9
  br i1 %.29.1, label %k.body.1, label %k.done.1

k.done.1:                                         ; preds = %k.body.1
  %.145.1 = getelementptr i8, ptr %0, i64 64
  store <16 x float> %.45.1, ptr %.145.1, align 4
  %.153.1 = getelementptr i8, ptr %0, i64 192
  store <16 x float> %.63.1, ptr %.153.1, align 4
  %.161.1 = getelementptr i8, ptr %0, i64 320
  store <16 x float> %.81.1, ptr %.161.1, align 4
  %.169.1 = getelementptr i8, ptr %0, i64 448
  store <16 x float> %.99.1, ptr %.169.1, align 4
  %.177.1 = getelementptr i8, ptr %0, i64 576
  store <16 x float> %.117.1, ptr %.177.1, align 4
  %.185.1 = getelementptr i8, ptr %0, i64 704
  store <16 x float> %.135.1, ptr %.185.1, align 4
  %.189 = add nsw i64 %mo19, 1
  %.10 = icmp slt i64 %.189, %hi
  br i1 %.10, label %no.head.preheader, label %mo.done
}

attributes #0 = { nofree norecurse nosync nounwind memory(argmem: readwrite) }
