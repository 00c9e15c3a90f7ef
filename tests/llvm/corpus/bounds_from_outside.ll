; The same function, with and without its arguments given: a guard, a vector loop of full steps, and
; what is left over. n = 21 turns: 2 steps of 8, and 5.
; expect {"function": "f", "given": {}, "static": {"pair": 9}, "dynamic": null}
; expect {"function": "f", "given": {"lo": 3, "hi": 24}, "static": {"pair": 9}, "dynamic": {"pair": 21}}
; expect {"function": "f", "given": {"lo": 3, "hi": 19}, "static": {"pair": 9}, "dynamic": {"pair": 16}}
; expect {"function": "f", "given": {"lo": 3, "hi": 3}, "static": {"pair": 9}, "dynamic": {}}
define void @f(ptr %x, i64 %lo, i64 %hi) {
entry:
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %guard, label %done
guard:
  %n = sub i64 %hi, %lo
  %few = icmp ult i64 %n, 8
  br i1 %few, label %rest.before, label %wide.before
wide.before:
  %whole = and i64 %n, -8
  %after = add i64 %lo, %whole
  br label %wide
wide:
  %i = phi i64 [ 0, %wide.before ], [ %i.next, %wide ]
  %v = load <8 x float>, ptr %x, align 4
  %p = fmul contract <8 x float> %v, %v
  %s = fadd contract <8 x float> %p, %v
  store <8 x float> %s, ptr %x, align 4
  %i.next = add nuw i64 %i, 8
  %i.over = icmp eq i64 %i.next, %whole
  br i1 %i.over, label %wide.after, label %wide
wide.after:
  %none = icmp eq i64 %n, %whole
  br i1 %none, label %done, label %rest.before
rest.before:
  %start = phi i64 [ %lo, %guard ], [ %after, %wide.after ]
  br label %rest
rest:
  %j = phi i64 [ %start, %rest.before ], [ %j.next, %rest ]
  %w = load float, ptr %x, align 4
  %q = fmul contract float %w, %w
  %t = fadd contract float %q, %w
  store float %t, ptr %x, align 4
  %j.next = add nsw i64 %j, 1
  %j.more = icmp slt i64 %j.next, %hi
  br i1 %j.more, label %rest, label %done
done:
  ret void
}
