"""Answers to unit 5 that are LLVM IR: dot products with more or fewer sums."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant

HEAD = "define float @dot(ptr %x, ptr %y, i64 %n) {\nentry:\n  br label %loop\n\nloop:\n"


def _dot(sums=4, *, step=None, fused=False, names="more", tail=True, shared=False, start="0.0"):
    """A dot product with so many sums; the switches make it wrong, or another one."""
    step = sums if step is None else step
    lines = ["  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    lines += [
        f"  %sum{k} = phi float [ {start}, %entry ], [ %{names}{k}, %loop ]" for k in range(sums)
    ]
    for k in range(sums):
        at = 0 if shared else k
        lines += [
            f"  %i{k} = add i64 %i, {at}",
            f"  %px{k} = getelementptr inbounds float, ptr %x, i64 %i{k}",
            f"  %py{k} = getelementptr inbounds float, ptr %y, i64 %i{k}",
            f"  %a{k} = load float, ptr %px{k}, align 4",
            f"  %b{k} = load float, ptr %py{k}, align 4",
        ]
        if fused:
            lines.append(
                f"  %more{k} = call float @llvm.fma.f32(float %a{k}, float %b{k}, float %sum{k})"
            )
        else:
            lines += [
                f"  %p{k} = fmul contract float %a{k}, %b{k}",
                f"  %more{k} = fadd contract float %sum{k}, %p{k}",
            ]
    lines += [
        f"  %next = add nuw i64 %i, {step}",
        "  %go = icmp ult i64 %next, %n",
        "  br i1 %go, label %loop, label %done\n\ndone:",
    ]
    last = "%more0"
    for k in range(1, sums if tail else 1):
        lines.append(f"  %t{k} = fadd float {last}, %more{k}")
        last = f"%t{k}"
    lines.append(f"  ret float {last}\n}}")
    declared = "\n\ndeclare float @llvm.fma.f32(float, float, float)" if fused else ""
    return HEAD + "\n".join(lines) + declared


@mutant("u05.four_sums")
def one_sum():
    return _dot(1)


@mutant("u05.four_sums")
def two_sums():
    return _dot(2)


@mutant("u05.four_sums")
def the_sums_are_not_joined():
    return _dot(tail=False)


@mutant("u05.four_sums")
def the_same_element_four_times():
    return _dot(shared=True)


@mutant("u05.four_sums")
def one_element_a_turn():
    return _dot(step=1)


@mutant("u05.four_sums")
def sums_that_begin_at_one():
    return _dot(start="1.0")


@mutant("u05.four_sums")
def the_phis_bring_the_old_sums():
    return _dot(names="sum")


@mutant("u05.four_sums")
def another_head():
    return _dot().replace("i64 %n) {", "i32 %n) {").replace("i64 %next, %n", "i32 %next, %n")


@mutant("u05.four_sums")
def a_name_twice():
    return _dot().replace("%p1", "%p0")


@mutant("u05.four_sums")
def written_for_four():
    """Right for the shortest length only: it never goes back."""
    return _dot().replace("label %loop, label %done", "label %done, label %done")


@mutant("u05.four_sums")
def with_vectors():
    return """define float @dot(ptr %x, ptr %y, i64 %n) {
entry:
  %a = load <4 x float>, ptr %x
  %s = call float @llvm.vector.reduce.fadd.v4f32(float 0.0, <4 x float> %a)
  ret float %s
}

declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)"""


@mutant("u05.four_sums")
def everything_is_read_twice():
    line = "  %a0 = load float, ptr %px0, align 4"
    return _dot().replace(line, line + "\n  %again = load float, ptr %px0, align 4")


@mutant("u05.four_sums")
def the_index_is_returned():
    return _dot().replace("ret float %t3", "ret i64 %next")


@mutant("u05.four_sums")
def a_type_for_each_operand():
    return _dot().replace("%a0, %b0", "%a0, float %b0")


@mutant("u05.four_sums")
def a_flag_that_llvm_does_not_have():
    return _dot().replace("%next = add nuw", "%next = add contract")


@alternative("u05.four_sums")
def with_fma():
    return _dot(fused=True)


@alternative("u05.four_sums")
def joined_one_after_another():
    return _dot()


@alternative("u05.four_sums")
def with_comments_and_fewer_lines():
    text = _dot(fused=True).replace("%sum", "%accumulator.")
    return "; four sums\n" + text.replace("loop:", "loop: ; once for four elements")


@alternative("u05.four_sums")
def with_addresses_in_bytes():
    text = _dot()
    for k in range(4):
        for a in "xy":
            there = f"  %p{a}{k} = getelementptr inbounds float, ptr %{a}, i64 %i{k}"
            assert there in text
            here = f"  %p{a}{k} = getelementptr inbounds i8, ptr %{a}, i64 %byte{k}"
            text = text.replace(there, here)
        text = text.replace(f"  %px{k}", f"  %byte{k} = shl i64 %i{k}, 2\n  %px{k}")
    return text


@alternative("u05.four_sums")
def counting_down():
    text = _dot().replace("%next = add nuw i64 %i, 4", "%next = add i64 %i, 4\n"
                          "  %left = sub i64 %n, %next")  # fmt: skip
    return text.replace("icmp ult i64 %next, %n", "icmp ne i64 %left, 0")
