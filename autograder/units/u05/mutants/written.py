"""Answers to unit 5 that are LLVM IR: dot products with more or fewer sums."""

from __future__ import annotations

import re

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


def _changed(*pairs, text=None):
    """The dot product with these words in the place of others, all of which must be there."""
    text = _dot() if text is None else text
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def _each(old, new):
    """The same change for each of the four sums."""
    return [(old.format(k), new.format(k)) for k in range(4)]


def _addresses(kind, indices):
    """Element k of the four that begin at %i, reached through a type of four floats."""
    return [(f"getelementptr inbounds float, ptr %{a}, i64 %i{k}",
             f"getelementptr inbounds {kind}, ptr %{a}, i64 %four, {indices} {k}")
            for a in "xy" for k in range(4)]  # fmt: skip


FOURS = ("  %i0 =", "  %four = udiv exact i64 %i, 4\n  %i0 =")


@mutant("u05.four_sums")
def through_a_type_of_three():
    return _changed(FOURS, *_addresses("[3 x float]", "i64"))


@mutant("u05.four_sums")
def a_field_that_is_not_there():
    return _changed(FOURS, *_addresses("{ float, float, float }", "i32"))


@mutant("u05.four_sums")
def sums_in_memory_of_its_own():
    return _changed(("entry:\n", "entry:\n  %sums = alloca [4 x float]\n"))


@mutant("u05.four_sums")
def a_vector_that_does_nothing():
    return _changed(("  %next =", "  %v = fadd <4 x float> zeroinitializer, zeroinitializer\n"
                     "  %next ="))  # fmt: skip


@mutant("u05.four_sums")
def a_call_of_something_else():
    return _changed(("ret float %t3", "%r = call float @llvm.fabs.f32(float %t3)\n  ret float %r"))


@mutant("u05.four_sums")
def a_conversion_that_llvm_does_not_have():
    return _changed(("ret float %t3", "%r = fpext float %t3 to float\n  ret float %r"))


@mutant("u05.four_sums")
def divided_by_nothing():
    return _changed(("  %next =", "  %q = sdiv i64 %n, 0\n  %next ="))


@alternative("u05.four_sums")
def quarters_of_n():
    """The turns are counted, n / 4 of them, and n is divided."""
    return _changed(("entry:\n", "entry:\n  %turns = sdiv i64 %n, 4\n"),
                    ("%next, %n", "%turn, %turns"),
                    ("  %next = add nuw i64 %i, 4", "  %next = add nuw i64 %i, 4\n"
                     "  %turn = ashr exact i64 %next, 2"))  # fmt: skip


@alternative("u05.four_sums")
def minus_minus():
    twice = "  %n{0} = fneg contract float %p{0}\n  %more{0} = fsub float %sum{0}, %n{0}"
    return _changed(*_each("  %more{0} = fadd contract float %sum{0}, %p{0}", twice))


@alternative("u05.four_sums")
def through_arrays_of_four():
    return _changed(FOURS, *_addresses("[4 x float]", "i64"))


@alternative("u05.four_sums")
def through_a_structure_with_a_name():
    text = _changed(FOURS, *_addresses("%four.floats", "i32"))
    return "%four.floats = type { float, float, float, float }\n\n" + text


@alternative("u05.four_sums")
def pointers_that_move():
    phis = "".join(f"  %{a} = phi ptr [ %{a}.0, %entry ], [ %{a}.4, %loop ]\n" for a in "pq")
    steps = "".join(f"  %{a}.4 = getelementptr float, ptr %{a}, i64 4\n" for a in "pq")
    moved = [(f"ptr %{a}, i64 %i{k}", f"ptr %{b}, i64 {k}")
             for a, b in ("xp", "yq") for k in range(4)]  # fmt: skip
    text = _changed(*moved, ("  %sum0 =", f"{phis}  %sum0 ="), ("  %next =", f"{steps}  %next ="),
                    ("icmp ult i64 %next, %n", "icmp ult ptr %p.4, %end"))  # fmt: skip
    end = "entry:\n  %end = getelementptr float, ptr %x, i64 %n\n"
    return text.replace("entry:\n", end).replace("%p.0", "%x").replace("%q.0", "%y")


@alternative("u05.four_sums")
def sums_of_doubles():
    wide = "  %{1}d{0} = fpext float %{1}{0} to double\n"
    text = _changed(
        *_each("  %p{0} = fmul contract float %a{0}, %b{0}", wide.format("{0}", "a")
               + wide.format("{0}", "b") + "  %p{0} = fmul contract double %ad{0}, %bd{0}"),
        *_each("phi float [ 0.0, %entry ], [ %more{0}", "phi double [ 0.0, %entry ], [ %more{0}"),
        ("fadd contract float", "fadd contract double"), ("fadd float", "fadd double"),
        ("ret float %t3", "%r = fptrunc double %t3 to float\n  ret float %r"))  # fmt: skip
    return text


@alternative("u05.four_sums")
def as_a_program_prints_it():
    """Names in quotes, other blanks, the brace on a line of its own, notes for the optimizer."""
    text = re.sub(r"%(\w+)(?![\w:])", r'%"\1"', _dot().replace("{\n", "\n{\n"))
    for old, new in [("@dot", '@"dot"'), ("[ ", "["), (" ]", "]"), (", ", " , "),
                     ("align 4", "align 4, !range !7"), ("add nuw", "add  nuw")]:  # fmt: skip
        text = text.replace(old, new)
    return text + "\n!7 = !{}"


@alternative("u05.four_sums")
def with_a_switch():
    return _changed(("%go = icmp ult i64 %next, %n", "%left = sub i64 %n, %next"),
                    ("br i1 %go, label %loop, label %done",
                     "switch i64 %left, label %loop [\n    i64 0, label %done\n  ]"))  # fmt: skip
