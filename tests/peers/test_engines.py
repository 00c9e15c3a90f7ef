"""OpenVINO, MNN and JAX, each for real: in its own process, and what it shows of its work.

A system runs once for all tests of it, on the MLP and on a small CNN as an ONNX file.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply
from course_lib.peers.model import Model, model_of
from course_lib.peers.running import Failed, Running

ENGINES = {"openvino": "openvino", "mnn": "MNN", "jax": "jax"}
RNG = np.random.default_rng(3)


@dataclass(frozen=True)
class Seen:
    """What a system did with a model."""

    model: Model
    about: dict[str, Any]
    outputs: list[np.ndarray]
    kernels: list[str]
    stages: dict[str, str]


def small_cnn() -> Graph:
    """Two convolutions with a pool between them, and rows of a table picked by integers."""
    weights = [RNG.standard_normal(s).astype(np.float32) for s in ((16, 3, 3, 3), (16, 16, 3, 3))]
    rows = RNG.standard_normal((10, 4)).astype(np.float32)

    def network(image: Any, places: Any) -> list[Any]:
        where: Any = {"pads": (1, 1, 1, 1)}
        first = apply("relu", apply("conv", image, weights[0], **where, origin=("stem.conv",)))
        half = apply("max_pool", first, kernel=(2, 2), strides=(2, 2), origin=("stem.pool",))
        second = apply("conv", half, weights[1], **where, origin=("body.conv",))
        return [second, apply("gather", rows, places, axis=0, origin=("table",))]

    return trace(network, "f32[1,3,16,16]", "i64[3]", name="small_cnn")


@cache
def seen(system: str, name: str) -> Seen:
    inputs = [RNG.standard_normal((1, 3, 16, 16)).astype(np.float32), np.array([1, 9, 2])]
    model = model_of(name) if name == "mlp" else model_of(small_cnn(), inputs)
    with Running(system, model, threads=1) as engine:
        about, outputs = engine.about, engine.outputs()
        return Seen(model, about, outputs, engine.kernels(), engine.stages())


@pytest.fixture(params=ENGINES)
def system(request: pytest.FixtureRequest, missing: Callable[[str], Any]) -> str:
    there(ENGINES[request.param], missing)
    return request.param


def there(package: str, missing: Callable[[str], Any]) -> None:
    pytest.importorskip("torch")
    if importlib.util.find_spec(package) is None:
        missing(package)


@pytest.mark.parametrize("name", ["mlp", "small_cnn"])
def test_an_engine_gives_the_results_of_the_model(system, name):
    found = seen(system, name)
    expected = run(found.model.graph, list(found.model.inputs))
    assert [x.dtype for x in found.outputs] == [x.dtype for x in expected]
    for got, want in zip(found.outputs, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    assert found.about["compile_seconds"] > 0
    assert re.match(rf"{system} \d", found.about["version"].lower())


@pytest.mark.parametrize("name", ["mlp", "small_cnn"])
def test_no_stage_names_a_folder_or_holds_the_weights(system, name):
    for stage, text in seen(system, name).stages.items():
        assert text.strip(), stage
        assert not re.search(r"[\"' ](/tmp|/home|/root|/work|/usr)/", text), stage
        assert len(text) < 300_000, stage


def test_openvino_shows_the_graph_as_read_and_what_it_runs(missing):
    there("openvino", missing)
    found = seen("openvino", "small_cnn")
    assert list(found.stages) == ["read", "common", "runtime"]
    assert found.stages["read"].count('type="Convolution"') == 2
    assert found.stages["read"].count('type="ReLU"') == 1
    assert 'type="ReLU"' not in found.stages["runtime"]  # it is part of the first convolution
    convolutions = [k for k in found.kernels if k.startswith("Convolution ")]
    assert len(convolutions) == 2
    assert all(re.match(r"Convolution \w+_f32 ", k) for k in convolutions)  # f32, as asked
    assert any(k.startswith("Pooling ") for k in found.kernels)


def test_openvino_leaves_nothing_in_the_users_folder_and_sends_nothing(missing, tmp_path):
    there("openvino", missing)
    program = "import course_lib.peers.openvino, sys; print(sys.modules['openvino_telemetry'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "HOME": str(tmp_path)}, check=True)  # fmt: skip
    assert (done.stdout, done.stderr) == ("None\n", "")
    assert list(tmp_path.iterdir()) == []


def test_mnn_shows_the_converted_file_and_what_a_session_runs(missing):
    there("MNN", missing)
    found = seen("mnn", "small_cnn")
    (text,) = found.stages.values()
    assert text.count('"type": "Convolution"') == 2
    assert '"relu": true' in text  # fused into the first of them
    kinds = [kernel.split()[0] for kernel in found.kernels]
    assert [kind for kind in kinds if kind in ("Convolution", "Pooling")] == [
        "Convolution", "Pooling", "Convolution",
    ]  # fmt: skip


def test_mnn_prints_nothing_when_it_is_loaded(missing):
    there("MNN", missing)
    program = "import course_lib.peers.mnn, sys; print('MNN.tools' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_mnn_computes_in_f32(missing):
    """Sums of 2000 products as exact as f32 gives them: halves would lose three digits."""
    there("MNN", missing)
    a, b = (RNG.standard_normal(s).astype(np.float32) for s in ((4, 2000), (2000, 8)))
    with Running("mnn", model_of(trace(lambda x: x @ b, "f32[4,2000]"), [a])) as engine:
        (got,) = engine.outputs()
    exact = a.astype(np.float64) @ b
    assert np.abs(got - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("kind", "value", "words"), [("f64", 1.0, "inputs of f32"), ("i64", 2**40, "as i32")]
)
def test_mnn_says_which_inputs_it_cannot_take(missing, kind, value, words):
    there("MNN", missing)
    model = model_of(trace(lambda x: x + x, f"{kind}[3]"), [np.full(3, value)])
    with pytest.raises(Failed, match=f"MNN .*{words}"):
        Running("mnn", model)


def test_jax_shows_every_step_from_the_trace_to_llvm(missing):
    there("jax", missing)
    found = seen("jax", "small_cnn")
    beginnings = {
        "jaxpr": "{ lambda",
        "stablehlo": "module @jit_small_cnn",
        "hlo": "HloModule jit_small_cnn",
        "optimized hlo": "HloModule jit_small_cnn, is_scheduled=true",
        "llvm ir": "; ModuleID",
    }
    assert list(found.stages) == list(beginnings)
    for stage, beginning in beginnings.items():
        assert found.stages[stage].startswith(beginning), stage
    assert found.stages["hlo"].count(" convolution(") == 2
    assert found.stages["hlo"].count(" reduce-window(") == 1


def test_jax_lists_what_the_entry_computation_runs_with_its_origin(missing):
    there("jax", missing)
    kernels = seen("jax", "small_cnn").kernels
    assert all(re.match(r"[\w-]+ [\w.-]+", kernel) for kernel in kernels)
    assert not {kernel.split()[0] for kernel in kernels} & {"parameter", "bitcast", "tuple"}
    for origin in ("stem.conv", "body.conv", "stem.pool"):
        assert any(f"/{origin}/" in kernel for kernel in kernels), origin


def test_jax_has_one_number_of_threads_in_a_process(missing):
    """With one, no other thread of its pool does any work."""
    there("jax", missing)
    program = """
import os, numpy as np
from pathlib import Path
from course_lib.ir.graph.build import trace
from course_lib.peers.peer import peer
def times():
    seen = {}
    for task in TASKS.iterdir():
        numbers = task.joinpath("stat").read_text().rpartition(")")[2].split()
        seen[int(task.name)] = sum(map(int, numbers[11:13]))
    return seen
TASKS = Path("/proc/self/task")
x = np.ones((512, 512), np.float32)
ready = peer("jax").prepare(trace(lambda a: (a @ x) @ x, "f32[512,512]"), [x], threads=1)
ready.call()
before = times()
for _ in range(100):
    ready.call()
after = times()
spent = sorted(after[task] - before.get(task, 0) for task in after if task != os.getpid())
print(spent[-1] > 20 * (sum(spent[:-1]) + 0.01) or spent)
try:
    peer("jax").prepare("mlp", threads=2)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert done.stdout.splitlines()[0] == "True"
    assert "JAX has 1 threads in this process for good, not 2" in done.stdout
