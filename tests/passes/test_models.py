"""The default passes on the course's four models: what is left, and that it means the same."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from course_lib.exercises import baselines
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT

# Kernels after all passes: fused groups and single ops, without reshapes (they move nothing).
KERNELS = {"mlp": 3, "block": 13, "resnet18": 32, "mobilenet_v2": 55}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, imported: Callable[[str], Graph]) -> tuple[str, Graph]:
    return request.param, imported(request.param)


def kernels(graph: Graph) -> int:
    return sum(node.op != "reshape" for node in graph.ops)


def test_the_passes_leave_few_kernels_that_mean_the_same(model: tuple[str, Graph]) -> None:
    name, graph = model
    after = run_passes(graph, DEFAULT)
    assert kernels(after) <= KERNELS[name]
    assert not any(n.op == "batch_norm" for n in after.nodes)
    inputs = example_inputs(name)
    for old, new in zip(run(graph, inputs), run(after, inputs), strict=True):
        assert np.abs(old - new).max() <= 1e-6 * np.abs(old).max()


def test_every_operation_of_the_model_is_accounted_for(model: tuple[str, Graph]) -> None:
    """Provenance: each place in the model that had an op still has one, or one that names it."""
    _, graph = model
    before = {origin for node in graph.ops for origin in node.origin}
    after = {origin for node in run_passes(graph, DEFAULT).ops for origin in node.origin}
    lost = Counter(before - after)
    assert not lost, f"no node is left that comes from {sorted(lost)}"


def test_without_fusion_every_op_is_a_kernel(model: tuple[str, Graph]) -> None:
    name, graph = model
    with baselines("passes.fuse", "passes.horizontal"):
        assert kernels(run_passes(graph, DEFAULT)) > 1.5 * KERNELS[name]
