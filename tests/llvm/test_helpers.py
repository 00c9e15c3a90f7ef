"""Other processes compile some of the modules; whatever becomes of them, the code is right."""

from __future__ import annotations

import subprocess
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
from course_lib.llvm.helpers import helpers
from course_lib.llvm.jit import emit_module


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(room, "WORTH", 1)
    return tmp_path / "kept" / "kernels"


def modules(count: int) -> list[str]:
    kernels = (
        f"kernel @k{n}(x: f32[4], out: f32[4]) {{ for i in 0..4 {{ out[i] = x[i] * {n}.0 }} }}"
        for n in range(count)
    )
    return [emit_module(parse_kernel(text))[0] for text in kernels]


def until(condition) -> bool:
    """Wait for another process, at most a minute."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_helpers_make_everything_even_if_nobody_else_does(folder):
    texts = modules(16)
    assert not any(is_generated(text, "host") for text in texts)
    with helpers(texts, "host", 2) as count:
        assert count == 2
        assert until(lambda: all(is_generated(text, "host") for text in texts))
    assert until(lambda: len(list(folder.iterdir())) == 16), "nothing half written stays"


def test_a_helper_ends_with_the_block(monkeypatch):
    started = []
    start = room._start
    monkeypatch.setattr(room, "_start", lambda *order: started.append(start(*order)) or started[-1])
    with pytest.raises(KeyError), helpers(modules(16), "host", 2):
        raise KeyError
    assert len(started) == 2 and until(lambda: all(p.returncode is not None for p in started))


@pytest.mark.parametrize("reason", ["little to do", "all is there", "no place", "an answer", "one"])
def test_there_are_no_helpers_without_need(reason, monkeypatch):
    texts = modules(16)
    if reason == "little to do":
        monkeypatch.setattr(room, "WORTH", 400_000)
    elif reason == "all is there":
        for text in texts:
            room.generate(text, "host")
    elif reason == "no place":
        monkeypatch.setenv("COURSE_LIB_CACHE", "off")
    elif reason == "one":
        texts = texts[:3]
    answer = (lambda graph: graph) if reason == "an answer" else None
    with plugged("passes.cse", answer), helpers(texts, "host", 3) as started:
        assert started == 0


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
