"""Random nests, random primitives: the same result from the loop interpreter and, at the end, from
machine code, or a ValueError."""

import doctest
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

import course_lib.schedule
from course_lib.ir.loops.loop_interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import loops, names_of
from course_lib.llvm.jit import compile_kernels
from course_lib.schedule.primitives.at import perfect_nest
from course_lib.schedule.primitives.cache import cache
from course_lib.schedule.primitives.compute_at import compute_at
from course_lib.schedule.primitives.demote import demote
from course_lib.schedule.primitives.fuse import fuse
from course_lib.schedule.primitives.interchange import interchange
from course_lib.schedule.primitives.pack import pack
from course_lib.schedule.primitives.pad import pad
from course_lib.schedule.primitives.prefetch import prefetch
from course_lib.schedule.primitives.promote import promote
from course_lib.schedule.primitives.reorder import reorder
from course_lib.schedule.primitives.skew import skew
from course_lib.schedule.primitives.split import split
from course_lib.schedule.primitives.stage import stage
from course_lib.schedule.schedule import packed
from course_lib.schedule.script import Script, parse_schedule
from course_lib.schedule.steps import STEPS, step_of

SIZE = 24  # of each axis of every buffer: more than any index below reaches


@pytest.mark.parametrize(
    "name",
    sorted(
        found.name
        for found in pkgutil.walk_packages(course_lib.schedule.__path__, "course_lib.schedule.")
    ),
)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def machine_code(kernel: Kernel, arrays: dict[str, np.ndarray]) -> None:
    """What `run_kernel` does."""
    pointers = [arrays[b.name].ctypes.data for b in kernel.params]
    code = compile_kernels([kernel])
    for function, iterations in code.functions[kernel.name]:
        assert function(*pointers, 0, iterations) == 0


def outcome(kernel: Kernel, run: Callable[..., None] = run_kernel) -> np.ndarray:
    rng = np.random.default_rng(0)
    shape = (SIZE, SIZE)
    arrays = {b.name: rng.integers(-3, 4, shape).astype(np.float32) for b in kernel.params}
    arrays["out"][...] = 1.0
    for request in kernel.packed:
        arrays[request.param] = packed(arrays[request.param], request)
    run(kernel, arrays)
    return arrays["out"]


@st.composite
def nests(draw: DrawFn) -> Kernel:
    """One to three top-level loops, one in another, and statements of small whole numbers.

    Some read a local that a loop before them has filled; some combine, some overwrite.
    """
    number = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    names = iter("ijklmnpqrs")

    def index(around: list[str]) -> str:
        terms = [f"{number(1, 3)}*{v}" for v in around if draw(st.booleans())]
        return " + ".join([*terms[:2], str(number(0, 2))])

    def place(around: list[str]) -> str:
        return f"[{index(around)}, {index(around)}]"

    def statement(around: list[str], local: str) -> str:
        read = draw(st.sampled_from(["x", "x", "y", "out"]))
        value = f"{read}{place(around)}"
        if local and draw(st.booleans()):
            value += f" + {local}[{index(around)}]"
        sign = draw(st.sampled_from(["=", "+="]))
        return f"out{place(around)} {sign} {value}"

    def nest(around: list[str], depth: int, local: str) -> str:
        var = next(names)
        inner = [*around, var]
        body = nest(inner, depth - 1, local) if depth > 1 else statement(inner, local)
        if draw(st.integers(0, 4)) == 0:
            body += "\n" + statement(inner, local)
        return f"for {var} in 0..{number(1, 3)} {{ {body} }}"

    body, local = "", ""
    if draw(st.booleans()):
        local = "t"
        how = draw(st.sampled_from(["t[a] = 2.0", "t[a] = x[a, 0]", "t[a] = y[0, a] for b in 0..3 "
                                    "{ t[a] += x[b, a] }"]))  # fmt: skip
        body = f"local t: f32[{SIZE}] for a in 0..{SIZE} {{ {how} }}"
    for _ in range(number(1, 2)):
        body += "\n" + nest([], number(1, 3), local)
    shape = f"f32[{SIZE},{SIZE}]"
    return parse_kernel(f"kernel @k(x: {shape}, y: {shape}, out: {shape}) {{ {body} }}")


