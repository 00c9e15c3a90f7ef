; a product [12, 10] by [10, 32], for AVX2, as the compiler emits it.
; expect {"function": "matmul_0", "given": {"lo": 0, "hi": 2}, "static": {"pair": 96}, "dynamic": {"pair": 3840}}
target triple = "x86_64-unknown-linux-gnu"

define i64 @matmul_0(ptr noalias nonnull %x0, ptr noalias nonnull %x1, ptr noalias nonnull %out, i64 %lo, i64 %hi) {
entry:
  %.15 = alloca [96 x float], align 64
  br label %body

body:                                             ; preds = %entry
  %.7 = add i64 %lo, 0
  %.8 = add i64 %hi, 0
  br label %mo.head

mo.head:                                          ; preds = %no.done, %body
  %mo = phi i64 [ %.7, %body ], [ %.189, %no.done ]
  %.10 = icmp slt i64 %mo, %.8
  br i1 %.10, label %mo.body, label %mo.done

mo.body:                                          ; preds = %mo.head
  br label %no.head

mo.done:                                          ; preds = %mo.head
  ret i64 0

no.head:                                          ; preds = %k.done, %mo.body
  %no = phi i64 [ 0, %mo.body ], [ %.187, %k.done ]
  %.13 = icmp slt i64 %no, 2
  br i1 %.13, label %no.body, label %no.done

no.body:                                          ; preds = %no.head
  %.16 = getelementptr inbounds float, ptr %.15, i64 0
  store <16 x float> zeroinitializer, ptr %.16, align 4
  %.18 = getelementptr inbounds float, ptr %.15, i64 16
  store <16 x float> zeroinitializer, ptr %.18, align 4
  %.20 = getelementptr inbounds float, ptr %.15, i64 32
  store <16 x float> zeroinitializer, ptr %.20, align 4
  %.22 = getelementptr inbounds float, ptr %.15, i64 48
  store <16 x float> zeroinitializer, ptr %.22, align 4
  %.24 = getelementptr inbounds float, ptr %.15, i64 64
  store <16 x float> zeroinitializer, ptr %.24, align 4
  %.26 = getelementptr inbounds float, ptr %.15, i64 80
  store <16 x float> zeroinitializer, ptr %.26, align 4
  br label %k.head

no.done:                                          ; preds = %no.head
  %.189 = add nsw i64 %mo, 1
  br label %mo.head

k.head:                                           ; preds = %k.body, %no.body
  %k = phi i64 [ 0, %no.body ], [ %.138, %k.body ]
  %.29 = icmp slt i64 %k, 10
  br i1 %.29, label %k.body, label %k.done

k.body:                                           ; preds = %k.head
  %.31 = getelementptr inbounds float, ptr %.15, i64 0
  %.32 = load <16 x float>, ptr %.31, align 4
  %.33 = mul nsw i64 %mo, 60
  %.34 = add nsw i64 %k, %.33
  %.35 = getelementptr inbounds float, ptr %x0, i64 %.34
  %.36 = load float, ptr %.35, align 4
  %.37 = mul nsw i64 %k, 32
  %.38 = mul nsw i64 %no, 16
  %.39 = add nsw i64 %.37, %.38
  %.40 = getelementptr inbounds float, ptr %x1, i64 %.39
  %.41 = load <16 x float>, ptr %.40, align 4
  %.42 = insertelement <16 x float> undef, float %.36, i32 0
  %.43 = shufflevector <16 x float> %.42, <16 x float> undef, <16 x i32> zeroinitializer
  %.44 = fmul contract <16 x float> %.43, %.41
  %.45 = fadd contract <16 x float> %.32, %.44
  %.46 = getelementptr inbounds float, ptr %.15, i64 0
  store <16 x float> %.45, ptr %.46, align 4
  %.48 = getelementptr inbounds float, ptr %.15, i64 16
  %.49 = load <16 x float>, ptr %.48, align 4
  %.50 = mul nsw i64 %mo, 60
  %.51 = add nsw i64 %k, %.50
  %.52 = add nsw i64 %.51, 10
  %.53 = getelementptr inbounds float, ptr %x0, i64 %.52
  %.54 = load float, ptr %.53, align 4
  %.55 = mul nsw i64 %k, 32
  %.56 = mul nsw i64 %no, 16
  %.57 = add nsw i64 %.55, %.56
  %.58 = getelementptr inbounds float, ptr %x1, i64 %.57
  %.59 = load <16 x float>, ptr %.58, align 4
  %.60 = insertelement <16 x float> undef, float %.54, i32 0
  %.61 = shufflevector <16 x float> %.60, <16 x float> undef, <16 x i32> zeroinitializer
  %.62 = fmul contract <16 x float> %.61, %.59
  %.63 = fadd contract <16 x float> %.49, %.62
  %.64 = getelementptr inbounds float, ptr %.15, i64 16
  store <16 x float> %.63, ptr %.64, align 4
  %.66 = getelementptr inbounds float, ptr %.15, i64 32
  %.67 = load <16 x float>, ptr %.66, align 4
  %.68 = mul nsw i64 %mo, 60
  %.69 = add nsw i64 %k, %.68
  %.70 = add nsw i64 %.69, 20
  %.71 = getelementptr inbounds float, ptr %x0, i64 %.70
  %.72 = load float, ptr %.71, align 4
  %.73 = mul nsw i64 %k, 32
  %.74 = mul nsw i64 %no, 16
  %.75 = add nsw i64 %.73, %.74
  %.76 = getelementptr inbounds float, ptr %x1, i64 %.75
  %.77 = load <16 x float>, ptr %.76, align 4
  %.78 = insertelement <16 x float> undef, float %.72, i32 0
  %.79 = shufflevector <16 x float> %.78, <16 x float> undef, <16 x i32> zeroinitializer
  %.80 = fmul contract <16 x float> %.79, %.77
  %.81 = fadd contract <16 x float> %.67, %.80
  %.82 = getelementptr inbounds float, ptr %.15, i64 32
  store <16 x float> %.81, ptr %.82, align 4
  %.84 = getelementptr inbounds float, ptr %.15, i64 48
  %.85 = load <16 x float>, ptr %.84, align 4
  %.86 = mul nsw i64 %mo, 60
  %.87 = add nsw i64 %k, %.86
  %.88 = add nsw i64 %.87, 30
  %.89 = getelementptr inbounds float, ptr %x0, i64 %.88
  %.90 = load float, ptr %.89, align 4
  %.91 = mul nsw i64 %k, 32
  %.92 = mul nsw i64 %no, 16
  %.93 = add nsw i64 %.91, %.92
  %.94 = getelementptr inbounds float, ptr %x1, i64 %.93
  %.95 = load <16 x float>, ptr %.94, align 4
  %.96 = insertelement <16 x float> undef, float %.90, i32 0
  %.97 = shufflevector <16 x float> %.96, <16 x float> undef, <16 x i32> zeroinitializer
  %.98 = fmul contract <16 x float> %.97, %.95
  %.99 = fadd contract <16 x float> %.85, %.98
  %.100 = getelementptr inbounds float, ptr %.15, i64 48
  store <16 x float> %.99, ptr %.100, align 4
  %.102 = getelementptr inbounds float, ptr %.15, i64 64
  %.103 = load <16 x float>, ptr %.102, align 4
  %.104 = mul nsw i64 %mo, 60
  %.105 = add nsw i64 %k, %.104
  %.106 = add nsw i64 %.105, 40
  %.107 = getelementptr inbounds float, ptr %x0, i64 %.106
  %.108 = load float, ptr %.107, align 4
  %.109 = mul nsw i64 %k, 32
  %.110 = mul nsw i64 %no, 16
  %.111 = add nsw i64 %.109, %.110
  %.112 = getelementptr inbounds float, ptr %x1, i64 %.111
  %.113 = load <16 x float>, ptr %.112, align 4
  %.114 = insertelement <16 x float> undef, float %.108, i32 0
  %.115 = shufflevector <16 x float> %.114, <16 x float> undef, <16 x i32> zeroinitializer
  %.116 = fmul contract <16 x float> %.115, %.113
  %.117 = fadd contract <16 x float> %.103, %.116
  %.118 = getelementptr inbounds float, ptr %.15, i64 64
  store <16 x float> %.117, ptr %.118, align 4
  %.120 = getelementptr inbounds float, ptr %.15, i64 80
  %.121 = load <16 x float>, ptr %.120, align 4
  %.122 = mul nsw i64 %mo, 60
  %.123 = add nsw i64 %k, %.122
  %.124 = add nsw i64 %.123, 50
  %.125 = getelementptr inbounds float, ptr %x0, i64 %.124
  %.126 = load float, ptr %.125, align 4
  %.127 = mul nsw i64 %k, 32
  %.128 = mul nsw i64 %no, 16
  %.129 = add nsw i64 %.127, %.128
  %.130 = getelementptr inbounds float, ptr %x1, i64 %.129
  %.131 = load <16 x float>, ptr %.130, align 4
  %.132 = insertelement <16 x float> undef, float %.126, i32 0
  %.133 = shufflevector <16 x float> %.132, <16 x float> undef, <16 x i32> zeroinitializer
  %.134 = fmul contract <16 x float> %.133, %.131
  %.135 = fadd contract <16 x float> %.121, %.134
  %.136 = getelementptr inbounds float, ptr %.15, i64 80
  store <16 x float> %.135, ptr %.136, align 4
  %.138 = add nsw i64 %k, 1
  br label %k.head

k.done:                                           ; preds = %k.head
  %.140 = getelementptr inbounds float, ptr %.15, i64 0
  %.141 = load <16 x float>, ptr %.140, align 4
  %.142 = mul nsw i64 %mo, 192
  %.143 = mul nsw i64 %no, 16
  %.144 = add nsw i64 %.142, %.143
  %.145 = getelementptr inbounds float, ptr %out, i64 %.144
  store <16 x float> %.141, ptr %.145, align 4
  %.147 = getelementptr inbounds float, ptr %.15, i64 16
  %.148 = load <16 x float>, ptr %.147, align 4
  %.149 = mul nsw i64 %mo, 192
  %.150 = mul nsw i64 %no, 16
  %.151 = add nsw i64 %.149, %.150
  %.152 = add nsw i64 %.151, 32
  %.153 = getelementptr inbounds float, ptr %out, i64 %.152
  store <16 x float> %.148, ptr %.153, align 4
  %.155 = getelementptr inbounds float, ptr %.15, i64 32
  %.156 = load <16 x float>, ptr %.155, align 4
  %.157 = mul nsw i64 %mo, 192
  %.158 = mul nsw i64 %no, 16
  %.159 = add nsw i64 %.157, %.158
  %.160 = add nsw i64 %.159, 64
  %.161 = getelementptr inbounds float, ptr %out, i64 %.160
  store <16 x float> %.156, ptr %.161, align 4
  %.163 = getelementptr inbounds float, ptr %.15, i64 48
  %.164 = load <16 x float>, ptr %.163, align 4
  %.165 = mul nsw i64 %mo, 192
  %.166 = mul nsw i64 %no, 16
  %.167 = add nsw i64 %.165, %.166
  %.168 = add nsw i64 %.167, 96
  %.169 = getelementptr inbounds float, ptr %out, i64 %.168
  store <16 x float> %.164, ptr %.169, align 4
  %.171 = getelementptr inbounds float, ptr %.15, i64 64
  %.172 = load <16 x float>, ptr %.171, align 4
  %.173 = mul nsw i64 %mo, 192
  %.174 = mul nsw i64 %no, 16
  %.175 = add nsw i64 %.173, %.174
  %.176 = add nsw i64 %.175, 128
  %.177 = getelementptr inbounds float, ptr %out, i64 %.176
  store <16 x float> %.172, ptr %.177, align 4
  %.179 = getelementptr inbounds float, ptr %.15, i64 80
  %.180 = load <16 x float>, ptr %.179, align 4
  %.181 = mul nsw i64 %mo, 192
  %.182 = mul nsw i64 %no, 16
  %.183 = add nsw i64 %.181, %.182
  %.184 = add nsw i64 %.183, 160
  %.185 = getelementptr inbounds float, ptr %out, i64 %.184
  store <16 x float> %.180, ptr %.185, align 4
  %.187 = add nsw i64 %no, 1
  br label %no.head
}
