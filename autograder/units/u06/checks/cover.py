"""Visible checks of machine.cover: trees whose least cost is known, covers, and steps.

`covers` judges an answer, here and in the hidden checks. Next room: registers.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from course_lib.machine.cover import PATTERNS, Patterns, Tree, match, placed, shown
from lessons.u06.programs import random_patterns, random_tree

SEEDS = st.integers(0, 9999)

COVER = ("the names of the patterns, in the order in which they are executed",
         "come before it", "those of its left operand first",
         "A register is there already and needs no pattern",
         "for every operation and leaf some pattern fits",
         "Cover an expression tree with patterns")  # fmt: skip
LEAST = ("so that the sum of their costs is as small as possible", "any of them will do",
         "{name: (pattern, cost)}; costs are positive numbers, not always whole",
         "Each of several equal subtrees is paid for")  # fmt: skip

# A tree, costs that are not 1, and the least cost of a cover.
HALF, NEAR = ("mul", "v1", ("const", 0.5)), 1 / 4096
AXPY = ("add", HALF, ("load", "y", 0))
TWO = ("add", ("mul", "v1", ("load", "x", 0)), ("mul", "v2", ("load", "y", 0)))
STEP = ("sub", "v1", ("mul", ("broadcast", "w", 3), "v2"))
POLY = ("add", ("mul", ("add", ("mul", "v1", ("const", 2.0)), ("const", 3.0)), "v1"),
        ("const", 1.0))  # fmt: skip
TWICE = ("add", HALF, ("mul", "v2", ("const", 0.5)))
EQUAL = ("add", HALF, ("const", 0.5))
THREE = ("add", ("mul", ("load", "x", 0), ("load", "x", 0)), ("load", "x", 0))
KNOWN: list[tuple[Tree, dict[str, float], float]] = [
    ("v7", {}, 0),
    (("load", "x", 8), {}, 1),
    (AXPY, {}, 2),
    (AXPY, {"muli": 5}, 3),
    (TWO, {}, 2),
    (TWO, {"fmam": 4}, 3),
    (TWO, {"fmam": 9, "mulm": 9}, 4),
    (STEP, {}, 2),
    (STEP, {"fnma": 3}, 3),
    (STEP, {"fnma": 2, "mul": 2}, 3),
    (POLY, {}, 4),
    (POLY, {"fma": 4}, 4),
    (POLY, {"mul": 2}, 4),
    (("relu", AXPY), {"relu": 7}, 9),
    (TWICE, {"li": 0.25, "muli": 1.5, "fma": 9}, 3.5),
    (TWICE, {"li": 0.25, "muli": 1.125, "fma": 9}, 3.25),
    (HALF, {"mul": 0.5, "li": 0.5, "muli": 1 + NEAR}, 1),
    (HALF, {"mul": 0.5, "li": 0.5, "muli": 1 - NEAR}, 1 - NEAR),
    (EQUAL, {"fma": 2, "li": 3, "muli": 3, "addi": 3}, 6),
    (THREE, {"ld": 3, "mulm": 3, "addm": 3, "fmam": 9}, 9),
]

background("machine.cover", "tree     a register ... operands are trees", because="what is given")


def covers(cover: Any, tree: Tree, patterns: Patterns) -> float:
    """The cost of the answer's cover; Wrong if it is none."""
    names = listed(cover(tree, patterns))
    program = shown(tree)
    if not isinstance(names, list):
        answer = returned(names)
        if isinstance(tree, str):
            raise Wrong("The cover of a register must be an empty list.", program=program,
                        got=answer, spec=COVER[3])  # fmt: skip
        raise Wrong(
            "The answer must be a list of names.", program=program, got=answer, spec=COVER[0]
        )
    try:
        list(placed(tree, names, patterns))
    except (ValueError, TypeError) as error:
        same_again(cover, tree, patterns, names)
        problem = "The names must be a cover of the tree, in the order in which they are executed"
        raise Wrong(f"{problem}: {error}.", program=program, got=", ".join(map(str, names)),
                    spec=doubted(tree, names, patterns)) from None  # fmt: skip
    return sum(patterns[name][1] for name in names)


