"""Visible checks of unit 0, the tour.

Here: FLOP per byte of a layer, and claims about a kernel. Next room: array.py.
"""

import math
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number

for exercise, words in [
    ("u00.intensity", "x: f32[images,inputs] ... result: f32[images,outputs]"),
    ("u00.claims", "This is `claims(2, 3, 6, 16, 64, 8)` ... 8 numbers in a vector register."),
    ("u00.claims", "A  The bias x2 is added ... `acc` alone needs at most 16 vector registers."),
]:
    background(exercise, words, because="what is given")

COUNTED = (
    "A multiply-add counts as two operations; adding `b` and `relu` count as one each, for each "
    "element of the result. Each of the four tensors crosses the memory bus once."
)
LAYERS = {  # the smallest first
    (1, 1, 1): 0.25, (1, 1, 2): 2 / 7, (1, 2, 1): 0.25, (2, 1, 1): 1 / 3, (2, 7, 1): 1 / 3,
    (1, 2, 3): 9 / 28, (3, 2, 5): 0.625, (1, 784, 512): 0.498393, (64, 784, 512): 26.5259,
    (1024, 1024, 1100): 174.8022,
}  # fmt: skip
EXACT = 0.001


@checks(
    "u00.intensity",
    spec=["FLOP per byte of a layer", COUNTED, "right within 0.1 %",
          "The first layer of the course's perceptron"],
)  # fmt: skip
def is_the_intensity(intensity):
    """FLOP per byte of small layers and of large ones."""
    for sizes, right in LAYERS.items():
        got = a_number(intensity(*sizes), unit="FLOP/byte")
        if not math.isclose(got, right, rel_tol=EXACT):
            problem = f"This is {how_far(got, right)} for that layer."
            layer = named(("images", "inputs", "outputs"), sizes)
            raise Wrong(problem, program=layer, got=f"{got:.6g} FLOP/byte", spec=COUNTED)
    return f"{len(LAYERS)} layers of different sizes"


def how_far(got: float, right: float) -> str:
    """By how much an answer misses the right one, where the factor is one that often happens."""
    for factor in (2, 4, 8):
        if math.isclose(got, right * factor, rel_tol=EXACT):
            return f"{factor} times too large"
        if math.isclose(got, right / factor, rel_tol=EXACT):
            return f"{factor} times too small"
    return "not the answer"


KERNELS = {
    (1, 3, 6, 16, 64, 4): "ACEG",
    (2, 3, 6, 16, 64, 8): "AE",
    (8, 8, 8, 32, 256, 16): "ACEF",
}


@checks(
    "u00.claims",
    spec=["Which claims about this kernel are false?", "Their letters, such as", "in any order.",
          "Answer for other extents, too", "The claims stay word for word as they are"],
)  # fmt: skip
def are_the_false_ones(claims):
    """The false claims, all of them and no others."""
    for extents, right in KERNELS.items():
        got = letters(claims(*extents))
        if got != right:
            problem = "These are not the false claims, or not all of them. "
            problem += f"Look at {min(set(got) ^ set(right))} again."
            raise Wrong(problem, program=called(extents), got=got or "no letter")
    return f"{len(KERNELS)} kernels of different sizes"


def called(extents: tuple[int, ...]) -> str:
    return named(("mo", "no", "mi", "ni", "k", "lanes"), extents)


def named(names: tuple[str, ...], values: tuple[int, ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def letters(got: Any) -> str:
    """The letters of an answer, in order, each once: "ea " and "AE" are the same."""
    if isinstance(got, (list, tuple, set, frozenset)):
        got = "".join(map(str, got))
    problem = "The answer must be a string of letters."
    if isinstance(got, str):
        given = set(got.upper()) - set(" ,;")
        if given <= set("ABCDEFG"):
            return "".join(sorted(given))
        problem = "The claims have the letters A to G."
    raise Wrong(problem, got=repr(got), expected='such as "BD"')
