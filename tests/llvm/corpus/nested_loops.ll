; 3 by 5 by 7 turns: the outer loops are tested on top, the inner one at its end, downwards. Below,
; 8 turns of a loop that LLVM unrolled four times: its last test is of a counter 3 further on.
; expect {"function": "f", "given": {}, "static": {"pair": 1}, "dynamic": {"pair": 105}}
; expect {"function": "unrolled", "given": {}, "static": {"pair": 1}, "dynamic": {"pair": 8}}
define void @f(ptr %x) {
entry:
  br label %i.head
i.head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %i.last ]
  %i.more = icmp ult i64 %i, 3
  br i1 %i.more, label %j.head, label %done
j.head:
  %j = phi i32 [ -5, %i.head ], [ %j.next, %j.last ]
  %j.over = icmp sge i32 %j, 0
  br i1 %j.over, label %i.last, label %k
k:
  %n = phi i8 [ 20, %j.head ], [ %n.next, %k ]
  %v = load float, ptr %x, align 4
  %p = fmul contract float %v, %v
  %s = fadd contract float %p, %v
  store float %s, ptr %x, align 4
  %n.next = sub i8 %n, 3
  %n.more = icmp sgt i8 %n.next, 0
  br i1 %n.more, label %k, label %j.last
j.last:
  %j.next = add nsw i32 %j, 1
  br label %j.head
i.last:
  %i.next = add nuw i64 %i, 1
  br label %i.head
done:
  ret void
}
define void @unrolled(ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = load float, ptr %x, align 4
  %p = fmul contract float %v, %v
  %s = fadd contract float %p, %v
  store float %s, ptr %x, align 4
  %third = or disjoint i64 %i, 3
  %next = add nuw nsw i64 %i, 4
  %more = icmp samesign ult i64 %third, 31
  br i1 %more, label %loop, label %done
done:
  ret void
}
