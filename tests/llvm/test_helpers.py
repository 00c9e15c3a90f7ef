"""Other processes compile some of the modules; whatever becomes of them, the code is right."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from threading import Event

import llvmlite
import numpy as np
import pytest

import course_lib
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm import backend, codegen
from course_lib.llvm import helpers as room
from course_lib.llvm.codegen import is_generated
from course_lib.llvm.helpers import helpers, new_kernels
from course_lib.llvm.host import host_machine, instruction_set
from course_lib.llvm.jit import emit_once
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose
from course_lib.schedule.schedule import choose_once, distinct


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "kept"))


MACHINE = host_machine(3)


def some(count: int) -> list[Kernel]:
    return [
        parse_kernel(
            f"kernel @k{n}(x: f32[4], out: f32[4]) {{ for i in 0..4 {{ out[i] = x[i] * {n}.0 }} }}"
        )
        for n in range(count)
    ]


def texts(kernels: list[Kernel]) -> list[str]:
    return [emit_once(kernel)[0] for kernel in kernels]


def test_what_helpers_make_is_what_this_process_would_make(monkeypatch):
    modules = texts(some(12))
    here = [backend.compiled(text, *instruction_set()) for text in modules]
    monkeypatch.setattr(
        room, "generate", lambda text, cpu, by=nobody: codegen.generate(text, cpu, by)
    )
    with helpers(some(12), 2) as helped:
        for text in modules:
            helped.begin(text, "host")
        for future in helped.begun.values():
            future.result(60)
        made = [helped.generate(text, "host") for text in modules]
    assert [(m.optimized, m.code) for m in made] == here
    assert all(is_generated(text, "host") for text in modules), "it is kept"


def nobody(*_):
    raise AssertionError("this process had to compile it")


def test_what_nobody_has_begun_this_process_makes(monkeypatch):
    wait = Event()
    monkeypatch.setattr(room.Helper, "compiled", lambda *_: wait.wait())
    modules = texts(some(8))
    with helpers(some(8), 1) as helped:
        for text in modules:
            helped.begin(text, "host")
        for text in modules[room.AHEAD :]:
            assert helped.generate(text, "host").code
        wait.set()


def test_a_kernel_that_was_chosen_is_begun():
    (kernel,) = some(1)
    with helpers(some(4), 1) as helped:
        chosen = helped.choosing(choose_once)(kernel, MACHINE, frozenset())
        assert chosen == choose_once(kernel, MACHINE, frozenset())
        assert [*helped.begun][-1:] == texts([chosen])


def test_a_kernel_that_cannot_be_emitted_is_left_to_whoever_needs_it():
    large = parse_kernel("""
    kernel @k(x: f32[4], out: f32[4]) {
      local t: f32[999999999]
      for i in 0..4 { t[i] = x[i]  out[i] = t[i] }
    }
    """)
    with helpers(some(4), 1) as helped:
        before = len(helped.begun)
        helped.choosing(lambda kernel, *_: kernel)(large, MACHINE, frozenset())
        assert len(helped.begun) == before


def test_a_helper_needs_nothing_but_llvmlite():
    (text,) = texts(some(1))
    order = (text, *instruction_set())
    found = subprocess.run(
        [sys.executable, "-s", "-S", "-P", backend.__file__],
        env={"PYTHONPATH": str(Path(str(llvmlite.__file__)).parents[1])},
        input=pickle.dumps(order),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert pickle.loads(found.stdout) == backend.compiled(*order)


def test_a_helper_ends_with_the_block():
    with pytest.raises(KeyError), helpers(some(16), 2) as helped:
        started = {helped.free.get().process for _ in range(2 * room.AHEAD)}
        raise KeyError
    assert len(started) == 2 and all(process.returncode is not None for process in started)


def test_there_are_no_helpers_for_a_few_kernels():
    for kernels, count in ((some(room.KERNELS - 1), 3), (some(16), 0)):
        with helpers(kernels, count) as helped:
            assert helped.threads is None and helped.choosing(choose_once) is choose_once


@pytest.mark.parametrize("reason", ["all is there", "no place", "an answer"])
def test_nothing_is_new_without_need(reason, monkeypatch):
    program = lower(everywhere(chain(), decompose))
    assert len(new_kernels(program, MACHINE)) == 18
    if reason == "all is there":
        for kernel, constants in distinct(program):
            choose_once(kernel, MACHINE, constants)
    elif reason == "no place":
        monkeypatch.setenv("COURSE_LIB_CACHE", "off")
    answer = (lambda graph: graph) if reason == "an answer" else None
    with plugged("passes.cse", answer):
        assert new_kernels(program, MACHINE) == []


def chain() -> Graph:
    """Nine products of different shapes: nine kernels."""
    sizes = range(8, 18)
    weights = [np.full((m, n), 1 / m, np.float32) for m, n in pairwise(sizes)]

    def model(x):
        for w in weights:
            x = relu(x @ w)
        return x

    return trace(model, "f32[3,8]")


def no_process(*_, **__):
    raise OSError("no more processes")


class Dies(subprocess.Popen):
    """A helper that is killed as soon as it was started."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.kill()


class Stops(subprocess.Popen):
    """A helper that never answers."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        os.kill(self.pid, signal.SIGSTOP)


@pytest.mark.parametrize("popen", [subprocess.Popen, no_process, Dies, Stops])
def test_a_model_is_right_whatever_becomes_of_its_helpers(popen, monkeypatch):
    monkeypatch.setattr(room, "PATIENCE", 0.1 if popen is Stops else 60)
    monkeypatch.setattr(room.subprocess, "Popen", popen)
    graph = chain()
    x = np.random.default_rng(0).random((3, 8), np.float32)
    model = course_lib.compile(graph, threads=3)
    np.testing.assert_allclose(model(x), run(graph, [x])[0], rtol=1e-5)
