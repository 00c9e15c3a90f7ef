define i64 @twice(ptr noalias %v0, ptr noalias %v1) {
entry:
  br label %start
start:
  br label %head3
head3:
  %v3 = phi i32 [ 0, %start ], [ %next3, %latch3 ]
  %more3 = icmp slt i32 %v3, 4
  br i1 %more3, label %body3, label %exit3
body3:
  %v4 = getelementptr inbounds float, ptr %v1, i32 %v3
  %v5 = load float, ptr %v4
  %v6 = fadd float %v5, %v5
  %v7 = getelementptr inbounds float, ptr %v0, i32 %v3
  store float %v6, ptr %v7
  br label %latch3
latch3:
  %next3 = add i32 %v3, 1
  br label %head3
exit3:
  ret i64 0
}
