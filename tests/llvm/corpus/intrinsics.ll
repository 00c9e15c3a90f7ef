; `fma` rounds once by its meaning, `fmuladd` where that is fast: what clang writes for a * b + c
; before it optimizes. Neither needs a flag.
; expect {"function": "f", "given": {}, "static": {"fma": 1, "fmuladd": 9}, "dynamic": {"fma": 1, "fmuladd": 9}}
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.fmuladd.f64(double, double, double)
declare <8 x half> @llvm.fmuladd.v8f16(<8 x half>, <8 x half>, <8 x half>)
define double @f(float %a, double %b, <8 x half> %c, ptr %out) {
  %s = call float @llvm.fma.f32(float %a, float %a, float %a)
  store float %s, ptr %out, align 4
  %t = call double @llvm.fmuladd.f64(double %b, double %b, double %b)
  %u = call <8 x half> @llvm.fmuladd.v8f16(<8 x half> %c, <8 x half> %c, <8 x half> %c)
  store <8 x half> %u, ptr %out, align 2
  ret double %t
}
