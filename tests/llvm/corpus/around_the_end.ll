; Counters of 8 bits that run over their last number, or start at it: 250 up to 5 are 11 turns, in
; steps of 3 from 0 the number 1 is met after 171. The last loop would wrap before it ends: nothing
; is said of it.
; expect {"function": "f", "given": {}, "static": {"pair": 2}, "dynamic": {"pair": 182}}
; expect {"function": "g", "given": {}, "static": {"pair": 1}, "dynamic": null}
define void @f(ptr %x) {
entry:
  br label %up
up:
  %i = phi i8 [ -6, %entry ], [ %i.next, %up ]
  %v = load float, ptr %x, align 4
  %p = fmul contract float %v, %v
  %s = fadd contract float %p, %v
  store float %s, ptr %x, align 4
  %i.next = add i8 %i, 1
  %i.over = icmp eq i8 %i.next, 5
  br i1 %i.over, label %threes, label %up
threes:
  %j = phi i8 [ 0, %up ], [ %j.next, %threes ]
  %w = load float, ptr %x, align 4
  %q = fmul contract float %w, %w
  %t = fadd contract float %q, %w
  store float %t, ptr %x, align 4
  %j.next = add i8 3, %j
  %j.more = icmp ne i8 %j.next, 1
  br i1 %j.more, label %threes, label %done
done:
  ret void
}
define void @g(ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i8 [ 100, %entry ], [ %next, %loop ]
  %v = load float, ptr %x, align 4
  %p = fmul contract float %v, %v
  %s = fadd contract float %p, %v
  store float %s, ptr %x, align 4
  %next = add i8 %i, 20
  %more = icmp slt i8 %next, 125
  br i1 %more, label %loop, label %done
done:
  ret void
}
