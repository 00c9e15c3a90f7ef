; Loops of which the structure does not say how often they turn: a bound from memory, a second way
; out, a counter that doubles, a bound that the loop around it moves. What stands behind them is known.
; expect {"function": "from_memory", "given": {}, "static": {"pair": 2}, "dynamic": null}
; expect {"function": "two_ways_out", "given": {}, "static": {"pair": 1}, "dynamic": null}
; expect {"function": "doubling", "given": {}, "static": {"pair": 1}, "dynamic": null}
; expect {"function": "triangle", "given": {}, "static": {"pair": 1}, "dynamic": null}
; expect {"function": "behind", "given": {}, "static": {"pair": 1}, "dynamic": {"pair": 1}}
define float @from_memory(ptr %x, float %a) {
entry:
  %n = load i32, ptr %x, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ %a, %entry ], [ %t, %loop ]
  %p = fmul contract float %s, %a
  %t = fadd contract float %p, %a
  %next = add i32 %i, 1
  %over = icmp sge i32 %next, %n
  br i1 %over, label %done, label %loop
done:
  %q = fmul contract float %t, %a
  %u = fadd contract float %q, %a
  ret float %u
}
define float @two_ways_out(ptr %x, float %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %last ]
  %s = phi float [ %a, %entry ], [ %t, %last ]
  %p = fmul contract float %s, %a
  %t = fadd contract float %p, %a
  %early = fcmp ogt float %t, 1.0e3
  br i1 %early, label %done, label %last
last:
  %next = add i32 %i, 1
  %over = icmp sge i32 %next, 10
  br i1 %over, label %done, label %loop
done:
  ret float %t
}
define float @doubling(float %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %loop ]
  %s = phi float [ %a, %entry ], [ %t, %loop ]
  %p = fmul contract float %s, %a
  %t = fadd contract float %p, %a
  %next = mul i32 %i, 2
  %over = icmp sge i32 %next, 100
  br i1 %over, label %done, label %loop
done:
  ret float %t
}
define void @triangle(ptr %x) {
entry:
  br label %i.loop
i.loop:
  %i = phi i32 [ 1, %entry ], [ %i.next, %i.last ]
  br label %j.loop
j.loop:
  %j = phi i32 [ 0, %i.loop ], [ %j.next, %j.loop ]
  %v = load float, ptr %x, align 4
  %p = fmul contract float %v, %v
  %s = fadd contract float %p, %v
  store float %s, ptr %x, align 4
  %j.next = add i32 %j, 1
  %j.more = icmp slt i32 %j.next, %i
  br i1 %j.more, label %j.loop, label %i.last
i.last:
  %i.next = add i32 %i, 1
  %i.over = icmp eq i32 %i.next, 8
  br i1 %i.over, label %done, label %i.loop
done:
  ret void
}
define float @behind(ptr %x, float %a) {
entry:
  br label %loop
loop:
  %v = load volatile i32, ptr %x, align 4
  %over = icmp eq i32 %v, 0
  br i1 %over, label %done, label %loop
done:
  %p = fmul contract float %a, %a
  %s = fadd contract float %p, %a
  ret float %s
}
