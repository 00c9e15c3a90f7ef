"""Answers to unit 10: plausible mistakes that every check must catch, other right ones that pass.

Here: a dump, and a test that reads one. Next room: products.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from autograder.check.framework import alternatives, mutants

BELOW = [(1, 0), (2, 0), (2, 1)]
ALL = [*product(range(3), range(3))]
mutants(
    "u10.culprit",
    # After affine-scalrep it is easier to see, but it was wrong before.
    the_pass_that_shows_it=lambda: ("affine-scalrep", BELOW),
    the_pass_before=lambda: ("convert-linalg-to-affine-loops", BELOW),
    bufferization_shares_a_buffer=lambda: ("one-shot-bufferize", BELOW),
    everything_but_the_diagonal=lambda: ("affine-loop-fusion", [(i, j) for i, j in ALL if i != j]),
    above_the_diagonal=lambda: ("affine-loop-fusion", [(0, 1), (0, 2), (1, 2)]),
    everything=lambda: ("affine-loop-fusion", ALL),
    counted_from_one=lambda: ("affine-loop-fusion", [(2, 1), (3, 1), (3, 2)]),
    one_example=lambda: ("affine-loop-fusion", [(1, 0)]),
)
alternatives(
    "u10.culprit",
    as_lists=lambda: ["affine-loop-fusion", [[2, 1], [2, 0], [1, 0]]],
    twice_the_same=lambda: ("affine-loop-fusion", [*BELOW, *BELOW]),
    by_its_order=lambda: ("affine-loop-fusion", tuple(at for at in ALL if at[::-1] < at)),
)


# ── a test: edits of our directives, or whole ones ──


def _asks(directives: str) -> Callable[[str], bool]:
    def answer(text: str) -> bool:
        from lessons.u10.dialect import filechecked  # xDSL need not be installed

        return filechecked(text, directives)

    return answer


def _names(pattern: str) -> tuple[str, ...]:
    """An edit: another pattern for all names of values."""
    return tuple(f"[[{name}:{which}" for name in "ABP" for which in ("%[^ :,]+", pattern))


MATRIX, NAME, LABEL = "tensor<2x3xf64>", "%[^ :,]+", "CHECK-LABEL: toy.func @twice(\n"
MUL, RETURN = "CHECK-NEXT: [[P", "CHECK-NEXT: toy.r"
OF, RETURNED, LAST = "[[A]], [[B]] :", f"[[P]] : {MATRIX}", f"{RETURN}eturn [[P]] : {MATRIX}"
mutants(
    "u10.tested",
    as_it_was_printed=("[[A:%[^ :,]+]]", "%a", "[[B:%[^ :,]+]]", "%b", "[[P:%[^ :,]+]]", "%0",
                       OF, "%a, %b :", "[[P]]", "%0"),
    only_that_no_transpose_is_left=_asks(f"{LABEL}CHECK-NOT: toy.transpose\nCHECK: toy.return\n"),
    no_transpose_anywhere=_asks("CHECK-NOT: toy.transpose\n"),
    without_a_label=_asks(f"CHECK: [[P:{NAME}]] = toy.mul [[A:{NAME}]], [[B:{NAME}]] :\n"
                          "CHECK-NEXT: toy.return [[P]]\n"),
    label_without_its_bracket=("@twice(", "@twice"),
    gaps_between_the_lines=(MUL, "CHECK: [[P", RETURN, "CHECK: toy.r"),
    names_without_capitals=_names("%[a-z0-9]+"),
    names_without_points=_names("%[a-zA-Z0-9_]+"),
    # A match may end in the middle of a name.
    names_without_their_end=(f" : ({MATRIX},", "", RETURNED, "[[P]]"),
    the_product_without_its_end=(f" : ({MATRIX},", ""),
    any_operands=(OF, "{{.*}} :"),
    any_result=("[[P:%[^ :,]+]] =", "{{.*}} =", f" {RETURNED}", ""),
    without_the_return=(LAST, ""),
    anything_before=(MUL, "CHECK: [[P"),
    anything_between=(RETURN, "CHECK: toy.r"),
    nothing_but_a_transpose_or_a_sum=(
        MUL, r"CHECK-NOT: toy.transpose\nCHECK-NOT: toy.add\nCHECK: [[P", RETURN, "CHECK: toy.r"),
    no_print=(MUL, r"CHECK-NOT: toy.print\nCHECK-NOT: toy.t\nCHECK: [[P"),
    label_of_any_function=("@twice(", "@{{.*}}twice{{.*}}("),
    label_that_is_no_label=("CHECK-LABEL", "CHECK", MUL, "CHECK: [[P"),
    any_second_operand=(OF, "[[A]], {{.*}} :"),
    returned_without_its_end=(RETURNED, "[[P]]"),
    a_sum_or_a_product=("toy.mul", "toy.{{add|mul}}"),
    at_the_beginning_of_the_text=("CHECK-LABEL:", r"CHECK: builtin.module\nCHECK-NEXT:"),
    at_the_end_of_the_text=(LAST, rf"{LAST}\nCHECK-NEXT: }}\nCHECK-NEXT: {{{{^}}}}}}"),
)  # fmt: skip
alternatives(
    "u10.tested",
    one_pattern_for_all_names=("[[A:%[^ :,]+", "[[A:%[^:]+", f"[[B:%[^ :,]+]]: {MATRIX})",
                               "[[B:%[^:]+]]: {{.*}}", "[[P:%[^ :,]+", "[[P:%[^ ]+"),
    with_the_closing_brace=(f"({MATRIX},", "{{.*}}", LAST, rf"{LAST}\nCHECK-NEXT: }}"),
    a_label_without_its_bracket=("@twice(", "@twice({{ *}}"),
    all_of_the_types=(f"{MATRIX})", f"{MATRIX}) -> {MATRIX} {{", f"({MATRIX},",
                      f"({MATRIX}, {MATRIX}) -> {MATRIX}", LAST, rf"{LAST}\nCHECK-NEXT: }}"),
    by_hand_with_a_regular_expression=lambda text: bool(re.search(
        r"toy\.func @twice\((%[^ :]+): [^,]+, (%[^ :]+): [^)]+\)[^\n]*\n\s*(%[^ ]+) = toy\.mul \1, "
        r"\2 : [^\n]*\n\s*toy\.return \3 :", text)),
)  # fmt: skip
