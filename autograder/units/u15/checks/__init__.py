"""Visible checks of unit 15. Here: which calls compile, by cases whose answers are Dynamo's own.

The tests ask Dynamo each of them again. Next room: rows.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.shown import returned
from lessons.u15.cache import Call, Condition

NUMBERS = "the numbers of the calls that compile, in order; the first call has number 0"
FIRST = "A call compiles if no graph so far may be used for it"
MOST = "At most `LIMIT` graphs are compiled; a call that would need one more runs without a graph"
DYNAMIC = (
    "A size is dynamic in a graph if an earlier graph was compiled for another value of this size"
)
SMALL = "if its own value is not 0 or 1"
STATIC = "All other sizes are static"
SAME = "the other arguments, the static sizes and the answer to each condition"
TWO = "if each dynamic size is 2 or more"
ASKS = "what the function asks about its sizes"
GIVEN = "for each call, the sizes of its tensor, and its other arguments"
OTHERS = "strings and truth values that it reads"
OUT = "Your function may not ask `torch.compile`"
LARGE = 2**61  # bytes may be that many, and so long an array of floats cannot be made
CLAIM = "Say which calls make Dynamo compile a graph"


def of(name: str, *values: int) -> list[Call]:
    """Calls in which nothing but this size differs."""
    return [({name: value}, {}) for value in values]


def both(*pairs: tuple[int, int]) -> list[Call]:
    return [({"n": n, "m": m}, {}) for n, m in pairs]


def threefold(*triples: tuple[int, int, int]) -> list[Call]:
    return [(dict(zip("nmk", triple, strict=True)), {}) for triple in triples]


def two_flags(*pairs: tuple[Any, Any]) -> list[Call]:
    return [({"n": 8}, {"a": a, "b": b}) for a, b in pairs]


def flagged(*pairs: tuple[int, Any]) -> list[Call]:
    return [({"n": n}, {"flag": flag}) for n, flag in pairs]


SHORT: list[Condition] = [("n", "<", 16)]
CASES: list[tuple[list[Condition], list[Call], list[int], str]] = [
    ([], of("n", 8, 8, 8), [0], FIRST),
    ([], of("n", 8, 9), [0, 1], STATIC),
    ([], of("n", 8, 9, 10, 8), [0, 1], DYNAMIC),
    ([], of("n", 8, 9, 1, 1, 0, 0, 30), [0, 1, 2, 4], TWO),
    ([], of("n", 1, 5, 6, 1), [0, 1], SMALL),
    ([], of("n", 5, 1, 6, 7, 5), [0, 1, 2], SMALL),
    ([], both((8, 4), (9, 4), (10, 4), (10, 5), (11, 6)), [0, 1, 3], STATIC),
    ([], both((8, 4), (6, 6), (7, 7), (7, 9), (5, 5), (6, 9)), [0, 1], DYNAMIC),
    ([], both((4, 4), (4, 5), (4, 4), (5, 5), (6, 6), (4, 6), (5, 6)), [0, 1, 3], STATIC),
    (SHORT, of("n", 8, 9, 20, 21, 10, 16, 15), [0, 1, 2], SAME),
    (SHORT, of("n", 8, 20, 30, 9, 8), [0, 1, 3], SAME),
    ([("n", "==", 7)], of("n", 3, 4, 7, 7, 8), [0, 1, 2], SAME),
    ([("n", ">", "m")], both((8, 4), (9, 5), (3, 5), (2, 9), (6, 5)), [0, 1, 2], SAME),
    ([("n", "==", "m")], both((8, 4), (6, 6), (7, 8), (9, 9)), [0, 1, 2], SAME),
    ([("n", "<", 16), ("n", ">", 4)], of("n", 8, 9, 3, 20, 2, 5, 17), [0, 1, 2, 3], SAME),
    ([], flagged((8, True), (8, False), (8, True), (9, True), (10, False)), [0, 1, 3, 4], SAME),
    ([], flagged((8, "a"), (9, "b"), (7, "b"), (7, "a"), (8, "a")), [0, 1, 3], SAME),
    ([], flagged(*((8, "abcdefghijk"[k]) for k in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 8))),
     [*range(8)], MOST),
    ([], of("n", *[8] * 9, 9), [0, 9], MOST),
    ([], flagged((5, True), (6, True), (5, False), (7, False)), [0, 1, 2], DYNAMIC),
    ([], threefold((8, 4, 3), (9, 4, 3), (9, 4, 5), (6, 4, 7), (6, 5, 3), (2, 3, 4)), [0, 1, 2, 4],
     STATIC),
    ([], two_flags((True, False), (False, True), (True, True), (False, True)), [0, 1, 2], SAME),
    ([("n", "<", 9), ("n", ">", 4)], of("n", 8, 7, 2, 12, 3), [0, 1, 2, 3], SAME),
    ([("n", "==", k) for k in range(2, 12)], of("n", *range(2, 14), 5), [*range(8)], MOST),
]  # fmt: skip


@for_each("u15.compiled", CASES, "{} functions, whose answers are Dynamo's",
          spec=[CLAIM, ASKS, GIVEN, OTHERS, NUMBERS])  # fmt: skip
def as_dynamo_does(compiled, conditions, calls, right, why):
    """The calls that compile are those in which Dynamo compiles."""
    as_it_must(compiled, conditions, calls, right, why)


@checks("u15.compiled", spec=[OUT, DYNAMIC, NUMBERS, FIRST])
def without_arrays(compiled):
    """Sizes for which no array can be made: the rule needs none."""
    calls = of("n", LARGE, LARGE + 1, LARGE + 2, LARGE)
    try:
        as_it_must(compiled, [], calls, [0, 1], DYNAMIC)
    except Crashed as crash:
        if "RuntimeError" not in crash.kinds:
            raise
        raise Wrong(f"The rule needs no arrays; the function raises {crash.error}.",
                    program=as_text([], calls), spec=OUT) from None  # fmt: skip
    return "sizes for which there are no arrays"


def as_it_must(
    compiled: Any, conditions: list[Condition], calls: list[Call], right: list[int], why: str = ""
) -> None:
    """The answer for these calls is this list."""
    program = as_text(conditions, calls)
    got = compiled(conditions, calls)
    if not isinstance(got, (list, tuple, np.ndarray)) or not all(map(is_number, got)):
        raise Wrong("The answer must be a list of numbers of calls.", program=program,
                    got=returned(got), spec=NUMBERS)  # fmt: skip
    numbers = [int(x) for x in got]
    if numbers == right:
        return
    if sorted({*numbers}) != numbers or not {*numbers} <= {*range(len(calls))}:
        raise Wrong("The answer must have the number of each call that compiles once, in order.",
                    program=program, got=str(numbers), spec=NUMBERS)  # fmt: skip
    if numbers == [number + 1 for number in right]:
        raise Wrong("The first call has number 0, not 1.", program=program, got=str(numbers),
                    expected=str(right), spec=NUMBERS)  # fmt: skip
    number = min({*numbers} ^ {*right})
    said = "does not compile" if number in numbers else "compiles"
    raise Wrong(f"Call {number} {said}, given the calls before it.", program=program,
                got=str(numbers), expected=str(right),
                spec=_sentence(why, conditions, calls[number], number in numbers))  # fmt: skip


def _sentence(why: str, conditions: list[Condition], call: Call, one_more: bool) -> str:
    """The sentence that an answer to a case violates if it compiles once more here, or not."""
    if not one_more:
        return "" if why in (FIRST, DYNAMIC) else why
    if why == TWO:
        return SMALL if min(call[0].values()) < 2 else FIRST
    return DYNAMIC if why == STATIC or (why == SAME and not conditions) else why


def is_number(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def as_text(conditions: list[Condition], calls: list[Call]) -> str:
    """The conditions and the calls, one in a line."""
    asks = "asks " + ", ".join(f"{a} {op} {b}" for a, op, b in conditions) if conditions else ""
    lines = []
    for number, (sizes, others) in enumerate(calls):
        words = [f"{name} = {value!r}" for name, value in [*sizes.items(), *others.items()]]
        lines.append(f"call {number}: {', '.join(words)}")
    return "\n".join([*([asks] if asks else []), *lines])
