"""Hidden checks of unit 4 for may_overwrite: kernels that were drawn for this run.

They are of the kinds that the specification names, with other axes, sizes, types and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from autograder.check.framework import Wrong, hidden
from course_lib.ir.loops.nest import print_kernel
from course_lib.ir.loops.parse import parse_kernel

VARIABLES = ("a", "b", "h", "i", "j", "k", "m", "n", "p", "q", "r", "u", "v", "w")
TRIES = 3  # kernels of each kind

Case = tuple[str, dict[str, bool]]  # a kernel as text, and the right answers


@hidden("schedule.in_place.may_overwrite", seed=50_021)
def other_kernels_of_these_kinds(may_overwrite, rng):
    """Elementwise, epilogues and rows may overwrite; what is read too late may not."""
    for text, answers in (case for _ in range(TRIES) for case in drawn(rng)):
        kernel = parse_kernel(text)
        for operand, expected in answers.items():
            if bool(may_overwrite(kernel, operand)) != expected:
                what = "may" if expected else "may not"
                raise Wrong(
                    f"The result {what} overwrite {operand}.",
                    program=print_kernel(kernel),
                    got=str(not expected),
                    expected=str(expected),
                )


def drawn(rng: np.random.Generator) -> Iterator[Case]:
    """One kernel of each kind."""
    names = [str(name) for name in rng.permutation(VARIABLES)]
    outer = [(names.pop(), int(rng.integers(2, 4))) for _ in range(rng.integers(0, 3))]
    size = int(rng.integers(3, 6))
    i, j, k, m = names[:4]
    yield elementwise(rng, [*outer, (i, size), (j, int(rng.integers(1, 5)))][rng.integers(0, 3) :])
    yield epilogue(outer, (i, j, k), size)
    yield rows(outer, (i, j, k), size, normal=bool(rng.integers(2)))
    for body in late((i, j, k, m), size):
        yield _kernel(outer, (size, size), body), {"x": False}


def elementwise(rng: np.random.Generator, axes: Sequence[tuple[str, int]]) -> Case:
    kind = str(rng.choice(["f32", "f64", "i32", "i64"]))
    shape, at = _shape([size for _, size in axes]), _at([var for var, _ in axes])
    value = str(rng.choice(["max(y@, x@)", "y@ + x@", "x@ * x@ - y@"])).replace("@", f"[{at}]")
    params = f"y: {kind}[{shape}], x: {kind}[{shape}], out: {kind}[{shape}]"
    return f"kernel @e({params}) {{ {_nest(axes, f'out[{at}] = {value}')} }}", {
        "x": True,
        "y": True,
    }


def epilogue(outer: Sequence[tuple[str, int]], names: Sequence[str], size: int) -> Case:
    """A product of matrices, and a residual that is added where the result is stored."""
    i, j, k = names
    body = (
        f"for {i} in 0..{size} {{ for {j} in 0..{size} {{ local acc: f32[] acc[] = 0.0 "
        f"for {k} in 0..{size} {{ acc[] += x[@{i}, {k}] * y[@{k}, {j}] }} "
        f"out[@{i}, {j}] = acc[] * z[@{i}, {j}] }} }}"
    )
    return _kernel(outer, (size, size), body, "xyz"), {"x": False, "y": False, "z": True}


def rows(outer: Sequence[tuple[str, int]], names: Sequence[str], size: int, normal: bool) -> Case:
    """A softmax, or a row that its sum divides; y is a row that is read again for every other."""
    i, j, k = names
    body = "local acc: f32[] acc[] = 0.0 local top: f32[] top[] = 1.0 "
    if not normal:
        body += f"top[] = -inf for {k} in 0..{size} {{ top[] max= x[@{k}] }} "
    term = f"x[@{j}] * x[@{j}]" if normal else f"exp(x[@{j}] - top[])"
    body += f"for {j} in 0..{size} {{ acc[] += {term} }} "
    body += f"for {i} in 0..{size} {{ out[@{i}] = exp(x[@{i}] - top[]) / acc[] }}"
    return _kernel(outer, (size,), body), {"x": True}


def late(names: Sequence[str], size: int) -> Iterator[str]:
    """Bodies that read an element of x after the same element of the result was written."""
    i, j, k, m = names

    def square(text: str, start: int = 0, i: str = i, j: str = j) -> str:
        return f"for {i} in 0..{size} {{ for {j} in {start}..{size} {{ {text} }} }}"

    here = f"out[@{i}, {j}] ="
    yield square(f"{here} x[@{j}, {i}]")
    yield square(f"{here} x[@{i}, {j}] - x[@{i}, 0]")
    yield square(f"{here} x[@{i}, {j}] - x[@0, {j}]")
    yield square(f"{here} x[@{i}, {size - 1} - {j}]")
    yield square(f"{here} x[@{size - 1} - {i}, {j}]")
    yield square(f"{here} x[@{i}, {j}] + x[@{i}, {j} - 1]", start=1)
    row = f"local s: f32[] s[] = 0.0 for {k} in 0..{size} {{ s[] += x[@{i}, {k}] }}"
    yield square(f"{row} {here} s[]")
    once_more = square(f"out[@{k}, {m}] = x[@{k}, {m}] + 1.0", i=k, j=m)
    yield square(f"{here} x[@{i}, {j}] * 2.0") + once_more
    yield square(f"{here} 0.0 local s: f32[] s[] = 1.0 {here} x[@{i}, {j}] + s[]")


def _kernel(
    outer: Sequence[tuple[str, int]], inner: Sequence[int], body: str, params: str = "x"
) -> str:
    """A kernel whose parameters all have the type of the result. In `body`, @ is where the outer
    indices belong."""
    shape = _shape([*(size for _, size in outer), *inner])
    typed = ", ".join(f"{name}: f32[{shape}]" for name in (*params, "out"))
    indices = "".join(f"{var}, " for var, _ in outer)
    return f"kernel @drawn({typed}) {{ {_nest(outer, body.replace('@', indices))} }}"


def _nest(axes: Sequence[tuple[str, int]], body: str) -> str:
    for var, size in reversed(axes):
        body = f"for {var} in 0..{size} {{ {body} }}"
    return body


def _shape(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sizes))


def _at(names: Sequence[str]) -> str:
    return ", ".join(names)
