"""The threads that help with parallel loops. What they do all day stands in `pool.ll`.

    start_workers(1)       ->  one thread looks for pieces of jobs, besides those that ask for help
    run_parallel(task, values, 32, 2)       // in machine code: iterations 0..32, two threads

There is one pool in a process, made when a model first asks for help. A worker is a thread of
Python's that spends its life in machine code, without Python's lock. A child process begins
without workers, because a fork copies none, and workers return before the interpreter ends.
Next room: `entry.py`, whose code asks for help.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from course_lib.llvm.codegen import generate, target_machine

RUN_PARALLEL = "course_lib.run_parallel"  # the name by which other modules find it
_PAUSE = {  # the instruction that says "I am only waiting"
    "x86_64": ("void @llvm.x86.sse2.pause()", "void @llvm.x86.sse2.pause()"),
    "aarch64": ("void @llvm.aarch64.hint(i32)", "void @llvm.aarch64.hint(i32 1)"),
}

_workers: list[threading.Thread] = []
_starting = threading.Lock()


def start_workers(count: int) -> None:
    """Have at least so many workers, and `run_parallel` ready for other modules to call.

    ValueError if the system does not let this process start them.
    """
    if len(_workers) >= count:
        return
    with _starting:  # two threads that ask at the same time must not make two pools
        pool = _pool()
        while len(_workers) < count:
            number = len(_workers) + 1
            worker = threading.Thread(
                target=pool.work, args=(number,), name=f"kernels-{number}", daemon=True
            )
            try:
                worker.start()
            except RuntimeError:  # of Python, where the system or a container allows no more
                raise ValueError(
                    f"this process may not start more than {len(_workers)} threads for kernels, "
                    f"{count} were asked for: compile with threads={len(_workers) + 1} or fewer"
                ) from None
            _workers.append(worker)


class _Pool:
    """The machine code of `pool.ll`, with one job's worth of memory."""

    def __init__(self) -> None:
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        self.engine.add_object_file(
            llvm.ObjectFileRef.from_data(generate(pool_text(), "host").code)
        )
        self.engine.finalize_object()
        self.work = self._function("work", ctypes.c_int64)
        self.open = self._function("open_pool")
        self.close = self._function("close_pool")
        self.open()
        llvm.add_symbol(RUN_PARALLEL, self.engine.get_function_address("run_parallel"))

    def _function(self, name: str, *arguments: type) -> Callable[..., None]:
        return ctypes.CFUNCTYPE(None, *arguments)(self.engine.get_function_address(name))


def pool_text() -> str:
    """The pool as LLVM IR for this processor."""
    return Path(__file__).with_name("pool.ll").read_text(encoding="utf-8") + _pause()


def _pause() -> str:
    """`@pause`, which is nothing on an architecture that has no such instruction."""
    architecture = llvm.get_process_triple().split("-")[0].replace("arm64", "aarch64")
    declared, called = _PAUSE.get(architecture, ("", ""))
    lines = [f"declare {declared}"] if declared else []
    lines += ["define internal void @pause() {", f"  call {called}" if called else "", "  ret void"]
    return "\n".join(["", *lines, "}", ""])


@cache
def _pool() -> _Pool:
    pool = _Pool()
    os.register_at_fork(after_in_child=_start_anew)
    atexit.register(_stop_workers)
    return pool


def _start_anew() -> None:
    global _starting
    _workers.clear()
    _starting = threading.Lock()
    _pool().open()


def _stop_workers() -> None:
    """Before the interpreter takes the machine code away."""
    _pool().close()
    for worker in _workers:
        worker.join(timeout=1)
