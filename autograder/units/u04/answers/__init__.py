"""Unit 4, Memory and layout: the exercises that are no function of the library, and their material.

`BROKEN` and the figures of the bill are given to the student; the bodies of the exercises are our
answers and never ship. Next room: autograder/units/u04/checks/__init__.py.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.memory.liveness import Interval

# Bytes of the arena with the library's own functions plugged in: reordered, in place, in plain
# layouts. tests/units/test_u04.py computes them again.
REFERENCE_ARENA = {"mlp": 4096, "block": 786432, "resnet18": 4129792, "mobilenet_v2": 6194688,
                   "mobilenet_v2, unfused": 9807360}  # fmt: skip

# A program, and a plan of its bytes that some planner made: value -> (size, offset) in bytes.
BROKEN = """
graph @f(%x: f32[16,16]) -> (f32[256]) {
  %a = exp(%x) : f32[16,16]
  %b = neg(%x) : f32[16,16]
  %c = reshape(%a) {shape = [256]} : f32[256]
  %d = tanh(%a) : f32[16,16]
  %e = concat(%b, %d) {axis = 0} : f32[32,16]
  %f = reshape(%e) {shape = [2,256]} : f32[2,256]
  %g = relu(%f) : f32[2,256]
  %h = reshape(%b) {shape = [256]} : f32[256]
  %i = abs(%h) : f32[256]
  %j = reduce_max(%g) {axes = [0], keepdims = false} : f32[256]
  %k = mul(%i, %i) : f32[256]
  %l = add(%j, %c) : f32[256]
  %m = sub(%k, %l) : f32[256]
  return %m
}"""
BROKEN_LIVES = [
    Interval("a", 1024, 0, 2),
    Interval("b", 1024, 1, 5),
    Interval("d", 1024, 2, 3),
    Interval("e", 2048, 3, 4),
    Interval("g", 2048, 4, 6),
    Interval("i", 1024, 5, 7),
    Interval("j", 1024, 6, 8),
    Interval("k", 1024, 7, 9),
    Interval("l", 1024, 8, 9),
]
BROKEN_OFFSETS = {
    "a": 0, "b": 1024, "d": 2048, "e": 3072, "g": 5120, "i": 0, "j": 1024, "k": 2048, "l": 0,
}  # fmt: skip


@exercise("u04.clash", unit=4, points=2, kind="evidence")
def clash() -> tuple[str, str, str]:
    """Which value loses its bytes while they are still needed, which value takes them first, and
    which value is the first to come out wrong?

    Three names without the %, in this order: ("e", "d", "k"). Name the first by the value that
    owns the bytes, not by a view.
    """
    return ("a", "i", "l")


@exercise("u04.first_fit_wins", unit=4, points=2, kind="inverse")
def first_fit_wins() -> list[Interval]:
    """Lives for which `first_fit` meets the lower bound, and `best_fit` does not.

    At most 10 intervals. Sizes are multiples of 64 bytes and at least 64, 0 <= first <= last, and
    no name occurs twice.
    """
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return [Interval("abcdef"[k], 64 * n, a, b) for k, (a, b, n) in enumerate(rows)]


@exercise("u04.lines", unit=4, points=2, kind="number")
def lines() -> dict[str, int]:
    """How many cache lines of its image does a convolution touch to compute *one* pixel?

    The image is f32[1,64,56,56] and begins at the start of a line of 64 bytes. The window of a 3x3
    convolution lies on the rows 10 to 12 and the columns 14 to 16, and it reads all 64 channels
    there. A dict with the keys "nchw", "nhwc" and "nchw16c" and exact counts.
    """
    at = {
        "nchw": lambda c, h, w: (c * 56 + h) * 56 + w,
        "nhwc": lambda c, h, w: (h * 56 + w) * 64 + c,
        "nchw16c": lambda c, h, w: ((c // 16 * 56 + h) * 56 + w) * 16 + c % 16,
    }
    window = [(c, h, w) for c in range(64) for h in (10, 11, 12) for w in (14, 15, 16)]
    return {name: len({4 * address(*p) // 64 for p in window}) for name, address in at.items()}
