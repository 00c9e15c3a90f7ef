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
    import jax

    from course_lib.peers.arrays.in_jax import in_jax  # jax is heavy

    return [np.asarray(r) for r in jax.jit(in_jax(graph))(*arrays)]


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


@pytest.mark.parametrize("op", IMPORTED)
def test_an_op_means_the_same_in_torch(op: str) -> None:
    agree(op, [case for case in table.cases_of(op) if not kinds(*case) & UNSIGNED], in_torch)