@st.composite
def sums(draw: DrawFn) -> Kernel:
    """A reduction in a scalar, as `lower` writes it, sometimes with its result as an operand."""
    m, n, k = (draw(st.integers(1, 5)) for _ in range(3))
    more = draw(st.sampled_from(["", " + y[i, 0]", " + out[i, j]"]))
    shape = f"f32[{SIZE},{SIZE}]"
    return parse_kernel(f"""kernel @sums(x: {shape}, y: {shape}, out: {shape}) {{
      for i in 0..{m} {{ for j in 0..{n} {{
        local s: f32[]
        s[] = 0.0
        for k in 0..{k} {{ s[] += x[i, k] * y[k, j] }}
        out[i, j] = s[]{more}
      }} }}
    }}""")


def pairs(kernel: Kernel) -> st.SearchStrategy[tuple[str, str]]:
    """Two loops, of which the second is all that the first one's body has, where there are some."""
    nested = [nest for loop in loops(kernel.body) if len(nest := perfect_nest(loop)) > 1]
    every = [(loop.var, loop.var) for loop in loops(kernel.body)[:1]]
    return st.sampled_from([(nest[0].var, nest[1].var) for nest in nested] or every)


def arguments(step: Callable[..., Kernel], kernel: Kernel, data: DataObject) -> list[Any]:
    """Arguments of a primitive that are there at least."""
    loop = st.sampled_from([loop.var for loop in loops(kernel.body)])
    local = st.sampled_from([b for b in kernel.buffers if b not in ("x", "y", "out")] or ["t"])
    buffer = st.sampled_from(list(kernel.buffers))
    kinds: dict[Callable[..., Kernel], list[st.SearchStrategy[Any]]] = {
        split: [loop, st.integers(1, 3)],
        reorder: [st.permutations([loop.var for loop in loops(kernel.body)][:3])
                  | st.lists(loop, min_size=1, max_size=3)],
        stage: [loop, local],
        cache: [buffer, loop, *([st.integers(0, 1), st.integers(1, 3)] * data.draw(st.booleans()))],
        compute_at: [local, loop],
        promote: [buffer, loop],
        prefetch: [buffer, loop, loop],
        demote: [local],
        pad: [local, st.just(0), st.integers(1, 8) | st.integers(SIZE, SIZE + 4)],
        pack: [st.sampled_from(["x", "y"]), st.integers(0, 1), st.sampled_from([2, 3, 4, 8])],
    }  # fmt: skip
    if step in (fuse, interchange):
        name = next(n for n in ("f", "g", "h", "u", "v", "w") if n not in names_of(kernel))
        return [*data.draw(pairs(kernel)), *([name] if step is fuse else [])]
    if step is skew:
        return [*data.draw(pairs(kernel)), data.draw(st.integers(-2, 2))]
    chosen = [data.draw(kind) for kind in kinds.get(step, [loop])]
    return chosen[0] if step is reorder else chosen


@given(kernel=nests() | sums(), data=st.data())
def test_any_sequence_keeps_the_meaning(kernel: Kernel, data: DataObject) -> None:
    expected = outcome(kernel)
    script = Script(kernel)
    for _ in range(data.draw(st.integers(1, 5))):
        primitive = data.draw(st.sampled_from([step.primitive for step in STEPS.values()]))
        step = step_of(primitive.__name__, arguments(primitive, script.kernel, data))
        try:
            script.do(step)
        except ValueError:
            continue  # refused, with a reason
        message = f"after {step}\n{script.kernel!r}"
        np.testing.assert_array_equal(outcome(script.kernel), expected, message)
    np.testing.assert_array_equal(outcome(script.kernel, machine_code), expected)
    assert parse_kernel(print_kernel(script.kernel)) == script.kernel
    schedule = parse_schedule(str(script.schedule))
    assert schedule == script.schedule
    assert schedule.apply(kernel) == script.kernel


def test_unwritten_memory_shows() -> None:
    """What the fuzz relies on: a local that is read before it is written holds NaN."""
    kernel = parse_kernel("kernel @k(out: f32[2]) { local t: f32[2] out[0] = t[1] }")
    out = np.zeros(2, np.float32)
    run_kernel(kernel, {"out": out})
    assert np.isnan(out[0]) and np.isnan(unwritten(kernel.out.type)).all()