def doubted(tree: Tree, names: list[Any], patterns: Patterns) -> str:
    """The sentence that names go against which are no cover: about the order, if they are one in
    another order."""
    if reads_as(tree, names, patterns, -1, left_first=False):
        return COVER[2]
    root_first = (reads_as(tree, names, patterns, 0, left_first=left) for left in (True, False))
    return COVER[1] if any(root_first) else COVER[5]


def reads_as(
    tree: Tree, names: list[Any], patterns: Patterns, root: int, *, left_first: bool
) -> bool:
    """Are the names a cover, if a pattern stands first (0) or last (-1) of those of its tree?"""
    rest = list(names)

    def walk(at: Tree) -> bool:
        if isinstance(at, str):
            return True
        name: Any = rest.pop(root) if rest else None
        operands = match(patterns[name][0], at) if name in patterns else None
        if operands is None:
            return False
        return all(map(walk, operands if left_first == (root == 0) else operands[::-1]))

    return walk(tree) and not rest


def same_again(cover: Any, tree: Tree, patterns: Patterns, names: list[Any]) -> None:
    """Wrong if a tree that only has other names gets another cover, before anything else is said of
    these: whoever makes the call by itself would find it right."""
    again = listed(cover(_renamed(tree), patterns))
    if again != names:
        raise Wrong(
            "An answer must not depend on earlier calls. Called after others, yours covers this "
            "tree in one way, and in another way where the registers and buffers have new names: "
            "begin each call with nothing known.",
            program=shown(tree), got=f"{names}, then {again}"[:300],
        )  # fmt: skip


def _renamed(tree: Tree) -> Tree:
    if isinstance(tree, str):
        return f"{tree}0"
    if tree[0] in ("load", "broadcast"):
        return tree[0], f"{tree[1]}_new", *tree[2:]
    return tree if tree[0] == "const" else (tree[0], *map(_renamed, tree[1:]))


def listed(answer: Any) -> Any:
    """The answer as a list, if it is a sequence of any kind: a tuple, a generator, an array."""
    return (
        answer
        if isinstance(answer, (str, Mapping)) or not hasattr(answer, "__iter__")
        else [*answer]
    )


def priced(costs: Mapping[str, float]) -> dict[str, tuple[Any, float]]:
    return {name: (pattern, costs.get(name, 1)) for name, (pattern, _) in PATTERNS.items()}


@checks("machine.cover", spec=[*COVER, *LEAST])
def the_least_cost_is_found(cover):
    """Trees whose least cost is known, with several prices of the instructions."""
    for tree, costs, least in KNOWN:
        cost = covers(cover, tree, priced(costs))
        if cost != least:
            same_again(cover, tree, priced(costs), listed(cover(tree, priced(costs))))
            dear = f", with {costs} and 1 for all others" if costs else ""
            raise Wrong(
                f"The cover must be the cheapest. It costs {cost}; the least is {least}{dear}.",
                program=shown(tree),
                got=", ".join(listed(cover(tree, priced(costs)))) or "no pattern",
                spec=LEAST[0],
            )
    return f"{len(KNOWN)} trees"


@checks("machine.cover", given=SEEDS, examples=60, what="random trees and patterns", spec=COVER)
def it_is_a_cover(cover, seed):
    """Each operation and leaf is computed by one pattern, operands first."""
    covers(cover, random_tree(seed), random_patterns(seed))


@checks("machine.cover", spec="Each subtree is worked out only once")
def a_deep_tree_takes_no_longer(cover):
    """A chain of 20 multiply-adds."""
    few = with_steps(cover, 60_000, "40 operations",
                     "a subtree is worked out again and again, or each time it takes too many "
                     "steps")  # fmt: skip
    tree: Tree = "v0"
    for k in range(20):
        tree = ("add", ("mul", tree, ("load", "x", 8 * k)), ("const", float(k)))
    cost = covers(few, tree, priced({}))
    if cost != 40:
        raise Wrong(f"The cover must be the cheapest. It costs {cost}; the least is 40.",
                    spec=LEAST[0])  # fmt: skip
    return "a chain of 40 operations"
