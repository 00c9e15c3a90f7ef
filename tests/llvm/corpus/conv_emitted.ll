; a convolution of [1, 2, 6, 6] with filters [4, 2, 3, 3], for AVX2, as the compiler emits it.
; expect {"function": "conv_0", "given": {"lo": 0, "hi": 1}, "static": {"pair": 16}, "dynamic": {"pair": 1152}}
target triple = "x86_64-unknown-linux-gnu"

define i64 @conv_0(ptr noalias nonnull %x0, ptr noalias nonnull %x1, ptr noalias nonnull %out, i64 %lo, i64 %hi) {
entry:
  %.18 = alloca [16 x float], align 64
  br label %body

body:                                             ; preds = %entry
  %.7 = add i64 %lo, 0
  %.8 = add i64 %hi, 0
  br label %oco.head

oco.head:                                         ; preds = %o0.done, %body
  %oco = phi i64 [ %.7, %body ], [ %.192, %o0.done ]
  %.10 = icmp slt i64 %oco, %.8
  br i1 %.10, label %oco.body, label %oco.done

oco.body:                                         ; preds = %oco.head
  br label %o0.head

oco.done:                                         ; preds = %oco.head
  ret i64 0

o0.head:                                          ; preds = %o1o.done, %oco.body
  %o0 = phi i64 [ 0, %oco.body ], [ %.190, %o1o.done ]
  %.13 = icmp slt i64 %o0, 4
  br i1 %.13, label %o0.body, label %o0.done

o0.body:                                          ; preds = %o0.head
  br label %o1o.head

o0.done:                                          ; preds = %o0.head
  %.192 = add nsw i64 %oco, 1
  br label %oco.head

o1o.head:                                         ; preds = %ic.done, %o0.body
  %o1o = phi i64 [ 0, %o0.body ], [ %.188, %ic.done ]
  %.16 = icmp slt i64 %o1o, 1
  br i1 %.16, label %o1o.body, label %o1o.done

o1o.body:                                         ; preds = %o1o.head
  %.19 = getelementptr inbounds float, ptr %.18, i64 0
  store <4 x float> zeroinitializer, ptr %.19, align 4
  %.21 = getelementptr inbounds float, ptr %.18, i64 4
  store <4 x float> zeroinitializer, ptr %.21, align 4
  %.23 = getelementptr inbounds float, ptr %.18, i64 8
  store <4 x float> zeroinitializer, ptr %.23, align 4
  %.25 = getelementptr inbounds float, ptr %.18, i64 12
  store <4 x float> zeroinitializer, ptr %.25, align 4
  br label %ic.head

o1o.done:                                         ; preds = %o1o.head
  %.190 = add nsw i64 %o0, 1
  br label %o0.head

ic.head:                                          ; preds = %k0.done, %o1o.body
  %ic = phi i64 [ 0, %o1o.body ], [ %.147, %k0.done ]
  %.28 = icmp slt i64 %ic, 2
  br i1 %.28, label %ic.body, label %ic.done

ic.body:                                          ; preds = %ic.head
  br label %k0.head

ic.done:                                          ; preds = %ic.head
  %.149 = getelementptr inbounds float, ptr %.18, i64 0
  %.150 = load <4 x float>, ptr %.149, align 4
  %.151 = mul nsw i64 %o0, 4
  %.152 = mul nsw i64 %o1o, 4
  %.153 = add nsw i64 %.151, %.152
  %.154 = mul nsw i64 %oco, 64
  %.155 = add nsw i64 %.153, %.154
  %.156 = getelementptr inbounds float, ptr %out, i64 %.155
  store <4 x float> %.150, ptr %.156, align 4
  %.158 = getelementptr inbounds float, ptr %.18, i64 4
  %.159 = load <4 x float>, ptr %.158, align 4
  %.160 = mul nsw i64 %o0, 4
  %.161 = mul nsw i64 %o1o, 4
  %.162 = add nsw i64 %.160, %.161
  %.163 = mul nsw i64 %oco, 64
  %.164 = add nsw i64 %.162, %.163
  %.165 = add nsw i64 %.164, 16
  %.166 = getelementptr inbounds float, ptr %out, i64 %.165
  store <4 x float> %.159, ptr %.166, align 4
  %.168 = getelementptr inbounds float, ptr %.18, i64 8
  %.169 = load <4 x float>, ptr %.168, align 4
  %.170 = mul nsw i64 %o0, 4
  %.171 = mul nsw i64 %o1o, 4
  %.172 = add nsw i64 %.170, %.171
  %.173 = mul nsw i64 %oco, 64
  %.174 = add nsw i64 %.172, %.173
  %.175 = add nsw i64 %.174, 32
  %.176 = getelementptr inbounds float, ptr %out, i64 %.175
  store <4 x float> %.169, ptr %.176, align 4
  %.178 = getelementptr inbounds float, ptr %.18, i64 12
  %.179 = load <4 x float>, ptr %.178, align 4
  %.180 = mul nsw i64 %o0, 4
  %.181 = mul nsw i64 %o1o, 4
  %.182 = add nsw i64 %.180, %.181
  %.183 = mul nsw i64 %oco, 64
  %.184 = add nsw i64 %.182, %.183
  %.185 = add nsw i64 %.184, 48
  %.186 = getelementptr inbounds float, ptr %out, i64 %.185
  store <4 x float> %.179, ptr %.186, align 4
  %.188 = add nsw i64 %o1o, 1
  br label %o1o.head

k0.head:                                          ; preds = %k1.done, %ic.body
  %k0 = phi i64 [ 0, %ic.body ], [ %.145, %k1.done ]
  %.31 = icmp slt i64 %k0, 3
  br i1 %.31, label %k0.body, label %k0.done

k0.body:                                          ; preds = %k0.head
  br label %k1.head

k0.done:                                          ; preds = %k0.head
  %.147 = add nsw i64 %ic, 1
  br label %ic.head

k1.head:                                          ; preds = %k1.body, %k0.body
  %k1 = phi i64 [ 0, %k0.body ], [ %.143, %k1.body ]
  %.34 = icmp slt i64 %k1, 3
  br i1 %.34, label %k1.body, label %k1.done

k1.body:                                          ; preds = %k1.head
  %.36 = getelementptr inbounds float, ptr %.18, i64 0
  %.37 = load <4 x float>, ptr %.36, align 4
  %.38 = mul nsw i64 %ic, 36
  %.39 = mul nsw i64 %k0, 6
  %.40 = add nsw i64 %.38, %.39
  %.41 = add nsw i64 %.40, %k1
  %.42 = mul nsw i64 %o0, 6
  %.43 = add nsw i64 %.41, %.42
  %.44 = mul nsw i64 %o1o, 4
  %.45 = add nsw i64 %.43, %.44
  %.46 = getelementptr inbounds float, ptr %x0, i64 %.45
  %.47 = load <4 x float>, ptr %.46, align 4
  %.48 = mul nsw i64 %ic, 9
  %.49 = mul nsw i64 %k0, 3
  %.50 = add nsw i64 %.48, %.49
  %.51 = add nsw i64 %.50, %k1
  %.52 = mul nsw i64 %oco, 72
  %.53 = add nsw i64 %.51, %.52
  %.54 = getelementptr inbounds float, ptr %x1, i64 %.53
  %.55 = load float, ptr %.54, align 4
  %.56 = insertelement <4 x float> undef, float %.55, i32 0
  %.57 = shufflevector <4 x float> %.56, <4 x float> undef, <4 x i32> zeroinitializer
  %.58 = fmul contract <4 x float> %.47, %.57
  %.59 = fadd contract <4 x float> %.37, %.58
  %.60 = getelementptr inbounds float, ptr %.18, i64 0
  store <4 x float> %.59, ptr %.60, align 4
  %.62 = getelementptr inbounds float, ptr %.18, i64 4
  %.63 = load <4 x float>, ptr %.62, align 4
  %.64 = mul nsw i64 %ic, 36
  %.65 = mul nsw i64 %k0, 6
  %.66 = add nsw i64 %.64, %.65
  %.67 = add nsw i64 %.66, %k1
  %.68 = mul nsw i64 %o0, 6
  %.69 = add nsw i64 %.67, %.68
  %.70 = mul nsw i64 %o1o, 4
  %.71 = add nsw i64 %.69, %.70
  %.72 = getelementptr inbounds float, ptr %x0, i64 %.71
  %.73 = load <4 x float>, ptr %.72, align 4
  %.74 = mul nsw i64 %ic, 9
  %.75 = mul nsw i64 %k0, 3
  %.76 = add nsw i64 %.74, %.75
  %.77 = add nsw i64 %.76, %k1
  %.78 = mul nsw i64 %oco, 72
  %.79 = add nsw i64 %.77, %.78
  %.80 = add nsw i64 %.79, 18
  %.81 = getelementptr inbounds float, ptr %x1, i64 %.80
  %.82 = load float, ptr %.81, align 4
  %.83 = insertelement <4 x float> undef, float %.82, i32 0
  %.84 = shufflevector <4 x float> %.83, <4 x float> undef, <4 x i32> zeroinitializer
  %.85 = fmul contract <4 x float> %.73, %.84
  %.86 = fadd contract <4 x float> %.63, %.85
  %.87 = getelementptr inbounds float, ptr %.18, i64 4
  store <4 x float> %.86, ptr %.87, align 4
  %.89 = getelementptr inbounds float, ptr %.18, i64 8
  %.90 = load <4 x float>, ptr %.89, align 4
  %.91 = mul nsw i64 %ic, 36
  %.92 = mul nsw i64 %k0, 6
  %.93 = add nsw i64 %.91, %.92
  %.94 = add nsw i64 %.93, %k1
  %.95 = mul nsw i64 %o0, 6
  %.96 = add nsw i64 %.94, %.95
  %.97 = mul nsw i64 %o1o, 4
  %.98 = add nsw i64 %.96, %.97
  %.99 = getelementptr inbounds float, ptr %x0, i64 %.98
  %.100 = load <4 x float>, ptr %.99, align 4
  %.101 = mul nsw i64 %ic, 9
  %.102 = mul nsw i64 %k0, 3
  %.103 = add nsw i64 %.101, %.102
  %.104 = add nsw i64 %.103, %k1
  %.105 = mul nsw i64 %oco, 72
  %.106 = add nsw i64 %.104, %.105
  %.107 = add nsw i64 %.106, 36
  %.108 = getelementptr inbounds float, ptr %x1, i64 %.107
  %.109 = load float, ptr %.108, align 4
  %.110 = insertelement <4 x float> undef, float %.109, i32 0
  %.111 = shufflevector <4 x float> %.110, <4 x float> undef, <4 x i32> zeroinitializer
  %.112 = fmul contract <4 x float> %.100, %.111
  %.113 = fadd contract <4 x float> %.90, %.112
  %.114 = getelementptr inbounds float, ptr %.18, i64 8
  store <4 x float> %.113, ptr %.114, align 4
  %.116 = getelementptr inbounds float, ptr %.18, i64 12
  %.117 = load <4 x float>, ptr %.116, align 4
  %.118 = mul nsw i64 %ic, 36
  %.119 = mul nsw i64 %k0, 6
  %.120 = add nsw i64 %.118, %.119
  %.121 = add nsw i64 %.120, %k1
  %.122 = mul nsw i64 %o0, 6
  %.123 = add nsw i64 %.121, %.122
  %.124 = mul nsw i64 %o1o, 4
  %.125 = add nsw i64 %.123, %.124
  %.126 = getelementptr inbounds float, ptr %x0, i64 %.125
  %.127 = load <4 x float>, ptr %.126, align 4
  %.128 = mul nsw i64 %ic, 9
  %.129 = mul nsw i64 %k0, 3
  %.130 = add nsw i64 %.128, %.129
  %.131 = add nsw i64 %.130, %k1
  %.132 = mul nsw i64 %oco, 72
  %.133 = add nsw i64 %.131, %.132
  %.134 = add nsw i64 %.133, 54
  %.135 = getelementptr inbounds float, ptr %x1, i64 %.134
  %.136 = load float, ptr %.135, align 4
  %.137 = insertelement <4 x float> undef, float %.136, i32 0
  %.138 = shufflevector <4 x float> %.137, <4 x float> undef, <4 x i32> zeroinitializer
  %.139 = fmul contract <4 x float> %.127, %.138
  %.140 = fadd contract <4 x float> %.117, %.139
  %.141 = getelementptr inbounds float, ptr %.18, i64 12
  store <4 x float> %.140, ptr %.141, align 4
  %.143 = add nsw i64 %k1, 1
  br label %k1.head

k1.done:                                          ; preds = %k1.head
  %.145 = add nsw i64 %k0, 1
  br label %k0.head
}
