; Instruction selection sees one block at a time: the product of another one is no part of a pair.
; How often each side of the branch runs, the data says; where they meet, the sum is known.
; expect {"function": "f", "given": {}, "static": {"mul": 1, "add": 1, "pair": 1}, "dynamic": null}
; expect {"function": "g", "given": {}, "static": {"mul": 1, "add": 1}, "dynamic": {"mul": 1, "add": 1}}
define float @f(float %a, float %b, i1 %c) {
entry:
  %p = fmul contract float %a, %b
  br i1 %c, label %then, label %done
then:
  %q = fmul contract float %a, %a
  %t = fadd contract float %q, %b
  br label %done
done:
  %m = phi float [ %a, %entry ], [ %t, %then ]
  %s = fadd contract float %p, %m
  ret float %s
}
define float @g(float %a, float %b, i1 %c) {
entry:
  %p = fmul contract float %a, %b
  br i1 %c, label %then, label %else
then:
  br label %done
else:
  br label %done
done:
  %s = fadd contract float %p, %b
  ret float %s
}
