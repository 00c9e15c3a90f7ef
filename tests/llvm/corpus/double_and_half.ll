; The element type changes nothing here. Of these, haswell has no multiply-add of halves: its machine
; code computes them in float and rounds after each operation.
; expect {"function": "f", "given": {}, "static": {"pair": 3}, "dynamic": {"pair": 3}}
define double @f(double %a, double %b, half %c, <1 x float> %d, ptr %out) {
  %p = fmul contract double %a, %b
  %s = fadd contract double %p, %a
  %q = fmul contract half %c, %c
  %t = fadd contract half %q, %c
  store half %t, ptr %out, align 2
  %r = fmul contract <1 x float> %d, %d
  %u = fadd contract <1 x float> %d, %r
  store <1 x float> %u, ptr %out, align 4
  ret double %s
}
