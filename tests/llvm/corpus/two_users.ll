; A product that two sums use, or one sum twice, has to be computed anyway: no pair. The last product
; has a single user.
; expect {"function": "f", "given": {}, "static": {"pair": 1, "mul": 2, "add": 3}, "dynamic": {"pair": 1, "mul": 2, "add": 3}}
define float @f(float %a, float %b, float %c) {
  %p = fmul contract float %a, %b
  %s = fadd contract float %p, %c
  %t = fadd contract float %p, %s
  %q = fmul contract float %t, %b
  %u = fadd contract float %q, %q
  %r = fmul contract float %u, %c
  %v = fadd contract float %r, %a
  ret float %v
}
