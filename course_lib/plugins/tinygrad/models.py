"""A graph of ours through tinygrad's own ONNX reader, on any device of it.

    with session(llvm_device()):
        run_graph(graph, [x]).outputs     ->   [y]

The graph is written as an ONNX file in memory, and what runs is Tensor code of tinygrad, which
knows nothing of us. Next room: `rules.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tinygrad.device import Device
from tinygrad.helpers import Context, Target
from tinygrad.tensor import Tensor

from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Ran:
    """Results, and where the model's weights lay: the address of each array, by its bytes."""

    outputs: list[np.ndarray]
    weights: dict[bytes, int]


def run_graph(graph: Graph, inputs: Sequence[np.ndarray]) -> Ran:
    """Run a graph on tinygrad's default device. ValueError for an op that its reader does not know,
    or for which our renderers have no line."""
    runner = reader(to_onnx(graph).SerializeToString())
    weights = {}
    for name, value in runner.graph_values.items():
        if isinstance(value, Tensor) and value.ndim > 1:
            moved = value.to(Device.DEFAULT).contiguous().realize()
            runner.graph_values[name] = moved
            weights[moved.numpy().tobytes()] = _address(moved)
    given = {node.name: Tensor(x) for node, x in zip(graph.inputs, inputs, strict=True)}
    try:
        outputs = [np.asarray(value.numpy()) for value in runner(given).values()]
    except NotImplementedError as error:
        raise ValueError(f"tinygrad cannot run this model: {error}") from error
    return Ran(outputs, weights)


def reader(file: bytes) -> Any:
    """tinygrad's `OnnxRunner` of the bytes of an ONNX file."""
    with Context(DEV=Target.parse("PYTHON")):  # the module makes tensors when it is imported
        from tinygrad.nn.onnx import OnnxRunner
    return OnnxRunner(Tensor(np.frombuffer(file, np.uint8).copy(), device="PYTHON"))


def _address(tensor: Tensor) -> int:
    """Where a realized tensor lies in the memory of a device of ours."""
    buffer: Any = tensor.uop.base.buffer
    return buffer.get_buf(Device.DEFAULT).ctypes.data
