"""Kernels made in parallel: more processes, which leave what they make where this one finds it.

    with helpers(new_kernels(program, machine), machine, 3):      # three of them
        schedule, emit, compile                                   # most of it is there already

LLVM and Python let one thread at a time work, so they are processes. Each goes round all kernels
from another place, schedules, emits and compiles those that nobody has begun, and keeps what it
made (`course_lib/keep.py`): nobody has to share out the work. A helper that cannot start, or dies,
costs nothing but its help. Next room: `course_lib/runtime/executable.py`.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from course_lib.cost.machine import Machine
from course_lib.exercises import plugs_now
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.program import Program
from course_lib.llvm.codegen import generate
from course_lib.llvm.jit import emit_once
from course_lib.schedule.schedule import choose_once, distinct, is_chosen
from course_lib.schedule.script import Schedule
from course_lib.schedule.search.tuned import Schedules

# A kernel, which of its operands are constants, and a schedule that was searched for it
Order = tuple[Kernel, frozenset[str], Schedule | None]

KERNELS = 8  # new ones for each process: half a second's work, and a helper needs that to start


def new_kernels(program: Program, machine: Machine, tuned: Schedules | None = None) -> list[Order]:
    """Those that nobody has scheduled on this machine. None while an answer to an exercise is
    plugged in: nothing is kept then, and that process may be one that may not start others."""
    if plugs_now():
        return []
    orders = [(k, c, tuned.schedule_of(k, c) if tuned else None) for k, c in distinct(program)]
    return [(k, c, given) for k, c, given in orders if not is_chosen(k, machine, c, given)]


@contextmanager
def helpers(
    orders: Sequence[Order], machine: Machine, count: int, cpu: str = "host"
) -> Iterator[int]:
    """Up to `count` processes make these kernels, and this one makes its share before the block
    runs; how many there are. None where there is little to do."""
    started: list[subprocess.Popen] = []
    count = min(count, len(orders) // KERNELS)
    with suppress(OSError):
        for number in range(1, count + 1):
            begin = number * len(orders) // (count + 1)
            started.append(_start([*orders[begin:], *orders[:begin]], machine, cpu))
    try:
        if started:
            make(orders, machine, cpu)
        yield len(started)
    finally:
        for process in started:
            process.terminate()  # it ends when it can, and somebody has to notice
            threading.Thread(target=process.wait, daemon=True).start()


def make(orders: Sequence[Order], machine: Machine, cpu: str) -> None:
    """Schedule, emit and compile the kernels that no other process has begun meanwhile."""
    for kernel, constants, given in orders:
        if not is_chosen(kernel, machine, constants, given):
            with suppress(ValueError):  # whoever needs the kernel will say what is wrong with it
                text, _ = emit_once(choose_once(kernel, machine, constants, given))
                generate(text, cpu)


def _start(orders: Sequence[Order], machine: Machine, cpu: str) -> subprocess.Popen:
    """A process that imports from where this one does."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as here; here.help_out()"
    with tempfile.TemporaryFile() as order:
        pickle.dump((orders, machine, cpu), order)
        order.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=order,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def help_out() -> None:
    """What a helper does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # nothing half written stays
    make(*pickle.load(sys.stdin.buffer))
