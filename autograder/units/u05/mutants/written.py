"""Answers to unit 5 that are LLVM IR: dot products with more or fewer sums."""

from __future__ import annotations

import re

from autograder.check.framework import alternative, alternatives, mutants

HEAD = """define float @dot(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"""
PHI = "  %sum{0} = phi float [ 0.0, %entry ], [ %more{0}, %loop ]"
TERM = """  %i{0} = add i64 %i, {0}
  %px{0} = getelementptr inbounds float, ptr %x, i64 %i{0}
  %py{0} = getelementptr inbounds float, ptr %y, i64 %i{0}
  %a{0} = load float, ptr %px{0}, align 4
  %b{0} = load float, ptr %py{0}, align 4
  %p{0} = fmul contract float %a{0}, %b{0}
  %more{0} = fadd contract float %sum{0}, %p{0}"""
TURN = """  %next = add nuw i64 %i, {0}
  %go = icmp ult i64 %next, %n
  br i1 %go, label %loop, label %done

done:"""


def _dot(sums=4):
    """A dot product with so many sums, which are joined one after another."""
    lines = [HEAD, *(part.format(k) for part in (PHI, TERM) for k in range(sums))]
    lines.append(TURN.format(sums))
    last = "%more0"
    for k in range(1, sums):
        lines.append(f"  %t{k} = fadd float {last}, %more{k}")
        last = f"%t{k}"
    return "\n".join([*lines, f"  ret float {last}\n}}"])


