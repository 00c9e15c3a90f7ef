"""What the notebook of unit 5 does besides: run the optimizer, count after each pass, draw, time.

What calls a student's functions says in one line if they do not work there. Next room: `models.py`,
the same for whole models.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numpy as np

from course_lib.draw.base.diff import CSS, diff, renumbered
from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.graphs.flow import flow
from course_lib.draw.plots.table import table
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.changes import changes
from course_lib.llvm.inspect.control.order import order_of
from course_lib.llvm.inspect.control.view import functions
from course_lib.llvm.inspect.fixed import HASWELL, assembly, optimized
from course_lib.llvm.inspect.fma import count_fma, fused, parse
from course_lib.llvm.inspect.llvm_interp import execute
from course_lib.measure.turns import in_turns, least
from lessons.u05.listings import DOT
from lessons.u05.plugin import FREQUENCIES, LOOPS, RECORDED_FREQUENCIES, block_frequencies
from lessons.u05.small import SMALL

REDUCE = re.compile(r"@(llvm\.vector\.reduce\.\w+\.v(\d+)f32)")
VECTOR = {"ss": 1, "sd": 1}
N = 4096  # elements of a dot product that is timed
NAMED = ("SROA", "LoopRotate", "LoopVectorize")  # the steps that the notebook speaks of
PROCESSORS = {  # LLVM's triple and processor
    "x86-64 of 2003": ("x86_64-unknown-linux-gnu", "x86-64"),
    "Haswell": ("x86_64-unknown-linux-gnu", HASWELL),
    "Neoverse N1": ("aarch64-unknown-linux-gnu", "neoverse-n1"),
    "POWER9": ("powerpc64le-unknown-linux-gnu", "pwr9"),
}
FMA = re.compile(r"^\s+(?:v?f|xs)n?m(?:add|sub)\w*\s", re.M)
F = TypeVar("F", bound=Callable[..., Any])


class Unfinished(Exception):
    """An answer is there and does not work yet. A notebook shows one line and no stack."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def needing(*names: str) -> Callable[[F], F]:
    """For a function that calls the answers to these exercises: what goes wrong is put down to
    them, in one line."""

    def wrapped(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                ask = " or ".join(f'check("{name}")' for name in names)
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                raise Unfinished(f"This needs a right answer; {ask} says more. {reason}") from None

        return call  # type: ignore[return-value]

    return wrapped


def steps(text: str) -> list[tuple[str, str]]:
    """(pass, the module after it) of O3 for Haswell, each a module that LLVM reads."""
    (_, first), *later = changes(text, "haswell")
    named = [("as clang wrote it", first), *later]
    return [(name, module_of(form)) for name, form in named]


def module_of(form: str) -> str:
    """A printed function as a module: declarations for what it calls, no metadata."""
    form = re.sub(r", ![\w.]+ !\d+", "", form)
    calls = sorted(set(REDUCE.findall(form)))
    declared = [f"declare float @{name}(float, <{lanes} x float>)\n" for name, lanes in calls]
    return form + "".join(f"\n{line}" for line in declared)


def few(states: list[tuple[str, str]]) -> list[tuple[str, str | Picture]]:
    """The first state, the steps that the text speaks of, each against the one before it, and the
    last state, all with their numbers."""
    last = len(states) - 1
    shown: list[tuple[str, str | Picture]] = [states[0]]
    for k, (name, text) in enumerate(states):
        if name.split()[0] in NAMED:
            before = states[k - 1][1]
            html, words = diff(before, text, renumbered(before, text))
            shown.append(
                (f"change {k}: {name.split()[0]}", Picture("", fragment(html, css=CSS), words))
            )
    return [*shown, (f"after change {last}", states[last][1])]


def patch(change: str) -> Picture:
    """A diff with its colours."""
    lines = [" ⋮" if line.startswith("@@") else line for line in change.strip().splitlines()]
    old, new = ("\n".join(x[1:] for x in lines if x[:1] != sign) for sign in "+-")
    html, text = diff(old, new)
    return Picture("", fragment(html, css=CSS), text)


@needing("u05.four_sums")
def side_by_side(**texts: str) -> Picture:
    """Dot products: what a call on 512 elements does, and how long an element takes."""
    ones = np.ones(512, np.float32)
    runs = [execute(text, ones, ones, 512) for text in texts.values()]
    rows = [
        [name.replace("_", " "), run.products + run.multiply_adds, run.chain, time]
        for name, run, time in zip(texts, runs, nanoseconds(*texts.values()), strict=True)
    ]
    return table(rows, ["a dot product", "products for n = 512", "chain (operations)",
                        f"here, for n = {N:,} (ns an element)"])  # fmt: skip


@needing("llvm.fma.arithmetic", "llvm.control.balanced")
def counted_steps(states: list[tuple[str, str]], given: Mapping[str, int] | None = None) -> Any:
    """A table: after each pass that changed it, what is counted; with `given`, what a call
    executes, too."""
    rows: list[list[Any]] = []
    for name, text in states:
        (count,) = count_fma(text, given).values()
        row: list[Any] = [fused(count.static)]
        if given is not None:
            dynamic = count.dynamic
            row += [None, None] if dynamic is None else [fused(dynamic), dynamic["add"]]
        if not rows or rows[-1][1:] != row:
            rows.append([name, *row])
    columns = ["after", "multiply-adds in the code"]
    if given is None:
        return table(rows, columns)
    if rows[-1][-1] is None:
        (count,) = count_fma(states[-1][1], given).values()
        raise ValueError(f"the runs of block {next(iter(count.unknown))} do not follow")
    call = ", ".join(f"{name} = {number}" for name, number in given.items())
    return table(rows, [*columns, f"executed, {call}", "other additions executed"])


@needing("llvm.fma.arithmetic", "llvm.control.balanced")
def guessed_and_counted(n: int) -> Picture:
    """A table: how often LLVM guesses that each loop of the dot product is reached and turns, and
    how often it does for one n."""
    text = optimized(DOT)
    seen = block_frequencies(text)
    guess = seen or RECORDED_FREQUENCIES
    (exact,) = count_fma(text, {"n": n}).values()
    runs = {b: r for (b, _), r in zip(exact.blocks, exact.runs.blocks, strict=True)}
    rows = [[loop, guess[before], guess[loop] / guess[before], guess[loop], runs[loop]]
            for loop, before in LOOPS.items()]  # fmt: skip
    return table(rows, ["loop", "LLVM: reached in a call", "iterations each time",
                        "iterations in a call", f"counted, n = {n}"],
                 "" if seen else f"guesses {FREQUENCIES.words}")  # fmt: skip


def machine_lanes(text: str, cpu: str = HASWELL) -> list[tuple[str, int]]:
    """The FMA instructions of the machine code for a module, each with its lanes."""
    instructions = re.findall(
        r"\b(vfn?m(?:add|sub)\d+([ps][sd]))\s.*%([xy])mm\d+$", assembly(text, cpu), re.M
    )
    wide = {"x": {"ps": 4, "pd": 2}, "y": {"ps": 8, "pd": 4}}
    return [(name, VECTOR.get(kind) or wide[size][kind]) for name, kind, size in instructions]


@needing("llvm.fma.arithmetic")
def on_processors() -> Picture:
    """A table: what is counted in each of SMALL, and the FMA instructions of some processors."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machines = [
        llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
        for triple, cpu in PROCESSORS.values()
    ]
    rows = []
    for name, text in SMALL.items():
        (count,) = count_fma(text).values()
        listings = [machine.emit_assembly(llvm.parse_assembly(text)) for machine in machines]
        rows.append([name, fused(count.static), *(len(FMA.findall(code)) for code in listings)])
    return table(rows, ["", "your count", *PROCESSORS])


def drawn(text: str, counts: Mapping[Any, int] | None = None, title: str = "") -> Picture:
    """The blocks of a function and the ways between them, with the counts that are known."""
    (function,) = functions(parse(text))
    order = order_of(function)
    known = counts or {}
    words = [
        [f"{b}: {function.blocks[b].name}", f"runs {known[b]:,}" if b in known else "runs ?"]
        for b in order.order
    ]
    edges = {(order.place[a], order.place[b]): (a, b) for a, b in order.edges}
    ways = {end: f"{known[edge]:,}" for end, edge in edges.items() if edge in known}
    return flow(words, list(edges), title or f"@{function.name}", ways=ways)


def edges_of(text: str) -> list[tuple[int, int]]:
    """The ways between the blocks of the only function of a text."""
    (function,) = functions(parse(text))
    return list(order_of(function).edges)


def nanoseconds(*texts: str) -> list[float]:
    """For each dot product the time of one element, the functions run in turn. They run here, as
    they stand, so each one is first run by the interpreter."""
    x = np.linspace(0, 1, N, dtype=np.float32)
    engines, calls = [], []
    for text in texts:
        execute(text, x[:64].copy(), x[:64].copy(), 64)
        engine = llvm.create_mcjit_compiler(parse(text), target_machine())
        engine.finalize_object()
        signature = ctypes.CFUNCTYPE(
            ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
        )
        calls.append(signature(engine.get_function_address("dot")))
        engines.append(engine)
    runs = [functools.partial(call, x.ctypes.data, x.ctypes.data, N) for call in calls]
    return [1e9 * seconds / N for seconds in least(in_turns(runs, 200))]
