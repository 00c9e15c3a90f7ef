"""Visible checks of unit 4 for the allocator: what `malloc` does without knowing what will come.

Each request must get the lowest place that is free when it comes: that is what a free list with
joined blocks finds, and nothing else does. Next room: offsets.py, where all lives are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.steps import with_steps
from autograder.units.u04.checks.shared import LETTERS, plan_of
from lessons.u04.traces import EAGER, Request, highest, most_alive

LOWEST = "the lower end of the lowest free block that is large enough"
JOINED = "A block that comes back is joined with the free blocks that touch it, below and above"
BEGIN = "at first one block from offset 0 that has no end"
BACK = "a negative one gives all of that block back"
REST = "what is left of that block stays free"
RETURNS = "returns {name: the offset at which its block begins}"
PAIRS = "pairs (name, bytes) in the order in which they come"
GIVEN = (PAIRS, BACK, "Sizes are multiples of 64; no name asks for two blocks", RETURNS,
         "Keep a list of the free blocks", "Serve requests for memory one by one",
         "A positive number asks for a block of that many bytes under that name")  # fmt: skip


def units(text: str) -> list[Request]:
    """The requests of a row: "a 2; b 1; a -2" asks for 128 and 64 bytes, and gives a back."""
    pairs = (request.split() for request in text.split(";") if request)
    return [(name, 64 * int(size)) for name, size in pairs]


# One small trace for each sentence.
CASES = [
    (units(requests), words)
    for words, *rows in [
        (BEGIN, "a 2; b 1; c 3"),
        (LOWEST, "a 2; b 1; a -2; c 1", "a 3; b 1; c 1; d 1; a -3; c -1; e 1"),
        (BACK, "a 2; b 1; a -2; c 2"),
        (REST, "a 3; b 1; a -3; c 1; d 2"),
        (JOINED, "a 1; b 1; c 1; a -1; b -1; d 2", "a 1; b 1; c 1; b -1; a -1; d 2",
         "a 1; b 1; c 1; d 1; a -1; c -1; b -1; e 3", "a 2; b 1; b -1; c 4", "a 2; a -2; b 3"),
        (PAIRS, ""),
    ]
    for requests in rows
]  # fmt: skip


@st.composite
def traces(draw: DrawFn, most: int = 8) -> list[Request]:
    """Up to `most` blocks, each perhaps given back later."""
    alive: list[Request] = []
    requests: list[Request] = []
    for letter in LETTERS[: draw(st.integers(1, most))]:
        while alive and draw(st.integers(0, 2)) == 0:
            name, size = alive.pop(draw(st.integers(0, len(alive) - 1)))
            requests.append((name, -size))
        alive.append((letter, 64 * draw(st.integers(1, 5))))
        requests.append(alive[-1])
    return requests


@for_each("u04.allocator", CASES, "{} small traces", spec=GIVEN)
def each_sentence_on_a_small_trace(allocator, requests, spec):
    """Each sentence of the specification, on a trace of a few requests."""
    served(requests, allocator, spec)


@checks("u04.allocator", given=traces(), examples=60, what="random traces",
        spec=[LOWEST, REST, JOINED, *GIVEN])  # fmt: skip
def each_block_lies_as_low_as_it_can(allocator, requests):
    """Blocks that are in use at once share no byte, and each begins as low as it can."""
    served(requests, allocator, LOWEST)


@checks("u04.allocator", spec=[LOWEST, JOINED, "A block may be megabytes large"])
def a_real_trace_is_served(allocator):
    """What PyTorch asks for while ResNet-18 runs: 173 blocks, the largest of 9 MiB."""
    offsets = served(EAGER, allocator, LOWEST)
    ratio = highest(EAGER, offsets) / most_alive(EAGER)
    return f"PyTorch's trace of ResNet-18: {ratio:.2f} of the most bytes that are in use at once"


@checks("u04.allocator", spec="Keep a list of the free blocks")
def no_request_looks_at_all_that_came_before(allocator):
    """4,000 requests of one program that holds two blocks at a time."""
    requests: list[Request] = [("v0", 64)]
    for k in range(1, 2000):
        requests += [(f"v{k}", 64 * (1 + k % 3)), (f"v{k - 1}", -64 * (1 + (k - 1) % 3))]
    why = "each request goes through all requests before it, and not through the free blocks"
    served(requests, with_steps(allocator, 1_000_000, "4,000 requests", why), LOWEST)


def served(requests: Sequence[Request], allocator: Any, spec: str) -> dict[str, int]:
    """The offsets of an answer, each as low as it can be when its request comes."""
    text, asked = told_trace(requests), [name for name, size in requests if size > 0]
    offsets = plan_of(asked, allocator(list(requests)), text, RETURNS, RETURNS)
    taken: dict[str, tuple[int, int]] = {}  # what is out: name -> (begin, end)
    for name, size in requests:
        if size <= 0:
            taken.pop(name)
            continue
        at, ends, problem = offsets[name], [0, *(high for _, high in taken.values())], ""
        least = min(e for e in ends if _is_free(taken.values(), e, size))
        clash = [o for o, (low, high) in taken.items() if at < high and low < at + size]
        if clash:
            problem = f"{name} must get free bytes, but it gets bytes that {clash[0]} still has."
        elif at != least:
            problem = f"When {name} asks for {size} bytes, offset {least} is free; it must get "
            problem += f"that, but it gets {at}."
        if problem:
            raise Wrong(problem, program=text, got=repr(offsets), spec=spec)
        taken[name] = (at, at + size)
    return offsets


def _is_free(taken: Any, begin: int, size: int) -> bool:
    return all(begin + size <= low or high <= begin for low, high in taken)


def told_trace(requests: Sequence[Request]) -> str:
    """A trace as text; of a long one the beginning."""
    lines = [f"{name} {f'asks for {n} bytes' if n > 0 else 'comes back'}" for name, n in requests]
    more = [f"and {len(lines) - 16} more requests"] * (len(lines) > 16)
    return "\n".join(lines[:16] + more) or "no request"
