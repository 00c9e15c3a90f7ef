"""Other processes compile some of the modules; whatever becomes of them, the code is right."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import course_lib
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm import helpers as room
from course_lib.llvm.codegen import is_generated
from course_lib.llvm.helpers import helpers, new_kernels
from course_lib.llvm.host import host_machine
from course_lib.llvm.jit import emit_once
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose
from course_lib.schedule.schedule import choose_once, is_chosen
from course_lib.schedule.script import parse_schedule


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "kernels"


MACHINE = host_machine(3)


def orders(count: int) -> list[room.Order]:
    kernels = (
        f"kernel @k{n}(x: f32[4], out: f32[4]) {{ for i in 0..4 {{ out[i] = x[i] * {n}.0 }} }}"
        for n in range(count)
    )
    return [(parse_kernel(text), frozenset(), None) for text in kernels]


def is_there(order: room.Order) -> bool:
    kernel, constants, _ = order
    return is_chosen(kernel, MACHINE, constants) and is_generated(
        emit_once(choose_once(kernel, MACHINE, constants))[0], "host"
    )


def until(condition) -> bool:
    """Wait for another process, at most a minute."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_helpers_make_everything_even_if_nobody_else_does(folder, monkeypatch):
    wanted = orders(16)
    monkeypatch.setattr(room, "make", lambda *_: None)
    with helpers(wanted, MACHINE, 2) as count:
        assert count == 2
        assert until(lambda: folder.exists() and len(list(folder.iterdir())) >= 16)
        assert until(lambda: all(map(is_there, wanted)))
    assert until(lambda: len(list(folder.iterdir())) == 16), "nothing half written stays"


def test_this_process_makes_its_share_before_the_block_runs(monkeypatch):
    monkeypatch.setattr(room, "_start", lambda *_: subprocess.Popen([sys.executable, "-c", ""]))
    wanted = orders(16)
    with helpers(wanted, MACHINE, 1):
        assert all(map(is_there, wanted))


def test_what_another_process_has_begun_is_passed_over(monkeypatch):
    wanted = orders(3)
    choose_once(wanted[1][0], MACHINE, wanted[1][1])
    made = []
    monkeypatch.setattr(room, "generate", lambda text, _: made.append(text))
    room.make(wanted, MACHINE, "host")
    assert len(made) == 2


def test_a_kernel_gets_the_schedule_that_was_searched_for_it():
    given = parse_schedule("split(i, 2)\nvectorize(ii)\n")
    ((kernel, constants, _),) = orders(1)
    room.make([(kernel, constants, given)], MACHINE, "host")
    assert is_chosen(kernel, MACHINE, constants, given)
    assert not is_chosen(kernel, MACHINE, constants)
    assert choose_once(kernel, MACHINE, constants, given) == given.apply(kernel)


def test_a_kernel_that_cannot_be_emitted_is_left_to_whoever_needs_it():
    large = """
    kernel @k(x: f32[4], out: f32[4]) {
      local t: f32[999999999]
      for i in 0..4 { t[i] = x[i]  out[i] = t[i] }
    }
    """
    room.make([(parse_kernel(large), frozenset(), None), *orders(1)], MACHINE, "host")
    assert is_there(orders(1)[0])


def test_a_helper_ends_with_the_block(monkeypatch):
    started = []
    start = room._start
    monkeypatch.setattr(room, "_start", lambda *order: started.append(start(*order)) or started[-1])
    with pytest.raises(KeyError), helpers(orders(16), MACHINE, 2):
        raise KeyError
    assert len(started) == 2 and until(lambda: all(p.returncode is not None for p in started))


def test_there_are_no_helpers_for_a_few_kernels():
    with helpers(orders(7), MACHINE, 3) as started:
        assert started == 0
    with helpers(orders(16), MACHINE, 0) as started:
        assert started == 0


@pytest.mark.parametrize("reason", ["all is there", "no place", "an answer"])
def test_nothing_is_new_without_need(reason, monkeypatch):
    program = lower(everywhere(chain(), decompose))
    assert len(new_kernels(program, MACHINE)) == 18
    if reason == "all is there":
        for kernel, constants, _ in new_kernels(program, MACHINE):
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


@pytest.mark.parametrize("popen", [subprocess.Popen, no_process, Dies])
def test_a_model_is_right_whatever_becomes_of_its_helpers(popen, monkeypatch):
    monkeypatch.setattr(room.subprocess, "Popen", popen)
    graph = chain()
    x = np.random.default_rng(0).random((3, 8), np.float32)
    model = course_lib.compile(graph, threads=3)
    np.testing.assert_allclose(model(x), run(graph, [x])[0], rtol=1e-5)
