"""Small LLVM IR that unit 5 counts in.

    NESTED    two loops with fixed trip counts
    SMALL     products and sums that some processors fuse and others do not

Next room: `tools.py`.
"""

NESTED = """
define void @rows(ptr %a, ptr %x, ptr %out) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %after ]
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %s = phi float [ 0.0, %outer ], [ %more, %inner ]
  %row = mul i64 %i, 7
  %at = add i64 %row, %j
  %pa = getelementptr float, ptr %a, i64 %at
  %px = getelementptr float, ptr %x, i64 %j
  %va = load float, ptr %pa
  %vx = load float, ptr %px
  %p = fmul contract float %va, %vx
  %more = fadd contract float %s, %p
  %j.next = add i64 %j, 1
  %j.over = icmp eq i64 %j.next, 7
  br i1 %j.over, label %after, label %inner

after:
  %po = getelementptr float, ptr %out, i64 %i
  store float %more, ptr %po
  %i.next = add i64 %i, 1
  %i.over = icmp eq i64 %i.next, 5
  br i1 %i.over, label %done, label %outer

done:
  ret void
}
""".strip()

_HEAD = "define float @f(float %a, float %b, float %c) {\n"
_PRODUCT = "  %p = fmul contract float %a, %b\n"
SMALL = {
    "a product and its sum": _HEAD
    + _PRODUCT
    + "  %s = fadd contract float %p, %c\n  ret float %s\n}",
    "a call of llvm.fma": _HEAD
    + "  %s = call float @llvm.fma.f32(float %a, float %b, float %c)\n  ret float %s\n}",
    "two sums need the product": _HEAD
    + _PRODUCT
    + "  %s = fadd contract float %p, %c\n  %t = fsub contract float %c, %p\n"
    + "  %d = fdiv float %s, %t\n  ret float %d\n}",
    "the sum is in another block": _HEAD
    + _PRODUCT
    + "  %go = fcmp ogt float %a, %c\n  br i1 %go, label %yes, label %no\n\n"
    + "yes:\n  %s = fadd contract float %p, %c\n  ret float %s\n\nno:\n  ret float %c\n}",
    "an fneg between them": _HEAD
    + _PRODUCT
    + "  %n = fneg contract float %p\n  %s = fadd contract float %n, %c\n  ret float %s\n}",
}
