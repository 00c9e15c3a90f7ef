"""Models of the course through tinygrad's ONNX reader and our LLVM, with torch as the witness."""

import numpy as np
import pytest

from course_lib.frontend import load
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import apply
from course_lib.ir.types import TensorType, f32

pytest.importorskip("tinygrad")

from course_lib.models import MODELS, example_inputs
from course_lib.plugins.tinygrad.jit import llvm_device
from course_lib.plugins.tinygrad.models import run_graph
from course_lib.plugins.tinygrad.session import session


@pytest.mark.parametrize(("name", "kernels"), [("mlp", 3), ("block", 16)])
def test_a_model_of_the_course_is_near_torch(name, kernels):
    torch = pytest.importorskip("torch")
    model, inputs = MODELS[name].build(), [np.asarray(x) for x in example_inputs(name)]
    with torch.no_grad():
        wanted = model(*map(torch.from_numpy, inputs)).numpy()
    graph = load(model, inputs)
    with session(llvm_device()) as launches:
        (got,) = run_graph(graph, inputs).outputs
    assert got.shape == wanted.shape and len(launches) == kernels
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_an_op_that_tinygrads_reader_lacks_is_named():
    sizes = (1, 1, 4, 4), (1, 3, 3, 2)
    types = [TensorType(f32, size) for size in sizes]
    graph = trace(lambda x, grid: apply("grid_sample", x, grid), *types)
    with session(llvm_device()), pytest.raises(ValueError, match="GridSample"):
        run_graph(graph, [np.zeros(size, np.float32) for size in sizes])
