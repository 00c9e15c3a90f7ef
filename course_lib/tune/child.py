"""The other side of `measure.py`: a process that compiles and times kernels, and may crash.

    {"kernels": ["kernel @k(...) {...}", ...], "threads": 2, ...}     one line on stdin
    ==>
    {"at": 0}                                                         what it is about to touch
    {"at": 1}
    {"timings": [[0.0012, 0.0011, ...], ...]}                         seconds, round after round

Kernels run in turns: what disturbs the machine for a moment disturbs all of them. Machine code is
not kept, for hardly one candidate is ever compiled again. Next room: `farm.py`.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.ir.arrays import address, aligned_copy
from course_lib.ir.graph.build import exp
from course_lib.ir.graph.node import inp
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.program import Program, Step
from course_lib.ir.types import TensorType
from course_lib.llvm.jit import Code, compile_program
from course_lib.measure.apart import Said, answer_all, end_after, limit_memory
from course_lib.measure.turns import Timer, filling, rounds_of

SHARED = exp(inp("x", "f32[1048576]"))  # a node with so much to do that threads share its kernel
COPIES = 64 << 20  # bytes of constants that lie apart at most


def main() -> None:
    """Answer requests, a line each, until there are no more."""
    os.environ["COURSE_LIB_CACHE"] = "off"
    answer_all(answer)


def answer(request: Said, say: Callable[[Said], None]) -> Said:
    limit_memory(request["memory"])
    try:
        return {"timings": timings(request, say)}
    except (MemoryError, ValueError) as error:
        return {"failed": str(error) or "it needs more memory than it may have"}


def timings(request: Said, say: Callable[[Said], None]) -> list[list[float]]:
    """Seconds of each kernel in each round."""
    timers: list[Timer] = []
    numbers: list[int] = []

    def begin(number: int) -> None:
        say({"at": number})
        end_after(request["limit"])

    def announced(number: int, one: Timer) -> Timer:
        def timed(count: int) -> float:
            begin(number)
            return one(count)

        return timed

    for number, text in enumerate(request["kernels"]):
        begin(number)
        one = prepared(parse_kernel(text), request)
        numbers.append(filling(one, request["seconds"] / request["rounds"]))
        timers.append(announced(number, one))
    seconds = rounds_of(timers, numbers, request["rounds"])
    end_after(0)
    return seconds


def prepared(kernel: Kernel, request: Said) -> Timer:
    """The kernel as machine code, on random operands.

    In a model, weights come from where the weights of all other kernels lie, too. So there are as
    many copies of the constants as are needed to fill `request["apart"]` bytes, used in turns.
    """
    types = {buffer.name: buffer.type for buffer in kernel.params}
    code, program = compiled(kernel, request["threads"])
    arrays = {name: random_array(type) for name, type in types.items()}
    constants = [name for name in request["constants"] if name in arrays]
    size = sum(arrays[name].nbytes for name in constants)
    copies = max(min(request["apart"], COPIES) // size, 1) if size else 1
    tables: list[Any] = []
    kept: list[Any] = [code]
    for copy in range(copies):
        own = {n: aligned_copy(arrays[n]) if copy and n in constants else arrays[n] for n in types}
        kept.append(own)
        tables.append((ctypes.c_void_p * len(own))(*(address(own[n]) for n in program.owners)))
    code.entries[0](tables[0])  # which starts the threads
    return _timed(code.entries[0].code, itertools.cycle(tables), kept)


@lru_cache(maxsize=8)
def compiled(kernel: Kernel, threads: int) -> tuple[Code, Program]:
    """As a program of one step. The default schedule comes again with every request."""
    *reads, writes = (buffer.name for buffer in kernel.params)
    types = {buffer.name: buffer.type for buffer in kernel.params}
    step = Step(SHARED, kernel, tuple(reads), writes)
    program = Program("one", tuple(reads), (writes,), types, {}, {}, (step,))
    return compile_program(program, "host", threads), program


def _timed(code: Callable[[Any], int], tables: Iterator[Any], kept: list[Any]) -> Timer:
    def call(count: int) -> float:
        assert kept  # what the addresses are of
        given = list(itertools.islice(tables, count))
        start = time.perf_counter()
        for table in given:
            code(table)
        return (time.perf_counter() - start) / count

    return call


def random_array(type: TensorType) -> np.ndarray:
    """Positive floats, and zeros elsewhere: an index that is data is inside of any axis."""
    if not type.dtype.is_float:
        return aligned_copy(np.zeros(type.dims, type.dtype.numpy))
    rng = np.random.default_rng(0)
    return aligned_copy(rng.uniform(0.1, 1.0, type.dims).astype(type.dtype.numpy))
