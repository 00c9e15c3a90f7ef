"""LLVM in processes of its own, while this one schedules and emits.

    with helpers(new_kernels(program, machine), 3) as helped:            # up to three processes
        program = schedule(program, machine, helped.choosing(chooser))   # a kernel is scheduled:
        code = compile_program(program, generate=helped.generate)        # LLVM begins with it

LLVM and Python let one thread at a time work, so they are processes. A helper knows LLVM only
(`backend.py`): it is sent the text of a module as soon as there is one, and sends machine code
back. What nobody has begun when the code is needed, this process compiles itself. A helper that
cannot start, or dies, costs nothing but its help. Next room: `course_lib/runtime/executable.py`.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from queue import SimpleQueue
from threading import Lock

from course_lib.cost.machine import Machine
from course_lib.exercises import plugs_now
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.program import Program
from course_lib.llvm import backend
from course_lib.llvm.codegen import generate, is_generated
from course_lib.llvm.jit import emit_once
from course_lib.llvm.objects import Object
from course_lib.llvm.pool import pool_text
from course_lib.schedule.schedule import Chooser, distinct, is_chosen
from course_lib.schedule.search.tuned import Schedules

KERNELS = 4  # new ones for each process: a fifth of a second's work, of which it starts in half
TROUBLE = (OSError, EOFError, pickle.UnpicklingError)  # of one that died, or is too late
PATIENCE = 10  # seconds for one that does not answer any more
AHEAD = 2  # modules that a helper has, so that it need not wait for the next one


def new_kernels(program: Program, machine: Machine, tuned: Schedules | None = None) -> list[Kernel]:
    """Those that nobody has scheduled on this machine. None while an answer to an exercise is
    plugged in: nothing is kept then, and that process may be one that may not start others."""
    if plugs_now():
        return []
    orders = [(k, c, tuned.schedule_of(k, c) if tuned else None) for k, c in distinct(program)]
    return [k for k, c, given in orders if not is_chosen(k, machine, c, given)]


class Helper:
    """A process that imports from where this one does, and no more than it needs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", backend.__file__],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.orders, self.answers = self.process.stdin, self.process.stdout
        self.sending, self.receiving = Lock(), Lock()

    def compiled(self, *order: str) -> tuple[str, bytes]:
        """What `backend.compiled` gives. Threads get their answers in the order of their asking."""
        with self.sending:
            pickle.dump(order, self.orders)
            self.orders.flush()
            self.receiving.acquire()
        try:
            return pickle.load(self.answers)
        finally:
            self.receiving.release()

    def end(self) -> None:
        self.process.kill()
        with suppress(OSError), self.process:  # which closes the pipes
            pass


class Helpers:
    """Some of them, and what they were given."""

    def __init__(self, helping: Sequence[Helper], cpu: str) -> None:
        self.cpu, self.free = cpu, SimpleQueue[Helper]()
        for helper in AHEAD * list(helping):
            self.free.put(helper)
        self.threads = ThreadPoolExecutor(AHEAD * len(helping)) if helping else None
        self.begun: dict[str, Future[Object]] = {}

    def choosing(self, chooser: Chooser) -> Chooser:
        """The same chooser, which also has a helper begin with the kernel that it chose."""

        def chosen(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Kernel:
            scheduled = chooser(kernel, machine, constants)
            with suppress(ValueError):  # whoever needs the code will say what is wrong
                self.begin(emit_once(scheduled)[0], self.cpu)
            return scheduled

        return chosen if self.threads else chooser

    def begin(self, text: str, cpu: str) -> None:
        """Have the next helper that is free compile this module."""
        if self.threads and not is_generated(text, cpu):
            with suppress(RuntimeError):  # no more threads
                self.begun[text] = self.threads.submit(generate, text, cpu, self._ask)

    def generate(self, text: str, cpu: str) -> Object:
        """`codegen.generate`, from what a helper made, or made here if none has begun."""
        helped = self.begun.get(text)
        if helped is not None and not helped.cancel():
            try:
                return helped.result(PATIENCE)
            except TROUBLE:
                self.begun.clear()  # it is not asked again
        return generate(text, cpu)

    def _ask(self, *order: str) -> tuple[str, bytes]:
        helper = self.free.get()
        try:
            return helper.compiled(*order)
        finally:
            self.free.put(helper)


@contextmanager
def helpers(new: Sequence[Kernel], count: int, cpu: str = "host") -> Iterator[Helpers]:
    """Up to `count` processes, as many as pay for these new kernels; they end with the block."""
    with ExitStack() as ending:
        helping: list[Helper] = []
        with suppress(OSError):
            for _ in range(min(count, len(new) // KERNELS)):
                helping.append(Helper())
                ending.callback(helping[-1].end)
        helped = Helpers(helping, cpu)
        if helped.threads:
            ending.callback(helped.threads.shutdown, wait=False, cancel_futures=True)
            helped.begin(pool_text(), "host")  # will be needed, too, and nothing else is there yet
        yield helped
