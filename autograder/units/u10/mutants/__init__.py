"""Answers to unit 10: plausible mistakes that every check must catch, other right ones that pass.

Here: a dump, and a test that reads one. Next room: products.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, mutant

BELOW = [(1, 0), (2, 0), (2, 1)]


@mutant("u10.culprit")
def the_pass_that_shows_it():
    """After affine-scalrep it is easier to see, but it was wrong before."""
    return "affine-scalrep", BELOW


@mutant("u10.culprit")
def the_pass_before():
    return "convert-linalg-to-affine-loops", BELOW


@mutant("u10.culprit")
def bufferization_shares_a_buffer():
    return "one-shot-bufferize", BELOW


@mutant("u10.culprit")
def everything_but_the_diagonal():
    return "affine-loop-fusion", [(i, j) for i in range(3) for j in range(3) if i != j]


@mutant("u10.culprit")
def above_the_diagonal():
    return "affine-loop-fusion", [(0, 1), (0, 2), (1, 2)]


@mutant("u10.culprit")
def everything():
    return "affine-loop-fusion", [(i, j) for i in range(3) for j in range(3)]


@mutant("u10.culprit")
def counted_from_one():
    return "affine-loop-fusion", [(2, 1), (3, 1), (3, 2)]


@mutant("u10.culprit")
def one_example():
    return "affine-loop-fusion", [(1, 0)]


@alternative("u10.culprit")
def as_lists():
    return ["affine-loop-fusion", [[2, 1], [2, 0], [1, 0]]]


@alternative("u10.culprit")
def twice_the_same():
    return "affine-loop-fusion", [*BELOW, *BELOW]


@alternative("u10.culprit")
def by_its_order():
    at = [(i, j) for i in range(3) for j in range(3)]
    return "affine-loop-fusion", tuple(p for p in at if p[::-1] < p)


# ── a test ──


def _checked(text, directives):
    from lessons.u10.dialect import filechecked

    return filechecked(text, directives)


NAME = "%[^ :,]+"
LABEL = "CHECK-LABEL: toy.func @twice(\n"
PARAMETERS = f"CHECK-SAME: [[A:{NAME}]]: tensor<2x3xf64>, [[B:{NAME}]]: tensor<2x3xf64>)\n"


@mutant("u10.tested")
def as_it_was_printed(text):
    return _checked(text, LABEL + "CHECK-NEXT: %0 = toy.mul %a, %b\nCHECK-NEXT: toy.return %0\n")


@mutant("u10.tested")
def only_that_no_transpose_is_left(text):
    return _checked(text, LABEL + "CHECK-NOT: toy.transpose\nCHECK: toy.return\n")


@mutant("u10.tested")
def no_transpose_anywhere(text):
    return _checked(text, "CHECK-NOT: toy.transpose\n")


@mutant("u10.tested")
def without_a_label(text):
    return _checked(text, f"CHECK: [[P:{NAME}]] = toy.mul [[A:{NAME}]], [[B:{NAME}]] :\n"
                          "CHECK-NEXT: toy.return [[P]]\n")  # fmt: skip


@mutant("u10.tested")
def label_without_its_bracket(text):
    return _checked(text, f"CHECK-LABEL: toy.func @twice\n{PARAMETERS}"
                          f"CHECK-NEXT: [[P:{NAME}]] = toy.mul [[A]], [[B]] :\n"
                          "CHECK-NEXT: toy.return [[P]]\n")  # fmt: skip


@mutant("u10.tested")
def gaps_between_the_lines(text):
    return _checked(text, f"{LABEL}{PARAMETERS}CHECK: [[P:{NAME}]] = toy.mul [[A]], [[B]] :\n"
                          "CHECK: toy.return [[P]]\n")  # fmt: skip


def _loose(text, name=NAME, end=" :"):
    return _checked(text, f"{LABEL}{PARAMETERS.replace(NAME, name)}"
                          f"CHECK-NEXT: [[P:{name}]] = toy.mul [[A]], [[B]]{end}\n"
                          f"CHECK-NEXT: toy.return [[P]]{end}\n")  # fmt: skip


@mutant("u10.tested")
def names_without_capitals(text):
    return _loose(text, "%[a-z0-9]+")


@mutant("u10.tested")
def names_without_points(text):
    return _loose(text, "%[a-zA-Z0-9_]+")


@mutant("u10.tested")
def names_without_their_end(text):
    """A match may end in the middle of a name."""
    return _loose(text, end="")


@mutant("u10.tested")
def the_product_without_its_end(text):
    return _checked(text, f"{LABEL}{PARAMETERS}CHECK-NEXT: [[P:{NAME}]] = toy.mul [[A]], [[B]]\n"
                          "CHECK-NEXT: toy.return [[P]] :\n")  # fmt: skip


HEAD = LABEL + PARAMETERS
P, END = f"[[P:{NAME}]] = toy.mul [[A]], [[B]] :", "toy.return [[P]] :"
DIRECTIVES = {  # whole tests, each of which lets something through
    "any_operands": f"{LABEL}CHECK-NEXT: [[P:{NAME}]] = toy.mul\nCHECK-NEXT: toy.return [[P]]\n",
    "any_result": f"{HEAD}CHECK-NEXT: {{{{.*}}}} = toy.mul [[A]], [[B]] :\n"
                  "CHECK-NEXT: toy.return\n",
    "without_the_return": f"{HEAD}CHECK-NEXT: toy.mul [[A]], [[B]] :\n",
    "anything_before": f"{HEAD}CHECK: {P}\nCHECK-NEXT: {END}\n",
    "anything_between": f"{HEAD}CHECK-NEXT: {P}\nCHECK: {END}\n",
    "nothing_but_a_transpose_or_a_sum": f"{HEAD}CHECK-NOT: toy.transpose\nCHECK-NOT: toy.add\n"
                                        f"CHECK: {P}\nCHECK: {END}\n",
    "no_print": f"{HEAD}CHECK-NOT: toy.print\nCHECK-NOT: toy.t\nCHECK: {P}\nCHECK-NEXT: {END}\n",
    "label_of_any_function": f"CHECK-LABEL: toy.func @{{{{.*}}}}twice{{{{.*}}}}(\n{PARAMETERS}"
                             f"CHECK-NEXT: {P}\nCHECK-NEXT: {END}\n",
    "label_that_is_no_label": f"CHECK: toy.func @twice(\n{PARAMETERS}"
                              f"CHECK: {P}\nCHECK-NEXT: {END}\n",
    "any_second_operand": f"{HEAD}CHECK-NEXT: [[P:{NAME}]] = toy.mul [[A]], {{{{.*}}}} :\n"
                          f"CHECK-NEXT: {END}\n",
    "returned_without_its_end": f"{HEAD}CHECK-NEXT: {P}\nCHECK-NEXT: toy.return [[P]]\n",
    "a_sum_or_a_product": f"{HEAD}CHECK-NEXT: [[P:{NAME}]] = toy.{{{{add|mul}}}} [[A]], [[B]] :\n"
                          f"CHECK-NEXT: {END}\n",
    "at_the_beginning_of_the_text": f"CHECK: builtin.module\nCHECK-NEXT: toy.func @twice(\n"
                                    f"{PARAMETERS}CHECK-NEXT: {P}\nCHECK-NEXT: {END}\n",
    "at_the_end_of_the_text": f"{HEAD}CHECK-NEXT: {P}\nCHECK-NEXT: {END}\nCHECK-NEXT: }}\n"
                              "CHECK-NEXT: {{^}}}\n",
}  # fmt: skip


def _asks(name, directives):
    def answer(text):
        return _checked(text, directives)

    answer.__name__ = name
    return answer


for _name, _directives in DIRECTIVES.items():
    mutant("u10.tested")(_asks(_name, _directives))


@alternative("u10.tested")
def one_pattern_for_all_names(text):
    return _checked(text, LABEL +
                          "CHECK-SAME: [[A:%[^:]+]]: tensor<2x3xf64>, [[B:%[^:]+]]: {{.*}}\n"
                          "CHECK-NEXT: [[P:%[^ ]+]] = toy.mul [[A]], [[B]] :\n"
                          "CHECK-NEXT: toy.return [[P]] :\n")  # fmt: skip


@alternative("u10.tested")
def with_the_closing_brace(text):
    return _checked(text, f"{LABEL}{PARAMETERS}"
                          f"CHECK-NEXT: [[P:{NAME}]] = toy.mul [[A]], [[B]] : {{{{.*}}}}\n"
                          "CHECK-NEXT: toy.return [[P]] : tensor<2x3xf64>\n"
                          "CHECK-NEXT: }\n")  # fmt: skip


@alternative("u10.tested")
def a_label_without_its_bracket(text):
    return _checked(text, f"CHECK-LABEL: toy.func @twice({{{{ *}}}}\n{PARAMETERS}"
                          f"CHECK-NEXT: {P}\nCHECK-NEXT: {END}\n")  # fmt: skip


@alternative("u10.tested")
def all_of_the_types(text):
    kinds = "tensor<2x3xf64>"
    return _checked(text, f"{LABEL}CHECK-SAME: [[A:{NAME}]]: {kinds}, [[B:{NAME}]]: "
                          f"{kinds}) -> {kinds} {{\nCHECK-NEXT: {P} ({kinds}, {kinds}) -> {kinds}\n"
                          f"CHECK-NEXT: {END} {kinds}\nCHECK-NEXT: }}\n")  # fmt: skip


@alternative("u10.tested")
def by_hand_with_a_regular_expression(text):
    import re

    return bool(re.search(
        r"toy\.func @twice\((%[^ :]+): [^,]+, (%[^ :]+): [^)]+\)[^\n]*\n\s*(%[^ ]+) = toy\.mul \1, "
        r"\2 : [^\n]*\n\s*toy\.return \3 :", text))  # fmt: skip
