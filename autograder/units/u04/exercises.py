"""Unit 4, Memory and layout: the exercises that are no function of the library, and their material.

`BROKEN` and the figures of the bill are given to the student; the bodies of the exercises are our
answers and never ship. Next room: autograder/units/u04/checks/__init__.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.check.rubrics import Rubric, Sample
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
_ROWS = {  # of each value its size, the steps from which and to which it lives, and its offset
    "a": (1024, 0, 2, 0), "b": (1024, 1, 5, 1024), "d": (1024, 2, 3, 2048),
    "e": (2048, 3, 4, 3072), "g": (2048, 4, 6, 5120), "i": (1024, 5, 7, 0),
    "j": (1024, 6, 8, 1024), "k": (1024, 7, 9, 2048), "l": (1024, 8, 9, 0),
}  # fmt: skip
BROKEN_LIVES = [Interval(name, *life) for name, (*life, _) in _ROWS.items()]
BROKEN_OFFSETS = {name: offset for name, (*_, offset) in _ROWS.items()}


@exercise("u04.clash", unit=4, points=2, kind="evidence", further=True)
def clash() -> tuple[str, str, str]:
    """Which value loses its bytes while they are still needed, which value takes them first, and
    which step is the first to compute wrong numbers?

    Three names without the %, in this order: ("e", "d", "k"). Name values by the owner of the
    bytes, not by a view, and the step by what it writes.
    """
    return ("a", "i", "l")


@exercise("u04.allocator", unit=4, points=3)
def allocator(requests: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Serve requests for memory one by one, as `malloc` and `free` do.

    requests  pairs (name, bytes) in the order in which they come. A positive number asks for
              a block of that many bytes under that name; a negative one gives all of that block
              back. Sizes are multiples of 64; no name asks for two blocks
    returns   {name: the offset at which its block begins}

    Keep a list of the free blocks, at first one block from offset 0 that has no end. A request
    takes the lower end of the lowest free block that is large enough; what is left of that block
    stays free. A block that comes back is joined with the free blocks that touch it, below and
    above. (A block may be megabytes large: a record for every 64 bytes would be slow.)

    >>> allocator([("a", 64), ("b", 64), ("a", -64), ("c", 128), ("d", 64)])
    {'a': 0, 'b': 64, 'c': 128, 'd': 0}
    """
    free: list[tuple[int, float]] = [(0, float("inf"))]  # (offset, size), upward
    offsets: dict[str, int] = {}
    for name, size in requests:
        if size > 0:
            k = next(k for k, (_, room) in enumerate(free) if room >= size)
            offset, room = free[k]
            offsets[name] = offset
            free[k : k + 1] = [(offset + size, room - size)] if room > size else []
        else:
            free = _joined(sorted([*free, (offsets[name], -size)]))
    return offsets


def _joined(free: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The same free bytes, with blocks that touch made one."""
    joined = free[:1]
    for offset, size in free[1:]:
        below, room = joined[-1]
        if below + room == offset:
            joined[-1] = (below, room + size)
        else:
            joined.append((offset, size))
    return joined


@exercise("u04.too_large", unit=4, points=2, kind="explain")
def too_large() -> Rubric:
    """MobileNetV2 on a picture of 64×64 needs 529.5 KiB, and the chip has 512. A colleague proposes
    a better planner, and then a better order of the steps. Why can neither help here? Name one
    change to the program that can, and say which bytes it saves. Two to five sentences.
    """
    return Rubric(
        criteria="1 point: at one step, operand and result (the padded copy of 433.5 KiB and the "
        "96 KiB that the depthwise convolution writes) are alive together, and every plan and "
        "every order has that step; to say only that the plan meets the lower bound earns half "
        "of it. "
        "1 point: a change that lowers what this step needs (half of it without the bytes): no "
        "padded copy (the "
        "expanded image alone has 384 KiB), a border only where windows reach (the stride is 2, so "
        "row 33 and column 33 are written and never read: 33 × 33 are 408.4 KiB, 504.4 with the "
        "result, which fits), tiles of rows through both convolutions so that the "
        "expanded image is never whole, 8-bit values (a quarter), a smaller picture, fewer "
        "channels. Computing a value again or a result in place saves nothing at this step.",
        samples=(
            Sample(2, "The peak is one step: the depthwise convolution reads the padded image "
                   "(433.5 KiB) and writes 96 KiB, and whatever the order, both are there while it "
                   "runs. If the convolution did the padding while reading, the image would have "
                   "384 KiB, and 480 KiB fit."),
            Sample(1, "The plan already meets the lower bound, which is the most bytes alive at "
                   "one step, so no planner can do better. Storing int8 instead of float32 would "
                   "make it fit."),
            Sample(0, "Planning is NP-hard, so a better planner would take too long. One should "
                   "free values earlier."),
        ),
    )  # fmt: skip


@exercise("u04.first_fit_wins", unit=4, points=2, kind="inverse", further=True)
def first_fit_wins() -> list[Interval]:
    """Lives for which `first_fit` meets the lower bound, and `best_fit` does not.

    At most 10 intervals. Sizes are multiples of 64 bytes and at least 64, 0 <= first <= last, and
    no name occurs twice.
    """
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return [Interval("abcdef"[k], 64 * n, a, b) for k, (a, b, n) in enumerate(rows)]


@exercise("u04.lines", unit=4, points=2, kind="number", further=True)
def lines(first: int, last: int) -> dict[str, int]:
    """How many cache lines of its image does a convolution touch while its window slides?

    The image is f32[1,64,56,56] and begins at the start of a line of 64 bytes. The window of a 3x3
    convolution lies on the rows 10 to 12 and slides along them, so that all in all it reads the
    columns `first` to `last`, both included, of all 64 channels. A line that is touched twice
    counts once. Return a dict of exact counts with the keys "nchw", "nhwc" and "nchw16c".
    """
    at = {
        "nchw": lambda c, h, w: (c * 56 + h) * 56 + w,
        "nhwc": lambda c, h, w: (h * 56 + w) * 64 + c,
        "nchw16c": lambda c, h, w: ((c // 16 * 56 + h) * 56 + w) * 16 + c % 16,
    }
    columns = range(first, last + 1)
    window = [(c, h, w) for c in range(64) for h in (10, 11, 12) for w in columns]
    return {name: len({4 * address(*p) // 64 for p in window}) for name, address in at.items()}
