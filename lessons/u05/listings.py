"""LLVM IR that unit 5 reads: committed texts, so that every reader sees the same lines.

    DOT           a dot product as clang 22 writes it at -O0 for Haswell, without attributes
    PIXELS        the sum of one channel of every second pixel
    SCALED        what the six changes in CHANGES were made to
    ONE_SUM       the same as DOT, with its values in registers from the start

`tests/units/test_u05.py` makes DOT again where clang-22 is installed. Next room: `small.py`.
"""

DOT_C = """
float dot(const float *x, const float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}
"""

DOT = """
define float @dot(ptr %x, ptr %y, i32 %n) {
entry:
  %x.addr = alloca ptr, align 8
  %y.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %sum = alloca float, align 4
  %i = alloca i32, align 4
  store ptr %x, ptr %x.addr, align 8
  store ptr %y, ptr %y.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  store float 0.000000e+00, ptr %sum, align 4
  store i32 0, ptr %i, align 4
  br label %for.cond

for.cond:
  %0 = load i32, ptr %i, align 4
  %1 = load i32, ptr %n.addr, align 4
  %cmp = icmp slt i32 %0, %1
  br i1 %cmp, label %for.body, label %for.end

for.body:
  %2 = load ptr, ptr %x.addr, align 8
  %3 = load i32, ptr %i, align 4
  %idxprom = sext i32 %3 to i64
  %arrayidx = getelementptr inbounds float, ptr %2, i64 %idxprom
  %4 = load float, ptr %arrayidx, align 4
  %5 = load ptr, ptr %y.addr, align 8
  %6 = load i32, ptr %i, align 4
  %idxprom1 = sext i32 %6 to i64
  %arrayidx2 = getelementptr inbounds float, ptr %5, i64 %idxprom1
  %7 = load float, ptr %arrayidx2, align 4
  %mul = fmul reassoc nsz contract float %4, %7
  %8 = load float, ptr %sum, align 4
  %add = fadd reassoc nsz contract float %8, %mul
  store float %add, ptr %sum, align 4
  br label %for.inc

for.inc:
  %9 = load i32, ptr %i, align 4
  %inc = add nsw i32 %9, 1
  store i32 %inc, ptr %i, align 4
  br label %for.cond

for.end:
  %10 = load float, ptr %sum, align 4
  ret float %10
}
""".strip()

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

SCALED_C = """
void f(const float *restrict x, float *restrict out, long n, float a) {
  for (long i = 0; i < n; ++i)
    out[i] = x[4 * i] * (a * a) + x[4 * i];
}
"""

SCALED = """
define void @f(ptr noalias %x, ptr noalias %out, i64 %n, float %a) {
entry:
  %x.addr = alloca ptr, align 8
  %out.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %a.addr = alloca float, align 4
  %i = alloca i64, align 8
  store ptr %x, ptr %x.addr, align 8
  store ptr %out, ptr %out.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  store float %a, ptr %a.addr, align 4
  store i64 0, ptr %i, align 8
  br label %for.cond

for.cond:
  %0 = load i64, ptr %i, align 8
  %1 = load i64, ptr %n.addr, align 8
  %cmp = icmp slt i64 %0, %1
  br i1 %cmp, label %for.body, label %for.end

for.body:
  %2 = load ptr, ptr %x.addr, align 8
  %3 = load i64, ptr %i, align 8
  %mul = mul nsw i64 4, %3
  %arrayidx = getelementptr inbounds float, ptr %2, i64 %mul
  %4 = load float, ptr %arrayidx, align 4
  %5 = load float, ptr %a.addr, align 4
  %6 = load float, ptr %a.addr, align 4
  %mul1 = fmul contract float %5, %6
  %mul2 = fmul contract float %4, %mul1
  %7 = load ptr, ptr %x.addr, align 8
  %8 = load i64, ptr %i, align 8
  %mul3 = mul nsw i64 4, %8
  %arrayidx4 = getelementptr inbounds float, ptr %7, i64 %mul3
  %9 = load float, ptr %arrayidx4, align 4
  %add = fadd contract float %mul2, %9
  %10 = load ptr, ptr %out.addr, align 8
  %11 = load i64, ptr %i, align 8
  %arrayidx5 = getelementptr inbounds float, ptr %10, i64 %11
  store float %add, ptr %arrayidx5, align 4
  br label %for.inc

for.inc:
  %12 = load i64, ptr %i, align 8
  %inc = add nsw i64 %12, 1
  store i64 %inc, ptr %i, align 8
  br label %for.cond

for.end:
  ret void
}
""".strip()