def _changed(*words, text=None):
    """The dot product with these words in the place of others: old, new, old, new."""
    text = _dot() if text is None else text
    for old, new in zip(words[::2], words[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


def _answer(*words):
    return lambda: _changed(*words)


def _each(old, new):
    """The same change for each of the four sums."""
    return [words.format(k) for k in range(4) for words in (old, new)]


def _addresses(kind, indices):
    """Element k of the four that begin at %i, reached through a type of four floats."""
    words = [
        f"getelementptr inbounds {to}"
        for a in "xy"
        for k in range(4)
        for to in (f"float, ptr %{a}, i64 %i{k}", f"{kind}, ptr %{a}, i64 %four, {indices} {k}")
    ]
    return ["  %i0 =", "  %four = udiv exact i64 %i, 4\n  %i0 =", *words]


TOTAL, TURNS, NEXT = "ret float %t3", "label %loop, label %done", "  %next ="
VECTORS = """define float @dot(ptr %x, ptr %y, i64 %n) {
entry:
  %a = load <4 x float>, ptr %x
  %s = call float @llvm.vector.reduce.fadd.v4f32(float 0.0, <4 x float> %a)
  ret float %s
}

declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)"""

mutants(
    "u05.four_sums",
    one_sum=lambda: _dot(1),
    two_sums=lambda: _dot(2),
    the_sums_are_not_joined=_answer(TOTAL, "ret float %more0"),
    the_same_element_four_times=_answer(*_each("add i64 %i, {}", "add i64 %i, 0")),
    one_element_a_turn=_answer("%i, 4", "%i, 1"),
    sums_that_begin_at_one=_answer("[ 0.0", "[ 1.0"),
    the_phis_bring_the_old_sums=_answer(*_each("[ %more{}", "[ %sum{}")),
    another_head=_answer("i64 %n)", "i32 %n)", "i64 %next, %n", "i32 %next, %n"),
    a_name_twice=_answer("%p1", "%p0"),
    written_for_four=_answer(TURNS, "label %done, label %done"),  # it never goes back
    with_vectors=lambda: VECTORS,
    everything_is_read_twice=_answer("  %b0 =", "  %again = load float, ptr %px0\n  %b0 ="),
    the_index_is_returned=_answer(TOTAL, "ret i64 %next"),
    a_type_for_each_operand=_answer("%a0, %b0", "%a0, float %b0"),
    a_flag_that_llvm_does_not_have=_answer("add nuw", "add contract"),
    through_a_type_of_three=_answer(*_addresses("[3 x float]", "i64")),
    a_field_that_is_not_there=_answer(*_addresses("{ float, float, float }", "i32")),
    sums_in_memory_of_its_own=_answer("entry:\n", "entry:\n  %sums = alloca [4 x float]\n"),
    a_vector_that_does_nothing=_answer(
        NEXT, f"  %v = fadd <4 x float> zeroinitializer, zeroinitializer\n{NEXT}"
    ),
    a_call_of_something_else=_answer(
        TOTAL, "%r = call float @llvm.fabs.f32(float %t3)\n  ret float %r"
    ),
    a_conversion_that_llvm_does_not_have=_answer(
        TOTAL, "%r = fpext float %t3 to float\n  ret float %r"
    ),
    divided_by_nothing=_answer(NEXT, f"  %q = sdiv i64 %n, 0\n{NEXT}"),
)

WITH_FMA = (
    *_each("  %p{0} = fmul contract float %a{0}, %b{0}\n", ""),
    *_each("fadd contract float %sum{0}, %p{0}",
           "call float @llvm.fma.f32(float %a{0}, float %b{0}, float %sum{0})"),
    *("\n}", "\n}\n\ndeclare float @llvm.fma.f32(float, float, float)"),
)  # fmt: skip
BYTES = "  %byte{0} = shl i64 %i{0}, 2\n  %px{0} ="
FROM = "getelementptr inbounds {}, ptr %{}, i64 %{}{{}}"
PHIS = "".join(f"  %{a} = phi ptr [ %{b}, %entry ], [ %{a}.4, %loop ]\n" for a, b in ("px", "qy"))
STEPS = "".join(f"  %{a}.4 = getelementptr float, ptr %{a}, i64 4\n" for a in "pq")
WIDE = "  %{1}d{0} = fpext float %{1}{0} to double\n"
PRODUCT = "  %p{0} = fmul contract float %a{0}, %b{0}"

alternatives(
    "u05.four_sums",
    with_fma=_answer(*WITH_FMA),
    joined_one_after_another=_dot,
    with_comments_and_fewer_lines=lambda: "; four sums\n" + _changed(
        *WITH_FMA, "%sum", "%accumulator.", "loop:", "loop: ; once for four elements"),
    with_addresses_in_bytes=_answer(
        *_each("  %px{0} =", BYTES), *_each(FROM.format("float", "x", "i"),
                                            FROM.format("i8", "x", "byte")),
        *_each(FROM.format("float", "y", "i"), FROM.format("i8", "y", "byte"))),
    counting_down=_answer("%i, 4", "%i, 4\n  %left = sub i64 %n, %next",
                          "icmp ult i64 %next, %n", "icmp ne i64 %left, 0"),
    # the turns are counted, n / 4 of them, and n is divided
    quarters_of_n=_answer("entry:\n", "entry:\n  %turns = sdiv i64 %n, 4\n",
                          "%next, %n", "%turn, %turns",
                          "%i, 4", "%i, 4\n  %turn = ashr exact i64 %next, 2"),
    minus_minus=_answer(*_each(
        "  %more{0} = fadd contract float %sum{0}, %p{0}",
        "  %n{0} = fneg contract float %p{0}\n  %more{0} = fsub float %sum{0}, %n{0}")),
    through_arrays_of_four=_answer(*_addresses("[4 x float]", "i64")),
    through_a_structure_with_a_name=lambda: (
        "%four.floats = type { float, float, float, float }\n\n"
        + _changed(*_addresses("%four.floats", "i32"))),
    pointers_that_move=_answer(
        *_each("ptr %x, i64 %i{}", "ptr %p, i64 {}"), *_each("ptr %y, i64 %i{}", "ptr %q, i64 {}"),
        "  %sum0 =", f"{PHIS}  %sum0 =", NEXT, STEPS + NEXT,
        "icmp ult i64 %next, %n", "icmp ult ptr %p.4, %end",
        "entry:\n", "entry:\n  %end = getelementptr float, ptr %x, i64 %n\n"),
    sums_of_doubles=_answer(
        *_each(PRODUCT, WIDE.format("{0}", "a") + WIDE.format("{0}", "b")
               + "  %p{0} = fmul contract double %ad{0}, %bd{0}"),
        "phi float", "phi double", "fadd contract float", "fadd contract double",
        "fadd float", "fadd double",
        TOTAL, "%r = fptrunc double %t3 to float\n  ret float %r"),
    with_a_switch=_answer(
        "%go = icmp ult i64 %next, %n", "%left = sub i64 %n, %next", f"br i1 %go, {TURNS}",
        "switch i64 %left, label %loop [\n    i64 0, label %done\n  ]"),
)  # fmt: skip


@alternative("u05.four_sums")
def as_a_program_prints_it():
    """Names in quotes, other blanks, the brace on a line of its own, notes for the optimizer."""
    text = re.sub(r"%(\w+)(?![\w:])", r'%"\1"', _dot().replace("{\n", "\n{\n"))
    return _changed(*("@dot", '@"dot"', "[ ", "[", " ]", "]", ", ", " , "),
                    *("align 4", "align 4, !range !7", "add nuw", "add  nuw"),
                    text=text) + "\n!7 = !{}"  # fmt: skip
