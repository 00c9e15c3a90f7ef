; Contraction needs the flag on the product and on the sum: one pair, and two products and two sums
; that stay what they are. `fast` holds the flag, `reassoc` and `nsz` do not.
; expect {"function": "f", "given": {}, "static": {"pair": 1, "mul": 2, "add": 2}, "dynamic": {"pair": 1, "mul": 2, "add": 2}}
define float @f(float %a, float %b, float %c) {
  %p = fmul contract float %a, %b
  %s = fadd float %p, %c
  %q = fmul reassoc nsz float %s, %b
  %t = fadd contract float %q, %c
  %r = fmul fast float %t, %b
  %u = fadd contract float %r, %c
  ret float %u
}
