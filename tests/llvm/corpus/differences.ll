; a*b - c, c - a*b and a*b - c*d are one multiply-add each; the second product of the last stays.
; expect {"function": "f", "given": {}, "static": {"pair": 3, "mul": 1}, "dynamic": {"pair": 3, "mul": 1}}
define float @f(float %a, float %b, float %c, float %d) {
  %p = fmul contract float %a, %b
  %s = fsub contract float %p, %c
  %q = fmul contract float %s, %b
  %t = fsub contract float %c, %q
  %x = fmul contract float %t, %a
  %y = fmul contract float %c, %d
  %u = fsub contract float %x, %y
  ret float %u
}
