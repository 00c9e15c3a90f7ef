"""Visible checks of unit 10 about transposes in the Toy dialect.

Next room: lowering.py, which lowers such programs.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.modules import as_text, normal
from autograder.units.u10.checks.programs import A, B, toy

BOTH = "An addition or a multiplication whose operands are both transposes moves before them"
ORDER = "with its operands in the same order"
RESULT = "only its result is transposed"
SAVES = "Rewrite only if neither transpose has another user"
SAME = "The program computes the same"
KNOWN = "every shape that was known stays known"
INSIDE = "The new sum or product has a known shape if both of its operands have"
MOVE = "Move transposes behind sums and products, where they can meet others and cancel"
IN_TOY = "a program in the Toy dialect"
SINK = "rewritten(text, Sink()), where Sink is a pattern of yours"

PAIR = "t = transpose a; u = transpose b; "
STAY = [(toy(lines, c=B), spec) for lines, spec in (
    (f"{PAIR}p = mul t u; print t; return p", SAVES),
    (f"{PAIR}p = mul t u; print u; return p", SAVES),
    (f"{PAIR}print u; p = mul t u; return p", SAVES),
    (f"{PAIR}p = mul t u; q = add p u; return q", SAVES),
    ("t = transpose a; p = mul t c; return p", BOTH),
    ("t = transpose a; p = mul c t; return p", BOTH),
    ("p = mul c c; return p", BOTH),
    ("t = transpose a; p = mul t t; q = add p t; return q", SAVES),
)]  # fmt: skip
BLIND, LONG = "w? = cast a; ", range(1, 21)
BEHIND = "q = transpose p; return q"
MOVED: list[tuple[str, str, dict[str, Any], str]] = [  # before, after, parameters, the sentence
    (f"{PAIR}p = mul t u; return p", f"p = mul a b; {BEHIND}", {}, BOTH),
    (f"{PAIR}p = add t u; return p", f"p = add a b; {BEHIND}", {}, BOTH),
    ("t = transpose b; u = transpose a; p = mul t u; return p", f"p = mul b a; {BEHIND}", {},
     RESULT),
    ("t = transpose a; p = mul t t; return p", f"p = mul a a; {BEHIND}", {}, SAVES),
    (f"{PAIR}v = transpose c; p = mul t u; q = add p v; return q",
     "p = mul a b; q = add p c; r = transpose q; return r", {"c": A}, BOTH),
    (f"{PAIR}p = mul t u; q = add p p; return q",
     "p = mul a b; q = add p p; r = transpose q; return r", {}, SAVES),
    *((f"{PAIR}p = add t u; return p", f"p = add a b; {BEHIND}", {"a": shape, "b": shape}, BOTH)
      for shape in ((2, 3, 4), (2, 1, 130, 2), (5,), ())),
    (f"{PAIR}p? = mul t u; return p", "p = mul a b; q? = transpose p; return q", {}, INSIDE),
    ("t? = transpose a; u? = transpose b; p? = mul t u; return p",
     "p = mul a b; q? = transpose p; return q", {}, INSIDE),
    ("t? = transpose a; u = transpose b; p = mul t u; return p", f"p = mul a b; {BEHIND}", {},
     KNOWN),
    (f"{BLIND}t = transpose w; u = transpose b; p = mul t u; return p",
     f"{BLIND}p = mul w b; {BEHIND}|{BLIND}p? = mul w b; {BEHIND}", {}, BOTH),
    ("s0 = transpose a; " + "".join(f"t{k} = transpose b; s{k} = add s{k - 1} t{k}; "
                                    for k in LONG) + "return s20",
     "s1 = add a b; " + "".join(f"s{k} = add s{k - 1} b; " for k in LONG[1:])
     + "q = transpose s20; return q", {}, MOVE),
]  # fmt: skip


def with_second(text: str, lines: str) -> str:
    """The program with another function of these lines."""
    second = toy(lines).replace("@main", "@second").removeprefix("builtin.module {\n")
    return text.removesuffix("}\n") + second


@checks("u10.sunk", spec=[MOVE, IN_TOY, SINK, BOTH, ORDER, RESULT, SAVES, SAME, KNOWN,
                          INSIDE])  # fmt: skip
def small_programs(sunk):
    """Programs of a few operations: some are rewritten, and some stay as they are."""
    moved = [(toy(before, **given), [toy(lines, **given) for lines in after.split("|")], spec)
             for before, after, given, spec in MOVED]  # fmt: skip
    one, (before, after, *_) = toy("return a"), MOVED[0]
    moved.append((with_second(one, before), [with_second(one, after)], IN_TOY))
    for given, right, spec in [*moved, *((text, [text], spec) for text, spec in STAY)]:
        got = kept_meaning(sunk, given)
        if normal(got) not in map(normal, right):
            problem, about = _complaint(given, got, right[0])
            raise Wrong(problem, program=given, got=got, expected=right[0], spec=about or spec)
    return f"{len(moved) + len(STAY)} programs"


def _complaint(given: str, got: str, wanted: str) -> tuple[str, str]:
    """What is wrong, in words, and the sentence that says so, if it is another one than usual."""
    if given == wanted:
        return "This program must stay as it is.", ""
    if normal(got) == normal(given):
        return "The operation must come first, and its result must be transposed.", ""
    if _sorted(got) == _sorted(wanted):
        return "The operands must stay in their order.", ORDER
    return "The result must be a different program.", ""


def _sorted(text: str) -> str:
    """The text with the operands of each operation in the order of their names."""
    return re.sub(r"(%\w+), (%\w+) :", lambda match: " ".join(sorted(match.groups())), normal(text))


@st.composite
def toys(draw: DrawFn, most: int = 4, unknown: bool = True) -> str:
    """A program full of transposes, of which some have several users."""
    shape = draw(st.sampled_from([A, A, (2, 2), (3,), (2, 3, 4)]))
    given = {"a": shape, "b": shape, "c": shape[::-1]}
    shapes, lines = dict(given), []
    hides = unknown and draw(st.booleans())

    def new(op: str, *of: str) -> str:
        name = f"v{len(shapes)}"
        shapes[name] = shapes[of[0]][::-1] if op == "transpose" else shapes[of[0]]
        lines.append(f"{name}{'?' * (hides and draw(st.booleans()))} = {op} {' '.join(of)}")
        return name

    for _ in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from(["pair", "pair", "transpose", "add", "mul", "print", "cast"]))
        name = draw(st.sampled_from([*shapes][-5:]))
        like = st.sampled_from([x for x, shape in shapes.items() if shape == shapes[name]])
        if kind in ("add", "mul"):
            new(kind, name, draw(like))
        elif kind == "pair":
            other = draw(like) if draw(st.integers(0, 3)) else None
            sides = [new("transpose", side) for side in (name, other) if side]
            new(draw(st.sampled_from(["add", "mul"])), sides[0], sides[-1])
            if not draw(st.integers(0, 3)):
                lines.append(f"print {draw(st.sampled_from(sides))}")
        elif kind == "print":
            lines.append(f"print {name}")
        else:
            new(kind, name)
    lines.append(f"return {draw(st.sampled_from([[*shapes][-1], *[*shapes][-3:]]))}")
    text = toy("; ".join(lines), given)
    return with_second(text, MOVED[0][0]) if draw(st.booleans()) else text


@checks("u10.sunk", given=toys(), examples=25, spec=[SAME, KNOWN, RESULT])
def random_programs_keep_their_meaning(sunk, text):
    """The result computes the same, with as many transposes or fewer, and no shape is forgotten."""
    kept_meaning(sunk, text)


def kept_meaning(sunk: Any, text: str) -> str:
    """What the answer made of the program, if it still computes the same."""
    from lessons.u10.meaning import forgotten, shown, unclear, unknown  # xDSL need not be installed

    got = as_text(sunk(text), text)
    wrong = partial(Wrong, program=text, got=got)
    right = _meaning(text, text)
    try:
        results = _meaning(got, text)
        now, before = shown(got), shown(text)
        inside, lost = forgotten(got), unclear(got)
    except (ValueError, TypeError) as error:
        raise wrong(f"The result cannot be run: {error}", spec=SAME) from None
    if len(results) != len(right) or not all(map(_near, results, right)):
        raise wrong("The result must compute the same as the program.", spec=SAME)
    for (op, is_known), (_, was_known) in zip(now, before, strict=True):
        if was_known and not is_known:
            raise wrong(f"In `{op}`, the shape was known before.", spec=KNOWN)
    if len(inside) > len(forgotten(text)) or len(lost) > len(unknown(text)):
        if inside:
            raise wrong(f"The operands have known shapes, but not the result of `{inside[0]}`.",
                        spec=INSIDE)  # fmt: skip
        raise wrong(f"More shapes are unknown than before, as in `{lost[0]}`.", spec=KNOWN)
    if got.count("toy.transpose") > text.count("toy.transpose"):
        raise wrong("There are more transposes than before.", spec=SAVES)
    return got


@lru_cache(maxsize=512)
def _meaning(text: str, given: str) -> list[np.ndarray]:
    """What a program prints and returns for the arguments that `given` takes."""
    from lessons.u10.meaning import toy_outputs  # xDSL need not be installed

    return toy_outputs(text, arguments(given))


def arguments(text: str) -> list[np.ndarray]:
    """Random arguments for the first function of a program."""
    rng = np.random.default_rng(1)
    first, *_ = re.findall(r"func @\w+\((.*?)\)", text)
    sizes = [part.split("x")[:-1] for part in re.findall(r"tensor<(.*?)>", first)]
    return [rng.standard_normal([int(size) for size in dims]) for dims in sizes]


def _near(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and np.allclose(got, wanted)
