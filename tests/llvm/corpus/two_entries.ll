; A loop that is entered at two places has no header, and one without an end never returns: of such a
; function nothing is said, but for blocks that cannot be reached.
; expect {"function": "f", "given": {}, "static": {"pair": 1, "add": 1}, "dynamic": null}
; expect {"function": "endless", "given": {}, "static": {"add": 1}, "dynamic": null}
; expect {"function": "unreached", "given": {}, "static": {"mul": 1, "add": 1}, "dynamic": {"add": 1}}
define float @f(float %a, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %s = phi float [ %a, %entry ], [ %t, %right ]
  %p = fmul contract float %s, %a
  %u = fadd contract float %p, %a
  br label %right
right:
  %v = phi float [ %a, %entry ], [ %u, %left ]
  %t = fadd contract float %v, %a
  %over = fcmp ogt float %t, 1.0e3
  br i1 %over, label %done, label %left
done:
  ret float %t
}
define void @endless(ptr %x) {
entry:
  br label %loop
loop:
  %v = load float, ptr %x, align 4
  %s = fadd float %v, 1.0
  store float %s, ptr %x, align 4
  br label %loop
}
define float @unreached(float %a) {
entry:
  %s = fadd float %a, 1.0
  ret float %s
nowhere:
  %i = phi i32 [ %next, %nowhere ]
  %next = add i32 %i, 1
  %p = fmul float %a, %a
  br label %nowhere
}
