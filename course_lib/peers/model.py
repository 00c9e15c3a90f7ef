"""One model in the forms in which systems take it.

    model = model_of("mlp")        the course's; or a file, its bytes, a torch module, a Graph
    model.inputs                   [array of f32[1,784]]
    model.graph                    as `course_lib.compile` reads it, with numbers for all sizes
    model.onnx                     the bytes of an ONNX file: its own, or the graph written as one
    model.module                   a torch module: its own, or the graph as calls of torch

A form is made when it is first asked for. All of them hold the same weights. Next room:
`running.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.compiler import inputs_of, read
from course_lib.files import readable
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.samples import random_inputs
from course_lib.models import MODELS, build, example_inputs
from course_lib.models.traced import traced


@dataclass(frozen=True, eq=False)
class Model:
    """A model, and the inputs that everything about it is asked for.

    source          a Graph, a torch module, or the path or bytes of an ONNX file
    of_the_course   is it a model of the course, which every process can build by its name?
    """

    name: str
    source: Any
    inputs: tuple[np.ndarray, ...]
    of_the_course: bool = False

    @cached_property
    def graph(self) -> Graph:
        """The model as our compiler reads it."""
        return read(self.source, self.inputs)

    @cached_property
    def onnx(self) -> bytes:
        """The model as one ONNX file, its weights in it."""
        if isinstance(self.source, bytes):
            return self.source
        if isinstance(self.source, (str, Path)):
            return _whole(self.source)
        from course_lib.frontend.onnx.write import to_onnx  # onnx is heavy

        return to_onnx(self.graph).SerializeToString()

    @cached_property
    def module(self) -> Any:
        """The model as a torch module in eval mode."""
        if self.of_the_course:
            return build(self.name)
        if hasattr(self.source, "state_dict"):
            return self.source
        from course_lib.peers.arrays.in_torch import in_torch  # torch is heavy

        return in_torch(self.graph)


def model_of(model: Any, inputs: Sequence[np.ndarray] | None = None) -> Model:
    """The model, with these inputs or, where it says itself what they are, with random ones.

    ValueError in words for something that is no model, and for one that is traced without inputs.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, str) and model in MODELS and not Path(model).exists():
        arrays = example_inputs(model) if inputs is None else inputs
        graph = traced(model, [x.shape for x in arrays])
        return Model(model, graph, tuple(inputs_of(arrays) or ()), of_the_course=True)
    if inputs is None:
        inputs = random_inputs(read(model, None))
    return Model(named(model), model, tuple(inputs_of(inputs) or ()))


def _whole(path: str | Path) -> bytes:
    """An ONNX file as it is; one that keeps weights in another file, together with these."""
    from onnx.external_data_helper import uses_external_data  # onnx is heavy

    from course_lib.frontend.onnx.file import load_proto, read_proto  # onnx is heavy

    proto, _ = read_proto(path)
    if any(map(uses_external_data, proto.graph.initializer)):
        return load_proto(path)[0].SerializeToString()
    return readable(path).read_bytes()


def named(model: Any) -> str:
    """What a table calls it: a file by its name, a module by its class."""
    if isinstance(model, (str, Path)):
        return Path(model).stem
    if isinstance(model, bytes):
        return "model"
    return getattr(model, "name", None) or type(model).__name__.lower()
