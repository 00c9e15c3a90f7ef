; Each lane counts, whatever the width of the machine: 16 + 3 + 4 multiply-adds.
; expect {"function": "f", "given": {}, "static": {"pair": 19, "fma": 4}, "dynamic": {"pair": 19, "fma": 4}}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
define <16 x float> @f(<16 x float> %a, <16 x float> %b, <3 x float> %c, ptr %out) {
  %p = fmul contract <16 x float> %a, %b
  %s = fadd contract <16 x float> %p, %b
  %q = fmul contract <3 x float> %c, %c
  %t = fadd contract <3 x float> %q, %c
  store <3 x float> %t, ptr %out, align 4
  %h = shufflevector <16 x float> %s, <16 x float> %a, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %u = call <4 x float> @llvm.fma.v4f32(<4 x float> %h, <4 x float> %h, <4 x float> %h)
  store <4 x float> %u, ptr %out, align 4
  ret <16 x float> %s
}
