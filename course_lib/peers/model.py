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

    source   a Graph, a torch module, or the path or bytes of an ONNX file
    """

    name: str
    source: Any
    inputs: tuple[np.ndarray, ...]

    @property
    def of_the_course(self) -> bool:
        """Is it one of the course's models, which every process can build by its name?"""
        return self.name in MODELS and isinstance(self.source, Graph)

    @cached_property
    def graph(self) -> Graph:
        """The model as our compiler reads it."""
        return read(self.source, self.inputs)

    @cached_property
    def onnx(self) -> bytes:
        """The model as an ONNX file."""
        if isinstance(self.source, bytes):
            return self.source
        if isinstance(self.source, (str, Path)):
            return readable(self.source).read_bytes()
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
        return Model(model, traced(model, [x.shape for x in arrays]), tuple(arrays))
    if inputs is None:
        inputs = random_inputs(read(model, None))
    arrays = inputs_of(inputs) or []
    return Model(named(model), model, tuple(arrays))


def named(model: Any) -> str:
    """What a table calls it: a file by its name, a module by its class."""
    if isinstance(model, (str, Path)):
        return Path(model).stem
    return getattr(model, "name", None) or type(model).__name__.lower()
