"""LLVM IR that unit 5 reads: committed texts, so that every reader sees the same lines.

    DOT           a dot product as clang 22 writes it at -O0 for Haswell, without attributes
    SCALED        what the six changes in CHANGES were made to; which pass it was is the question
    ONE_SUM       the same as DOT, with its values in registers from the start
    PIXELS        the sum of one channel of every second pixel

The first two and the changes stand in clang.txt; `tests/units/test_u05.py` makes them again where
clang-22 is installed. Next room: `small.py`.
"""

from __future__ import annotations

from course_lib.recorded import recorded

CLANG = recorded(__file__, "clang.txt")
DOT_C, DOT, SCALED_C, SCALED = (
    CLANG[name].strip() for name in ("dot.c", "dot", "scaled.c", "scaled")
)
CHANGES = {letter: CLANG[f"change {letter}"] for letter in "ABCDEF"}

ONE_SUM = """
define float @dot(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %a = load float, ptr %px
  %b = load float, ptr %py
  %p = fmul contract float %a, %b
  %more = fadd contract float %sum, %p
  %next = add i64 %i, 1
  %over = icmp eq i64 %next, %n
  br i1 %over, label %done, label %loop

done:
  ret float %more
}
""".strip()

PIXELS = """
%pixel = type { i8, [3 x float], i32 }

define float @channel(ptr %pixels, i64 %c, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 1, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %p = getelementptr %pixel, ptr %pixels, i64 %i, i32 1, i64 %c
  %v = load float, ptr %p
  %more = fadd float %sum, %v
  %next = add i64 %i, 2
  %go = icmp slt i64 %next, %n
  br i1 %go, label %loop, label %done

done:
  ret float %more
}
""".strip()