# What six passes of O3 changed in SCALED, as a diff with two lines around each change; attributes
# are left out. Which pass it was is the question.
CHANGES = {
    "A": """
@@ -5,4 +5,5 @@
 for.body.lr.ph:
+  %mul1 = fmul contract float %a, %a
   br label %for.body
@@ -12,5 +13,4 @@
   %arrayidx = getelementptr inbounds nuw i8, ptr %x, i64 %arrayidx.idx
   %0 = load float, ptr %arrayidx, align 4
-  %mul1 = fmul contract float %a, %a
   %mul2 = fmul contract float %mul1, %0
   %add = fadd contract float %0, %mul2
""",
    "B": """
@@ -39,7 +39,4 @@
   %arrayidx5 = getelementptr inbounds float, ptr %10, i64 %11
   store float %add, ptr %arrayidx5, align 4
-  br label %for.inc
-
-for.inc:
   %12 = load i64, ptr %i, align 8
   %inc = add nsw i64 %12, 1
""",
    "C": """
@@ -1,45 +1,24 @@
 define void @f(ptr noalias %x, ptr noalias %out, i64 %n, float %a) {
 entry:
-  %x.addr = alloca ptr, align 8
-  %out.addr = alloca ptr, align 8
-  %n.addr = alloca i64, align 8
-  %a.addr = alloca float, align 4
-  %i = alloca i64, align 8
-  store ptr %x, ptr %x.addr, align 8
-  store ptr %out, ptr %out.addr, align 8
-  store i64 %n, ptr %n.addr, align 8
-  store float %a, ptr %a.addr, align 4
-  store i64 0, ptr %i, align 8
   br label %for.cond
 for.cond:
-  %0 = load i64, ptr %i, align 8
-  %1 = load i64, ptr %n.addr, align 8
-  %cmp = icmp slt i64 %0, %1
+  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
+  %cmp = icmp slt i64 %i.0, %n
   br i1 %cmp, label %for.body, label %for.end
 for.body:
-  %2 = load ptr, ptr %x.addr, align 8
-  %3 = load i64, ptr %i, align 8
-  %mul = mul nsw i64 4, %3
-  %arrayidx = getelementptr inbounds float, ptr %2, i64 %mul
-  %4 = load float, ptr %arrayidx, align 4
-  %5 = load float, ptr %a.addr, align 4
-  %6 = load float, ptr %a.addr, align 4
-  %mul1 = fmul contract float %5, %6
-  %mul2 = fmul contract float %4, %mul1
-  %7 = load ptr, ptr %x.addr, align 8
-  %8 = load i64, ptr %i, align 8
-  %mul3 = mul nsw i64 4, %8
-  %arrayidx4 = getelementptr inbounds float, ptr %7, i64 %mul3
-  %9 = load float, ptr %arrayidx4, align 4
-  %add = fadd contract float %mul2, %9
-  %10 = load ptr, ptr %out.addr, align 8
-  %11 = load i64, ptr %i, align 8
-  %arrayidx5 = getelementptr inbounds float, ptr %10, i64 %11
+  %mul = mul nsw i64 4, %i.0
+  %arrayidx = getelementptr inbounds float, ptr %x, i64 %mul
+  %0 = load float, ptr %arrayidx, align 4
+  %mul1 = fmul contract float %a, %a
+  %mul2 = fmul contract float %0, %mul1
+  %mul3 = mul nsw i64 4, %i.0
+  %arrayidx4 = getelementptr inbounds float, ptr %x, i64 %mul3
+  %1 = load float, ptr %arrayidx4, align 4
+  %add = fadd contract float %mul2, %1
+  %arrayidx5 = getelementptr inbounds float, ptr %out, i64 %i.0
   store float %add, ptr %arrayidx5, align 4
-  %12 = load i64, ptr %i, align 8
-  %inc = add nsw i64 %12, 1
-  store i64 %inc, ptr %i, align 8
+  %inc = add nsw i64 %i.0, 1
   br label %for.cond
""",
    "D": """
@@ -1,13 +1,13 @@
 define void @f(ptr noalias %x, ptr noalias %out, i64 %n, float %a) {
 entry:
-  br label %for.cond
+  %cmp7 = icmp slt i64 0, %n
+  br i1 %cmp7, label %for.body.lr.ph, label %for.end
-for.cond:
-  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
-  %cmp = icmp slt i64 %i.0, %n
-  br i1 %cmp, label %for.body, label %for.end
+for.body.lr.ph:
+  br label %for.body
 for.body:
-  %arrayidx.idx = shl nsw i64 %i.0, 4
+  %i.08 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.body ]
+  %arrayidx.idx = shl nsw i64 %i.08, 4
   %arrayidx = getelementptr inbounds nuw i8, ptr %x, i64 %arrayidx.idx
   %0 = load float, ptr %arrayidx, align 4
@@ -15,8 +15,12 @@
   %mul2 = fmul contract float %mul1, %0
   %add = fadd contract float %0, %mul2
-  %arrayidx5 = getelementptr inbounds nuw float, ptr %out, i64 %i.0
+  %arrayidx5 = getelementptr inbounds nuw float, ptr %out, i64 %i.08
   store float %add, ptr %arrayidx5, align 4
-  %inc = add nuw nsw i64 %i.0, 1
-  br label %for.cond
+  %inc = add nuw nsw i64 %i.08, 1
+  %cmp = icmp slt i64 %inc, %n
+  br i1 %cmp, label %for.body, label %for.cond.for.end_crit_edge
+
+for.cond.for.end_crit_edge:
+  br label %for.end
 for.end:
""",
    "E": """
@@ -14,8 +14,5 @@
   %mul1 = fmul contract float %a, %a
   %mul2 = fmul contract float %0, %mul1
-  %mul3 = mul nsw i64 4, %i.0
-  %arrayidx4 = getelementptr inbounds float, ptr %x, i64 %mul3
-  %1 = load float, ptr %arrayidx4, align 4
-  %add = fadd contract float %mul2, %1
+  %add = fadd contract float %mul2, %0
   %arrayidx5 = getelementptr inbounds float, ptr %out, i64 %i.0
   store float %add, ptr %arrayidx5, align 4
""",
    "F": """
@@ -9,13 +9,13 @@
 for.body:
-  %mul = mul nsw i64 4, %i.0
-  %arrayidx = getelementptr inbounds float, ptr %x, i64 %mul
+  %arrayidx.idx = shl nsw i64 %i.0, 4
+  %arrayidx = getelementptr inbounds nuw i8, ptr %x, i64 %arrayidx.idx
   %0 = load float, ptr %arrayidx, align 4
   %mul1 = fmul contract float %a, %a
   %mul2 = fmul contract float %0, %mul1
   %add = fadd contract float %mul2, %0
-  %arrayidx5 = getelementptr inbounds float, ptr %out, i64 %i.0
+  %arrayidx5 = getelementptr inbounds nuw float, ptr %out, i64 %i.0
   store float %add, ptr %arrayidx5, align 4
-  %inc = add nsw i64 %i.0, 1
+  %inc = add nuw nsw i64 %i.0, 1
   br label %for.cond
""",
}
