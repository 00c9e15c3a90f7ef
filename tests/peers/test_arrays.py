"""A graph as calls of torch and of JAX means what our interpreter says: each op, and the models.

The cases are those of the op table's own test (`tests/ir/test_ops_levels.py`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.check.levels import same_numbers
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply
from course_lib.ir.registry import OPS

_SPEC = importlib.util.spec_from_file_location(
    "cases_of_ops", Path(__file__).parents[1] / "ir" / "test_ops_levels.py"
)
assert _SPEC and _SPEC.loader
table = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(table)

Run = Callable[[Graph, Sequence[np.ndarray]], list[np.ndarray]]
MADE_BY_PASSES = {
    "fused", "relayout", "conv_in_layout", "max_pool_in_layout", "sum_pool_in_layout",
    "winograd_tiles", "winograd_pixels",
}  # fmt: skip
IMPORTED = [name for name in OPS if name not in MADE_BY_PASSES | {"input", "constant"}]
UNSIGNED = {"u16", "u32", "u64"}  # torch has the types, and hardly an operation on them


def in_torch(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    torch = pytest.importorskip("torch")
    from course_lib.peers.arrays.in_torch import in_torch  # torch is heavy

    results = in_torch(graph)(*(torch.from_numpy(np.array(x)) for x in arrays))
    return [r.numpy() for r in (results if isinstance(results, tuple) else [results])]


def in_jax(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Compiled without LLVM's optimizations: here it is what is written that is tried."""
    import jax

    from course_lib.peers.arrays.in_jax import in_jax  # jax is heavy

    lowered = jax.jit(in_jax(graph)).lower(*arrays)
    quick = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return [np.asarray(r) for r in lowered.compile(quick)(*arrays)]


def kinds(operands: Sequence[np.ndarray], attrs: dict[str, Any]) -> set[str]:
    names = {table.type_of(np.asarray(x)).dtype.name for x in operands}
    return names | {v for k, v in attrs.items() if k in ("dtype", "sums") and v}


def agree(op: str, cases: list[Any], other: Run) -> None:
    graph, arrays = table.graph_of(op, cases)
    sums = op not in table.SCALARS and op not in table.EXACT
    expected, results = run(graph, arrays), other(graph, arrays)
    for node, want, got in zip(graph.outputs, expected, results, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), repr(node)
        same_numbers(got, want, repr(node), sums)


TAMED = {  # where a library has an answer of its own for the very large and the very small
    ("torch", "mod"), ("torch", "fmod"), ("torch", "grid_sample"), ("jax", "div"),
}  # fmt: skip


def tame(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The floats brought to 0.001 .. 1000, whatever their sign; 0 and infinity stay."""
    return [moderate(np.asarray(x)) for x in operands]


def moderate(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "f":
        return x
    size = np.clip(np.abs(np.nan_to_num(x, nan=0.0, posinf=np.inf, neginf=-np.inf)), 1e-3, 1e3)
    usual = (x != 0) & np.isfinite(x)
    return np.where(usual, np.copysign(size, x), np.nan_to_num(x, nan=0, posinf=1, neginf=-1))


def cases_for(library: str, op: str) -> list[Any]:
    cases = table.cases_of(op)
    if (library, op) in TAMED:
        cases = [(tame(operands), attrs) for operands, attrs in cases]
    if library == "torch":
        return [case for case in cases if not kinds(*case) & UNSIGNED]
    return cases[:: 1 + len(cases) // 6]  # to compile hundreds of them takes too long


@pytest.mark.parametrize("op", IMPORTED)
def test_an_op_means_the_same_in_torch(op: str) -> None:
    agree(op, cases_for("torch", op), in_torch)


@pytest.mark.parametrize("op", IMPORTED)
def test_an_op_means_the_same_in_jax(op: str, installed: None) -> None:
    agree(op, cases_for("jax", op), in_jax)


@pytest.fixture
def installed(missing: Callable[[str], Any]) -> None:
    if importlib.util.find_spec("jax") is None:
        missing("jax")


def is_the_module(name: str, graph: Graph, other: Run) -> None:
    import torch

    from course_lib.models import MODELS, example_inputs

    arrays = example_inputs(name)
    with torch.inference_mode():
        want = MODELS[name].build()(*map(torch.from_numpy, arrays)).numpy()
        (got,) = other(graph, arrays)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("name", ["mlp", "block"])
def test_a_model_is_itself_again_in_torch_and_in_jax(name, imported, installed):
    is_the_module(name, imported(name), in_torch)
    is_the_module(name, imported(name), in_jax)


def with_origins(*kinds: str) -> Graph:
    """x + x in each of these element types, from layers.0, layers.1, ..."""

    def sums(*xs: Any) -> list[Any]:
        return [apply("add", x, x, origin=(f"layers.{k}",)) for k, x in enumerate(xs)]

    return trace(sums, *(f"{kind}[3]" for kind in kinds), name="sums")


def test_what_torch_lacks_is_said_at_once_with_where_it_came_from():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"torch has no(.|\n)*layers\.1(.|\n)*layers\.2") as told:
        in_torch(with_origins("f32", "u16", "u64"), [])
    assert "layers.0" not in str(told.value)


def test_lines_of_torch_code_are_called_after_their_origin():
    pytest.importorskip("torch")
    from course_lib.peers.arrays.in_torch import in_torch

    module = in_torch(with_origins("f32", "f64"))
    assert "layers_1 = torch.add(" in module.code
    assert not module.training


def test_hlo_says_which_origin_an_instruction_has(installed):
    import jax

    from course_lib.peers.arrays.in_jax import in_jax

    x = np.ones(3)
    text = str(jax.jit(in_jax(with_origins("f64"))).lower(x).compile().as_text())
    assert 'op_name="jit(sums)/layers.0/add"' in text
    assert "f64[3]" in text


def test_weights_are_buffers_of_the_module_and_constants_of_the_function(installed):
    import jax

    from course_lib.peers.arrays.in_jax import in_jax
    from course_lib.peers.arrays.in_torch import in_torch

    weights = np.arange(40, dtype=np.float32).reshape(8, 5)
    graph = trace(lambda x: x @ weights, "f32[2,8]")
    (buffer,) = in_torch(graph).buffers()
    assert np.array_equal(buffer.numpy(), weights)
    lowered = jax.jit(in_jax(graph)).lower(np.ones((2, 8), np.float32))
    assert lowered.as_text().count("%arg") == 2  # declared and read: one argument
